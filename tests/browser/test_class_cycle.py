"""A class from release to marks, as a student and an instructor see it in JupyterLab with nbgrader."""

import ast
import csv
import os
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from class_cycle import ASSIGNMENT, Instructor, Student, window
from lab import ROOT, Lab, serving
from playwright.sync_api import Browser, expect

SECTION = "12-stop-masks"
MARKED, COMMENTED = "stop-masks-own-generators", "generate-batch"
COMMENT = "Each row keeps its own generator. Half a point off for a name that misleads."
BANK = ROOT / "tests" / "submissions"
RIGHT = BANK / "correct" / "stop_masks" / "lists_of_live_rows.py"
WRONG = BANK / "misconceptions" / "stop_masks" / "B05_flags_of_one_round.py"
ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]'


class Class:
    """Where the class and its first student work."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder, self.exchange, self.home = root / "class", root / "exchange", root / "ada"
        self.exchange.mkdir()
        self.exchange.chmod(0o777)  # where students hand in
        self.folder.mkdir()
        for name in ("source", "release"):
            shutil.copytree(ROOT / name, self.folder / name)
        shutil.copy(ROOT / "nbgrader_config.py", self.folder)
        (self.home / "work").mkdir(parents=True)

    def lab_of_student(self) -> AbstractContextManager[Lab]:
        """The student's JupyterLab."""
        course = f"c.CourseDirectory.course_id = {ASSIGNMENT!r}\nc.CourseDirectory.student_id = 'ada'\n"
        return self._lab(self.home / "work", self.home, course)

    def lab_of_instructor(self) -> AbstractContextManager[Lab]:
        """The instructor's."""
        return self._lab(self.folder, self.root / "instructor", "")

    def _lab(self, folder: Path, home: Path, settings: str) -> AbstractContextManager[Lab]:
        config = home / "config"
        config.mkdir(parents=True)
        exchange = f"c = get_config()\nc.Exchange.root = {str(self.exchange)!r}\n"
        (config / "nbgrader_config.py").write_text(exchange + settings)
        return serving(folder, config, HOME=str(home), JUPYTER_DATA_DIR=str(home / "data"))

    def course(self, *arguments: str) -> str:
        """Run a `course` command as an instructor does; what it prints."""
        command = [sys.executable, "-m", "course", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def marks(self) -> dict[str, dict[str, str]]:
        """What `course export` writes for the section, a row a student."""
        self.course("export", str(self.folder))
        with (self.folder / "grades.csv").open(newline="") as file:
            return {row["student_id"]: row for row in csv.DictReader(file) if row["notebook"] == SECTION}


def functions(path: Path) -> dict[str, str]:
    """What a student would type into each of the section's cells."""
    text = path.read_text()
    defined = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: f"import numpy as np\n\n\n{ast.get_source_segment(text, node)}" for node in defined}


def release(instructor: Instructor) -> None:
    """Make the students' version and hand it out."""
    instructor.choose("Formgrader")
    assert "Successfully created" in instructor.press(ASSIGNMENT, "assign")
    assert "Successfully released" in instructor.press(ASSIGNMENT, "release")


def hand_in(student: Student, lab: Lab) -> None:
    """Fetch, solve, validate and submit one section; the others are not handed in."""
    student.fetch()
    student.open_notebook(SECTION)
    student.type_into("account", functions(WRONG)["account"])
    said = student.validate()
    assert "a length counts the tokens up to and including the end token" in said
    assert "in the worked example the lengths are [2, 3]; yours are" in said
    assert "HIDDEN" not in said
    for name, source in functions(RIGHT).items():
        student.type_into(name, source)
    lab.run_all(student.page)
    assert student.page.locator(ERROR).count() == 0
    assert "Success! Your notebook passes all the tests." in student.validate()
    for path in (lab.folder / ASSIGNMENT).glob("*.ipynb"):
        if path.stem != SECTION:
            path.unlink()
    expect(student.submit()).to_have_count(1)


