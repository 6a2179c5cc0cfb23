"""What the course writes into its notebooks, so that its words can later be told from a reader's.

Each cell carries its name and the digest of its text as it was handed out, and the notebook a digest of the
whole. Jupyter keeps such metadata, so they travel with a notebook wherever it is copied, renamed or edited.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Iterable
from typing import Any

import nbformat

KEY = "course"
_OF_OLD = re.compile(r"[0-9a-f]{12}(-\d+)?|navigation-(top|bottom)|question-.*|.*-solution")


class NotANotebookError(Exception):
    """A file that cannot be read as a notebook; `str` says why, in a clause."""


def parse(data: bytes) -> Any:
    """A notebook from its file, in nbformat's version 4.

    Raises NotANotebookError where the bytes are no notebook.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotANotebookError(f"it is not text in UTF-8 (byte {error.start + 1})") from None
    if re.search(r"^<{7} ", text, re.MULTILINE) and re.search(r"^>{7} ", text, re.MULTILINE):
        raise NotANotebookError("it holds the markers of an unfinished merge (<<<<<<< and >>>>>>>)")
    try:
        with warnings.catch_warnings(action="ignore"):  # ids that are there twice are put right later
            notebook: Any = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        for cell in notebook.cells:
            cell.source, cell.cell_type, cell.metadata  # noqa: B018 - a cell without them is none
    except Exception as error:
        raise NotANotebookError(
            "it is not a whole notebook; it may have been cut off, or be of an old format that Jupyter must "
            "convert first"
        ) from error
    return notebook


def to_bytes(notebook: Any) -> bytes:
    """A notebook as nbgrader itself writes it: sorted keys, UTF-8 as it is, one newline at the end.

    Halves of characters, which UTF-8 cannot hold, are written as JSON's escapes.
    """
    text: str = nbformat.writes(notebook, version=4)  # type: ignore[no-untyped-call]
    return (text.rstrip("\n") + "\n").encode(errors="backslashreplace")


def sign(notebook: Any, name: str, answers: Iterable[str] = ()) -> Any:
    """Write into a notebook, in place, where its cells come from and what it is as a whole; gives it back.

    name : of its file, without the ending, and with the folders by which the course tells it from others.
    answers : the ids of the cells whose text a reader writes; cells that nbgrader calls solutions are known.
    """
    answers = set(answers)
    texts = {cell.id: digest(cell.source) for cell in notebook.cells}
    for cell in notebook.cells:
        about: dict[str, Any] = {"id": cell.id, "text": texts[cell.id]}
        if cell.id in answers or cell.metadata.get("nbgrader", {}).get("solution"):
            about["answer"] = True
            if asked := texts.get(f"{cell.id}-text"):  # the cell that puts the question
                about["asked"] = asked
        cell.metadata[KEY] = about
    return seal(notebook, name)


def seal(notebook: Any, name: str) -> Any:
    """Write into a notebook, in place, only its name and what it is as a whole; gives it back."""
    notebook.metadata[KEY] = {"name": name}
    notebook.metadata[KEY]["version"] = _version(notebook)
    return notebook


def title_of(notebook: Any) -> str | None:
    """The name that a notebook of the course was signed with, whatever its file is called now; else None."""
    name = _about(notebook).get("name")
    return name if isinstance(name, str) else None


def version_of(notebook: Any) -> str | None:
    """Which version of its notebook of the course this one comes from; None if it does not say."""
    version = _about(notebook).get("version")
    return version if isinstance(version, str) else None


def is_as_made(notebook: Any) -> bool:
    """Whether nothing in a notebook changed since the course made it."""
    return version_of(notebook) == _version(notebook)


def name_of(cell: Any, of_old: bool = False) -> str | None:
    """The course's name for a cell, None for a reader's own.

    of_old : whether the notebook is from before cells carried their names; the ids that the course gave then
        tell them.
    """
    if isinstance(name := _about(cell).get("id"), str):
        return name
    nbgrader = cell.metadata.get("nbgrader")
    if isinstance(nbgrader, dict) and isinstance(nbgrader.get("grade_id"), str):
        return str(nbgrader["grade_id"])
    cell_id = str(cell.get("id", ""))
    return cell_id if of_old and _OF_OLD.fullmatch(cell_id) else None


def handed_out(cell: Any) -> str | None:
    """The digest of a cell's text as the course handed it out; None if the cell does not say."""
    if isinstance(text := _about(cell).get("text"), str):
        return text
    cell_id = str(cell.get("id", ""))[:12]  # of old, a cell without a name got its text's digest as its id
    return digest(cell.source) if hashlib.sha256(cell.source.encode()).hexdigest()[:12] == cell_id else None


def is_answer(cell: Any) -> bool:
    """Whether a cell of the course is there for a reader's answer."""
    return bool(_about(cell).get("answer"))


def asked(cell: Any) -> str | None:
    """The digest of the question that a cell answers; None where it answers none or does not say."""
    text = _about(cell).get("asked")
    return text if isinstance(text, str) else None


def digest(text: str) -> str:
    """What tells one text from another; space at the ends of lines and around the text does not count."""
    lines = [line.rstrip() for line in text.strip().split("\n")]
    return hashlib.sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()[:16]


def _about(node: Any) -> dict[str, Any]:
    about = node.metadata.get(KEY)
    return about if isinstance(about, dict) else {}


def _version(notebook: Any) -> str:
    """A digest of everything in a notebook but itself."""
    content = json.loads(json.dumps(notebook))
    content["metadata"][KEY] = {"name": title_of(notebook)}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
