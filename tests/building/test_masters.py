"""Reading masters: what a broken one is told, and what a good one becomes."""

from pathlib import Path

import pytest

from course.building.master import MasterError
from course.building.masters import read_master, read_masters

HEADER = (
    "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n  language: python\n---\n\n# A section\n\n"
)
CALL = """from course.checks import require

require("stop_masks", "edges", generate_batch=generate_batch)"""
SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


def code_cell(source: str, **nbgrader: object) -> str:
    lines = "\n".join(f"  {key}: {value}" for key, value in nbgrader.items())
    header = f"---\nnbgrader:\n{lines}\n---\n" if nbgrader else ""
    return f"```{{code-cell}} ipython3\n{header}{source}\n```\n\n"


def graded(hidden: str = CALL, **nbgrader: object) -> str:
    """A graded test with these hidden tests."""
    source = f"### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    return code_cell(source, grade="true", **nbgrader)


def read(folder: Path, *cells: str):
    path = folder / "source" / "tiny" / "one.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(cells), encoding="utf-8")
    return read_master(path)


BROKEN = {
    "duplicate grade_id": (
        [graded(grade_id="a", points=1)] * 2,
        "cell `a`: the grade_id is used 2 times",
    ),
    "no markers": ([code_cell("x = 1", solution="true", grade_id="a")], "put it between ### BEGIN SOLUTION"),
    "solution never closed": (
        [code_cell("### BEGIN SOLUTION\nx = 1", solution="true", grade_id="a")],
        "### BEGIN SOLUTION is never closed",
    ),
    "solution elsewhere": ([code_cell(SOLUTION)], "outside a solution cell"),
    "no points": ([graded(grade_id="a")], "points are missing"),
    "a third of a point": ([graded(grade_id="a", points=0.3)], "whole or half number"),
    "points as text": ([graded(grade_id="a", points="two")], "whole or half number"),
    "hidden tests elsewhere": (
        [code_cell("### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS")],
        "cell 2 (code, “### BEGIN HIDDEN TESTS”): ### BEGIN HIDDEN TESTS outside a graded test cell",
    ),
    "unknown tag": (['+++ {"tags": ["teachers"]}\n\nText\n'], "unknown tag `teachers`; the tags are"),
    "misspelt metadata": (['+++ {"nbgarder": {}}\n\nText\n'], "unknown metadata `nbgarder`"),
    "misspelt key": ([graded(grade_ids="a", points=1)], "unknown key `grade_ids`"),
    "no grade_id": ([graded(points=1)], "grade_id is None"),
    "asserts in the hidden tests": (
        [graded("assert account([], 0)", grade_id="a", points=1)],
        "cell `a`: its hidden tests hold another statement; they must be one call, like",
    ),
    "two calls": ([graded(f"{CALL}\n{CALL}", grade_id="a", points=1)], "its hidden tests hold 2 statements"),
    "no hidden tests": (
        [code_cell("assert True", grade="true", grade_id="a", points=1)],
        "its hidden tests hold no call",
    ),
    "a call of something else": ([graded("print(1)", grade_id="a", points=1)], "must be a call like"),
    "hidden tests that are no Python": (
        [graded("require(", grade_id="a", points=1)],
        "its hidden tests are no Python",
    ),
    "a misspelt check": (
        [graded(CALL.replace("edges", "edgs"), grade_id="a", points=1)],
        "stop_masks has no check named 'edgs'; there are",
    ),
    "another function": (
        [graded(CALL.replace("generate_batch=", "generate="), grade_id="a", points=1)],
        "add `generate_batch=generate_batch`",
    ),
    "a misspelt question": (
        [graded('require_answer("one-drop", x)', grade_id="a", points=1)],
        "no question 'one-drop'; there are",
    ),
    "broken YAML": (["```{code-cell} ipython3\n---\nnbgrader: [\n---\n1\n```\n"], "cannot be read as YAML"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_master_is_told_what_would_be_right(name, tmp_path):
    """Bug: a slip in a master passes the build and surfaces as a wrong score or a traceback weeks later."""
    cells, expected = BROKEN[name]
    with pytest.raises(MasterError) as error:
        read(tmp_path, *cells)
    assert expected in str(error.value)


def test_errors_of_all_masters_come_at_once_with_their_files(tmp_path):
    """Bug: an author mends one error, builds, and meets the next; or cannot tell which file is meant."""
    folder = tmp_path / "source" / "tiny"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(HEADER + graded(grade_id=name))
    with pytest.raises(MasterError) as error:
        read_masters(tmp_path)
    assert [line.split(":")[0] for line in str(error.value).splitlines()] == [
        "source/tiny/one.md",
        "source/tiny/two.md",
    ]


def test_a_course_without_a_master_is_an_error(tmp_path):
    """Bug: in the wrong folder, the build removes every notebook as left over."""
    with pytest.raises(MasterError, match="there is no master"):
        read_masters(tmp_path)


def test_a_grade_id_belongs_to_one_notebook(tmp_path):
    """Bug: two notebooks share a grade_id, so a renamed submission is taken for the wrong one."""
    folder = tmp_path / "source" / "tiny"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(HEADER + graded(grade_id="same", points=1))
    with pytest.raises(MasterError, match=r"two\.md: grade_id `same` is also in one\.md"):
        read_masters(tmp_path)


def test_a_new_cell_leaves_the_other_ids_alone(tmp_path):
    """Bug: ids that count cells, so that one new paragraph changes every later cell of the built notebook."""
    cells = [code_cell("x = 1"), code_cell("x = 1"), code_cell(SOLUTION, solution="true", grade_id="double")]
    before = [cell["id"] for cell in read(tmp_path, *cells).notebook.cells]
    after = [cell["id"] for cell in read(tmp_path, code_cell("new = 0"), *cells).notebook.cells]
    assert len(set(before)) == len(before)
    assert [cell_id for cell_id in after if cell_id in before] == before
    assert len(after) == len(before) + 1
