"""A graded notebook as its student reads it: their own work in the open, the course's cells folded away.

Cells with tests are left out, with all that they say: their results are on the cards, their source is hidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from course.grading.feedback.cleaning import clean_html, plain, prose_html
from course.grading.masters import normalised

MOST_LINES = 60  # of one output
MOST_CHARACTERS = 6_000  # of one output
MOST_COLOURED = 20_000  # characters of a cell; a longer one stays black
MOST_CODE = 60_000  # characters of a cell
MOST_ON_PAGE = 8_000_000  # characters, pictures included
_TITLE = re.compile(r"^# (\d+\. .+)", re.MULTILINE)
_CHECK = re.compile(r"# Check: (.+?)(?: \(\d+(?:\.\d+)? points?\))?\s*\Z")
_HIDDEN = re.compile(r"(?<!#)#+ BEGIN (HIDDEN TESTS|MARK SCHEME).*?(?:#+ END \1|\Z)", re.DOTALL)
_FORMATTER = HtmlFormatter(nowrap=True)
_LEXER = PythonLexer(stripnl=False)

Role = Literal["solution", "own", "course", "other"]


@dataclass(frozen=True)
class Output:
    """What a cell put out.

    kind : "text", "error", "html" or "picture".
    content : the text, the markup, or the picture as a data address.
    note : what the reader must know of it, that it was cut, say.
    alternative : of a picture, in words.
    """

    kind: Literal["text", "error", "html", "picture"]
    content: str = ""
    note: str = ""
    alternative: str = ""


@dataclass(frozen=True)
class ShownCell:
    """A cell on the page.

    role : "course" for a cell that is as it was handed out, "own" for the student's, "other" where nobody
        said which cells were handed out.
    name : its grade_id, or "".
    """

    role: Role
    name: str
    kind: Literal["code", "prose"]
    content: Markup
    outputs: tuple[Output, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Run:
    """Cells one after another that are shown alike; those of the course are folded together."""

    folded: bool
    cells: tuple[ShownCell, ...]


@dataclass(frozen=True)
class Notebook:
    """What a page needs of a notebook.

    title : as its heading has it, or "".
    names : of its graded cells by grade_id, in words.
    points : of the same.
    """

    title: str
    names: dict[str, str]
    points: dict[str, float]
    runs: tuple[Run, ...]


def read_notebook(data: bytes, unchanged: AbstractSet[str] | None = None) -> Notebook:
    """What a page needs of a graded notebook.

    unchanged : `handed_out` of its master, where that is known.
    """
    cells = [cell for cell in json.loads(data)["cells"] if isinstance(cell, dict)]
    graded = {str(marks["grade_id"]): cell for cell in cells if _is_graded(marks := _marks_of(cell))}
    return Notebook(
        title=_title(cells),
        names={name: found for name, cell in graded.items() if (found := _name(cell))},
        points={name: float(_marks_of(cell).get("points") or 0) for name, cell in graded.items()},
        runs=tuple(_runs(_Page(unchanged).shown(cells))),
    )


class _Page:
    """The cells of one page, which has room for so much and no more."""

    def __init__(self, unchanged: AbstractSet[str] | None) -> None:
        self._unchanged, self._room = unchanged, MOST_ON_PAGE

    def shown(self, cells: list[dict[str, Any]]) -> Iterator[ShownCell]:
        for cell in cells:
            marks, source = _marks_of(cell), _joined(cell.get("source"))
            if not source.strip() or (marks.get("grade") and not marks.get("solution")):
                continue
            role, is_code = self._role(marks, source), cell.get("cell_type") == "code"
            if not is_code and role in ("course", "other"):
                continue  # the course's prose, which the student has
            yield self._cell(role, str(marks.get("grade_id") or ""), source, cell, is_code)

    def _role(self, marks: dict[str, Any], source: str) -> Role:
        if marks.get("solution") or marks.get("task"):
            return "solution"
        if marks.get("locked") or (self._unchanged is not None and normalised(source) in self._unchanged):
            return "course"
        return "other" if self._unchanged is None else "own"

    def _cell(self, role: Role, name: str, source: str, cell: dict[str, Any], is_code: bool) -> ShownCell:
        source = _HIDDEN.sub("", source)
        if not self._has_room_for(min(len(source), MOST_CODE)):
            return ShownCell(role, name, "code", Markup(), note="This cell is left out: the page is full.")
        note = ""
        if len(source) > MOST_CODE:
            note = f"The cell goes on for {len(source) - MOST_CODE:,} more characters."
            source = source[:MOST_CODE]
        if not is_code:
            return ShownCell(role, name, "prose", prose_html(source), note=note)
        outputs = [self._output(output) for output in cell.get("outputs") or [] if isinstance(output, dict)]
        return ShownCell(
            role, name, "code", _coloured(source), tuple(output for output in outputs if output), note
        )

    def _has_room_for(self, size: int) -> bool:
        self._room -= size
        return self._room >= 0

    def _output(self, output: dict[str, Any]) -> Output | None:
        shown = _output(output)
        if shown is None or self._has_room_for(len(shown.content)):
            return shown
        return Output("text", note="This output is left out: the page is full.")


def _runs(cells: Iterator[ShownCell]) -> Iterator[Run]:
    together: list[ShownCell] = []
    folded = False
    for cell in cells:
        if (cell.role in ("course", "other")) != folded:
            if together:
                yield Run(folded, tuple(together))
            together, folded = [], not folded
        together.append(cell)
    if together:
        yield Run(folded, tuple(together))


def _output(output: dict[str, Any]) -> Output | None:
    kind = output.get("output_type")
    if kind == "stream":
        return _clipped("text", _joined(output.get("text")))
    if kind == "error":
        traceback = output.get("traceback")
        lines = [line for line in traceback if isinstance(line, str)] if isinstance(traceback, list) else []
        told = f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
        return _clipped("error", "\n".join(lines) or told)
    data = output.get("data")
    return _display(data, output.get("metadata")) if isinstance(data, dict) else None


def _display(data: dict[str, Any], metadata: Any) -> Output | None:
    text = _joined(data.get("text/plain"))
    for kind in ("image/png", "image/jpeg"):
        if picture := _joined(data.get(kind)):
            about = metadata.get(kind) if isinstance(metadata, dict) else None
            alternative = about.get("alt") if isinstance(about, dict) else None
            return Output(
                "picture",
                f"data:{kind};base64,{''.join(picture.split())}",
                alternative=plain(_joined(alternative) or text or "A picture without a description."),
            )
    html = clean_html(found) if (found := _joined(data.get("text/html"))) else None
    return Output("html", html) if html else _clipped("text", text)


def _clipped(kind: Literal["text", "error"], text: str) -> Output | None:
    text = plain(text).strip("\n")
    if not text:
        return None
    head = "\n".join(text[:MOST_CHARACTERS].split("\n")[:MOST_LINES])
    more = len(text) - len(head)
    return Output(kind, head, note=f"The output goes on for {more:,} more characters." if more else "")


@lru_cache(maxsize=512)
def _coloured(source: str) -> Markup:
    source = plain(source)
    if len(source) > MOST_COLOURED:
        return Markup("{}").format(source)
    return Markup(highlight(source, _LEXER, _FORMATTER).rstrip("\n"))


def _title(cells: list[dict[str, Any]]) -> str:
    for cell in cells:
        if cell.get("cell_type") == "markdown" and (found := _TITLE.search(_joined(cell.get("source")))):
            return plain(found[1][:200].rstrip())
    return ""


def _name(cell: dict[str, Any]) -> str:
    """What a test calls its check: the first line, which students have as well."""
    found = _CHECK.match(_joined(cell.get("source")).split("\n")[0])
    return found[1] if found else ""


def _is_graded(marks: dict[str, Any]) -> bool:
    return bool((marks.get("grade") or marks.get("task")) and marks.get("grade_id"))


def _marks_of(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return marks if isinstance(marks, dict) else {}


def _joined(text: object) -> str:
    """A text of the notebook format, which may be in lines."""
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""
