"""Tables, as text or in Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from textwrap import fill


@dataclass
class Table:
    """Rows of text under a title; the first column is set left, the others right.

    notes : lines below it.
    """

    title: str
    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Another row."""
        self.rows.append(cells)

    def show(self, markdown: bool) -> None:
        """Print it."""
        print(self.markdown() if markdown else self.text(), flush=True)

    def text(self) -> str:
        """In columns."""
        lines = [self.header, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        columns = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        rule = "-" * max(map(len, columns))
        parts = [columns[0], rule, *columns[1:]] if self.rows else []
        return "\n".join([self.title, "", *parts, *(fill(note, 110) for note in self.notes), ""])

    def markdown(self) -> str:
        """As it goes into benchmarks/README.md."""
        lines = ["| " + " | ".join(line) + " |" for line in (self.header, *self.rows)]
        rule = "|---" + "|---:" * (len(self.header) - 1) + "|"
        parts = [lines[0], rule, *lines[1:], ""] if self.rows else []
        notes = [part for note in self.notes for part in (note, "")]
        return "\n".join([f"{self.title}:", "", *parts, *notes])


def ratios(title: str, seconds: Mapping[str, Sequence[float]], targets: Mapping[str, float]) -> Table:
    """Medians of the seconds of several contenders, over the first one's.

    targets : the ratio that we aim at, at least, where there is one.
    """
    table = Table(title, ("", "a run", "runs", "times ours", "target"))
    ours, *others = seconds
    for name, found in seconds.items():
        target = f"at least {targets[name]:g}" if name in targets else "none" if name in others else ""
        table.add(name, spread(found), str(len(found)), ratio(median(found) / median(seconds[ours])), target)
    return table


def verdict(agrees: bool) -> str:
    """What becomes of a contender."""
    return "agrees" if agrees else "not comparable, not timed"


def spread(seconds: Sequence[float]) -> str:
    """Median, smallest and largest in a unit that suits them."""
    unit, name = (1e6, "µs") if median(seconds) < 1e-3 else (1e3, "ms") if median(seconds) < 1 else (1, "s")
    middle, low, high = (f"{unit * value:.3g}" for value in (median(seconds), min(seconds), max(seconds)))
    return f"{middle} {name} ({low} to {high})"


def ratio(value: float) -> str:
    """A ratio to the figures that it is good for."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
