"""One notebook graded: what counts is what the student wrote, whatever happened to the file around it."""

import copy
import json
import math
import os
import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from tiny_course import HALF, LOOPS, MAX_SCORES, OTHER_HALF, RIGHT, SECRET, WRONG, TinyCourse

from course.building import CODE_STUB, refresh_masters
from course.files import ROOT, sha256
from course.grading.errors import GradingError, SandboxError
from course.grading.jobs.checks_version import NO_SAY, checks_sha256, covered_files
from course.grading.jobs.job import Job, Outcome, grade
from course.grading.limits import MEBI, Limits
from course.grading.masters import read_master
from course.grading.records import Record, Status
from course.grading.sandbox import Sandbox
from course.grading.submissions.intake import collect, strays

SEED = 20260901
SHORT = Limits(
    cell_seconds=1.0, cells_seconds=6.0, call_seconds=1.0, checks_seconds=3.0, least_seconds=0.5, output=MEBI
)
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
pytestmark = needs_bubblewrap


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The little course."""
    return TinyCourse(tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def run(tiny):
    """Grade what is handed in for a notebook of the little course."""

    def graded(content: Any, name: str = "account", **settings: Any) -> Outcome:
        master = settings.pop("master", tiny.master(name))
        job = Job(
            student="someone",
            assignment="tiny",
            notebook=name,
            submission=tiny.file(name, content),
            master=master,
            checks_sha256=checks_sha256(SEED),
            seed=SEED,
            **{"limits": SHORT, **settings},
        )
        outcome = grade(job)
        _look_at(outcome, job)
        return outcome

    return graded


def _look_at(outcome: Outcome, job: Job) -> None:
    """What holds for every outcome, whatever was handed in."""
    record = outcome.record
    assert Record.from_plain(json.loads(json.dumps(_plain(record)))) == record
    assert record.submission_sha256 == sha256(job.submission)
    assert record.master_sha256 == sha256(job.master)
    assert record.max_score == MAX_SCORES[job.notebook]
    if record.status == Status.FAILED:
        assert (record.score, record.cells) == (None, ())
        assert record.problem
    else:
        points = [(cell.points, cell.max_points) for cell in record.cells if cell.points is not None]
        assert all(math.isfinite(given) and 0 <= given <= most for given, most in points)
        assert record.score == sum(given for given, _ in points)
        assert record.problem == ""
        assert all(bool(cell.message) == (cell.status in ("failed", "error")) for cell in record.cells)
    notebook = nbformat.reads(outcome.autograded.decode(), as_version=4)
    nbformat.validate(notebook)
    original = nbformat.reads(job.master.decode(), as_version=4)
    for cell in original.cells:
        if "nbgrader" in cell.metadata:
            (found,) = (
                c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == cell["id"]
            )
            assert found.metadata == cell.metadata
    displayed = [str(cell.get("outputs")) for cell in notebook.cells]
    told = json.dumps(_plain(record)) + "".join(displayed)
    assert SECRET not in told
    assert "Traceback" not in json.dumps(_plain(record))


def _plain(record: Record) -> dict[str, Any]:
    return asdict(record)


def findings(outcome: Outcome, kind: str) -> list[str]:
    return [finding.text for finding in outcome.record.findings if finding.kind == kind]


def cells_of(outcome: Outcome) -> list[Any]:
    return json.loads(outcome.autograded)["cells"]


# Points


@pytest.mark.parametrize(
    ("name", "solution", "points"),
    [
        ("account", RIGHT["account"], [1, 2]),
        ("account", HALF, [1, 0]),
        ("account", OTHER_HALF, [0, 2]),
        ("account", WRONG["account"], [0, 0]),
        ("picks", RIGHT["picks"], [1]),
        ("picks", WRONG["picks"], [0]),
        ("picks", "answer_picks = 40.0", [1]),
    ],
)
def test_points_are_those_of_the_checks_that_pass(run, name, solution, points):
    """Bug: a right solution loses a point, or a wrong one gains it."""
    outcome = run(solution, name)
    assert outcome.record.status == Status.GRADED
    assert [cell.points for cell in outcome.record.cells] == points
    assert findings(outcome, "suspicious") == findings(outcome, "repair") == []


def test_a_message_is_the_checks_own(run):
    """Bug: a student reads a traceback, or what an assertion in the master said, or nothing."""
    _, finished = run(HALF).record.cells
    assert (finished.status, finished.misconception, finished.challenge) == ("failed", "B5", "stop_masks")
    assert finished.message.in_a_line.startswith("Your flags tell of the last round only.")
    (picks,) = run(WRONG["picks"], "picks").record.cells
    assert (picks.name, picks.challenge, picks.status) == ("question 1", None, "failed")
    assert picks.message.in_a_line.startswith("52 is not it.")


def test_the_points_of_a_cell_are_the_masters(run, tiny):
    """Bug: the points that an author gave a cell are not what it is worth."""
    master = json.loads(tiny.master("account"))
    master["cells"][2]["metadata"]["nbgrader"]["points"] = 0.5
    master["cells"][3]["metadata"]["nbgrader"]["points"] = 2.5
    outcome = run(HALF, master=json.dumps(master).encode())
    assert [(cell.points, cell.max_points) for cell in outcome.record.cells] == [(0.5, 0.5), (0, 2.5)]


def test_an_untouched_notebook_has_no_points_and_says_so(run, tiny):
    """Bug: a notebook in which nothing was written looks like one that went wrong."""
    outcome = run(tiny.notebook("account"))
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 0)
    assert findings(outcome, "note") == ["Nothing was written: every solution cell is as it was handed out."]
    (picks,) = run(tiny.notebook("picks"), "picks").record.cells
    assert str(picks.message) == "There is no answer yet; type a number."


def test_what_is_not_defined_is_called_so(run):
    """Bug: a function under another name is a crash of the check, or a zero without a reason."""
    outcome = run(RIGHT["account"].replace("def account", "def accounts"))
    assert [cell.status for cell in outcome.record.cells] == ["error", "error"]
    assert all("`account`, which is not defined" in str(cell.message) for cell in outcome.record.cells)
    (picks,) = run("answer = 40", "picks").record.cells
    assert picks.status == "error"
    assert "`answer_picks`, which is not defined" in str(picks.message)


def test_cells_for_a_person_wait_for_one(run, tiny):
    """Bug: a cell that a person grades counts as 0, or the notebook as done."""
    master = json.loads(tiny.master("account"))
    essay = copy.deepcopy(master["cells"][1])
    essay |= {"cell_type": "markdown", "id": "essay", "source": "### BEGIN SOLUTION\nx\n### END SOLUTION"}
    essay = {key: value for key, value in essay.items() if key not in ("outputs", "execution_count")}
    essay["metadata"]["nbgrader"] |= {"grade_id": "essay", "grade": True, "points": 5}
    master["cells"].insert(1, essay)
    submission = tiny.notebook("account", RIGHT["account"])
    submission["cells"].insert(1, copy.deepcopy(essay) | {"source": "My *answer*."})
    job = Job(
        "someone",
        "tiny",
        "account",
        json.dumps(submission).encode(),
        json.dumps(master).encode(),
        checks_sha256(SEED),
        SEED,
        SHORT,
    )
    outcome = grade(job)
    record = outcome.record
    assert (record.status, record.score, record.max_score) == (Status.NEEDS_PERSON, 3, 8)
    assert (record.cells[0].cell, record.cells[0].points) == ("essay", None)
    assert record.cells[0].status == "manual"
    assert "".join(cells_of(outcome)[1]["source"]) == "My *answer*."


def test_what_was_written_into_a_task_is_kept_for_whoever_grades_it(tiny):
    """Bug: an answer below a task's text is thrown away, or its mark scheme for a deletion."""
    master = json.loads(tiny.master("account"))
    task = {
        "cell_type": "markdown",
        "id": "task",
        "source": "Explain.\n=== BEGIN MARK SCHEME ===\nfive points\n=== END MARK SCHEME ===",
        "metadata": {"nbgrader": master["cells"][1]["metadata"]["nbgrader"] | {"grade_id": "task"}},
    }
    task["metadata"]["nbgrader"] |= {"task": True, "solution": False, "points": 5}
    master["cells"].append(task)
    data = json.dumps(master).encode()
    submission = tiny.notebook("account", RIGHT["account"])
    for text, repairs in (("Explain.\n", 0), ("Explain.\n\nBecause.", 1)):
        cells = [*submission["cells"], task | {"source": text}]
        file = json.dumps(submission | {"cells": cells}).encode()
        outcome = grade(Job("a", "tiny", "account", file, data, checks_sha256(SEED), SEED, SHORT))
        assert outcome.record.status == Status.NEEDS_PERSON
        assert len(findings(outcome, "repair")) == repairs
        sources = ["".join(cell["source"]) for cell in cells_of(outcome)]
        assert sources[-1] == task["source"]
        assert (text in sources) == bool(repairs)


