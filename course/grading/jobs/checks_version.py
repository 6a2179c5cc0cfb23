"""Tells whether two machines, or two runs, mark by the same code."""

import hashlib
from functools import cache
from pathlib import Path

import course
import course.questions
import coursework
import decoder_lib

# What comes before a notebook is marked, or after it, and changes no mark. All else in the packages
# counts, so that a module that is added or moved cannot be forgotten.
NO_SAY = (
    "course/bundling",
    "course/checking",
    "course/commands",
    "course/study",
    *(f"course/grading/{room}" for room in ("export", "feedback", "gradebook", "lms", "nbgrader_side")),
    *(f"course/grading/{room}" for room in ("report", "runs")),
)


@cache
def checks_sha256(seed: int) -> str:
    """A hash of all that decides about marks beside the submission and the master.

    seed : the checks draw their inputs from it.

    It covers the files as they lay there when this process first asked, and no path of this machine.
    """
    digest = hashlib.sha256(f"seed {seed}\n".encode())
    for name, path in covered_files():
        data = path.read_bytes()
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def covered_files() -> list[tuple[str, Path]]:
    """The code and the data that marking depends on, each with its name inside the course."""
    found = [("source/questions.yaml", course.questions.FILE)]
    for package in (course, coursework, decoder_lib):
        folder = Path(package.__path__[0])
        for path in folder.rglob("*"):
            name = f"{package.__name__}/{path.relative_to(folder).as_posix()}"
            if path.is_file() and not _is_left_behind(name) and not name.startswith(_NO_SAY_FOLDERS):
                found.append((name, path))
    return sorted(found)


_NO_SAY_FOLDERS = tuple(f"{folder}/" for folder in NO_SAY)


def _is_left_behind(name: str) -> bool:
    """Whether Python, an editor or the system put a file there for itself."""
    parts = name.split("/")
    return name.endswith("~") or any(part == "__pycache__" or part.startswith(".") for part in parts)
