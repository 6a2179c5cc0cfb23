"""Marks out: as CSV for people, and in the files that Canvas and Moodle read."""

import csv
import io
import os
import subprocess
import sys

import pytest
from nbgrader.api import Gradebook
from postgresql import postgresql  # noqa: F401 - a fixture
from sqlalchemy import event
from sqlalchemy.engine import Engine

from course.commands import export as command
from course.files import ROOT
from course.grading.errors import GradingError
from course.grading.export.table import COLUMNS, guarded
from course.grading.export.writing import export
from course.grading.records import CellResult, Finding, Record, Status, append
from course.grading.settings import load_settings

ASSIGNMENT = "decoding-loops"
COURSE = "autoregressive-generation"
POINTS = {"loop": 3.0, "mask": 2.0}
# A student's scores by notebook; None is a cell without any. A notebook that is not named was not handed in.
STUDENTS = {
    "ada": {"loop": 3.0, "mask": 1.5},
    "ben": {"loop": 0.0, "mask": 0.0},
    "cyd": {"loop": None, "mask": 2.0},
    "dov": {"loop": 2.0},
    "eve": {},
    "=1+1": {"loop": 1.0, "mask": 1.0},
}


def record(student, notebook, status, score, **fields):
    """What grading wrote about a notebook."""
    return Record(student, ASSIGNMENT, notebook, status, score, POINTS[notebook], **fields)


def fill(url):
    """Put the class into a gradebook: one late penalty, one mark given by hand."""
    load_settings(ROOT)  # puts alembic, which nbgrader calls by name, on the path
    names = {"ada": ("Ada", "Lovelace"), "ben": ("Ben", "Ng"), "dov": ("Dov", "Ng")}
    with Gradebook(url, COURSE) as gradebook:
        gradebook.add_assignment(ASSIGNMENT, duedate="2026-03-01 12:00:00 UTC")
        for notebook, points in POINTS.items():
            gradebook.add_notebook(notebook, ASSIGNMENT)
            gradebook.add_grade_cell("check", notebook, ASSIGNMENT, max_score=points, cell_type="code")
        gradebook.add_notebook("reading", ASSIGNMENT)  # without points: it is in no export
        for number, (student, scores) in enumerate(STUDENTS.items(), start=101):
            first, last = names.get(student, ("", ""))
            gradebook.add_student(
                student,
                first_name=first,
                last_name=last,
                email=f"{student}.mail@school.edu",
                lms_user_id=str(number),
            )
            if scores:
                gradebook.add_submission(ASSIGNMENT, student, timestamp="2026-02-28 09:00:00 UTC")
            for notebook, score in scores.items():
                gradebook.find_grade("check", notebook, ASSIGNMENT, student).auto_score = score
        late = gradebook.find_submission_notebook("loop", ASSIGNMENT, "ada")
        late.late_submission_penalty = 0.5
        manual = gradebook.find_grade("check", "mask", ASSIGNMENT, "=1+1")
        manual.manual_score, manual.extra_credit = 1.5, 0.25
        gradebook.db.commit()


@pytest.fixture(scope="session")
def a_class(tmp_path_factory):
    """A folder with a graded class: one student with a notebook that failed, one with one missing."""
    folder = tmp_path_factory.mktemp("class (graded)")
    fill(f"sqlite:///{folder / 'gradebook.db'}")
    lost = CellResult("check", "greedy", "loops", 1.5, 2.0, "failed", message="=the token 3\nand more")
    records = [
        record("ada", "loop", Status.GRADED, 3.0),
        record("ada", "mask", Status.GRADED, 1.5, cells=(lost,), findings=(Finding("problem", "cell 4"),)),
        record("ben", "loop", Status.GRADED, 0.0),
        record("ben", "mask", Status.GRADED, 0.0),
        record("cyd", "loop", Status.FAILED, None, problem="=HYPERLINK(1)\nwas in the file."),
        record("cyd", "mask", Status.GRADED, 2.0),
        record("dov", "loop", Status.GRADED, 2.0),
        record("dov", "mask", Status.MISSING, None, problem="Not handed in."),
        record("=1+1", "loop", Status.GRADED, 1.0),
        record("=1+1", "mask", Status.GRADED, 1.0),
    ]
    append(folder / "grading.jsonl", records)
    return folder


@pytest.fixture
def write(a_class, tmp_path):
    """Export, and give the rows and the remarks."""
    settings = load_settings(ROOT)

    def export_to_file(format, students=None, **options):
        source = None
        if students is not None:
            source = tmp_path / "from-the-platform.csv"
            source.write_bytes(students if isinstance(students, bytes) else students.encode())
        done = export(a_class, settings, format, to=tmp_path / "out.csv", students=source, **options)
        data = done.path.read_bytes()
        return data, list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))), done.remarks

    return export_to_file


