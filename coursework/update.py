"""`python -m coursework.update`: set your work into a newer version of the course's notebooks.

    python -m coursework.update NEW            NEW is the new zip, or a folder with the new notebooks
    python -m coursework.update NEW --fresh 5  start one notebook afresh; --back 5 takes that back

Run it in the folder of your notebooks, or name that folder. Your answers, the cells that you changed and
those that you added are kept; what a notebook was before is kept as well, in `earlier-versions/`.
"""

import argparse
import importlib.metadata
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from coursework.folder import EARLIER, FolderError, bring_back, start_afresh, update, why
from coursework.origin import NotANotebookError, is_as_made, parse, version_of

_LARGEST = 20_000_000  # bytes of a notebook in a zip
_WHEEL = re.compile(r"decoder_lib-([^-]+)-.*\.whl")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 if it did its work, 1 if it could not."""
    parser = argparse.ArgumentParser(
        prog="python -m coursework.update",
        description=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("new", type=Path, metavar="NEW", help="the new zip, or a folder with new notebooks")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="yours; default: this one"
    )
    add_choices(parser)
    options = parser.parse_args(arguments)
    try:
        course, version = read_course(options.new)
        folder = _own_folder(options.folder, course)
        print(carry_out(folder, course, options) or "Everything is up to date.")
    except FolderError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Nothing was changed: {why(error)}.", file=sys.stderr)
        return 1
    if version and (here := _installed()) and version != here:
        print(
            f"These notebooks come with decoder_lib {version}; {here} is installed. Unpack the zip, and in "
            "its folder: python -m pip install --require-hashes -r requirements.txt"
        )
    return 0


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Add what can be asked for in place of an update."""
    choices = parser.add_mutually_exclusive_group()
    choices.add_argument("--fresh", metavar="NOTEBOOK", help="start one notebook afresh; yours is kept")
    choices.add_argument("--back", metavar="NOTEBOOK", help="take that back, or an update of one notebook")


def carry_out(folder: Path, course: dict[str, Any], options: argparse.Namespace) -> str:
    """Do in a reader's folder what was asked for, and say in sentences what was done.

    Raises FolderError if it cannot be done.
    """
    if options.fresh:
        return start_afresh(folder, course, options.fresh)
    if options.back:
        return bring_back(folder, course, options.back)
    return str(update(folder, course))


def read_course(new: Path) -> tuple[dict[str, Any], str]:
    """The course's notebooks in a folder or a zip, by file name, and the version of the decoder beside them.

    A notebook that was changed after the course made it is nobody's new version, and is not among them.

    Raises FolderError if there are none.
    """
    course: dict[str, Any] = {}
    version = ""
    try:
        for path, data in _files(new):
            if match := _WHEEL.fullmatch(path.name):
                version = match[1]
            elif path.suffix == ".ipynb" and not {".ipynb_checkpoints", EARLIER} & set(path.parts):
                try:
                    notebook = parse(data)
                except NotANotebookError:
                    continue
                if version_of(notebook) and is_as_made(notebook):
                    course[path.name] = notebook
    except (OSError, zipfile.BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no whole zip"
        raise FolderError(f"{new} cannot be read: {reason}.") from None
    if not course:
        raise FolderError(
            f"{new} holds no notebook as the course made it. Name the zip that you were given, or a folder "
            "with notebooks in which nobody has worked."
        )
    return dict(sorted(course.items())), version


def _files(new: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The notebooks and wheels of a folder or a zip; of a wheel its name is enough."""
    if new.is_dir():
        for path in sorted(new.rglob("*")):
            if path.suffix in (".ipynb", ".whl") and path.is_file():
                data = path.read_bytes() if path.suffix == ".ipynb" else b""
                yield PurePosixPath(path.relative_to(new).as_posix()), data
        return
    with zipfile.ZipFile(new) as archive:
        for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
            name = PurePosixPath(entry.filename)
            if name.suffix == ".whl":
                yield name, b""
            elif name.suffix == ".ipynb" and entry.file_size <= _LARGEST:
                yield name, archive.read(entry)


def _own_folder(folder: Path, course: dict[str, Any]) -> Path:
    """Where the reader's notebooks are: the folder, or the only one in it that has some of them."""
    if not folder.is_dir():
        raise FolderError(f"{folder} is no folder. Name the one with your notebooks.")
    here = [inner for inner in [folder, *sorted(folder.iterdir())] if _has_any(inner, course)]
    if len(here) == 1 or (here and here[0] == folder):
        return here[0]
    found = f"; there are {', '.join(map(str, here))}" if here else ""
    raise FolderError(
        f"{folder.resolve()} has none of the notebooks that are new: {', '.join(course)}. Name your folder "
        f"that has{found}; or the new zip, if it was another one."
    )


def _has_any(folder: Path, course: dict[str, Any]) -> bool:
    return folder.is_dir() and any((folder / name).is_file() for name in course)


def _installed() -> str:
    try:
        return importlib.metadata.version("decoder-lib")
    except importlib.metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
