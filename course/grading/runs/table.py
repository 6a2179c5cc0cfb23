"""What the instructor sees when a class has been graded."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from course.grading.records import Record, Status
from course.grading.runs.regrade import Change, Regraded
from course.grading.runs.run import Report
from course.grading.submissions.intake import why_astray
from course.text import lines, readable

MOST_ROWS = 60
_STYLES = {
    Status.GRADED: "green",
    Status.NEEDS_PERSON: "cyan",
    Status.FAILED: "red",
    Status.MISSING: "yellow",
}


def show(report: Report, console: Console, folder: Path) -> None:
    """Print the table, and below it how the class stands."""
    rows, left_out = _rows(report.records)
    table = _table(console, "Status", "Points", "What went wrong")
    for record in rows:
        status = Text(record.status, style=_STYLES[record.status])
        table.add_row(
            _text(record.student),
            _text(record.notebook),
            status,
            points(record),
            _text("\n".join(told(record))),
        )
    console.print(table)
    sentences = [left_out] if left_out else []
    sentences.append(summary(report))
    suspicious = [record for record in report.records if _findings(record, "suspicious")]
    if suspicious:
        sentences.append(
            f"{_notebooks(len(suspicious))} with something suspicious: `course report` shows what."
        )
    if report.other_checks:
        sentences.append(
            f"{_notebooks(report.other_checks)} graded with other checks than there are now. "
            f"`course regrade --dry-run {folder}` shows which marks would change."
        )
    sentences += [f"{why_astray(stray)}: submitted/{stray}" for stray in report.strays]
    _say(console, sentences)


def show_changes(found: Regraded, console: Console, folder: Path, *, applied: bool) -> None:
    """Print which marks change, for whom, and what was done about it."""
    if found.changes:
        table = _table(console, "Before", "After", "Check")
        for change in found.changes[:MOST_ROWS]:
            table.add_row(
                _text(change.student),
                _text(change.notebook),
                _number(change.before),
                _number(change.after),
                _text(f"{change.cell}: {change.what}" if change.cell else change.what),
            )
        console.print(table)
    sentences = []
    if (more := len(found.changes) - MOST_ROWS) > 0:
        sentences.append(f"{more} more changes are not shown; --student or --notebook shows them.")
    sentences.append(change_summary(found.compared, found.changes))
    sentences += found.failures
    if found.outdated:
        sentences.append(
            f"{_notebooks(found.outdated)} handed in anew, or of a section that changed: "
            "`course grade` is for them."
        )
    if found.compared:
        sentences.append(
            "The new marks are in the gradebook; marks that persons gave are as they were."
            if applied
            else f"Nothing was written. `course regrade {folder}` makes it so; marks that persons gave stay."
        )
    _say(console, sentences)


def told(record: Record) -> list[str]:
    """What there is to say of a notebook, in lines: the problem, the failed checks, and other findings."""
    said = lines(record.problem)
    failed: dict[str, list[str]] = {}
    for cell in record.cells:
        if cell.status in ("failed", "error"):
            sentence = cell.message.in_a_line or "not passed"
            failed.setdefault(sentence, []).append(cell.name)
        elif cell.status == "manual":
            failed.setdefault("a person gives the points", []).append(cell.name)
    said += [f"{', '.join(names)}: {message}" for message, names in failed.items()]
    for kind in ("problem", "note", "repair", "suspicious"):
        texts = _findings(record, kind)
        more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
        said += [f"{kind}: {texts[0]}{more}"] if texts else []
    return said


def points(record: Record) -> str:
    """Points of the maximum; a dash where there is no score, which is not a zero."""
    return f"{_number(record.score)} of {record.max_score:g}"


def summary(report: Report) -> str:
    """The class in a sentence."""
    counts = Counter(record.status for record in report.records)
    listed = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status]) or "none"
    total = len(report.records)
    unchanged = total - report.graded_now
    return f"{total} notebooks: {listed}. {report.graded_now} of them now, {unchanged} unchanged."


def change_summary(compared: int, changes: Sequence[Change]) -> str:
    """What grading again changed, in a sentence."""
    if not compared:
        return "Nothing was graded with other checks than there are now."
    up = sum((change.after or 0) > (change.before or 0) for change in changes)
    students = len({change.student for change in changes})
    if not changes:
        return f"{_notebooks(compared)} graded again; no mark changes."
    of = f"of {students} {'student' if students == 1 else 'students'}"
    marks = f"1 mark {of} changes" if len(changes) == 1 else f"{len(changes)} marks {of} change"
    return f"{_notebooks(compared)} graded again; {marks}: {up} up, {len(changes) - up} down."


def _rows(records: list[Record]) -> tuple[list[Record], str]:
    """What the table shows, and a sentence on what it leaves out of a large class."""
    rows = _folded(records)
    if len(rows) <= MOST_ROWS:
        return rows, ""
    said = "Of so many, the table shows "
    rows = [row for row in rows if row.status != Status.GRADED or _findings(row, "suspicious", "problem")]
    if len(rows) <= MOST_ROWS:
        return rows, said + "those that are not plainly graded."
    rows = [row for row in rows if row.status != Status.MISSING]
    most = f"the first {MOST_ROWS} of " if len(rows) > MOST_ROWS else ""
    return rows[:MOST_ROWS], (
        f"{said}{most}those that are handed in and not plainly graded; `course report` shows all."
    )


def _folded(records: list[Record]) -> list[Record]:
    """The records, with all that a student did not hand in on one line of its own."""
    by_student: dict[str, list[Record]] = {}
    for record in records:
        by_student.setdefault(record.student, []).append(record)
    folded = []
    for own in by_student.values():
        missing = [record for record in own if record.status == Status.MISSING]
        folded += [record for record in own if record.status != Status.MISSING]
        if len(missing) > 1:
            first, last = missing[0].notebook, missing[-1].notebook
            together = f"{len(missing)} notebooks, {first} to {last}"
            problems = "\n".join(dict.fromkeys(record.problem for record in missing))
            maximum = sum(record.max_score for record in missing)
            missing = [replace(missing[0], notebook=together, max_score=maximum, problem=problems)]
        folded += missing
    return folded


def _table(console: Console, *columns: str) -> Table:
    """A table by student and notebook; its last column has the room that is left."""
    table = Table(show_lines=True)
    narrow = console.width < 120
    table.add_column("Student", overflow="fold", max_width=18 if narrow else 30)
    table.add_column("Notebook", overflow="fold", max_width=14 if narrow else 30)
    *short, last = columns
    for column in short:
        table.add_column(column, justify="left" if column == "Status" else "right", no_wrap=True)
    table.add_column(last, overflow="fold", ratio=1)
    return table


def _findings(record: Record, *kinds: str) -> list[str]:
    return [finding.text for finding in record.findings if finding.kind in kinds]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _notebooks(count: int) -> str:
    return f"{count} {'notebook' if count == 1 else 'notebooks'}"


def _text(text: str) -> Text:
    """A cell's text: square brackets in a student's name or message are not rich's markup."""
    return Text(readable(text))


def _say(console: Console, sentences: list[str]) -> None:
    for sentence in sentences:
        console.print(readable(sentence), highlight=False, markup=False)