def rows_of(data):
    """The rows of a table by student and notebook."""
    found = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return {(row["student_id"], row.get("notebook")): row for row in found}


def test_a_row_a_notebook_has_its_status_and_no_zero_for_a_failure(write):
    """Bug: a failed or missing notebook is exported as 0, or a late penalty or manual mark is forgotten."""
    data, table, _ = write("csv")
    assert table[0] == COLUMNS
    rows = rows_of(data)
    expected = {
        ("ada", "loop"): ("graded", "3.0", "2.5"),
        ("ada", "mask"): ("graded", "1.5", "1.5"),
        ("ben", "loop"): ("graded", "0.0", "0.0"),
        ("cyd", "loop"): ("failed", "", ""),
        ("dov", "mask"): ("missing", "", ""),
        ("eve", "loop"): ("missing", "", ""),
        ("'=1+1", "mask"): ("graded", "1.75", "1.75"),
    }
    for key, cells in expected.items():
        assert (rows[key]["status"], rows[key]["raw_score"], rows[key]["score"]) == cells, key
    assert len(rows) == len(STUDENTS) * len(POINTS)
    assert rows["ada", "mask"]["problem"] == "greedy: =the token 3; cell 4"


def test_no_cell_becomes_a_formula_in_a_spreadsheet(write):
    """Bug: a student's id or the text of their error runs as a formula in the instructor's spreadsheet."""
    data, table, _ = write("csv")
    assert not [cell for row in table for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert rows_of(data)["cyd", "loop"]["problem"] == "'=HYPERLINK(1); was in the file."
    assert guarded("-4") == "'-4"
    assert guarded("4 - 4") == "4 - 4"


def test_a_total_is_empty_while_it_would_be_too_low(write):
    """Bug: a student whose notebook failed gets the sum of the others as a final mark."""
    rows = rows_of(write("csv", by_student=True)[0])
    cells = {student: (row["score"], row["max_score"]) for (student, _), row in rows.items()}
    assert cells == {
        "ada": ("4.0", "5.0"),
        "ben": ("0.0", "5.0"),
        "cyd": ("", "5.0"),
        "dov": ("2.0", "5.0"),
        "eve": ("", "5.0"),
        "'=1+1": ("2.75", "5.0"),
    }
    dov = rows["dov", None]
    assert [dov[name] for name in ("graded", "needs_a_person", "failed", "missing")] == ["1", "0", "0", "1"]


def test_what_waits_for_a_person_has_no_score(a_class, tmp_path):
    """Bug: a cell that a person has yet to grade counts as 0 in the export."""
    for name in ("gradebook.db", "grading.jsonl"):
        (tmp_path / name).write_bytes((a_class / name).read_bytes())
    cells = (CellResult("essay", "essay", None, None, 3.0, "manual"),)
    append(tmp_path / "grading.jsonl", [record("cyd", "loop", Status.NEEDS_PERSON, 0.0, cells=cells)])
    done = export(tmp_path, load_settings(ROOT), "csv")
    row = rows_of(done.path.read_bytes())["cyd", "loop"]
    assert (row["status"], row["score"]) == ("needs a person", "")
    assert row["problem"] == "A person has to grade essay."
    totals = export(tmp_path, load_settings(ROOT), "csv", by_student=True)
    assert rows_of(totals.path.read_bytes())["cyd", None]["score"] == ""


def test_marks_that_a_person_gave_to_a_failed_notebook_count(a_class, tmp_path):
    """Bug: the log says failed, so the mark given by hand in formgrader is not exported."""
    for name in ("gradebook.db", "grading.jsonl"):
        (tmp_path / name).write_bytes((a_class / name).read_bytes())
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", COURSE) as gradebook:
        gradebook.find_grade("check", "loop", ASSIGNMENT, "cyd").manual_score = 1.0
        gradebook.db.commit()
    row = rows_of(export(tmp_path, load_settings(ROOT), "csv").path.read_bytes())["cyd", "loop"]
    assert (row["status"], row["score"]) == ("graded", "1.0")


def test_nbgrader_export_writes_the_same_rows(a_class, write, tmp_path):
    """Bug: `nbgrader export` and `course export` disagree about a mark."""
    root = tmp_path / "course"
    root.mkdir()
    (root / "nbgrader_config.py").write_bytes((ROOT / "nbgrader_config.py").read_bytes())
    subprocess.run(
        [
            *(sys.executable, "-m", "nbgrader", "export", "--to", str(tmp_path / "theirs.csv")),
            *("--db", f"sqlite:///{a_class / 'gradebook.db'}"),
        ],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "theirs.csv").read_bytes() == write("csv")[0]


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Decoding loops (991),Essay (992),Current Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,5.00,10.00,(read only)\r\n"
    '"Lovelace, Ada",101,S1,ada,"Group ""A"", Monday",1.00,8,80.0\r\n'
    '"Ng, Ben",,S2,ben.mail@school.edu,B,,EX,\r\n'
    '"Cyd",103,S3,cyd,B,4.00,,\r\n'
    '"Ng, Dov",104,S4,d104,B,,,\r\n'
    '"Zoe",7009,S9,zoe,B,1.00,,\r\n'
    '"Student, Test",7010,,deadbeef,B,,,\r\n'
)


