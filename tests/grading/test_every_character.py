"""What a class is marked by survives every character: it is read as it was written, or replaced visibly."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path

import nbformat
import pytest
from gradebook_examples import mixed, mixed_record, opened, settings, short
from hypothesis import HealthCheck, example, given
from hypothesis import settings as run_with
from hypothesis import strategies as st
from page_examples import cell, notebook
from postgresql import postgresql  # noqa: F401 - a fixture
from rich.console import Console

from course.checking.results import FileResult
from course.checking.table import show as show_files
from course.checks import DirectCandidate, checks_of, run_check
from course.checks.check import CheckResult
from course.checks.message import Message
from course.grading.export.standing import Row, read_rows
from course.grading.export.table import guarded, notebooks_table
from course.grading.feedback import feedback_page
from course.grading.feedback.cleaning import plain
from course.grading.gradebook.writer import GradebookWriter
from course.grading.lms.people import Person
from course.grading.lms.sheet import Sheet
from course.grading.rebuilding.frame import failed_notebook
from course.grading.records import Finding, Record, Status, append, latest
from course.grading.report import report_page
from course.grading.runs.run import Report
from course.grading.runs.table import show
from course.grading.standing import ManualMarks, standing
from course.text import readable, storable

NO_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # str.splitlines splits at them
EVERYTHING = (
    f"a{NO_LINE_ENDS}b\0c\ud800d\udfffe\r\nf\rg\x1b[31mh\tä\ufeff\ufffe\U0001f468\u200d\u202e<&\"'`,;|"
)
# Two halves of a surrogate pair side by side are the character that they encode, in JSON at least.
ANY = st.text(st.characters(), max_size=30).map(lambda text: json.loads(json.dumps(text)))


def every_character(test):
    """Run a test on texts of any characters."""
    many = run_with(
        max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    return many(given(text=ANY)(example(text=EVERYTHING)(example(text="")(test))))


def a_record(text: str, **fields: object) -> Record:
    """A record with a text in each place that holds text from outside."""
    waiting = mixed_record(handed_in=text)
    cells = [
        replace(each, name=text, message=text, status="manual" if each.points is None else "failed")
        for each in waiting.cells
    ]
    findings = [Finding(kind, text) for kind in ("repair", "note", "problem", "suspicious")]
    return replace(waiting, problem=text, cells=tuple(cells), findings=tuple(findings), **fields)


def ungraded(text: str) -> Record:
    """A record of a notebook that could not be graded, for this reason."""
    return replace(a_record(text), status=Status.FAILED, score=None, cells=())


def squeezed(text: str) -> str:
    """Text without what a page or a table is free to change: blanks, line feeds and backticks."""
    return re.sub(r"[ \t\n`]", "", text)


def text_of(page: bytes) -> str:
    """What can be read on a page that is valid UTF-8."""
    return squeezed(unescape(re.sub(r"<[^>]*>", "", page.decode())))


def printed(print_to) -> str:
    """What a table prints on a wide terminal, in UTF-8."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    print_to(Console(file=stream, width=2_000))
    stream.seek(0)
    return stream.read()


def rows_of(data: bytes) -> list[list[str]]:
    """A CSV file as Python reads it."""
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.fixture
def log(tmp_path) -> Path:
    return tmp_path / "grading.jsonl"


@every_character
def test_the_journal_gives_back_what_was_written(log, text):
    """Bug: U+2028 in a message splits a record, so it is graded anew each time; half a character raises."""
    log.unlink(missing_ok=True)
    written = [a_record(text), replace(ungraded(text), student=text)]
    for record in written:
        append(log, [record])
    assert list(latest(log).values()) == written


