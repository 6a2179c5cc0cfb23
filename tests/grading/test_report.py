"""The report for the instructor: its numbers, its links, and that nothing on it is active."""

import argparse
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from gradebook_examples import by_hand, failed, mixed, mixed_record, settings, short
from page_examples import MISCONCEPTIONS, Elements, assert_inert, look_at, loop_record, record

from course.commands import report as command
from course.grading.gradebook.database import open_gradebook
from course.grading.gradebook.rows import read_class
from course.grading.gradebook.writer import GradebookWriter
from course.grading.records import CellResult, Finding, Status, append
from course.grading.report import Given, report_page
from course.grading.report.links import Links
from course.grading.report.summary import Summary
from course.grading.standing import ManualMarks

WRONG = sorted(MISCONCEPTIONS.glob("generation_loop/*.py"))
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
ONE, TWO = "01-one", "02-two"


def quiz(student, notebook=ONE, points=1.0, maximum=2.0, **fields):
    """A graded notebook of one check."""
    status = "passed" if points == maximum else "failed"
    cells = (CellResult("c", f"{notebook} check", "x", points, maximum, status),)
    given = {"score": points, "max_score": maximum, "cells": cells} | fields
    return record(student, notebook=notebook, **given)


def unscored(student, status, notebook=TWO, **fields):
    """A notebook without a score."""
    return record(student, notebook=notebook, status=status, score=None, max_score=2.0, **fields)


def a_class(students):
    """Students of every kind, each with two notebooks."""
    records = []
    for i in range(students):
        name = f"student {i}"
        records.append(loop_record(WRONG[i % len(WRONG)], name))
        other = (
            quiz(name, points=float(i % 3)),
            unscored(name, Status.FAILED, ONE, problem="The file is empty."),
            unscored(name, Status.MISSING, ONE, problem="Not handed in."),
            quiz(
                name, cells=(CellResult("e", "essay", None, None, 2, "manual"),), status=Status.NEEDS_PERSON
            ),
        )
        records.append(other[i % 4])
    return records