def test_canvas_export_is_filled_in_and_nothing_else_changes(write):
    """Bug: a graded zero is left out, a failed notebook wipes the grade in Canvas, or an id is rewritten."""
    data, table, remarks = write("canvas", CANVAS)
    before = CANVAS.splitlines(keepends=True)
    after = data.decode().splitlines(keepends=True)
    assert [after[index] for index in (0, 1, 2, 5, 7, 8)] == [before[index] for index in (0, 1, 2, 5, 7, 8)]
    cells = {row[0]: row for row in table}
    assert cells["Lovelace, Ada"] == [
        "Lovelace, Ada",
        "101",
        "S1",
        "ada",
        'Group "A", Monday',
        "4",
        "8",
        "80.0",
    ]
    assert cells["Ng, Ben"][5:7] == ["0", "EX"]  # a zero that was earned, found by address
    assert cells["Cyd"][5] == "4.00"  # no score here: what Canvas has stays
    assert cells["Ng, Dov"][5] == "2"  # found by Canvas's own number
    assert remarks == [
        "Zoe is no student of the gradebook. The row was left alone.",
        "=1+1 has 2.75 of 5 points and no row here.",
    ]


def test_canvas_gets_a_column_where_it_has_none_and_a_notebooks_own(write):
    """Bug: marks are written nowhere because no column has the assignment's name, or into a read-only one."""
    _, table, remarks = write("canvas", CANVAS.replace("Decoding loops (991)", "Homework (991)"))
    assert [row[-1] for row in table][:4] == [ASSIGNMENT, "", "5", "4"]
    assert table[3][5] == "1.00"
    assert "No column is called decoding-loops" in remarks[0]
    _, table, remarks = write("canvas", CANVAS.replace("Decoding loops (991)", "Mask (991)"))
    assert table[3][5] == "1.5"
    assert "Mask (991) has 5.00 points in Canvas and 2 here; scores are not scaled." in remarks


def test_canvas_decimal_commas_and_semicolons_stay(write):
    """Bug: a file from a Canvas that writes decimal commas comes back with points, and is refused."""
    head = "\ufeffStudent;ID;SIS Login ID;Section;Decoding loops (1)\n"
    text = f"{head}    Points Possible;;;;5,00\nAda;106;=1+1;B;\n"
    data, _, _ = write("canvas", text)
    assert data.decode().splitlines()[-1] == "Ada;106;=1+1;B;2,75"
    assert data.startswith("\ufeff".encode())


def test_a_mark_goes_to_nobody_where_two_could_be_meant(write):
    """Bug: of two rows that could be the same student, one gets the other's mark."""
    text = (
        "Student,ID,SIS Login ID,Section,Decoding loops (1)\n"
        'Ada Lovelace,101,ada,B,\n"Lovelace, Ada",,ADA.mail@school.edu,B,\n'
    )
    _, table, remarks = write("canvas", text)
    assert [row[4] for row in table[1:]] == ["", ""]
    assert remarks[0] == (
        "Ada Lovelace is ada in the gradebook, as is Lovelace, Ada. The rows were left alone."
    )


def test_canvas_file_made_anew_has_rows_for_scores_alone(write):
    """Bug: an empty cell takes a grade away that Canvas already has."""
    _, table, remarks = write("canvas")
    assert table[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ASSIGNMENT]
    assert table[1] == ["    Points Possible", "", "", "", "", "5"]
    rows = {row[3]: row for row in table[2:]}
    assert rows["ben"] == ["Ng, Ben", "102", "", "ben", "", "0"]
    assert rows["=1+1"][5] == "2.75"  # an id is never changed
    assert set(rows) == {"ada", "ben", "dov", "=1+1"}
    assert remarks == ["Without a score, and so without a row: cyd, eve."]


WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (grade)","Feedback comments"\n'
    '"Participant 101","Ada Lovelace",ada.mail@school.edu,"Submitted",,5.00,Yes,-,"<p>Well, done</p>"\n'
    '"Participant 102","Ben Ng",BEN.mail@school.edu,"No submission",,5.00,Yes,-,\n'
    '"Participant 7",Cyd,cyd.mail@school.edu,"Submitted",4.00,5.00,Yes,"Monday, 2 March 2026",""\n'
    '"Participant 104","Dov Ng",dov.mail@school.edu,Submitted,,5.00,No,-,"line one\nline two"\n'
    '"Participant 9",Zoe,zoe@school.edu,Submitted,,5.00,Yes,-,\n'
)


def test_moodle_worksheet_is_filled_in_and_nothing_else_changes(write):
    """Bug: the worksheet comes back with another column or comment changed, and Moodle imports that too."""
    data, table, remarks = write("moodle", WORKSHEET)
    column = table[0].index("Grade")
    assert [row[column] for row in table[1:]] == ["4", "0", "4.00", "", ""]
    before = list(csv.reader(io.StringIO(WORKSHEET, newline="")))
    assert [[*row[:column], *row[column + 1 :]] for row in table] == [
        [*row[:column], *row[column + 1 :]] for row in before
    ]
    for line in WORKSHEET.splitlines()[:1] + WORKSHEET.splitlines()[3:]:
        assert line in data.decode()  # rows that were not filled in are as they were, quotes and all
    assert "Moodle does not let these grades be changed: Dov Ng." in remarks
    assert "Zoe is no student of the gradebook. The row was left alone." in remarks


def test_moodle_is_told_when_its_maximum_differs(write):
    """Bug: four of five points become four of a hundred without a word."""
    _, _, remarks = write("moodle", WORKSHEET.replace("5.00", "100.00"))
    assert remarks[0].startswith("The maximum is 100.00 in Moodle and 5 here")


def test_moodle_import_has_no_row_without_a_score(write):
    """Bug: Moodle takes an empty grade in an import for one to be removed."""
    _, table, _ = write("moodle")
    assert table[0] == ["First name", "Last name", "ID number", "Email address", ASSIGNMENT]
    assert ["Ben", "Ng", "ben", "ben.mail@school.edu", "0"] in table
    assert {row[2] for row in table[1:]} == {"ada", "ben", "dov", "=1+1"}


@pytest.mark.parametrize(
    ("format", "students", "words"),
    [
        ("canvas", "Name,Grade\nAda,4\n", "no export of Canvas's gradebook"),
        ("moodle", CANVAS, "no grading worksheet of Moodle's"),
        ("moodle", "Identifier,Vollständiger Name\n".encode("latin-1"), "is not in UTF-8"),
        ("moodle", 'Identifier,Grade\n"Participant 1,3\n', "is no CSV: line"),
        ("canvas", "", "has no header"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_a_sentence(write, format, students, words):
    """Bug: the wrong file is filled in somewhere, or ends the command in a traceback."""
    with pytest.raises(GradingError, match=words):
        write(format, students)


def test_a_class_without_a_gradebook_gets_a_sentence_and_no_empty_gradebook(tmp_path, capsys):
    """Bug: exporting from the wrong folder makes an empty gradebook there and writes an empty file."""
    parser_options = {
        "format": "csv",
        "students": None,
        "totals": False,
        "to": None,
        "assignment": [],
        "db": None,
        "numbers": None,
    }
    options = type("Options", (), parser_options | {"folder": tmp_path})()
    assert command.run(options) == 1
    assert "There is no gradebook at" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_gradebook_in_postgresql_gives_the_same_rows(postgresql, a_class, write):  # noqa: F811
    """Bug: a query that SQLite takes and PostgreSQL refuses, or a score that it rounds."""
    url = postgresql.new_database()
    fill(url)
    assert write("csv", db_url=url)[0] == write("csv")[0]


def test_an_unknown_assignment_is_named(write):
    """Bug: a misspelt assignment gives an empty file."""
    with pytest.raises(GradingError, match="no assignment looping; it has decoding-loops"):
        write("csv", assignments=["looping"])


def test_the_export_asks_the_gradebook_the_same_number_of_things_for_any_class(a_class, tmp_path):
    """Bug: a query for each student and notebook makes the export of a large class take minutes."""
    settings = load_settings(ROOT)

    def asked(**options):
        statements = []

        def note(connection, cursor, statement, *rest):
            statements.append(statement)

        event.listen(Engine, "before_cursor_execute", note)
        try:
            export(tmp_path, settings, "csv", **options)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        return len(statements)

    (tmp_path / "gradebook.db").write_bytes((a_class / "gradebook.db").read_bytes())
    few = asked()
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", COURSE) as gradebook:
        for number in range(30):
            gradebook.add_student(f"student-{number}")
            gradebook.add_submission(ASSIGNMENT, f"student-{number}")
    assert asked() == few