def test_a_second_run_gives_the_same(run):
    """Bug: marks or messages that depend on the clock, on chance, or on who was graded before."""
    drawing = (
        "import random, numpy as np\nprint(random.random(), np.random.random())\n"
        "def account(choices, end_id):\n"
        "    wrong = choices.shape[1] * [random.random() < 0.5]\n"
        "    return [random.randint(0, 9) for _ in wrong], wrong\n"
    )
    first = run(drawing)
    run(RIGHT["account"] + "\nimport random\nrandom.seed(3)")
    second = run(drawing)
    assert first == second
    assert re.search(r"\d\.\d+ \d\.\d+", str(cells_of(first)[1]["outputs"]))


def test_students_do_not_learn_the_seed_of_the_checks(run):
    """Bug: the state of a generator, the environment or the history gives the inputs of the checks away."""
    looking = (
        "import os, sys, random, numpy as np\n"
        "print(np.random.get_state()[1][0], dict(os.environ), sys.argv, In, globals())"
    )
    shown = str(cells_of(run(looking))[1]["outputs"])
    assert str(SEED) not in shown
    assert "'HOME'" in shown


# What was done to the file


@pytest.fixture(scope="module")
def parts(tiny):
    """The cells of a right notebook: head, solution, and two tests."""
    cells = tiny.notebook("account", RIGHT["account"])["cells"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


def notebook_of(*cells: Any, **others: Any) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)} | others