def text_of(page):
    """What a page says, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.decode().partition("<body>")[2]))


@pytest.mark.parametrize("students", [0, 1, 4, 500])
def test_a_class_of_any_size(students):
    """Bug: an empty class divides by zero, a single student has no median, a large one is cut short."""
    page = report_page(a_class(students))
    assert_inert(page)
    summary = Summary(a_class(students))
    assert len(summary.students) == students
    assert sum(summary.counts().values()) == 2 * students
    for i in range(students):
        assert f"student {i}</th>".encode() in page


def test_a_failure_is_no_zero():
    """Bug: a notebook that failed, waits or is missing pulls a total or a mean down."""
    records = [
        quiz("ada", ONE, 2.0),
        unscored("ada", Status.FAILED),
        quiz("bob", ONE, 1.0),
        quiz("bob", TWO, 2.0),
        unscored("cy", Status.MISSING, ONE),
        unscored("cy", Status.FAILED),
    ]
    summary = Summary(records)
    assert [summary.total(student) for student in ("ada", "bob", "cy")] == [(2.0, 2.0), (3.0, 4.0), None]
    assert [bar.count for bar in summary.totals] == [0, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert [bar.part for bar in summary.totals] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    one, two = summary.notebooks
    assert (one.mean, one.median, two.mean, two.median) == (1.5, 1.5, 2.0, 2.0)
    assert [bar.count for bar in one.bars] == [0, 1, 1]
    assert "1 student has no graded notebook" in text_of(report_page(records))


def test_what_nobody_handed_in_is_held_against_nobody():
    """Bug: in the middle of a term every student is listed as behind with the notebooks to come."""
    records = [quiz("ada"), quiz("bob"), unscored("cy", Status.MISSING, ONE, problem="Not handed in.")]
    records += [
        unscored(student, Status.MISSING, problem="Not handed in.") for student in ("ada", "bob", "cy")
    ]
    summary = Summary(records)
    assert {student: len(entries) for student, entries in summary.missing.items()} == {"cy": 1}
    assert sum(bar.part for bar in summary.totals) == 0
    assert "Nobody handed in: 02-two." in text_of(report_page(records))


def test_a_check_counts_those_it_was_graded_for():
    """Bug: students whose notebook failed count as not having passed its checks."""
    records = [quiz(f"s{i}", points=points) for i, points in enumerate((2.0, 2.0, 0.0))]
    records += [unscored("s3", Status.FAILED, ONE), unscored("s4", Status.MISSING, ONE)]
    (check,) = Summary(records).checks
    assert (check.students, check.counts["passed"], check.counts["failed"]) == (3, 2, 1)
    assert check.mean == pytest.approx(4 / 3)
    text = text_of(report_page(records))
    assert "2 of 3" in text
    assert "67 %" in text


def test_checks_come_in_the_courses_order():
    """Bug: checks are sorted by name, so that the third challenge comes before the first."""
    names = [result.name.replace("_", " ") for result in loop_record(WRONG[0]).cells]
    found = [row.name for row in Summary([quiz("ada", "12-late"), loop_record(WRONG[0])]).checks]
    assert found == [*names, "12-late check"]


def test_a_misconception_counts_students():
    """Bug: one student whose slip costs two checks counts as two students."""
    told = "Your loop predicts from a row other than the last one"
    records = [loop_record(WRONG[0], student) for student in ("ada", "bob")]
    assert sum(cell.misconception == "G1" for cell in records[0].cells) == 2
    (slip,) = Summary(records).misconceptions
    assert (slip.id, slip.students, len(slip.entries)) == ("G1", 2, 2)
    assert slip.text.startswith(told)
    assert slip.checks == ("generation loop greedy", "generation loop sampling")
    text = text_of(report_page(records))
    assert "G1: 2 students" in text
    assert told in text


def test_the_commonest_misconception_comes_first():
    """Bug: G10 before G2, or a slip of one student before that of a hundred."""

    def slip(student, name):
        cells = (CellResult("c", "check", "x", 0, 2, "failed", name, f"Told of {name}."),)
        return quiz(student, points=0.0, cells=cells)

    records = [slip("a", "G10"), slip("b", "G2"), slip("c", "S4"), slip("d", "S4")]
    assert [slip.id for slip in Summary(records).misconceptions] == ["S4", "G2", "G10"]


def test_what_has_to_be_looked_at_is_listed():
    """Bug: a failure, a repair, a suspicion or a missing notebook is in the log and not in the report."""
    findings = (Finding("suspicious", "Cell 3 patches numpy."), Finding("repair", "A test was put back."))
    records = [
        quiz("ada", findings=findings),
        unscored("bob", Status.FAILED, problem="The file is cut off."),
        unscored("cy", Status.MISSING, problem="Not handed in."),
        quiz(
            "di", TWO, cells=(CellResult("e", "essay", None, None, 2, "manual"),), status=Status.NEEDS_PERSON
        ),
    ]
    text = text_of(report_page(records))
    parts = re.split(
        "(What looks like tampering|Failed These|Waiting for a person|Missing 1|Repairs and|Every st)", text
    )
    told = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert "ada 01-one Cell 3 patches numpy." in told["What looks like tampering"]
    assert "bob 02-two The file is cut off." in told["Failed These"]
    assert "di 02-two essay" in told["Waiting for a person"]
    assert "cy 1 02-two" in told["Missing 1"]
    assert "ada 01-one A test was put back." in told["Repairs and"]
    assert "patches" not in told["Repairs and"]


def test_what_others_wrote_is_escaped(tmp_path):
    """Bug: a student's name, a message or a reason is taken for markup, in the instructor's browser."""
    results = (CellResult(HOSTILE, HOSTILE, HOSTILE, 0, 2, "failed", HOSTILE, HOSTILE),)
    findings = tuple(Finding(kind, HOSTILE) for kind in ("repair", "suspicious"))
    records = [
        quiz(HOSTILE, HOSTILE, cells=results, findings=findings),
        unscored(HOSTILE, Status.FAILED, problem=HOSTILE),
        unscored(HOSTILE, Status.MISSING, "03"),
    ]
    page = report_page(records, None, Links(tmp_path, tmp_path / "report.html"))
    assert_inert(page)
    assert page.count(b"&lt;script&gt;alert(1)") > 5


def test_every_chart_has_its_words():
    """Bug: a chart says nothing to those who cannot see it."""
    elements = Elements(report_page(a_class(8))).found
    charts = [attributes for tag, attributes in elements if tag == "svg"]
    ids = {
        attributes["id"] for tag, attributes in elements if tag in ("title", "desc") and "id" in attributes
    }
    assert len(charts) > 3
    for chart in charts:
        assert chart["role"] == "img"
        assert chart.get("aria-label") or set(chart["aria-labelledby"].split()) <= ids


@pytest.mark.parametrize("place", ["report.html", "else where/deep/report.html"])
def test_links_lead_to_files(tmp_path, place):
    """Bug: a link breaks at a space, a question mark or an accent, or leads to what is not there."""
    names = ["ada", "bob & co #1", "Zoë [x]", "50%?", "a:b", "'\"<b>"]
    for name in names:
        for kind, end in (("feedback", "html"), ("autograded", "ipynb")):
            path = tmp_path / kind / name / "autoregressive-generation" / f"{ONE}.{end}"
            path.parent.mkdir(parents=True)
            path.write_text(name)
    report = tmp_path / place
    page = report_page([quiz(name) for name in [*names, "nobody"]], None, Links(tmp_path, report))
    addresses = set(Elements(page).values("href"))
    assert len(addresses) == 2 * len(names)
    found = {(report.parent / unquote(address)).resolve() for address in addresses}
    assert {path.read_text() for path in found} == set(names)
    assert all(re.fullmatch(r"(\.\./)*(feedback|autograded)/[\w/.%~-]+", address) for address in addresses)


def test_marks_by_hand_count():
    """Bug: the report shows the checks' points where formgrader shows other ones."""
    essay = CellResult("e", "essay", None, None, 2, "manual")
    waiting = quiz("ada", cells=(essay,), score=0.0, status=Status.NEEDS_PERSON)
    empty = unscored("bob", Status.FAILED, ONE, problem="The file is empty.")
    manual = {waiting.key: ManualMarks({"e": 1.5}, penalty=0.5), empty.key: ManualMarks({"e": 2.0})}
    given = Given(manual, {waiting.key[1:]: {"e": 2.0}})
    summary = Summary([waiting, empty], given)
    assert summary.counts()[Status.GRADED] == 2
    assert summary.total("ada") == (1.0, 2.0)
    assert summary.total("bob") == (2.0, 2.0)
    assert Summary([waiting, empty]).counts()[Status.GRADED] == 0


