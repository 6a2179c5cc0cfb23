"""Takes a notebook file apart, as data: nothing of it is run, and nothing in it is trusted."""

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import nbformat

from course.grading.errors import SubmissionError

MOST_CELLS = 2_000
LONGEST_CELL = 1_000_000  # characters
MOST_PARTS = 2_000_000  # lists and objects: far above any notebook, and no more than memory can take
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_JSON = (
    "The file is not a whole notebook: its JSON cannot be read. "
    "It may have been cut off while it was saved or uploaded."
)


@dataclass(frozen=True)
class SubmittedCell:
    """What grading takes from a cell.

    kind : code, markdown or raw.
    source : its text, each line ended by a line feed.
    grade_id : the name nbgrader knew it by.
    id : the notebook's own name for it.
    nbgrader : what else its metadata tell nbgrader, never used, only compared.
    """

    kind: str
    source: str
    grade_id: str | None = None
    id: str | None = None
    nbgrader: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class SubmittedNotebook:
    """What grading takes from a notebook: its cells, and the language that its metadata name."""

    cells: list[SubmittedCell]
    language: str = "python"


def parse_notebook(data: bytes) -> SubmittedNotebook:
    """The cells of a notebook file.

    Raises SubmissionError if the bytes are no notebook.
    """
    try:
        return _parse(data)
    except SubmissionError:
        raise
    except Exception as error:  # whatever else a file can hold, it is one student's file
        raise SubmissionError(f"The file cannot be read as a notebook ({type(error).__name__}).") from error


def _parse(data: bytes) -> SubmittedNotebook:
    content = _json(_text(data))
    version = content.get("nbformat") if isinstance(content, dict) else None
    if not isinstance(version, int) or not isinstance(content.get("cells", content.get("worksheets")), list):
        raise SubmissionError("The file holds JSON, but no notebook: it has no list of cells.")
    if version > 4:
        raise SubmissionError(f"The notebook's format is {version}; this course reads formats up to 4.")
    if version < 4:
        content = _converted(content, version)
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise SubmissionError("The notebook has no list of cells.")
    if len(cells) > MOST_CELLS:
        raise SubmissionError(f"The notebook has {len(cells)} cells; up to {MOST_CELLS} are read.")
    return SubmittedNotebook(
        [_cell(raw, number) for number, raw in enumerate(cells, start=1)], _language(content)
    )


def _text(data: bytes) -> str:
    if not data.strip():
        raise SubmissionError("The file is empty.")
    if data.startswith(_UTF_16) or data[1:2] == b"\0" or data[:1] == b"\0":
        raise SubmissionError(
            "The file is not a whole notebook: it is text in UTF-16 or UTF-32, where a notebook is in UTF-8. "
            "Save it again in Jupyter."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SubmissionError(
            f"The file is not a whole notebook: it is not text in UTF-8 (byte {error.start + 1}). "
            "Save it again in Jupyter."
        ) from None


def _json(text: str) -> Any:
    if text.count("[") + text.count("{") > MOST_PARTS:
        raise SubmissionError(
            f"The file has more than {MOST_PARTS // 1_000_000} million lists and objects; no notebook does."
        )
    try:
        return json.loads(text, parse_int=_number)
    except (ValueError, RecursionError):
        raise SubmissionError(_NO_JSON) from None


def _number(digits: str) -> int | float:
    """A number without a point. A very long one is nothing that grading looks at, and no reason to stop."""
    return int(digits) if len(digits) < 20 else float(digits)


def _converted(content: dict[str, Any], version: int) -> dict[str, Any]:
    content = {"metadata": {}, "nbformat_minor": 0} | content
    try:
        notebook = nbformat.convert(nbformat.from_dict(content), to_version=4)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise SubmissionError(
            f"The notebook's format {version} is old, and this file does not keep to it."
        ) from error
    return dict(notebook)


def _cell(raw: object, number: int) -> SubmittedCell:
    kind = raw.get("cell_type") if isinstance(raw, dict) else None
    source = raw.get("source", "") if isinstance(raw, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if kind not in ("code", "markdown", "raw") or not isinstance(source, str):
        raise SubmissionError(f"Cell {number} of the file is not a notebook's cell.")
    if len(source) > LONGEST_CELL:
        raise SubmissionError(
            f"Cell {number} of the file has {len(source)} characters; up to {LONGEST_CELL} are read."
        )
    if not _is_text(source):
        raise SubmissionError(f"Cell {number} of the file holds half characters, which are no text.")
    assert isinstance(raw, dict)
    metadata, name = raw.get("metadata"), raw.get("id")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    nbgrader = nbgrader if isinstance(nbgrader, dict) else {}
    grade_id = nbgrader.get("grade_id")
    return SubmittedCell(
        str(kind),
        source.replace("\r\n", "\n").replace("\r", "\n"),
        grade_id if isinstance(grade_id, str) else None,
        name if isinstance(name, str) else None,
        nbgrader,
    )


def _is_text(string: str) -> bool:
    """Whether a string can be written down: JSON can hold halves of surrogate pairs, UTF-8 cannot."""
    try:
        string.encode()
    except UnicodeEncodeError:
        return False
    return True


def _language(content: dict[str, Any]) -> str:
    """The language of the kernel, lower case; Python where there is no telling."""
    metadata = content.get("metadata")
    for place in ("language_info", "kernelspec"):
        about = metadata.get(place) if isinstance(metadata, dict) else None
        name = (
            about.get("name" if place == "language_info" else "language") if isinstance(about, dict) else None
        )
        if isinstance(name, str) and name.isprintable():
            return name.lower()[:40]
    return "python"
