"""nbgrader's commands and formgrader's buttons: they grade as `course grade` does, and nothing runs there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from gradebook_examples import by_hand, comment
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from tiny_course import ASSIGNMENT, HALF, RIGHT, TinyCourse

from course.files import ROOT
from course.grading.gradebook.writer import GradebookWriter
from course.grading.masters import load_masters
from course.grading.records import Status, latest
from course.grading.settings import load_settings


class Class:
    """A copy of the course that a test may grade in."""

    def __init__(self, root: Path) -> None:
        self.course = TinyCourse.__new__(TinyCourse)
        self.course.root, self.course.submitted = root, root / "submitted"
        self.root, self.hand_in = root, self.course.hand_in
        self.url = f"sqlite:///{root / 'gradebook.db'}"

    def api(self, **exchange):
        """What formgrader's buttons call."""
        config = load_settings(self.root)
        config.CourseDirectory.merge({"root": str(self.root), "db_url": self.url})
        config.Exchange.merge(exchange)
        return NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)

    def records(self):
        """The records by student and notebook."""
        found = latest(self.root / "grading.jsonl")
        return {(student, notebook): record for (student, _, notebook), record in found.items()}

    def page(self, student, notebook="account"):
        """The page for a student."""
        return (self.root / "feedback" / student / ASSIGNMENT / f"{notebook}.html").read_text()

    def nbgrader(self, *arguments):
        """Run nbgrader as an instructor does."""
        return subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """The course with a gradebook that knows it, which takes nbgrader seconds to set up."""
    course = TinyCourse(tmp_path_factory.mktemp("course"))
    with GradebookWriter(load_settings(course.root), f"sqlite:///{course.root / 'gradebook.db'}") as writer:
        writer.register(load_masters(course.root / "build" / "source"))
    return course.root


@pytest.fixture
def tiny(prepared, tmp_path):
    """A class of one's own."""
    shutil.copytree(prepared, tmp_path / "class")
    return Class(tmp_path / "class")


def test_nbgraders_command_grades_as_the_course_does(tiny):
    """Bug: `nbgrader autograde` runs student code unguarded, ends at a broken file, or exits with 0."""
    tiny.hand_in("ada", "account", RIGHT["account"])
    tiny.hand_in("bob", "account", b"{ cut off")
    tiny.hand_in("eve", "account", HALF)
    done = tiny.nbgrader("autograde", ASSIGNMENT, "--create")
    assert done.returncode == 1
    assert "bob, account was not graded: " in done.stderr
    assert "1 of 6 notebooks could not be graded" in done.stderr
    assert "Traceback" not in done.stderr
    records = tiny.records()
    assert (records["ada", "account"].score, records["eve", "account"].score) == (3.0, 1.0)
    assert records["bob", "account"].status == Status.FAILED
    assert records["ada", "picks"].status == Status.MISSING
    assert {cell.challenge for cell in records["ada", "account"].cells} == {"stop_masks"}
    (line,) = [x for x in tiny.api().get_notebook_submissions(ASSIGNMENT, "account") if x["student"] == "bob"]
    assert (line["needs_manual_grade"], line["failed_tests"]) == (True, False)


def test_the_button_grades_the_student_it_stands_beside(tiny):
    """Bug: formgrader's button grades everybody, or nobody whose name has a bracket in it."""
    for student in ("a[1]", "a1", "zoë"):
        tiny.hand_in(student, "account", RIGHT["account"])
    api = tiny.api()
    done = api.autograde(ASSIGNMENT, "a[1]")
    assert done["success"], done
    assert "a[1], account: graded" in done["log"]
    assert {student for student, _ in tiny.records()} == {"a[1]"}
    (submission,) = [line for line in api.get_submissions(ASSIGNMENT) if line["student"] == "a[1]"]
    assert (submission["autograded"], submission["score"], submission["max_score"]) == (True, 3.0, 3.0)
    tiny.hand_in("a[1]", "account", b"{")
    done = api.autograde(ASSIGNMENT, "a[1]")
    assert not done["success"]
    assert "was not graded" in done["log"]


def test_a_command_for_some_is_for_them(tiny):
    """Bug: --student, --notebook and what is left out mean something else than in nbgrader."""
    for student in ("ada", "adam", "bob"):
        for notebook in ("account", "picks"):
            tiny.hand_in(student, notebook, RIGHT[notebook])
    api = tiny.api()
    api.coursedir.notebook_id, api.coursedir.student_id_exclude = "p*", "adam,carol"
    assert api.autograde(ASSIGNMENT, "ad*")["success"]
    assert list(tiny.records()) == [("ada", "picks")]
    api.coursedir.notebook_id = "*"
    done = api.autograde(ASSIGNMENT, "bob", create=False)
    assert not done["success"]
    assert "No student with ID 'bob' exists in the database" in done["log"]
    assert list(tiny.records()) == [("ada", "picks")]


