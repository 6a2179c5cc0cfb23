"""The table of `course collect --dry-run`: each file, what in it points to whom, and the decision."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from course.grading.lms.collecting import Haul, Outcome
from course.grading.lms.people import Fits
from course.grading.lms.spelling import printable


def show(haul: Haul, console: Console) -> None:
    """Print the table."""
    table = Table(show_lines=True, expand=True)
    table.add_column("File", overflow="fold", ratio=4)
    table.add_column("Points to", overflow="fold", ratio=3)
    table.add_column("Decision", overflow="fold", ratio=5)
    left = {each.shown: each for each in haul.left}
    rows: list[tuple[str, Text, Text]] = []
    for each, outcome in haul.taken:
        decision = Text(f"{printable(each.student)} / {printable(each.notebook)}: {outcome}", style="green")
        if outcome is Outcome.KEPT:
            decision.append(f"; {left.pop(each.found.shown).reason}", style="yellow")
        # Without a list of students the platform's name is the student's id, and points to nobody else.
        rows.append((each.found.shown, _points_to(each.fits), decision))
    for file in left.values():
        rows.append((file.shown, _points_to(file.fits), Text(f"left: {file.reason}", style="yellow")))
    for shown, points_to, decision in sorted(rows, key=lambda row: row[0]):
        # Text, not str: square brackets in a file's name are not rich's markup.
        table.add_row(Text(shown), points_to, decision)
    if rows:
        console.print(table)


def _points_to(fits: Fits) -> Text:
    lines = []
    for mark, persons in fits:
        whom = ", ".join(person.id for person in persons) or "nobody"
        unproven = " (no proof)" if persons and not mark.counts else ""
        lines.append(f"{mark.kind} {printable(mark.text)}: {whom}{unproven}")
    return Text("\n".join(lines))
