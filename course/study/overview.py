"""Progress over the sections: a table for the contents page, and starting again."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from course.study import store, style
from course.study.showing import show
from course.study.style import of
from course.study.tally import Count, Standing, standings

_CELL = "text-align:left;padding:0.25em 0.8em 0.25em 0;vertical-align:top;white-space:normal"
_NOTHING = "nothing to pass here"


@dataclass(frozen=True)
class Overview:
    """A row a section, and the total."""

    rows: tuple[Standing, ...]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> Count:
        """Over all sections."""
        return sum((row.whole for row in self.rows), Count())

    def __str__(self) -> str:
        cells = [
            ("", "section", "passed", "points"),
            *((str(r.section.number), r.section.title, _done(r), _points(r.whole)) for r in self.rows),
            ("", "all", _both(self.total), _points(self.total)),
        ]
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join(["Your progress", *lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col" style="{_CELL}">{name}</th>' for name in ("section", "passed", "points")
        )
        body = "".join(
            _row(
                f"{row.section.number}. {style.link(row.section.title, row.section.notebook)}",
                _done(row),
                row.whole,
            )
            for row in self.rows
        )
        foot = _row("<strong>All sections</strong>", _both(self.total), self.total)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            '<div class="course-progress"><table style="table-layout:auto;border-collapse:collapse;'
            'margin-left:0;overflow-wrap:break-word">'
            f'<caption style="text-align:left;font-weight:bold">Your progress</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}{foot}</tbody></table>{notes}</div>"
        )


def progress() -> None:
    """Show what you have passed so far, section by section. It is kept on this machine and goes nowhere."""
    kept = store.read()
    show(Overview(tuple(standings(kept)), kept.notes))


def reset_progress() -> None:
    """Start again from nothing. The file of what you have passed is moved aside, and a line says where."""
    try:
        aside = store.move_aside()
    except OSError as error:
        print(f"Progress could not be reset: {error.strerror or error}.")
        return
    if aside is None:
        print("There was no progress to reset.")
    else:
        print(
            f"Progress starts again from nothing. What you had is kept as {store.shown(aside)}; "
            f"rename it to {store.progress_file().name} to have it back."
        )


def _row(name: str, done: str, whole: Count) -> str:
    return (
        f'<tr><th scope="row" style="{_CELL};font-weight:normal">{name}</th>'
        f'<td style="{_CELL}">{_bar(whole)}{escape(done)}</td>'
        f'<td style="{_CELL};white-space:nowrap">{escape(_points(whole))}</td></tr>'
    )


def _bar(whole: Count) -> str:
    """A picture of the words beside it, so a screen reader passes it over."""
    if not whole.all:
        return ""
    width = round(100 * whole.points / whole.max_points)
    return (
        f'<div aria-hidden="true" style="height:0.6em;width:8em;max-width:100%;border:1px solid currentColor;'
        f'margin:0.25em 0"><div style="height:100%;width:{width}%;background:{style.GOOD}"></div></div>'
    )


def _done(row: Standing) -> str:
    parts = []
    if row.questions.all:
        parts.append(of(row.questions.passed, row.questions.all, "question"))
    if row.checks.all:
        parts.append(f"{row.section.challenge_label}: {of(row.checks.passed, row.checks.all, 'check')}")
    return ", ".join(parts) or _NOTHING


def _both(total: Count) -> str:
    return f"{total.passed} of {total.all} questions and checks"


def _points(whole: Count) -> str:
    return f"{whole.points} of {whole.max_points}" if whole.all else ""
