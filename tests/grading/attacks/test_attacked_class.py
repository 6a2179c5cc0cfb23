"""A class with attackers in it, graded in one run: they get what they earned, and the others do, too."""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from attack_bench import descendants, processes_of
from nbgrader.api import Gradebook
from tiny_course import HALF, OTHER_HALF, RIGHT, SECRET, WRONG, TinyCourse

from course.grading.records import Status
from course.grading.runs.run import Report, grade_class

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

LIMITS = """
c.GradingLimits.cell_seconds = 2
c.GradingLimits.cells_seconds = 6
c.GradingLimits.call_seconds = 1
c.GradingLimits.checks_seconds = 2
c.GradingLimits.least_seconds = 0.5
c.GradingLimits.memory = 268435456
c.GradingLimits.processes = 12
"""
HONEST = {"a-right": (RIGHT["account"], 3.0), "m-half": (HALF, 1.0), "z-other-half": (OTHER_HALF, 2.0)}
DATABASE = """
import glob, sqlite3
for path in [{path!r}, *glob.glob('/**/gradebook.db', recursive=True), 'gradebook.db', '../../gradebook.db']:
    try:
        with sqlite3.connect(path) as database:
            database.execute('UPDATE grade SET auto_score = 500, manual_score = 500')
            database.execute('UPDATE cell SET max_score = 500')
    except sqlite3.Error as error:
        print(error)
"""
FOLDERS = """
from pathlib import Path
for path in [
    {submitted!r} + '/a-right/tiny/account.ipynb',
    {folder!r} + '/autograded/a-right/tiny/account.ipynb',
    {folder!r} + '/grading.jsonl',
    {root!r} + '/source/tiny/account.md',
    '../a-right/tiny/account.ipynb',
]:
    try:
        print('READ', Path(path).read_text()[:500])
    except OSError as error:
        print(error)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text('x')
    except OSError as error:
        print(error)
"""
SECONDS = str(10**6 + os.getpid())  # that no other process waits
PROCESSES = f"""
import os, subprocess
for _ in range(3):
    subprocess.Popen(['sleep', '{SECONDS}'], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        os.execvp('sleep', ['sleep', '{SECONDS}'])
"""
MEMORY = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        kept = bytearray(90 * 2**20)
        time.sleep(60)
time.sleep(3)
"""


@dataclass
class Graded:
    """What there is after the run."""

    course: TinyCourse
    folder: Path
    report: Report
    before: dict[str, str]
    outside: dict[str, str]

    def score(self, student: str) -> float | None:
        """What a student's record says."""
        (record,) = [r for r in self.report.records if (r.student, r.notebook) == (student, "account")]
        return record.score


def files(top: Path) -> dict[str, str]:
    """A hash of each file below a folder; of a link, where it leads."""
    found = {}
    for path in sorted(top.rglob("*")):
        if path.is_symlink():
            found[str(path)] = str(path.readlink())
        elif path.is_file() and "__pycache__" not in str(path):
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def attacked(course: TinyCourse, name: str, source: str, solution: str = WRONG["account"]) -> None:
    """Hand in a solution with a cell behind it."""
    notebook = course.notebook("account", solution)
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    notebook["cells"].insert(2, cell)
    course.hand_in(name, "account", notebook)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Graded first with the honest students alone, and then again with the others among them."""
    course = TinyCourse(tmp_path_factory.mktemp("root"))
    folder = tmp_path_factory.mktemp("folder")
    course.submitted = folder / "submitted"
    with (course.root / "nbgrader_config.py").open("a") as settings:
        settings.write(LIMITS)
    for student, (solution, _) in HONEST.items():
        course.hand_in(student, "account", solution)
    grade_class(course.root, folder, workers=1)
    places = {"submitted": str(course.submitted), "folder": str(folder), "root": str(course.root)}
    attacked(course, "b-database", DATABASE.format(path=str(folder / "gradebook.db")))
    attacked(course, "c-folders", FOLDERS.format(**places))
    attacked(course, "d-processes", PROCESSES)
    attacked(course, "e-exit", "import os; os._exit(0)")
    attacked(course, "f-memory", MEMORY, HALF)
    attacked(course, "g-reader", "print(In[-1], In)\n!cat /proc/*/environ\n!ls -R /work /home /root")
    attacked(course, "h-blanks", "get_ipython().input_transformers_cleanup.append(lambda lines: [])")
    course.hand_in("i-loops", "account", OTHER_HALF + "\nwhile True:\n    pass")
    twice = course.notebook("account", HALF)
    twice["cells"] += twice["cells"][1:]
    twice["cells"][1]["metadata"]["nbgrader"]["schema_version"] = 99
    for cell in twice["cells"][2:4]:
        cell["metadata"]["nbgrader"]["points"] = 500
    course.hand_in("j-twice", "account", twice)
    course.hand_in("k-link", "account", WRONG["account"])
    place = course.submitted / "k-link" / "tiny"
    (place / "data.db").symlink_to(folder / "gradebook.db")
    (place / "picks.ipynb").symlink_to(course.root / "build" / "source" / "tiny" / "picks.ipynb")
    course.hand_in("l-cut-off", "account", course.file("account", HALF)[:900])
    (course.submitted / "n-linked").mkdir()
    (course.submitted / "n-linked" / "tiny").symlink_to(course.submitted / "a-right" / "tiny")
    before, outside = files(course.submitted), files(course.root)
    report = grade_class(course.root, folder, workers=2)
    return Graded(course, folder, report, before, outside)


EXPECTED = {
    **{student: score for student, (_, score) in HONEST.items()},
    **dict.fromkeys(
        ["b-database", "c-folders", "d-processes", "e-exit", "g-reader", "h-blanks", "k-link"], 0.0
    ),
    "f-memory": 1.0,
    "i-loops": 2.0,
    "j-twice": 1.0,
    "l-cut-off": None,
    "n-linked": None,
}


@pytest.mark.parametrize("student", EXPECTED)
def test_each_gets_what_was_earned(graded: Graded, student: str) -> None:
    """Bug: an attack changes a mark, its own or another's, or takes students after it out of the run."""
    assert graded.score(student) == EXPECTED[student]


