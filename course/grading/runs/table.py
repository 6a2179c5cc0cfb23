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
from course.grading.standing import Standing
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
    rows, left_out = _rows(report.standings)
    table = _table(console, "Status", "Points", "What went wrong")
    for stands in rows:
        table.add_row(
            _text(stands.record.student),
            _text(stands.record.notebook),
            Text(stands.status, style=_STYLES[stands.status]),
            points(stands),
            _text("\n".join(told(stands))),
        )
    console.print(table)
    sentences = [left_out] if left_out else []
    sentences.append(summary(report))
    if late := sum(stands.penalty > 0 for stands in report.standings):
        sentences.append(f"Points were taken off for lateness in {_notebooks(late)}.")
    suspicious = [stands for stands in report.standings if _findings(stands.record, "suspicious")]
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


def told(stands: Standing) -> list[str]:
    """What is worth saying about a notebook, in lines: the problem, lateness, failed checks, findings."""
    record = stands.record
    said = lines(record.problem)
    if stands.penalty:
        off = "1 point was" if stands.penalty == 1 else f"{stands.penalty:g} points were"
        said.append(f"late: {off} taken off")
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


def points(stands: Standing) -> str:
    """Points of the maximum; a dash where there is no score, which is not a zero."""
    return f"{_number(stands.score)} of {stands.max_score:g}"


def summary(report: Report) -> str:
    """The class in a sentence."""
    counts = Counter(stands.status for stands in report.standings)
    listed = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status]) or "none"
    total = len(report.standings)
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


def _rows(standings: list[Standing]) -> tuple[list[Standing], str]:
    """What the table shows, and a sentence on what it leaves out of a large class."""
    rows = _folded(standings)
    if len(rows) <= MOST_ROWS:
        return rows, ""
    said = "Of so many, the table shows "
    rows = [
        row for row in rows if row.status != Status.GRADED or _findings(row.record, "suspicious", "problem")
    ]
    if len(rows) <= MOST_ROWS:
        return rows, said + "those that are not plainly graded."
    rows = [row for row in rows if row.status != Status.MISSING]
    most = f"the first {MOST_ROWS} of " if len(rows) > MOST_ROWS else ""
    return rows[:MOST_ROWS], (
        f"{said}{most}those that are handed in and not plainly graded; `course report` shows all."
    )


def _folded(standings: list[Standing]) -> list[Standing]:
    """The standings, with all that a student did not hand in on one line of its own."""
    by_student: dict[str, list[Standing]] = {}
    for stands in standings:
        by_student.setdefault(stands.record.student, []).append(stands)
    folded = []
    for own in by_student.values():
        missing = [stands for stands in own if stands.status == Status.MISSING]
        folded += [stands for stands in own if stands.status != Status.MISSING]
        if len(missing) > 1:
            records = [stands.record for stands in missing]
            together = replace(
                records[0],
                notebook=f"{len(missing)} notebooks, {records[0].notebook} to {records[-1].notebook}",
                max_score=sum(record.max_score for record in records),
                problem="\n".join(dict.fromkeys(record.problem for record in records)),
            )
            missing = [replace(missing[0], record=together)]
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