def test_points_that_the_gradebook_does_not_hold_count_nowhere():
    """Bug: the report counts points that were taken back, where the export says that a person grades."""
    record = quiz("ada")
    names = [cell.cell for cell in record.cells]
    taken_back = ManualMarks(automatic=dict.fromkeys(names))
    for given in (Given({record.key: taken_back}), Given({}, {record.key[1:]: dict.fromkeys(names, 1.0)})):
        (entry,) = Summary([record], given).of_status(Status.NEEDS_PERSON)
        assert [mark.result.cell for mark in entry.now.waiting] == names
        assert entry.now.problem == f"A person has to grade {', '.join(names)}."
    assert Summary([record]).of_status(Status.GRADED)


def test_marks_by_hand_are_read_from_the_gradebook(tmp_path):
    """Bug: what the report reads at once is not what the gradebook gives one by one."""
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    records = [mixed_record("ada"), mixed_record("bob"), failed(mixed_record("cy"))]
    with GradebookWriter(settings(), url) as writer:
        writer.register([mixed(), short()])
        for one in records:
            writer.write(one)
        by_hand(url, records[0], "essay", 2.5)
        by_hand(url, records[0], "chores", 0.0, extra=0.5)
        by_hand(url, records[2], "count", 1.0)
        with open_gradebook(url, "autoregressive-generation") as gradebook:
            given = read_class(gradebook.db)
        for one in records:
            assert given.manual.get(one.key, ManualMarks()) == replace(
                writer.standing(one).manual, comments={}
            )
        current = [writer.standing(one).as_record() for one in records]
    summary = Summary(records, given)
    stands = {entry.record.student: (entry.now.status, entry.now.score) for entry in summary.entries}
    assert stands == {one.student: (one.status, one.score) for one in current}
    assert stands["ada"] == (Status.GRADED, 5.0)
    assert stands["cy"] == (Status.FAILED, None)


def run(folder, to=None):
    """The command."""
    return command.run(argparse.Namespace(folder=folder, to=to, db=None))


def test_the_command_writes_the_report(tmp_path, capsys):
    """Bug: the command cannot be used on a class that has no gradebook, or does not say where it wrote."""
    append(tmp_path / "grading.jsonl", a_class(3))
    assert run(tmp_path) == 0
    assert (tmp_path / "report.html").read_bytes() == report_page(a_class(3))
    assert f"{tmp_path / 'report.html'}: 6 notebooks" in capsys.readouterr().out
    assert run(tmp_path, tmp_path / "new" / "a.html") == 0
    assert (tmp_path / "new" / "a.html").exists()


def test_the_command_says_what_is_missing(tmp_path, capsys):
    """Bug: a traceback where a class was not graded yet, or where the report cannot be written."""
    assert run(tmp_path) == 1
    assert "Grade the class first: course grade" in capsys.readouterr().err
    append(tmp_path / "grading.jsonl", a_class(1))
    (tmp_path / "folder.html").mkdir()
    assert run(tmp_path, tmp_path / "folder.html") == 1
    assert "cannot be written to" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_a_report_is_the_same_each_time():
    """Bug: the order of the log, in which notebooks happened to be graded, changes the report."""
    records = a_class(9)
    assert report_page(records) == report_page(records[::-1])


def test_nobody_is_kept_out(browser, tmp_path: Path):
    """Bug: a screen reader, a dark theme or a telephone makes a report that cannot be read."""
    assert look_at(browser, report_page(a_class(8)), tmp_path) == []
