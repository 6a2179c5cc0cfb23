"""The gradebook, in SQLite and in PostgreSQL: automatic scores go in, what persons gave stays."""

import shutil
import sqlite3
import threading
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from gradebook_examples import (
    ASSIGNMENT,
    by_hand,
    comment,
    failed,
    graded_cell,
    grades,
    master,
    missing,
    mixed,
    mixed_record,
    opened,
    settings,
    short,
    short_record,
    solution,
)
from nbgrader.api import MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from postgresql import postgresql  # noqa: F401 - a fixture
from sqlalchemy import event

from course.grading.errors import GradingError
from course.grading.export.standing import read_rows
from course.grading.gradebook.registering import _registered
from course.grading.gradebook.writer import GradebookWriter
from course.grading.nbgrader_side.converters import GENERATE_ASSIGNMENT
from course.grading.records import Status
from course.grading.standing import ManualMarks, standing
from coursework.origin import to_bytes

LATE = "2026-03-02 10:00:00 UTC"


@pytest.fixture(scope="session")
def in_sqlite(tmp_path_factory):
    """A gradebook that knows the assignment, to copy from: to set one up takes nbgrader seconds."""
    return set_up(f"sqlite:///{tmp_path_factory.mktemp('gradebook') / 'gradebook.db'}")


@pytest.fixture(scope="session")
def in_postgresql(postgresql):  # noqa: F811
    """The same on a server."""
    return set_up(postgresql.new_database())


def set_up(url):
    """Make a gradebook."""
    with GradebookWriter(settings(), url) as writer:
        writer.register([mixed(), short()])
    return url


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def registered(request):
    """The gradebook to copy from, of either kind."""
    return request.getfixturevalue(f"in_{request.param}")


@pytest.fixture
def url(request, registered, tmp_path):
    """Where the test's own copy of the gradebook is."""
    path = tmp_path / "grade [book] é.db"
    if registered.startswith("sqlite"):
        shutil.copy(registered.removeprefix("sqlite:///"), path)
        return f"sqlite:///{path}"
    return request.getfixturevalue("postgresql").new_database(like=registered)


@pytest.fixture
def writer(url):
    """A gradebook that knows the assignment."""
    with GradebookWriter(settings(), url) as writer:
        yield writer


class API:
    """What formgrader shows: nbgrader's own interface, with files where grading leaves them."""

    def __init__(self, folder, url) -> None:
        self.folder = folder
        config = settings()
        config.CourseDirectory.merge({"root": str(folder), "db_url": url})
        self.api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
        (folder / "build" / "source" / ASSIGNMENT).mkdir(parents=True)

    def lay_out(self, record) -> None:
        """Put a file into submitted/ and autograded/."""
        for step in ("submitted", "autograded"):
            path = self.folder / step / record.student / record.assignment / f"{record.notebook}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(nbformat.v4.new_notebook(), path)

    def notebook(self, record):
        """The line of a notebook in formgrader's manual grading; None if it lists none."""
        found = self.api.get_notebook_submissions(record.assignment, record.notebook)
        return next((line for line in found if line["student"] == record.student), None)

    def submission(self, record):
        """The student's line of the assignment."""
        found = self.api.get_submissions(record.assignment)
        return next(line for line in found if line["student"] == record.student)


@pytest.fixture
def api(tmp_path, url):
    """formgrader on the same gradebook."""
    return API(tmp_path / "class", url)


def due(url, when=datetime(2026, 3, 1), extension=None):
    """Give the assignment a due date."""
    with opened(url) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=when)
        if extension:
            gradebook.find_submission(ASSIGNMENT, "ada").extension = extension
            gradebook.db.commit()