def code(source: str, cell_id: str = "own") -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def without_metadata(cell: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in cell.items() if key != "id"} | {"metadata": {}}


STUB = "def account(choices, end_id):\n    raise NotImplementedError"
DEFINITION, BODY = RIGHT["account"].split("\n\n", 1)


def repaired(parts: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """A right notebook to which something happened."""
    head, solution, lengths, finished = copy.deepcopy(parts)
    stub = code(STUB)
    match name:
        case "copied below":
            return notebook_of(head, solution | {"source": WRONG["account"]}, solution, lengths, finished)
        case "a released copy below":
            released = json.loads(json.dumps(solution)) | {"source": _released_stub()}
            return notebook_of(head, solution, lengths, finished, released)
        case "tests copied":
            return notebook_of(head, solution, lengths, lengths, finished, finished)
        case "tests deleted":
            return notebook_of(head, solution)
        case "tests edited":
            lengths["source"], finished["source"] = "pass", "assert False"
            return notebook_of(head, solution, lengths, finished)
        case "points and more changed":
            lengths["metadata"]["nbgrader"] |= {"points": 500, "schema_version": 99, "grade": False}
            return notebook_of(head, solution, lengths, finished)
        case "types changed":
            solution["cell_type"], lengths["cell_type"] = "markdown", "raw"
            return notebook_of(head, solution, lengths, finished)
        case "another language":
            kernel = {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}}
            return notebook_of(head, solution, lengths, finished, metadata=kernel)
        case "solution in another cell":
            return notebook_of(head, code(RIGHT["account"]), lengths, finished)
        case "solution in a test":
            lengths["source"] = RIGHT["account"] + lengths["source"]
            return notebook_of(head, lengths, finished)
        case "split, both parts named":
            return notebook_of(
                head, solution | {"source": DEFINITION}, solution | {"source": BODY}, lengths, finished
            )
        case "split, one part named":
            return notebook_of(head, solution | {"source": DEFINITION}, code(BODY), lengths, finished)
        case "used before it is defined":
            return notebook_of(head, code("account([[1]], 1)"), lengths, finished, solution)
        case "metadata lost":
            return notebook_of(*map(without_metadata, (head, solution, lengths, finished)))
        case "metadata lost, ids kept":
            return notebook_of(*(cell | {"metadata": {}} for cell in (head, solution, lengths, finished)))
        case "a stub of one's own before it":
            return notebook_of(head, stub, solution, lengths, finished)
        case "cells of another notebook":
            other = solution | {"id": "other", "metadata": {"nbgrader": {"grade_id": "other", "grade": True}}}
            return notebook_of(head, other, solution, lengths, finished)
        case "windows line ends":
            return notebook_of(head, solution | {"source": RIGHT["account"].replace("\n", "\r\n")}, lengths)
    raise AssertionError(name)


def _released_stub() -> str:
    body = "\n".join(f"    {line}" for line in CODE_STUB.split("\n"))
    return f"import numpy as np\n\ndef account(choices, end_id):\n{body}"


REPAIRS = {
    "copied below": ["account is there more than once"],
    "a released copy below": ["account is there more than once"],
    "tests copied": ["account-lengths is there more than once", "account-finished is there more than once"],
    "tests deleted": ["account-lengths had been deleted", "account-finished had been deleted"],
    "tests edited": ["account-lengths had been edited", "account-finished had been edited"],
    "points and more changed": [
        "account-lengths: `points` had been changed to 500; 1 counts.",
        "account-lengths: `grade` had been changed to false; true counts.",
        "account-lengths: `schema_version` had been changed to 99; 3 counts.",
    ],
    "types changed": [
        "account had been turned into a markdown cell; it counts as code.",
        "account-lengths had been turned into a raw cell; it counts as code.",
    ],
    "another language": ["The notebook's kernel was one for r; it ran as Python."],
    "solution in another cell": ["The solution cell account is not in the notebook"],
    "solution in a test": ["account-lengths had been edited", "The solution cell account is not in the"],
    "split, both parts named": ["account is there more than once"],
    "split, one part named": [],
    "used before it is defined": [],
    "metadata lost": ["None of the cells of this notebook is in the file"],
    "metadata lost, ids kept": [],
    "a stub of one's own before it": [],
    "cells of another notebook": [],
    "windows line ends": ["account-finished had been deleted"],
}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_slip_with_the_file_costs_no_point_and_is_told(run, parts, name):
    """Bug: a copied, split, merged, edited or lost cell takes points away, or goes untold."""
    outcome = run(repaired(parts, name))
    assert outcome.record.score == 3, outcome.record.cells
    told = findings(outcome, "repair")
    assert len(told) == len(REPAIRS[name]), told
    for sentence, expected in zip(told, REPAIRS[name], strict=True):
        assert sentence.startswith(expected)