@pytest.mark.parametrize(
    ("assignment", "student", "notebook", "sentence"),
    [
        ("tniy", "*", "*", "There is no assignment tniy; there are tiny."),
        (ASSIGNMENT, "nobody", "*", "is meant by nobody, so nothing was graded"),
        (ASSIGNMENT, "*", "x*", "is meant by x*; there are account, picks"),
    ],
)
def test_what_is_not_there_is_said(tiny, assignment, student, notebook, sentence):
    """Bug: a name with a slip in it grades the whole class, or nothing without a word."""
    tiny.hand_in("ada", "account", RIGHT["account"])
    api = tiny.api()
    api.coursedir.notebook_id = notebook
    done = api.autograde(assignment, student)
    assert not done["success"]
    assert sentence in done["log"]
    assert not tiny.records()


def test_feedback_has_what_persons_gave_since(tiny):
    """Bug: the button for feedback makes a page with the hidden tests, or one without the comments."""
    for student in ("ada", "eve"):
        tiny.hand_in(student, "account", HALF)
    api = tiny.api()
    done = api.generate_feedback(ASSIGNMENT)
    assert not done["success"]
    assert f'nbgrader autograde "{ASSIGNMENT}"' in done["log"]
    assert api.autograde(ASSIGNMENT, "*")["success"]
    record = tiny.records()["ada", "account"]
    comment(tiny.url, record, "account", "Look at the last round.")
    by_hand(tiny.url, record, "account-finished", 1.5)
    before = tiny.page("eve")
    assert "Look at the last round." not in tiny.page("ada")
    assert api.generate_feedback(ASSIGNMENT, "ada")["success"]
    assert "Look at the last round." in tiny.page("ada")
    assert "only-in-the-hidden-tests" not in tiny.page("ada")
    assert tiny.page("eve") == before
    (tiny.root / "autograded" / "ada" / ASSIGNMENT / "account.ipynb").unlink()
    (tiny.root / "feedback" / "eve" / ASSIGNMENT / "account.html").unlink()
    done = api.generate_feedback(ASSIGNMENT)
    assert not done["success"]
    assert "ada, account" in done["log"]
    assert tiny.page("eve") == before


def test_the_exchange_works_as_nbgrader_has_it(tiny, tmp_path):
    """Bug: a release, a collection or a returned page fails because of what was put in nbgrader's place."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    cache = tmp_path / "cache"
    api = tiny.api(root=str(exchange), cache=str(cache), assignment_dir=str(tmp_path / "home"))
    assert api.release_assignment(ASSIGNMENT)["success"]
    home = tmp_path / "home" / ASSIGNMENT
    shutil.copytree(tiny.root / "release" / ASSIGNMENT, home)
    (home / "account.ipynb").write_bytes(tiny.course.file("account", RIGHT["account"]))
    api.coursedir.assignment_id = ASSIGNMENT
    factory = ExchangeFactory(config=api.config)
    factory.Submit(coursedir=api.coursedir, authenticator=api.authenticator, config=api.config).start()
    assert api.collect(ASSIGNMENT)["success"]
    (student,) = [path.name for path in tiny.course.submitted.iterdir()]
    done = api.autograde(ASSIGNMENT, student)
    assert done["success"], done
    assert tiny.records()[student, "account"].score == 3.0
    (line,) = api.get_submissions(ASSIGNMENT)
    assert line["autograded"]
    assert line["timestamp"]
    assert api.generate_feedback(ASSIGNMENT, student)["success"]
    done = api.release_feedback(ASSIGNMENT, student)
    assert done["success"], done
    returned = (exchange / "autoregressive-generation" / "feedback").glob("*.html")
    pages = {tiny.page(student, notebook) for notebook in ("account", "picks")}
    assert {path.read_text() for path in returned} == pages


HOSTILE = """# An answer
<script>attack(1)</script> <img src=x onerror="attack(2)"> <a href="javascript:attack(3)">here</a>
<svg onload="attack(4)"></svg> <button class="full-credit" id="essay">press</button>
<span class="full-credit" id="essay-comment" style="position:fixed;top:0">press</span>
<style>body { display: none }</style> <iframe src="data:text/html,<script>attack(5)</script>"></iframe>
<form action="/formgrader/api/grade/1"><input name="manual_score"></form> <img src="https://example.org/seen">