def test_points_reach_the_gradebook_and_formgrader(writer, url, api):
    """Bug: a score is lost or doubled, or formgrader asks a person to look at what needs nobody."""
    record = short_record(points=0.0)
    api.lay_out(record)
    assert writer.write(record).as_record() == record
    assert grades(url, record) == {"short-test": (0.0, None, False)}
    line = api.notebook(record)
    assert (line["score"], line["max_score"]) == (0.0, 1.0)
    assert (line["failed_tests"], line["needs_manual_grade"]) == (True, False)
    better = replace(short_record(), student=record.student)
    assert writer.write(better).score == 1.0
    assert (api.notebook(record)["score"], api.notebook(record)["failed_tests"]) == (1.0, False)
    assert (api.submission(record)["score"], api.submission(record)["autograded"]) == (1.0, True)


def test_a_notebook_needs_a_person_until_its_last_mark_is_given(writer, url, api):
    """Bug: an essay counts as zero, or a class stays unfinished after every essay has been read."""
    record = mixed_record()
    api.lay_out(record)
    assert writer.write(record).as_record() == record
    assert grades(url, record)["essay"] == (None, None, True)
    assert api.notebook(record)["needs_manual_grade"] is True
    by_hand(url, record, "essay", 2.5)
    assert (writer.standing(record).status, writer.standing(record).score) == (Status.NEEDS_PERSON, 4.5)
    by_hand(url, record, "chores", 0.0)
    graded = writer.standing(record).as_record()
    assert (graded.status, graded.score, graded.cells) == (Status.GRADED, 4.5, record.cells)
    assert writer.write(record).as_record() == graded
    assert writer.write(graded).as_record() == graded
    assert writer.holds(graded)
    assert writer.holds(record)
    assert api.notebook(record)["needs_manual_grade"] is False
    by_hand(url, record, "chores", None)
    assert writer.standing(graded).status == Status.NEEDS_PERSON


def test_what_persons_gave_survives_a_regrade(writer, url):
    """Bug: grading again overwrites a mark, extra credit or a comment that a person gave."""
    record = mixed_record()
    writer.write(record)
    by_hand(url, record, "count", 1.5, extra=0.5)
    by_hand(url, record, "essay", 3.0)
    comment(url, record, "essay", 'Näht gut, "so" weiter\'s')
    for again in (mixed_record(count=0.0), failed(record), record):
        writer.write(again)
        marks = writer.standing(record).manual
        assert marks.scores == {"count": 1.5, "essay": 3.0}
        assert marks.extra == {"count": 0.5}
        assert marks.comments == {"essay": 'Näht gut, "so" weiter\'s'}
    assert grades(url, record) == {
        "count": (2.0, 1.5, False),
        "essay": (None, 3.0, False),
        "chores": (None, None, True),
    }
    with opened(url) as gradebook:
        assert gradebook.find_submission_notebook("mixed", ASSIGNMENT, "ada").score == 5.0
    assert writer.standing(record).score == 5.0


def test_a_mark_for_an_earlier_file_is_to_be_looked_at_again(writer, url):
    """Bug: a student hands in another essay, and the mark of the first one stands without a word."""
    record = mixed_record()
    writer.write(record)
    by_hand(url, record, "essay", 3.0)
    by_hand(url, record, "chores", 1.0)
    assert writer.write(record, resubmitted=True).score == 6.0
    assert grades(url, record) == {
        "count": (2.0, None, False),
        "essay": (None, 3.0, True),
        "chores": (None, 1.0, True),
    }
    by_hand(url, record, "essay", 2.0)
    writer.write(record)
    assert [each[2] for each in grades(url, record).values()].count(True) == 1