def test_what_was_written_into_a_test_is_shown_and_run(run, parts):
    """Bug: what a student wrote into a cell that is not for writing is lost without a trace."""
    head, solution, lengths, finished = copy.deepcopy(parts)
    lengths["source"] = "EPS = 1\n" + lengths["source"]
    solution["source"] = RIGHT["account"].replace("    return", "    EPS\n    return")
    outcome = run(notebook_of(head, lengths, solution, finished))
    assert outcome.record.score == 3
    assert ["".join(cell["source"])[:7] for cell in cells_of(outcome)][1] == "EPS = 1"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "The file is empty."),
        (b"   \n", "The file is empty."),
        (b'{"cells": [', "The file is not a whole notebook"),
        (bytes(range(256)), "The file is not a whole notebook"),
        ("é".encode("latin-1"), "it is not text in UTF-8 (byte 1)"),
        ('{"nbformat": 4}'.encode("utf-16"), "it is text in UTF-16"),
        (b"[" * 100_000, "The file is not a whole notebook"),
        (b"[" * 3_000_000, "more than 2 million lists"),
        (b"[1, 2]", "no notebook"),
        (b"NaN", "no notebook"),
        (notebook_of(nbformat=5), "format is 5"),
        (notebook_of(nbformat=0), "format 0 is old"),
        (notebook_of(17), "Cell 1 of the file is not a notebook's cell."),
        (notebook_of(code("x") | {"source": [1]}), "Cell 1 of the file is not a notebook's cell."),
        (notebook_of(code("\ud800")), "half characters"),
        (notebook_of(*[code("")] * 2_001), "The notebook has 2001 cells; up to 2000 are read."),
        (notebook_of(code("x" * 1_000_001)), "Cell 1 of the file has 1000001 characters"),
        (notebook_of(), "None of the cells of this notebook is in the file"),
        (notebook_of(code("x = 1")), "and no cell defines account."),
    ],
)
def test_a_file_that_is_no_notebook_fails_with_a_reason(run, content, problem):
    """Bug: a broken file ends the run, takes all memory, or is a zero."""
    outcome = run(content, notes=("Handed in under another name, x.ipynb.",))
    assert outcome.record.status == Status.FAILED
    assert problem in outcome.record.problem
    assert findings(outcome, "note") == ["Handed in under another name, x.ipynb."]
    cells = cells_of(outcome)
    assert "This is not a zero" in "".join(cells[0]["source"])
    assert [cell["id"] for cell in cells[1:]][1:] == ["account", "account-lengths", "account-finished"]


def test_a_notebook_without_the_solution_fails_unless_it_stands_elsewhere(run, parts):
    """Bug: a wrong file is a zero that nobody notices."""
    head, _, lengths, finished = parts
    outcome = run(notebook_of(head, lengths, finished))
    assert outcome.record.status == Status.FAILED
    assert outcome.record.problem == (
        "The solution cell account is not in the notebook, and no cell defines account."
    )


@pytest.mark.parametrize("version", [3, 2])
def test_old_formats_are_read(run, parts, version):
    """Bug: a notebook from an old Jupyter cannot be graded."""
    cells = [
        {
            "cell_type": "code",
            "input": cell["source"],
            "language": "python",
            "outputs": [],
            "metadata": cell["metadata"],
        }
        for cell in parts[1:]
    ]
    old = {"nbformat": version, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    outcome = run(old)
    assert outcome.record.score == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b'"metadata": {', b'"metadata": {"x": NaN, "y": ' + b"9" * 5_000 + b",", 1),
        lambda data: data.replace(b'"nbformat": 4', b'"cells": [], "nbformat": 3, "nbformat": 4', 1),
        lambda data: data.replace(b"\n", b"\r\n"),
    ],
    ids=["byte order mark", "odd numbers", "a key twice", "line ends"],
)
def test_odd_json_is_read_as_jupyter_reads_it(run, tiny, change):
    """Bug: a file that Jupyter opens cannot be graded."""
    data = json.dumps(tiny.notebook("account", RIGHT["account"]), indent=1).encode()
    assert change(data) != data
    if b"cells" in change(b'"nbformat": 4'):
        data = json.dumps(dict(reversed(json.loads(data).items()))).encode()
    assert run(change(data)).record.score == 3


