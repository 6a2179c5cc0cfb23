"""What the instructor sees when a class has been graded."""

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
    for record in report.records:
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