def test_a_failed_notebook_waits_for_a_person_with_its_reason(writer, url, api):
    """Bug: a failure is a zero, is not in formgrader's list, or nobody there learns what happened."""
    record = failed(short_record(), "It ran out of memory.\0\nAsk.")
    api.lay_out(record)
    assert writer.write(record).as_record() == record
    assert grades(url, record) == {"short-test": (None, None, True)}
    line = api.notebook(record)
    assert (line["needs_manual_grade"], line["failed_tests"]) == (True, False)
    assert api.submission(record)["needs_manual_grade"] is True
    with opened(url) as gradebook:
        shown = gradebook.find_comment("short", "short", ASSIGNMENT, "ada")
        assert shown.auto_comment.startswith("It ran out of memory.")
        assert shown.manual_comment is None
    by_hand(url, record, "short-test", 0.5)
    graded = writer.standing(record).as_record()
    assert (graded.status, graded.score, graded.problem) == (Status.GRADED, 0.5, record.problem)
    assert writer.write(graded).as_record() == graded
    assert writer.holds(graded)
    assert writer.holds(record)
    by_hand(url, record, "short-test", None)
    assert (writer.standing(graded).status, writer.standing(graded).score) == (Status.FAILED, None)
    writer.write(short_record())
    with opened(url) as gradebook:
        assert gradebook.find_comment("short", "short", ASSIGNMENT, "ada").auto_comment is None


def test_what_was_not_handed_in_has_no_rows(writer, url, api):
    """Bug: nbgrader counts a notebook that was not handed in as a zero, or waits for a person to grade it."""
    record = short_record()
    api.lay_out(record)
    writer.write(record)
    assert writer.write(missing(mixed_record())).status == Status.MISSING
    assert api.notebook(mixed_record()) is None
    assert api.submission(record)["needs_manual_grade"] is False
    (line,) = api.api.get_student_notebook_submissions("ada", ASSIGNMENT)
    assert line["name"] == "short"
    assert [each["num_submissions"] for each in api.api.get_notebooks(ASSIGNMENT)] == [0, 1]
    assert api.api.get_student_submissions("ada")[0]["score"] == 1.0
    assert api.api.get_assignment(ASSIGNMENT)["average_score"] == 1.0
    assert writer.holds(missing(mixed_record()))
    assert not writer.holds(missing(record))
    assert not writer.holds(mixed_record())
    assert writer.standing(mixed_record()).manual == ManualMarks()
    assert not writer.holds(missing(short_record("nobody-handed-in")))
    writer.write(missing(short_record("nobody-handed-in")))
    assert writer.holds(missing(short_record("nobody-handed-in")))
    with opened(url) as gradebook:
        assert gradebook.find_student("nobody-handed-in").submissions == []


def test_rows_that_plain_nbgrader_made_for_a_missing_notebook_go(writer, url):
    """Bug: zeros that nbgrader entered before this course's grading was used stay in every sum."""
    with opened(url) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(ASSIGNMENT, "ada")
        for name in ("mixed", "short"):
            for grade in gradebook.find_submission_notebook(name, ASSIGNMENT, "ada").grades:
                grade.auto_score = 0
        gradebook.db.commit()
    writer.write(missing(mixed_record()))
    with opened(url) as gradebook:
        with pytest.raises(MissingEntry):
            gradebook.find_submission_notebook("mixed", ASSIGNMENT, "ada")
        assert gradebook.find_submission("week [1]", "ada").notebooks[0].name == "short"
    writer.write(missing(short_record()))
    with opened(url) as gradebook, pytest.raises(MissingEntry):
        gradebook.find_submission(ASSIGNMENT, "ada")
    assert writer.write(short_record()).score == 1.0


@pytest.mark.parametrize("gave", ["points", "comment", "extension"])
def test_what_a_person_gave_stays_when_the_file_is_taken_away(writer, url, gave):
    """Bug: a notebook that is moved out of submitted/ takes an instructor's work with it."""
    record = short_record()
    writer.write(record)
    if gave == "points":
        by_hand(url, record, "short-test", 0.5)
    elif gave == "comment":
        comment(url, record, "short", "See me.")
    else:
        due(url, extension=timedelta(days=2))
    now = writer.write(missing(record))
    if gave == "extension":
        with opened(url) as gradebook:
            assert gradebook.find_submission(ASSIGNMENT, "ada").extension == timedelta(days=2)
        assert now.as_record() == missing(record)
        return
    assert (now.status, now.score) == ((Status.GRADED, 0.5) if gave == "points" else (Status.MISSING, None))
    assert grades(url, record)["short-test"][0] is None
    assert writer.holds(missing(record))
    assert writer.write(record).status == Status.GRADED
    assert writer.standing(record).manual != ManualMarks()