# What the code does while it runs


def test_a_cell_that_does_not_end_is_interrupted_and_what_it_defined_counts(run):
    """Bug: a demonstration that loops takes the points of the solution above it, or all the time there is."""
    outcome = run(RIGHT["account"] + "\nwhile True:\n    pass")
    assert outcome.record.score == 3
    assert findings(outcome, "problem") == [
        "Cell 2 (account) ran for more than 1 second and was interrupted. Is there a loop that never ends?"
    ]


@pytest.mark.parametrize("ending", ["import os\nos._exit(0)", "import ctypes\nctypes.string_at(0)"])
def test_a_cell_that_ends_the_process_is_named_and_the_others_count(run, parts, ending):
    """Bug: one cell that kills its process drops the whole notebook."""
    head, solution, lengths, finished = parts
    outcome = run(notebook_of(head, code("K = 1"), code(ending), solution, code("K + 1"), lengths, finished))
    assert outcome.record.score == 3
    (problem,) = findings(outcome, "problem")
    assert problem.startswith("Cell 3 ended the notebook's process: ")
    assert "ended the notebook's process" in str(cells_of(outcome)[2]["outputs"])
    assert cells_of(outcome)[4]["outputs"][0]["data"] == {"text/plain": ["2"]}
    outcome = run(RIGHT["account"] + "\n" + ending)
    assert outcome.record.score == 3


@pytest.fixture(scope="module")
def stop_masks():
    """Grade two solutions of the course's own notebook on stop masks."""
    refresh_masters(ROOT)
    place = Path("autoregressive-generation", "12-stop-masks.ipynb")
    master = (ROOT / "build" / "source" / place).read_bytes()
    released = json.loads((ROOT / "release" / place).read_bytes())

    def graded(account: str, generate_batch: str) -> Record:
        for cell in released["cells"]:
            cell["source"] = {"account": account, "generate-batch": generate_batch}.get(
                cell["id"], cell["source"]
            )
        data = json.dumps(released).encode()
        return grade(
            Job("someone", place.parent.name, place.stem, data, master, checks_sha256(SEED), SEED, SHORT)
        ).record

    return graded


@pytest.mark.parametrize("ending", ["os._exit(0)", "while True: pass", "import ctypes; ctypes.string_at(0)"])
def test_a_check_in_which_the_process_ends_costs_itself_only(stop_masks, ending):
    """Bug: `os._exit`, a loop or a crash in one function takes the points of the checks after it."""
    source = (ROOT / "tests/submissions/correct/stop_masks/set_of_live_rows.py").read_text(encoding="utf-8")
    first = "def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):\n"
    assert first in source
    trap = f"    import os\n    if len(prompts) == 1:\n        {ending}\n"
    record = stop_masks(source, source.replace(first, first + trap))
    lost = {cell.name: cell.status for cell in record.cells if cell.status != "passed"}
    assert "account_lengths" not in lost
    assert lost.get("edges") == "error"
    assert 0 < len(lost) < len(record.cells) - 2
    assert record.score == record.max_score - sum(c.max_points for c in record.cells if c.name in lost)


def test_a_fresh_process_is_brought_where_the_last_one_was(run):
    """Bug: after a check that ended the process, the next one finds another notebook than the first did."""
    counting = "import os\ncalls = []\n" + RIGHT["account"].replace(
        "    lengths =", "    calls.append(1)\n    if len(calls) == 3:\n        os._exit(0)\n    lengths =", 1
    )
    # The visible tests call it twice, also in the fresh process: each check ends at its first call.
    outcome = run(counting)
    assert [cell.status for cell in outcome.record.cells] == ["error", "error"]
    assert all("it ended its own process" in str(cell.message) for cell in outcome.record.cells)


def test_an_endless_loop_costs_the_checks_it_is_in(run):
    """Bug: an endless loop is a failure of the whole notebook, or is told without a reason."""
    outcome = run("import numpy as np\n" + LOOPS)
    assert outcome.record.status == Status.GRADED
    assert [cell.status for cell in outcome.record.cells] == ["error", "error"]
    for cell in outcome.record.cells:
        assert cell.message.in_a_line.startswith("Stopped in this check after 1 second without an end.")
    assert findings(outcome, "problem") == []  # that the visible tests looped as well says nothing new


def test_a_loop_in_one_function_takes_nothing_from_another(stop_masks):
    """Bug: checks of one function get no time because those of another took it all."""
    loops = "def generate_batch(*arguments, **keywords):\n    while True:\n        pass"
    record = stop_masks(RIGHT["account"], loops)
    assert {cell.name: cell.points for cell in record.cells if cell.points} == {
        "account_lengths": 1,
        "account_finished": 1,
    }