def test_a_linked_notebook_is_not_read(graded: Graded) -> None:
    """Bug: a link to the master, with the answer in it, is graded as the student's own work."""
    (record,) = [r for r in graded.report.records if (r.student, r.notebook) == ("k-link", "picks")]
    assert (record.status, record.score) == (Status.FAILED, None)
    assert "is a link" in record.problem


def test_the_gradebook_has_just_these_marks(graded: Graded) -> None:
    """Bug: a mark of 500 of 13 was exported; or a failure stands there as 0."""
    with Gradebook(f"sqlite:///{graded.folder / 'gradebook.db'}", "autoregressive-generation") as gradebook:
        found = {}
        for submission in gradebook.assignment_submissions("tiny"):
            for notebook in submission.notebooks:
                if notebook.name == "account":
                    scores = [grade.auto_score for grade in notebook.grades]
                    assert [grade.manual_score for grade in notebook.grades if grade.manual_score] == []
                    known = None not in scores and scores
                    found[submission.student.id] = sum(scores) if known else None
        assert {s: found.get(s) for s in EXPECTED} == EXPECTED
        cells = gradebook.find_notebook("account", "tiny").grade_cells
        assert sum(cell.max_score for cell in cells) == 3.0


def test_nothing_but_the_results_was_written(graded: Graded) -> None:
    """Bug: another student's folder, the course, or something outside the class's folder changes."""
    assert files(graded.course.submitted) == graded.before
    assert files(graded.course.root) == graded.outside
    known = {"submitted", "autograded", "feedback", "gradebook.db", "grading.jsonl", "grading.log"}
    assert {path.name for path in graded.folder.iterdir() if path.name[0] != "."} == known


def test_nothing_hidden_and_nobody_elses_is_in_what_students_get(graded: Graded) -> None:
    """Bug: feedback shows hidden tests, a linked gradebook, or another student's work."""
    pages = list((graded.folder / "feedback").rglob("*"))
    assert all(path.is_dir() or path.suffix == ".html" for path in pages)
    for path in pages:
        if path.is_file():
            text = path.read_text()
            assert SECRET not in text
            assert "SQLite format" not in text
            assert "lengths += ~finished" not in text or path.parts[-3] not in ("g-reader", "c-folders")
    assert not [path for path in (graded.folder / "autograded").rglob("*") if path.is_symlink()]
    for student in ("g-reader", "c-folders"):
        notebook = json.loads(
            (graded.folder / "autograded" / student / "tiny" / "account.ipynb").read_bytes()
        )
        shown = json.dumps([cell.get("outputs") for cell in notebook["cells"]])
        assert SECRET not in shown
        assert "READ" not in shown


def test_no_process_is_left(graded: Graded) -> None:
    """Bug: what a student's code started survives the run."""
    assert processes_of(f"sleep {SECONDS}") == []
    assert [line for line in descendants() if "course.grading.inside" in line] == []


def test_the_next_run_has_nothing_to_do(graded: Graded) -> None:
    """Bug: a submission that went wrong is graded again and again."""
    again = grade_class(graded.course.root, graded.folder, workers=1)
    assert again.graded_now == 0
    assert {r.student: r.score for r in again.records if r.notebook == "account"} == EXPECTED
    assert all(r.status != Status.GRADED for r in again.records if r.score is None)
