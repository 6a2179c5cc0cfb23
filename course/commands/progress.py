"""Shows how far a run is: a bar on a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

_LINES = 20  # at most, where there is no bar


def make_console() -> Console:
    """Where to print: this terminal, or a file or a pipe, which has no edge to wrap at."""
    console = Console()
    return console if console.is_terminal else Console(width=160)


@contextmanager
def showing(console: Console) -> Iterator[Callable[[int, int, str], None]]:
    """A function to call with what is done, out of how many, and a word on the one done last."""
    if not console.is_terminal:
        yield lambda done, total, what: _line(console, done, total, what)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[what]}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, what=Text("Reading what was handed in"))
        yield lambda done, total, what: progress.update(
            task, completed=done, total=total, what=Text(what or "Grading")
        )


def _line(console: Console, done: int, total: int, what: str) -> None:
    if done and (done * _LINES // total != (done - 1) * _LINES // total):
        console.print(f"{done} of {total} ({what})", highlight=False, markup=False)