class _Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return {"ada": score / 2, "bob": 1000.0, "eve": -1.0, "mallory": float("nan")}[student_id]


@pytest.fixture
def strict(url):
    """A gradebook with late penalties."""
    config = settings()
    config.AssignLatePenalties.plugin_class = _Half
    with GradebookWriter(config, url) as writer:
        yield writer


def test_late_penalties_are_the_plugins_and_within_the_score(strict, url):
    """Bug: a late notebook loses more than it has, gains, or the course's plugin is passed over."""
    due(url)
    for student, penalty in (("ada", 0.5), ("bob", 1.0), ("eve", 0.0)):
        record = short_record(student, handed_in=LATE)
        strict.write(record)
        assert strict.standing(record).manual.penalty == penalty
        assert strict.holds(record)
    with pytest.raises(GradingError, match=r"late penalty of mallory .* _Half, .*not a number"):
        strict.write(short_record("mallory", handed_in=LATE))
    strict.write(failed(short_record("ada", handed_in=LATE)))
    assert strict.standing(short_record()).manual.penalty == 0.0
    with opened(url) as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "ada").timestamp == datetime(2026, 3, 2, 10)


def test_every_place_takes_the_late_penalty_off(strict, url, tmp_path):
    """Bug: the table of `course grade` shows more points than the student's page and the export."""
    due(url)
    late = {"ada": short_record("ada", handed_in=LATE), "bob": mixed_record("bob", handed_in=LATE)}
    for student, points in (("ada", 0.5), ("bob", 0.0)):  # half of it, and more than all of it
        record = late[student]
        assert strict.write(record).score == points
        assert strict.standing(record).score == points
        assert standing(record, strict.standing(record).manual).score == points
    with opened(url) as gradebook:
        records = {record.key: record for record in late.values()}
        exported = [each for each in read_rows(gradebook, records, tmp_path) if each.score is not None]
    assert [(each.person.id, each.score) for each in exported] == [("ada", 0.5)]  # the other one waits


def test_a_due_date_that_moves_moves_the_penalty(strict, url):
    """Bug: a later due date or an extension leaves penalties in place, or one without a date ends the run."""
    record = short_record(handed_in=LATE)
    strict.write(record)
    assert strict.standing(record).manual.penalty == 0.0
    due(url)
    assert not strict.holds(record)
    strict.write(record)
    assert strict.standing(record).manual.penalty == 0.5
    due(url, extension=timedelta(days=3))
    assert not strict.holds(record)
    strict.write(record)
    assert strict.standing(record).manual.penalty == 0.0
    due(url, when=None)
    assert strict.holds(record)


def test_a_timestamp_that_cannot_be_read_is_as_good_as_none(writer, url):
    """Bug: one odd timestamp.txt stops the run, or wipes out the time that was known."""
    writer.write(short_record(handed_in=LATE))
    for odd in ("the day before yesterday", "", None, "9" * 400):
        assert writer.write(short_record(handed_in=odd)).status == Status.GRADED
        assert writer.holds(short_record(handed_in=odd))
    with opened(url) as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "ada").timestamp == datetime(2026, 3, 2, 10)


def test_a_score_that_was_changed_behind_the_back_is_noticed(writer, url):
    """Bug: marks that somebody wrote into the database pass for graded ones."""
    record = mixed_record()
    writer.write(record)
    assert writer.holds(record)
    with opened(url) as gradebook:
        gradebook.find_grade("essay", "mixed", ASSIGNMENT, "ada").auto_score = 500
        gradebook.db.commit()
    assert not writer.holds(record)
    assert not writer.holds(mixed_record("bob"))


