"""Which files the build makes, writing them, and comparing them with what lies there."""

import json
from pathlib import Path

import course.questions
from course.building.master import Master, MasterError
from course.building.masters import QUESTIONS, master_files, read_masters
from course.building.nodes import to_bytes
from course.building.versions import for_nbgrader, for_self_study, for_students
from course.files import notebooks_under, remove_notebook, sha256, write_atomically

COMMITTED = (Path("release"), Path("notebooks"), Path("sample_class/submitted"))
MASTERS = Path("build/source")
_STAMPS = Path("build/masters.json")


def build(root: Path) -> list[Path]:
    """Make every file that is built from `source/`, and remove notebooks that no source makes any more.

    Returns the committed files that changed. Raises MasterError before anything is written.
    """
    files = _committed_files(root, read_masters(root))
    changed = list(_changes(root, files))
    refresh_masters(root)
    for path in changed:
        if path in files:
            write_atomically(root / path, files[path])
        else:
            remove_notebook(root / path, root)
    return changed


def differences(root: Path) -> list[str]:
    """A line for each committed file that is not what the build makes; writes nothing.

    Raises MasterError if a master cannot be built.
    """
    changes = _changes(root, _committed_files(root, read_masters(root)))
    return [f"{path}: {what}" for path, what in changes.items()]


def refresh_masters(root: Path) -> None:
    """Make nbgrader's source folder, `build/source/`, what `source/` says; quick when it already is.

    nbgrader wants notebooks there, and calls this through `nbgrader_config.py` at each start.
    Raises MasterError if a master cannot be built, and leaves no outdated notebook there to be released.
    """
    inputs = [*master_files(root), *(root / name for name in [QUESTIONS] if (root / name).exists())]
    sources = {path.relative_to(root).as_posix(): sha256(path.read_bytes()) for path in inputs}
    programs = [*sorted(Path(__file__).parent.glob("*.py")), Path(course.questions.__file__)]
    sources |= {f"{path.parent.name}/{path.name}": sha256(path.read_bytes()) for path in programs}
    if _stamps(root) == {"made_from": sources, "made": _made(root)}:
        return
    try:
        masters = read_masters(root)
    except MasterError:
        for path in notebooks_under(root / MASTERS):
            remove_notebook(path, root)
        raise
    files = {MASTERS / master.path: to_bytes(for_nbgrader(master)) for master in masters}
    for path in notebooks_under(root / MASTERS):
        if path.relative_to(root) not in files:
            remove_notebook(path, root)
    for path, data in files.items():
        write_atomically(root / path, data)
    stamps = {"made_from": sources, "made": _made(root)}
    write_atomically(root / _STAMPS, json.dumps(stamps, indent=1, sort_keys=True).encode())


def _made(root: Path) -> dict[str, str]:
    folder = root / MASTERS
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()) for path in notebooks_under(folder)
    }


def _stamps(root: Path) -> object:
    try:
        return json.loads((root / _STAMPS).read_bytes())
    except (OSError, ValueError):
        return None


def _committed_files(root: Path, masters: list[Master]) -> dict[Path, bytes]:
    """Every committed file the build makes, as paths below the root."""
    from course.building.sample import sample_submissions

    released = {master.path: for_students(for_nbgrader(master)) for master in masters}
    files = {Path("release") / path: to_bytes(notebook) for path, notebook in released.items()}
    for master in masters:
        files[Path("notebooks") / master.path.name] = to_bytes(for_self_study(master))
    answers = root / "sample_class" / "answers"
    if answers.is_dir() and released:
        for path, handed_in in sample_submissions(answers, released):
            data = handed_in if isinstance(handed_in, bytes) else to_bytes(handed_in)
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
            if path.relative_to(root) not in files:
                changes[path.relative_to(root)] = "left over, no source makes it"
    return changes
