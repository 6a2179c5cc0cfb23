"""What is printed where a person looks at it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from course.checking.results import FileResult
from course.checks.message import Message
from course.text import lines, readable

_STYLES = {"passed": "green", "failed": "red", "error": "red", "timeout": "yellow"}


def show(results: Sequence[FileResult], console: Console) -> None:
    """Print the table, with whole messages if there is one file only, and below it a summary and notes."""
    table = Table(show_lines=True)
    table.add_column("File", overflow="fold")
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("Checks that did not pass", overflow="fold", ratio=1)
    whole = len(results) == 1
    for result in results:
        # Text, not str: square brackets in a message are not rich's markup.
        table.add_row(Text(_name(result)), Text(_points(result)), _problems(result, whole))
    console.print(table)
    for line in (summary(results), *dict.fromkeys(result.note for result in results if result.note)):
        console.print(line, highlight=False, markup=False)


def summary(results: Sequence[FileResult]) -> str:
    """All files in a sentence."""
    full = sum(result.judged and result.points == result.max_points for result in results)
    unjudged = sum(not result.judged for result in results)
    files = "1 file" if len(results) == 1 else f"{len(results)} files"
    rest = f", {unjudged} not judged" if unjudged else ""
    return f"{files}: {full} with full marks, {len(results) - full - unjudged} with less{rest}."


def _name(result: FileResult) -> str:
    file = readable(result.file)
    return f"{file}\n({result.challenge})" if result.challenge else file


def _points(result: FileResult) -> str:
    """Points of the maximum; a dash where there is no mark, which is not a zero."""
    return f"{result.points} of {result.max_points}" if result.judged else "–"


def _problems(result: FileResult, whole: bool) -> Text:
    lost = [check for check in result.checks if check.status != "passed"]
    text = Text()
    # What befell the whole file is said once.
    for message in dict.fromkeys(check.message for check in lost):
        named = [check for check in lost if check.message == message]
        text.append("\n" * (2 if whole else 1) if text else "")
        for check in named:
            text.append(", " if check is not named[0] else "")
            text.append(check.name, _STYLES[check.status])
        text.append(f" ({named[0].status}): " if not whole else f" ({named[0].status})\n")
        text.append(readable(str(message) if whole else _first_line(message)))
    return text or Text("none", "green")


def _first_line(message: Message) -> str:
    first, *others = lines(str(message)) or [""]
    return f"{first} ..." if others and not first.endswith((".", "?", "!")) else first