@pytest.mark.parametrize("points", [float("nan"), float("inf"), -1.0, 2.5])
def test_points_out_of_range_are_refused(writer, url, points):
    """Bug: a mark of 500 of 13, or one that is no number, is exported."""
    writer.write(mixed_record())
    with pytest.raises(ValueError, match="points for count, which has 2"):
        writer.write(mixed_record(count=points))
    assert grades(url, mixed_record())["count"][0] == 2.0


def test_a_record_of_other_cells_is_refused(writer):
    """Bug: a record from before a master changed leaves some cells with the scores of others."""
    record = mixed_record()
    with pytest.raises(ValueError, match=r"has the cells \['chores', 'essay'\], the gradebook"):
        writer.write(replace(record, cells=record.cells[1:]))
    with pytest.raises(ValueError, match="knows no notebook long"):
        writer.write(replace(record, notebook="long"))


@pytest.mark.parametrize(
    "student", ["[a-z]*", "Zoë Ångström", 'O\'Neill "Bob"; --', "名前", "%s {0} %(x)s", "n" * 300, "<b>x</b>"]
)
def test_a_name_is_only_a_name(writer, url, api, student):
    """Bug: a bracket, an accent, a quote or a long name makes a student's marks unreachable."""
    record = short_record(student)
    if len(student.encode()) < 256 and "/" not in student:
        api.lay_out(record)
        assert writer.write(record).as_record() == record
        assert api.notebook(record)["score"] == 1.0
    assert writer.write(record).as_record() == record
    assert writer.holds(record)
    by_hand(url, record, "short-test", 0.5)
    assert writer.standing(record).manual.scores == {"short-test": 0.5}


def statements(writer):
    """A list that what is sent to the database is added to."""
    sent = []
    engine = writer._gradebook.engine
    event.listen(engine, "before_cursor_execute", lambda *call: sent.append(call[2]))
    event.listen(engine, "commit", lambda connection: sent.append("COMMIT"))
    return sent


def test_a_record_costs_a_few_statements_and_one_commit(url):
    """Bug: a query a cell, or a commit a query, makes a class of 300 wait for minutes."""
    cells = [f"part-{number}" for number in range(30)]
    long = master("long", [solution(), *(graded_cell(name, 1) for name in cells)])
    record = replace(
        short_record(),
        notebook="long",
        cells=tuple(replace(short_record().cells[0], cell=name) for name in cells),
        score=30.0,
    )
    with GradebookWriter(settings(), url) as writer:
        writer.register([long])
        writer.holds(record)  # reads the cells, once
        sent = statements(writer)
        for step in (writer.write, writer.write, writer.holds, writer.standing):
            sent.clear()
            step(record)
            assert len(sent) <= 13
            assert sent.count("COMMIT") <= 1
            assert ("COMMIT" in sent) == (step == writer.write)


def test_registering_again_writes_nothing(writer):
    """Bug: each run spends seconds on telling the gradebook what it knows."""
    sent = statements(writer)
    writer.register([mixed(), short()])
    assert sent
    assert all(statement.lstrip().startswith("SELECT") for statement in sent)


def test_the_gradebook_has_the_cells_that_nbgrader_itself_would_save(writer, url, tmp_path):
    """Bug: formgrader, validate or a later generate_assignment finds other cells than it expects."""
    config = settings()
    own = f"sqlite:///{tmp_path / 'nbgrader.db'}"
    root = tmp_path / "course"
    for each in (mixed(), short()):
        path = root / "build" / "source" / "plain" / f"{each.name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(to_bytes(each.notebook))
    config.CourseDirectory.merge({"root": str(root), "db_url": own, "assignment_id": "plain"})
    GENERATE_ASSIGNMENT(GenerateAssignment(coursedir=CourseDirectory(config=config), config=config))
    with opened(own) as theirs, opened(url) as ours:
        for each in (mixed(), short()):
            assert _registered(theirs.db, replace(each, assignment="plain")) == _registered(ours.db, each)
            assert ours.find_notebook(each.name, ASSIGNMENT).kernelspec