*plain* $x^2$ [a link](https://example.org) `code`
"""


def shown(tiny, monkeypatch, cells, **resources):
    """formgrader's page for a notebook, made as its server makes it."""
    monkeypatch.chdir(tiny.root)
    path = tiny.root / "autograded" / "ada" / ASSIGNMENT / "account.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    extension = FormgradeExtension()
    extension.root_dir = str(tiny.root)
    extension.initialize([])
    webapp = SimpleNamespace(settings={})
    extension.init_tornado_settings(webapp)
    about = {"base_url": "", "student": "ada", "index": 0, "total": 1, "submission_id": "1"}
    about |= {"notebook_id": "account", "assignment_id": ASSIGNMENT, "notebook_path": "x"}
    html, _ = webapp.settings["nbgrader_exporter"].from_filename(str(path), resources=about | resources)
    return BeautifulSoup(html, "html.parser")


def outputs():
    """What a hostile solution displays, before any cleaning."""
    data = [
        {"text/html": HOSTILE},
        {"text/markdown": HOSTILE},
        {"application/javascript": "attack(6)"},
        {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='attack(7)'/>"},
        {"text/plain": "</pre><script>attack(8)</script>"},
        {"application/vnd.jupyter.widget-view+json": {"model_id": "attack(9)"}},
    ]
    return [nbformat.v4.new_output("display_data", each) for each in data]


def test_nothing_that_a_student_wrote_runs_in_formgrader(tiny, monkeypatch):
    """Bug: a script in a submission changes marks with the rights of the instructor who opens it."""
    essay = nbformat.v4.new_markdown_cell(HOSTILE, id="essay")
    essay.metadata["nbgrader"] = {
        "grade": True, "solution": True, "locked": False, "task": False,
        "grade_id": "essay", "points": 3, "schema_version": 3,
    }  # fmt: skip
    own = nbformat.v4.new_markdown_cell(HOSTILE)
    code = nbformat.v4.new_code_cell("'</pre><script>attack(0)</script>'", outputs=outputs())
    raw = nbformat.v4.new_raw_cell(HOSTILE, metadata={"raw_mimetype": "text/html"})
    page = shown(tiny, monkeypatch, [essay, own, code, raw])
    notebook = page.find(id="notebook-container")
    assert "An answer" in notebook.text
    assert notebook.find("em", string="plain")
    assert "$x^2$" in notebook.text
    assert notebook.find("a", href="https://example.org")
    assert not notebook.find_all(["script", "iframe", "svg", "style", "form", "object", "embed"])
    for tag in notebook.find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on")], tag
        assert not str(tag.get("href", "")).startswith("javascript:")
        assert str(tag.get("src", "data:")).startswith("data:")
        assert "fixed" not in str(tag.get("style", ""))
    scripts = [script.get("src") or script.string or "" for script in page.find_all("script")]
    assert not [script for script in scripts if "attack" in script]
    # The page's own controls are the only ones that formgrader's scripts find.
    assert [tag.name for tag in notebook.select(".full-credit")] == ["button"]
    assert notebook.select_one(".full-credit").text == "Full credit"
    assert [tag.name for tag in notebook.find_all(id="essay")] == ["input"]
    assert [tag.name for tag in notebook.find_all(id="essay-comment")] == ["textarea"]
    assert len(notebook.find_all(["input", "textarea"])) == 3


def test_a_students_name_is_no_markup_in_formgrader(tiny, monkeypatch):
    """Bug: a name from the students' platform is a script on the page where marks are given."""
    name = "<img src=x onerror=attack()>"
    page = shown(tiny, monkeypatch, [], student=name, last_name=None, first_name=None)
    assert name in page.find(class_="name-shown").text
    assert not page.find_all("img")


def test_what_is_too_much_to_clean_is_shown_as_text(tiny, monkeypatch):
    """Bug: a page of a million tags stops formgrader's server, or is let through as it is."""
    display = nbformat.v4.new_output("display_data", {"text/html": "<b onclick='attack()'>" * 20_000})
    cells = [nbformat.v4.new_markdown_cell("<b>" * 50_000), nbformat.v4.new_code_cell("1", outputs=[display])]
    page = shown(tiny, monkeypatch, cells)
    assert not page.find(id="notebook-container").find_all("b")
