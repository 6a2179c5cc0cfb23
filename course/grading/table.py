"""What the instructor sees when a class has been graded."""

from dataclasses import replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from course.grading.records import Record, Status
from course.grading.run import Report

_STYLES = {Status.GRADED: "green", Status.FAILED: "red", Status.MISSING: "yellow"}


def show(report: Report, console: Console) -> None:
    """Print the table, and below it how the class stands."""
    table = Table(show_lines=True)
    narrow = console.width < 120
    table.add_column("Student", overflow="fold", max_width=18 if narrow else 30)
    table.add_column("Notebook", overflow="fold", max_width=14 if narrow else 30)
    table.add_column("Status", no_wrap=True)
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("What went wrong", overflow="fold", ratio=1)
    for record in _shown(report.records):
        status = Text(record.status, style=_STYLES[record.status])
        # Text, not str: square brackets in a student's message are not rich's markup.
        problem = Text(record.problem)
        table.add_row(Text(record.student), Text(record.notebook), status, points(record), problem)
    console.print(table)
    console.print(summary(report), highlight=False, markup=False)
    for stray in report.strays:
        console.print(
            f"Not graded, because it is in no student's folder for an assignment: submitted/{stray}",
            highlight=False,
            markup=False,
        )


def _shown(records: list[Record]) -> list[Record]:
    """The records, with all that a student did not hand in on one line of its own."""
    shown = []
    for student in dict.fromkeys(record.student for record in records):
        own = [record for record in records if record.student == student]
        missing = [record for record in own if record.status == Status.MISSING]
        shown += [record for record in own if record.status != Status.MISSING]
        if len(missing) > 1:
            first, last = missing[0].notebook, missing[-1].notebook
            together = f"{len(missing)} notebooks, {first} to {last}"
            told = "\n".join(dict.fromkeys(record.problem for record in missing))
            maximum = sum(record.max_score for record in missing)
            missing = [replace(missing[0], notebook=together, max_score=maximum, problem=told)]
        shown += missing
    return shown


def points(record: Record) -> str:
    """Points of the maximum; a dash where there is no score, which is not a zero."""
    score = "–" if record.score is None else f"{record.score:g}"
    return f"{score} of {record.max_score:g}"


def summary(report: Report) -> str:
    """The class in a sentence."""
    counts = {status: sum(record.status == status for record in report.records) for status in Status}
    listed = ", ".join(f"{count} {status}" for status, count in counts.items() if count) or "none"
    unchanged = len(report.records) - report.graded_now
    total = len(report.records)
    return f"{total} notebooks: {listed}. {report.graded_now} of them now, {unchanged} unchanged."