def test_changed_points_and_texts_are_taken_over_and_other_cells_refused(writer, url):
    """Bug: marks of an old maximum, or marks of cells that are not there any more."""
    writer.write(short_record())
    dearer = master("short", [solution("short"), graded_cell("short-test", 4)])
    writer.register([mixed(), dearer])
    with opened(url) as gradebook:
        assert gradebook.find_grade_cell("short-test", "short", ASSIGNMENT).max_score == 4.0
        assert gradebook.find_grade("short-test", "short", ASSIGNMENT, "ada").auto_score == 1.0
    other = master("short", [solution("short"), graded_cell("another", 1)])
    with pytest.raises(GradingError, match=r"does not take the master short\..* and grade again"):
        writer.register([other])
    assert writer.write(short_record()).score == 1.0


def test_a_notebook_without_submissions_may_change_its_cells(writer, url):
    """Bug: a master cannot be mended before the first student hands in."""
    writer.register([master("short", [solution("short"), graded_cell("another", 1)]), mixed()])
    record = short_record()
    record = replace(record, cells=(replace(record.cells[0], cell="another"),))
    assert writer.write(record).as_record() == record


@pytest.fixture
def file(tmp_path, in_sqlite):
    """The gradebook as a file."""
    return Path(shutil.copy(in_sqlite.removeprefix("sqlite:///"), tmp_path / "gradebook.db"))


@pytest.fixture
def held(file):
    """A gradebook file, its writer that waits a moment only, and a program that is writing to it."""
    with GradebookWriter(settings(), f"sqlite:///{file}", patience=0.1) as writer:
        writer.write(short_record(points=0.0))
        other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        yield writer, other, file
        other.close()


def test_a_locked_gradebook_is_waited_for_and_then_a_sentence(held):
    """Bug: `database is locked` as a traceback, and a half-written record after it."""
    writer, other, path = held
    with pytest.raises(GradingError, match=r"Another program is writing to the gradebook .*gradebook\.db"):
        writer.write(short_record())
    other.execute("ROLLBACK")
    assert grades(f"sqlite:///{path}", short_record())["short-test"][0] == 0.0
    assert writer.write(short_record()).score == 1.0


def test_a_lock_that_ends_in_time_costs_nothing(held):
    """Bug: an open formgrader that saves a mark ends a run."""
    _, other, path = held
    with GradebookWriter(settings(), f"sqlite:///{path}") as patient:
        release = threading.Timer(0.3, lambda: (time.sleep(0.1), other.execute("ROLLBACK")))
        release.start()
        assert patient.write(short_record()).score == 1.0
        release.join()


def test_a_file_that_is_no_gradebook_is_a_sentence(tmp_path):
    """Bug: a traceback for a folder that is not there, another file, or a copy that may only be read."""
    for path, content in ((tmp_path / "gone" / "x.db", None), (tmp_path / "y.db", b"not a database" * 99)):
        if content:
            path.write_bytes(content)
        with pytest.raises(GradingError, match=r"The gradebook sqlite:///.*\.db cannot be used: "):
            GradebookWriter(settings(), f"sqlite:///{path}")


def test_an_older_gradebook_is_told_what_to_do(file):
    """Bug: a gradebook of an earlier nbgrader ends in a traceback about a column."""
    with sqlite3.connect(file) as database:
        database.execute("ALTER TABLE grade DROP COLUMN extra_credit")
    with (
        GradebookWriter(settings(), f"sqlite:///{file}") as writer,
        pytest.raises(GradingError, match=r"older nbgrader.*nbgrader db upgrade"),
    ):
        writer.write(short_record())
