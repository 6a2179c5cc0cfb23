"""The course's folder, and what is done with files in it."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from coursework.files import write_atomically as write_atomically

ROOT = Path(__file__).resolve().parent.parent  # the course's folder


def sha256(data: bytes) -> str:
    """The hexadecimal SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def notebooks_under(folder: Path) -> list[Path]:
    """Every .ipynb below a folder, Jupyter's own checkpoints left out."""
    return sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def remove_notebook(path: Path, top: Path) -> None:
    """Remove a notebook, and the folders that are empty without it, up to and not including `top`."""
    path.unlink(missing_ok=True)
    remove_empty_folders(path, top)


def remove_empty_folders(path: Path, top: Path) -> None:
    """Remove the folders around a place in which nothing is left, up to and not including `top`."""
    for folder in path.parents:
        if folder == top or not folder.is_dir() or any(folder.iterdir()):
            break
        folder.rmdir()


def notes_in(path: Path, fields: int) -> Iterator[list[str]]:
    """What `add_note` wrote, oldest first. A line that was cut off, or has other fields, is no note."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if isinstance(note, list) and len(note) == fields:
            yield [str(text) for text in note]


def add_note(path: Path, note: list[str]) -> None:
    """Write a line at the end of a file; the line feed in front ends what a killed run may have left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(f"\n{json.dumps(note)}".encode())