def grade(instructor: Instructor, room: Class) -> None:
    """Collect, and press the button beside each of the two students."""
    assert "Collecting submission: ada" in instructor.press(ASSIGNMENT, "collect")
    sent_by_mail = room.folder / "submitted" / "bob" / ASSIGNMENT / f"{SECTION}.ipynb"
    sent_by_mail.parent.mkdir(parents=True)
    sent_by_mail.write_bytes((room.folder / "release" / ASSIGNMENT / sent_by_mail.name).read_bytes()[:3000])
    instructor.manage_submissions()
    assert "needs autograding" in instructor.row("ada").inner_text()
    assert f"ada, {SECTION}: graded" in instructor.press("ada", "autograde")
    expect(instructor.row("ada").locator(".score")).to_have_text("10 / 49")
    expect(instructor.row("ada").locator(".status")).to_have_text("graded")
    said = instructor.press("bob", "autograde")
    assert f"bob, {SECTION} was not graded: The file is not a whole notebook" in said
    expect(instructor.row("bob").locator(".status")).to_have_text("needs manual grading")


def look_at_what_failed(instructor: Instructor) -> None:
    """A file that could not be graded waits for a person, and its reason is on its page."""
    instructor.list_submissions(SECTION)
    waiting = instructor.table().locator("tr", has=instructor.page.locator(".needs-manual-grade span"))
    expect(waiting.locator("a.name-shown")).to_have_text("bob")
    instructor.open_submission("bob")
    body = instructor.formgrader.locator("body")
    for text in ("Not graded", "The file is not a whole notebook", "This is not a zero."):
        expect(body).to_contain_text(text)
    # A field shows a mark as its value, and the points of a check, a zero too, as its placeholder.
    empty = "input.score.needs_manual_grade:not([placeholder])"
    expect(instructor.formgrader.locator(empty)).to_have_count(8)
    for score in instructor.formgrader.locator("input.score").all():
        expect(score).to_have_value("")


def mark_by_hand(instructor: Instructor) -> None:
    """Give a mark and a comment with formgrader's own keys, and go on to the next submission."""
    instructor.list_submissions(SECTION)
    instructor.open_submission("ada")
    score = instructor.formgrader.locator(f"#{MARKED}")
    expect(score).to_have_attribute("placeholder", "2")
    instructor.give(f"#{MARKED}", "1.5")
    expect(score).not_to_be_focused()
    instructor.give(f"#{COMMENTED}-comment", COMMENT, then="Control+.")


def see_the_mark(instructor: Instructor) -> None:
    """The mark and the comment stand where they were given."""
    instructor.list_submissions(SECTION)
    line = instructor.table().locator("tr", has=instructor.page.locator('a.name-shown:text-is("ada")'))
    expect(line.locator(".score")).to_have_text("9.5 / 10")
    instructor.open_submission("ada")
    expect(instructor.formgrader.locator(f"#{MARKED}")).to_have_value("1.5")
    expect(instructor.formgrader.locator(f"#{COMMENTED}-comment")).to_have_value(COMMENT)


def standing(marks: dict[str, dict[str, str]]) -> dict[str, tuple[str, str]]:
    """Status and score of each student."""
    return {student: (row["status"], row["score"]) for student, row in marks.items()}


def test_a_class_from_release_to_marks(browser: Browser, tmp_path: Path) -> None:
    """Bug: a step of the class that works on a command line and not in JupyterLab, or a mark that is lost."""
    room = Class(tmp_path)
    with (
        room.lab_of_instructor() as office,
        room.lab_of_student() as desk,
        window(browser, Instructor) as instructor,
        window(browser, Student) as student,
    ):
        instructor.open(office)
        release(instructor)
        student.open(desk)
        hand_in(student, desk)
        grade(instructor, room)
        look_at_what_failed(instructor)
        mark_by_hand(instructor)
        marks = room.marks()
        assert standing(marks) == {"ada": ("graded", "9.5"), "bob": ("failed", "")}
        room.course("grade", str(room.folder), "--force")
        assert standing(room.marks()) == standing(marks)
        see_the_mark(instructor)
        instructor.manage_submissions()
        assert "Successfully generated feedback" in instructor.press("ada", "generate-feedback")
        assert "Successfully released feedback" in instructor.press("ada", "release-feedback")
        expect(student.fetch_feedback()).to_be_visible()
        (feedback,) = (desk.folder / ASSIGNMENT / "feedback").glob(f"*/{SECTION}.html")
        assert COMMENT in feedback.read_text()
        assert student.problems == []
        assert instructor.problems == []