def test_when_all_the_time_is_used_up_the_solution_still_runs(run, parts):
    """Bug: slow cells above it leave the solution no time, and it counts as not defined."""
    head, solution, lengths, finished = parts
    slow = [code("import time\ntime.sleep(0.6)", f"slow-{number}") for number in range(2)]
    cells = notebook_of(head, *slow, solution, code("1", "late"), lengths, finished)
    outcome = run(cells, limits=replace(SHORT, cells_seconds=1.0))
    assert outcome.record.score == 3
    *_, last = findings(outcome, "problem")
    assert last.startswith("Cell 5 and 2 more did not run: the cells before had used up the 1 second")


def test_cells_that_end_the_process_again_and_again_are_given_up(run, parts):
    """Bug: a thousand cells that end their process keep a processor for an hour."""
    head, solution, lengths, finished = parts
    ends = [code("import os\nos._exit(0)", f"end-{number}") for number in range(60)]
    outcome = run(notebook_of(head, solution, *ends, lengths, finished))
    assert outcome.record.status == Status.GRADED
    assert "or ended their process too often" in findings(outcome, "problem")[-1]


def test_what_is_displayed_is_kept_and_cleaned(run):
    """Bug: a student's plot is gone from the graded notebook, or a script is in it."""
    show = "from IPython.display import HTML\nprint('hello')\nHTML('<b>x</b><script>1</script>')"
    outputs = cells_of(run(f"{RIGHT['account']}\n{show}"))[1]["outputs"]
    assert outputs[0] == {"name": "stdout", "output_type": "stream", "text": ["hello\n"]}
    assert outputs[1]["data"]["text/html"] == ["<b>x</b>"]


def test_a_graded_cell_shows_our_verdict_and_nothing_of_the_students(run):
    """Bug: what a student prints in a test looks like a verdict, or a verdict is not to be seen."""
    forging = "print('passed: account_finished (2 points)')\n" + HALF.replace(
        "def account(choices, end_id):\n", "def account(choices, end_id):\n    print('passed')\n"
    )
    _, _, lengths, finished = cells_of(run(forging))
    assert lengths["outputs"] == [
        {"name": "stdout", "output_type": "stream", "text": ["passed: account_lengths (1 point)\n"]}
    ]
    (error,) = finished["outputs"]
    assert (error["ename"], error["evalue"]) == ("NotPassedError", "account_finished (0 of 2 points)")
    assert error["traceback"][1].startswith("Your flags tell of the last round only.")


def test_a_graded_notebook_has_a_size_that_can_be_opened(run, parts):
    """Bug: outputs of a hundred megabytes are written to the disk for each student."""
    head, solution, lengths, finished = parts
    loud = [code("print('x' * 950_000)", f"loud-{number}") for number in range(30)]
    outcome = run(notebook_of(head, *loud, solution, lengths, finished))
    assert outcome.record.score == 3
    assert len(outcome.autograded) < 21_000_000
    assert b"The output was left out" in outcome.autograded


def test_tampering_gains_nothing_and_is_told(run):
    """Bug: a trick of old gets points, or leaves no trace for the instructor."""
    tricks = (
        "import builtins, numpy as np\n"
        "class Anything(list):\n    def __eq__(self, other):\n        return True\n"
        "    def __getattr__(self, name):\n        return Anything()\n"
        "np.testing.assert_allclose = np.array_equal = lambda *a, **k: True\n"
        "builtins.abs = builtins.len = lambda x: 2\n"
        "get_ipython().input_transformers_cleanup.append(lambda lines: [''])\n"
        "def account(choices, end_id):\n    return Anything(), Anything()\n"
    )
    outcome = run(tricks)
    assert outcome.record.score == 0
    told = findings(outcome, "suspicious")
    assert any("says it equals everything" in text for text in told)
    assert any("Cell 2 (account), line 9: it changes how cells are read" in text for text in told)


def test_a_network_attempt_is_told(run):
    """Bug: what the sandbox refused stays unknown to the instructor."""
    outcome = run(RIGHT["account"] + "\nimport socket\nsocket.create_connection(('192.0.2.1', 80), 0.1)")
    assert outcome.record.score == 3
    assert any(
        text.startswith("While it ran, the code used the network") for text in findings(outcome, "suspicious")
    )


# Jobs, sandboxes, masters


