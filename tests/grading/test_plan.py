"""What a master's graded cells ask for, and what an author is told who asks for too much."""

import json
from pathlib import Path

import pytest
from tiny_course import RIGHT, SECRET, TinyCourse

from course.building import refresh_masters
from course.building.versions import for_students
from course.files import ROOT
from course.grading.errors import GradingError
from course.grading.masters import Test, load_masters, normalised, read_master, released_text
from course.grading.rebuilding.restore import restored
from course.grading.submissions.parse import parse_notebook


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The little course, to look at."""
    return TinyCourse(tmp_path_factory.mktemp("plan"))


@pytest.fixture(scope="module")
def masters():
    """The course's own masters."""
    refresh_masters(ROOT)
    return load_masters(ROOT / "build" / "source")


def changed(tiny: TinyCourse, name: str, index: int, **changes: object) -> bytes:
    """A master with another source, or other nbgrader metadata, in one cell."""
    notebook = json.loads(tiny.master(name))
    cell = notebook["cells"][index]
    if "source" in changes:
        cell["source"] = changes.pop("source")
    cell["metadata"]["nbgrader"] |= changes
    return json.dumps(notebook).encode()


def test_the_plan_says_what_each_cell_asks_for(tiny):
    """Bug: a cell's points go to another check, or a function's name in the notebook is lost."""
    account = read_master(tiny.master("account"), "tiny", "account").tests
    assert account == (
        Test("account-lengths", 1, "check", "stop_masks", "account_lengths", {"account": "account"}),
        Test("account-finished", 2, "check", "stop_masks", "account_finished", {"account": "account"}),
    )
    (picks,) = read_master(tiny.master("picks"), "tiny", "picks").tests
    assert picks == Test("picks-check", 1, "answer", question="picks-for-a-reply", answer="answer_picks")
    call = 'require("stop_masks", "edges", generate_batch=mine)'
    renamed = changed(tiny, "account", 2, source=f"### BEGIN HIDDEN TESTS\n{call}\n### END HIDDEN TESTS")
    first = read_master(renamed, "tiny", "account").tests[0]
    assert (first.check, first.functions, first.names) == ("edges", {"generate_batch": "mine"}, {"mine"})


def test_the_courses_own_masters_can_be_planned(masters):
    """Bug: a section's graded cell cannot be graded, and nobody notices until a class is."""
    tests = [test for master in masters for test in master.tests]
    assert sum(test.points for test in tests) == 49
    assert sum(master.max_score for master in masters) == 49
    assert [test.kind for test in tests].count("answer") == 9
    assert all(test.names for test in tests)


def test_what_a_person_grades_is_planned_as_such(tiny):
    """Bug: a cell for a person is refused, or marked by nobody without a word."""
    data = changed(tiny, "account", 1, grade=True, points=5)
    tests = read_master(data, "tiny", "account").tests
    assert (tests[0].cell, tests[0].kind, tests[0].points) == ("account", "manual", 5)
    task = changed(tiny, "account", 2, grade=False, task=True, points=3)
    assert read_master(task, "tiny", "account").tests[0].kind == "manual"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": "assert account([], 0)"}, "its hidden tests hold no call; they must be one call, like"),
        (
            {"source": "### BEGIN HIDDEN TESTS\nassert account\n### END HIDDEN TESTS"},
            "would run in the student's own process",
        ),
        (
            {"source": '### BEGIN HIDDEN TESTS\nrequire("stop_masks", "x", f=f)\n### END HIDDEN TESTS'},
            "stop_masks has no check named 'x'",
        ),
        ({"points": "two"}, "points are 'two'; they must be a number above 0"),
        ({"points": -1}, "points are -1"),
        ({"points": float("nan")}, "points are nan"),
        ({"grade_id": "account-finished"}, "used twice"),
    ],
)
def test_a_master_that_cannot_be_graded_is_refused_in_a_sentence(tiny, changes, sentence):
    """Bug: a test that would run beside the student's code is run there, or a mark is not a number."""
    with pytest.raises(GradingError) as error:
        _ = read_master(changed(tiny, "account", 2, **changes), "tiny", "account").tests
    assert sentence in str(error.value)
    assert "The master account" in str(error.value)
    assert "`account-" in str(error.value)


def test_a_file_that_is_no_master_is_refused_in_a_sentence():
    """Bug: a broken file in nbgrader's source folder ends in a traceback."""
    with pytest.raises(GradingError, match="The master one cannot be read"):
        read_master(b"{", "tiny", "one")


def test_the_released_text_is_what_nbgrader_releases(masters, tiny):
    """Bug: students are told that they edited a cell which they left alone."""
    own = [read_master(tiny.master(name), "tiny", name) for name in RIGHT]
    for master in [*masters, *own]:
        released = {cell["id"]: cell.source for cell in for_students(master).cells}
        for name, cell in master.cells.items():
            assert normalised(released_text(cell)) == normalised(released[name])
            assert SECRET not in released_text(cell)


@pytest.mark.parametrize("path", sorted((ROOT / "release").rglob("*.ipynb")), ids=lambda path: path.stem)
def test_a_released_notebook_needs_no_repair(path: Path, masters):
    """Bug: something is put right in every notebook, so nobody reads what was put right."""
    found = [master for master in masters if master.name == path.stem]
    for master in found:
        rebuilt = restored(parse_notebook(path.read_bytes()), master)
        assert [finding.text for finding in rebuilt.findings] == [
            "Nothing was written: every solution cell is as it was handed out."
        ]
        assert [cell.node.source for cell in rebuilt.cells if not cell.is_solution] == [
            cell.source
            for cell in master.notebook.cells
            if not cell.metadata.get("nbgrader", {}).get("solution")
        ]
