"""Which files the build makes, writing them, and comparing them with what lies there."""

import json
import os
import sys
from collections.abc import Container
from functools import partial
from pathlib import Path
from typing import Any

import course.questions
from course.building.master import Master, MasterError
from course.building.masters import QUESTIONS, master_files, read_masters
from course.building.versions import for_nbgrader, for_self_study, for_students
from course.files import notebooks_under, remove_empty_folders, remove_notebook, sha256, write_atomically
from course.keeping import Keeper
from coursework.origin import NotANotebookError, is_as_made, parse, seal, title_of, to_bytes

SELF_STUDY = Path("notebooks")
OWN = Path("my-notebooks")  # where a self-learner works; git ignores it
COMMITTED = (Path("release"), SELF_STUDY, Path("sample_class/submitted"))
MASTERS = Path("build/source")
_STAMPS = Path("build/masters.json")


def build(root: Path) -> list[Path]:
    """Make every file that is built from `source/`, and remove those that no source makes any more.

    Returns the committed files that changed. What a person changed is never written over: work in a
    self-study notebook moves to the reader's own folder, anything else is set aside, and a line says so.
    Raises MasterError before anything is written.
    """
    files = _committed_files(root, read_masters(root))
    with Keeper(root, partial(is_built, root)) as keeper:
        changed = list(_changes(root, files))
        refresh_masters(root)
        for path in changed:
            if path not in files:
                remove_notebook(root / path, root)
                continue
            if path.parent == SELF_STUDY and not keeper.is_ours(root / path):
                _hand_over(root, path)
            keeper.write(root / path, files[path])
    return changed


def self_study_notebooks(root: Path) -> dict[str, Any]:
    """The self-study notebooks by file name; they are built first where they are not there as we made them.

    Raises MasterError if that is needed and a master cannot be built.
    """
    names = [f"{path.stem}.ipynb" for path in master_files(root)]
    files = [root / SELF_STUDY / name for name in names]
    if not all(path.is_file() and is_built(root, path, path.read_bytes()) for path in files):
        build(root)
    return {name: parse((root / SELF_STUDY / name).read_bytes()) for name in names}


def is_built(root: Path, path: Path, data: bytes) -> bool:
    """Whether a notebook says of itself that it was built for this place and never changed since."""
    folder = next((root / each for each in COMMITTED if path.is_relative_to(root / each)), None)
    try:
        notebook = parse(data)
    except NotANotebookError:
        return False
    if folder is None or title_of(notebook) != path.relative_to(folder).with_suffix("").as_posix():
        return False  # somebody's copy, under another name or in another folder
    return is_as_made(notebook)


def _hand_over(root: Path, path: Path) -> None:
    """Move what a reader wrote into one of our notebooks to the folder that is the reader's own."""
    own = root / OWN / path.name
    if (root / path).is_file() and not os.path.lexists(own):
        own.parent.mkdir(exist_ok=True)
        (root / path).rename(own)
        print(
            f"{path} was not as the course made it, so it was moved to {own.relative_to(root)}.",
            file=sys.stderr,
        )


def differences(root: Path) -> list[str]:
    """A line for each committed file that is not what the build makes; writes nothing.

    Raises MasterError if a master cannot be built.
    """
    changes = _changes(root, _committed_files(root, read_masters(root)))
    return [f"{path}: {what}" for path, what in changes.items()]


def refresh_masters(root: Path) -> None:
    """Make nbgrader's source folder, `build/source/`, what `source/` says; quick when it already is.

    nbgrader wants notebooks there, and calls this through `nbgrader_config.py` at each start. What a person
    put or changed there is set aside, and a line says so.
    Raises MasterError if a master cannot be built, and leaves no outdated notebook there to be released.
    """
    inputs = [*master_files(root), *(root / name for name in [QUESTIONS] if (root / name).exists())]
    sources = {path.relative_to(root).as_posix(): sha256(path.read_bytes()) for path in inputs}
    programs = [*sorted(Path(__file__).parent.glob("*.py")), Path(course.questions.__file__)]
    sources |= {f"{path.parent.name}/{path.name}": sha256(path.read_bytes()) for path in programs}
    stamps, made = _stamps(root), _made(root)
    if stamps == {"made_from": sources, "made": made}:
        return
    ours = set(stamps.get("made", {}).values())
    with Keeper(root, lambda path, data: sha256(data) in ours) as keeper:
        try:
            masters = read_masters(root)
        except MasterError:
            _keep_only([], keeper, root)
            raise
        files = {MASTERS / master.path: to_bytes(for_nbgrader(master)) for master in masters}
        _keep_only(files, keeper, root)
        for path, data in files.items():
            keeper.write(root / path, data)
    stamps = {"made_from": sources, "made": _made(root)}
    write_atomically(root / _STAMPS, json.dumps(stamps, indent=1, sort_keys=True).encode())


def _keep_only(files: Container[Path], keeper: Keeper, root: Path) -> None:
    for path in notebooks_under(root / MASTERS):
        if path.relative_to(root) not in files:
            keeper.remove(path)
            remove_empty_folders(path, root)


def _made(root: Path) -> dict[str, str]:
    folder = root / MASTERS
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()) for path in notebooks_under(folder)
    }


def _stamps(root: Path) -> dict[str, dict[str, str]]:
    try:
        stamps = json.loads((root / _STAMPS).read_bytes())
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _committed_files(root: Path, masters: list[Master]) -> dict[Path, bytes]:
    """Every committed file the build makes, as paths below the root."""
    from course.building.sample import sample_submissions

    released = {master.path: for_students(master) for master in masters}
    files = {Path("release") / path: to_bytes(notebook) for path, notebook in released.items()}
    for master in masters:
        files[SELF_STUDY / master.path.name] = to_bytes(for_self_study(master))
    answers = root / "sample_class" / "answers"
    if answers.is_dir() and released:
        for path, handed_in in sample_submissions(answers, released):
            data = (
                handed_in
                if isinstance(handed_in, bytes)
                else to_bytes(seal(handed_in, path.with_suffix("").as_posix()))
            )
            files[Path("sample_class/submitted") / path] = data
    return files


def _changes(root: Path, files: dict[Path, bytes]) -> dict[Path, str]:
    """What is not as it should be: each such path, and in a word how."""
    changes = {}
    for path, data in files.items():
        if not (root / path).is_file():
            changes[path] = "missing"
        elif (root / path).read_bytes() != data:
            changes[path] = "not what the build makes"
    for folder in COMMITTED:
        for path in notebooks_under(root / folder):
            if path.relative_to(root) not in files and is_built(root, path, path.read_bytes()):
                changes[path.relative_to(root)] = "left over, no source makes it"
    return changes