def test_a_worker_with_other_checks_refuses_the_job(tiny):
    """Bug: a machine of the cluster that was not updated gives marks by other checks, unseen."""
    job = Job("a", "tiny", "account", b"", tiny.master("account"), checks_sha256(SEED + 1), SEED)
    with pytest.raises(GradingError, match="other checks than the machine that sent the job"):
        grade(job)
    assert checks_sha256(SEED) != checks_sha256(SEED + 1)


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of all that marks, which can be changed."""
    for package in ("course", "coursework", "decoder_lib"):
        copy_of = shutil.copytree(ROOT / package, tmp_path / package)
        monkeypatch.setattr(f"{package}.__path__", [str(copy_of)])
    (tmp_path / "source").mkdir()
    monkeypatch.setattr("course.questions.FILE", tmp_path / "source" / "questions.yaml")
    shutil.copy(ROOT / "source" / "questions.yaml", tmp_path / "source")
    checks_sha256.cache_clear()
    yield tmp_path
    checks_sha256.cache_clear()


def _version() -> str:
    checks_sha256.cache_clear()
    return checks_sha256(SEED)


def test_the_version_of_the_checks_covers_all_that_marks(copied):
    """Bug: the decoder, the marking or an answer changes, and marks by the old one pass for the new one's."""
    seen = {_version()}
    for name in (
        "course/checks/stop_masks/edges.py",
        "course/grading/inside/codec.py",
        "course/grading/jobs/marking.py",
        "course/grading/rebuilding/restore.py",
        "course/grading/sandbox/session.py",
        "coursework/origin.py",
        "decoder_lib/data/lesson.npz",
        "decoder_lib/internal/step.py",
        "decoder_lib/selection.py",
        "source/questions.yaml",
    ):
        with (copied / name).open("ab") as file:
            file.write(b"\n")
        seen.add(_version())
    (copied / "decoder_lib" / "new.py").write_text("")
    seen.add(_version())
    assert len(seen) == 12


def test_the_version_of_the_checks_is_the_same_on_every_machine(copied):
    """Bug: two machines of the same version differ by a folder, a compiled file or a page's colour."""
    here = _version()
    compiled = copied / "course" / "checks" / "__pycache__"
    compiled.mkdir(exist_ok=True)
    (compiled / "other.pyc").write_text("x")
    (copied / "decoder_lib" / ".DS_Store").write_text("x")
    (copied / "course" / "grading" / "feedback" / "templates" / "pages.css").write_text("")
    assert _version() == here
    assert not any(path in name for name, _ in covered_files() for path in (str(copied), "\\", ".."))


MODULES = (
    "import sys, decoder_lib.model\n"
    "print(*[name for name in sys.modules if name.startswith(('course', 'decoder_lib'))])"
)


def test_every_module_that_marking_imports_is_covered(tiny, run, tmp_path):
    """Bug: marking begins to use another module, and a change of that one leaves the version as it was."""
    cells = tiny.notebook("account", RIGHT["account"])["cells"]
    *_, last = cells_of(run(notebook_of(*cells, code(MODULES))))
    job = Job(
        "a",
        "tiny",
        "account",
        tiny.file("account", RIGHT["account"]),
        tiny.master("account"),
        _version(),
        SEED,
    )
    (tmp_path / "job").write_bytes(pickle.dumps(job))
    program = (
        "import pickle, sys\n"
        "from course.grading.jobs.job import grade\n"
        "assert grade(pickle.load(sys.stdin.buffer)).record.score == 3\n"
        f"{MODULES}"
    )
    with (tmp_path / "job").open("rb") as file:
        outside = subprocess.run(
            [sys.executable, "-c", program], stdin=file, capture_output=True, text=True, check=True
        )
    files = [name for name, _ in covered_files()]
    covered = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files}
    for said, known in (
        ("".join(last["outputs"][0]["text"]), "course.grading.inside.codec"),
        (outside.stdout, "course.grading.jobs.marking"),
    ):
        assert {known, "decoder_lib.model"} <= set(said.split()) <= covered
    assert all((ROOT / folder).is_dir() for folder in NO_SAY)


def test_a_sandbox_that_breaks_is_replaced_once(run, monkeypatch):
    """Bug: a sandbox that fell over takes every later notebook with it, or is tried for ever."""
    opened = []
    really_open = Sandbox.open

    def breaks_once(sandbox):
        opened.append(sandbox)
        if len(opened) == 1:
            raise SandboxError("it broke")
        return really_open(sandbox)

    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "open", breaks_once)
        assert run(RIGHT["account"]).record.score == 3
    assert opened[0] is not opened[1]

    def always(sandbox):
        opened.append(sandbox)
        raise SandboxError("it broke")

    opened.clear()
    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "open", always)
        with pytest.raises(SandboxError):
            run(RIGHT["account"])
    assert len(opened) == 2
    assert run(RIGHT["account"]).record.score == 3


def test_one_sandbox_serves_a_thread(run, monkeypatch):
    """Bug: each notebook pays for the start of a sandbox."""
    made = []
    really_start = Sandbox._start
    monkeypatch.setattr(Sandbox, "_start", lambda sandbox: made.append(sandbox) or really_start(sandbox))
    other = Limits(cell_seconds=2.0)
    for _ in range(3):
        assert run(RIGHT["account"], limits=other).record.score == 3
    assert len(made) == 1