def test_a_journal_of_an_earlier_version_is_read(log):
    """Bug: what was graded before is graded anew, or missing from the report, after an update."""
    written = [
        mixed_record(f"student {ord(c)}", problem=f"a{c}b") for c in f"{NO_LINE_ENDS}é\N{CJK RADICAL REPEAT}"
    ]
    whole = [json.dumps(asdict(record), ensure_ascii=False).encode() for record in written]
    log.write_bytes(b"\n".join([*whole, whole[0][:70], b"[" * 10_000, b"\xff", b"null", b"", whole[1]]))
    assert list(latest(log).values()) == written
    append(log, [mixed_record("eve")])
    assert list(latest(log).values()) == [*written, mixed_record("eve")]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def gradebook(request, tmp_path_factory) -> Iterator[tuple[GradebookWriter, str]]:
    """An open gradebook that knows the notebooks, and its address."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('gradebook') / 'gradebook.db'}"
    else:
        url = request.getfixturevalue("postgresql").new_database()
    with GradebookWriter(settings(), url) as writer:
        writer.register([mixed(), short()])
        yield writer, url


@every_character
def test_the_gradebook_takes_every_text(gradebook, tmp_path, text):
    """Bug: NUL or half a character in a message ends the run, or is lost without a word."""
    writer, url = gradebook
    record = ungraded(text)
    writer.write(record)
    assert writer.holds(record)
    with opened(url) as read:
        comment = read.find_comment("account", record.notebook, record.assignment, record.student)
        assert (comment.auto_comment or "") == storable(text)
        (standing,) = [
            each
            for each in read_rows(read, {record.key: record}, tmp_path)
            if each.notebook == record.notebook
        ]
    header, row, *_ = rows_of(notebooks_table([standing]))
    assert row[header.index("problem")] == guarded(standing.problem)
    told = squeezed(readable(text)).replace(";", "")
    assert told == squeezed(standing.problem).replace(";", "") or not told


@every_character
def test_csv_gives_back_what_was_written(tmp_path, text):
    """Bug: a name or a reason splits a row of the export, or a row that was filled in, or raises."""
    person = Person(text, text, text, text, text)
    standing = Row(person, text, text, 2.0, Status.FAILED, text)
    header, row = rows_of(notebooks_table([standing]))
    cells = dict(zip(header, row, strict=True))
    for name in ("assignment", "notebook", "student_id", "last_name", "first_name", "email", "problem"):
        assert cells[name] == guarded(storable(text))
    for newline in ("\n", "\r\n"):
        file = io.StringIO(newline="")
        rows = [["Identifier", "Grade", "Feedback"], ["1", "", storable(text)], ["2", "", "x"]]
        csv.writer(file, lineterminator=newline, quoting=csv.QUOTE_ALL).writerows(rows)
        path = tmp_path / "worksheet.csv"
        path.write_bytes(file.getvalue().encode())
        sheet = Sheet.read(path)
        sheet.rows[1][1] = rows[1][1] = "2.5"
        assert rows_of(sheet.to_bytes()) == rows


@every_character
def test_pages_hold_every_text(text):
    """Bug: half a character in a message stops the page or the report, or a text on it is cut short."""
    told, shown = squeezed(plain(text)), cell("x = 1", grade_id="account", solution=True)
    prose, output = cell(text, kind="markdown"), {"output_type": "stream", "name": "stdout", "text": text}
    shown["outputs"] = [output]
    file = notebook(shown, prose)
    record, manual = a_record(text, notebook=text), ManualMarks(comments={"account": f"({text})"})
    page = text_of(feedback_page(record, file, manual, frozenset()))
    assert page.count(told) >= 5 or not told  # three findings, the output and the comment
    failure = text_of(feedback_page(ungraded(text), file))
    assert all(squeezed(plain(line)) in failure for line in text.split("\n"))
    report = text_of(report_page([record, replace(ungraded(text), student=text)]))
    assert report.count(told) >= 8 or not told  # four findings of each


@every_character
def test_notebooks_hold_every_text(text):
    """Bug: the notebook that stands for a submission that failed can't be written."""
    made = nbformat.reads(failed_notebook(mixed(), text).decode(), as_version=4)
    nbformat.validate(made)
    told = storable(text)
    # Markdown's marks are escaped there.
    assert squeezed(told).replace("\\", "") in squeezed(made.cells[0].source).replace("\\", "")


@every_character
def test_tables_print_every_text(text):
    """Bug: half a character stops the table after an hour of grading, or an escape sequence acts."""
    records = [a_record(text), replace(ungraded(text), student=text, notebook=text)]
    result = CheckResult.of(checks_of("generation_loop")[0], "failed", text)
    files = [FileResult(text, "generation_loop", (result,))]
    for said in (
        printed(
            lambda console: show(Report(list(map(standing, records)), 2, [text]), console, Path("class"))
        ),
        printed(lambda console: show_files(files, console)),
    ):
        assert readable(said) == said
        assert said.count("\n") < 60
        for line in readable(text).split("\n"):
            assert squeezed(line) in squeezed(said)


@every_character
def test_messages_hold_every_text(text):
    """Bug: what a student's function raises acts on a terminal, or stops the cell that shows it."""

    def generate(*_, **__):
        raise ValueError(text)

    check = checks_of("generation_loop")[0]
    message = str(run_check(check, DirectCandidate({"generate": generate}), 5).message)
    message.encode()
    assert readable(message) == message
    assert squeezed(readable(text)) in squeezed(message)  # how wide a tab is depends on its place


def test_a_message_is_taken_apart_at_line_feeds_alone():
    """Bug: a student's own text that holds U+2028 writes a line of the check's message."""
    forged = "`f` raised ValueError: x\u2028Read again:    Section 1\x85expected:      1"
    assert Message.from_plain(forged).sentence == forged
    assert Message.from_plain(f"{forged}\nRead again:    Section 2").section == "Section 2"