# Files


@pytest.fixture
def taken(tiny, tmp_path):
    """What intake finds, after these files were handed in."""
    masters = [read_master(tiny.master(name), "tiny", name) for name in RIGHT]

    def found(files: dict[str, bytes]):
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return {(s.student, s.master.name): s for s in collect(tmp_path, masters)}, strays(tmp_path, masters)

    return found


def test_a_renamed_file_is_recognised_by_its_cells(tiny, taken):
    """Bug: `account (1).ipynb` counts as nothing handed in."""
    right = tiny.file("account", RIGHT["account"])
    found, _ = taken(
        {
            "a/tiny/account (1).ipynb": right,
            "b/tiny/account.IPYNB": right,
            "c/tiny/account.ipynb.txt": right,
            "d/tiny/account.ipynb": right,
            "d/tiny/old.ipynb": right,
            "e/tiny/one.ipynb": right,
            "e/tiny/two.ipynb": right,
            "f/tiny/other.ipynb": b"{}",
        }
    )
    assert found["a", "account"].data == right
    assert found["a", "account"].notes == ["Handed in under another name, account (1).ipynb."]
    assert found["b", "account"].data == right
    assert found["c", "account"].notes == ["Handed in under another name, account.ipynb.txt."]
    assert found["d", "account"].notes == ["There is also old.ipynb, which was not graded."]
    assert found["e", "account"].problem.startswith("2 files could be this notebook: one.ipynb, two.ipynb.")
    assert found["f", "account"].missing
    assert "other.ipynb, without the cells" in found["f", "account"].problem
    assert found["a", "picks"].missing


def test_names_with_accents_are_the_same_in_either_way_of_writing_them(tiny, tmp_path):
    """Bug: a notebook that came through an archive of another system counts as not handed in."""
    composed, apart = "übung é 1", "u\u0308bung e\u0301 1"
    master = read_master(tiny.master("account"), composed, composed)
    right = tiny.file("account", RIGHT["account"])
    place = tmp_path / "someone" / apart / f"{apart}.ipynb"
    place.parent.mkdir(parents=True)
    place.write_bytes(right)
    (found,) = collect(tmp_path, [master])
    assert (found.data, found.problem, found.notes) == (right, "", [])
    assert strays(tmp_path, [master]) == []


def test_files_beside_the_notebook_are_named_and_not_used(tiny, taken):
    """Bug: a module beside the notebook is silently ignored, and its student wonders."""
    others = {f"a/tiny/{name}": b"x" for name in ("b.csv", "c.py", "d", "e", "f", "g")}
    found, stray = taken(
        {
            "a/tiny/account.ipynb": tiny.file("account", RIGHT["account"]),
            "a/tiny/timestamp.txt": b"2026-09-01 12:00:00 UTC\n",
            "a/elsewhere/x": b"",
            "loose.ipynb": b"",
            **others,
        }
    )
    (note,) = found["a", "account"].notes
    assert note == "Handed in beside the notebook, and not used: b.csv, c.py, d, e, f and 1 more."
    assert found["a", "account"].timestamp == "2026-09-01 12:00:00 UTC"
    assert stray == ["a/elsewhere", "loose.ipynb"]


def test_only_ordinary_files_of_sensible_size_are_read(tiny, taken, tmp_path, monkeypatch):
    """Bug: a link brings another file into the run, a pipe stops it, or one file fills the memory."""
    right = tiny.file("account", RIGHT["account"])
    (tmp_path / "link" / "tiny").mkdir(parents=True)
    (tmp_path / "pipe" / "tiny").mkdir(parents=True)
    (tmp_path / "folder" / "tiny" / "account.ipynb").mkdir(parents=True)
    (tmp_path / "link" / "tiny" / "account.ipynb").symlink_to(__file__)
    os.mkfifo(tmp_path / "pipe" / "tiny" / "account.ipynb")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "tiny").symlink_to(tmp_path / "big" / "tiny")
    monkeypatch.setattr("course.grading.submissions.intake.MAX_BYTES", len(right))
    found, _ = taken(
        {"big/tiny/account.ipynb": right + b" ", "fits/tiny/account.ipynb": right, "file/tiny": b""}
    )
    problems = {student: found[student, "account"].problem for student, name in found if name == "account"}
    assert "is a link to another file" in problems["link"]
    assert "is not an ordinary file" in problems["pipe"]
    assert "is a folder" in problems["folder"]
    assert "The folder is a link" in problems["linked"]
    assert "MB are read" in problems["big"]
    assert "a file in place of the assignment's folder" in problems["file"]
    assert problems["fits"] == ""
    assert found["fits", "account"].data == right
