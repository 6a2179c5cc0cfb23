"""What `course bundle` does."""

import tomllib
from pathlib import Path

from course.bundling.contents import RELEASE, bundle_files, left_out
from course.bundling.errors import BundleError
from course.bundling.zipping import zipped
from course.files import notebooks_under
from course.keeping import Keeper, what_is_wrong_with_target


def bundle(root: Path, assignment: str | None = None, to: Path | None = None) -> tuple[Path, list[str]]:
    """Make the zip of an assignment, the only one if none is named; gives its place, and what was left out.

    Raises BundleError if it cannot be made, MasterError if a master cannot be built.
    """
    released = root / RELEASE
    there = sorted({path.relative_to(released).parts[0] for path in notebooks_under(released)})
    if assignment is None and len(there) == 1:
        assignment = there[0]
    if assignment not in there or assignment is None:
        which = f"no {assignment} there" if assignment else "more than one, or none"
        raise BundleError(f"Which assignment? There is {which}; released are: {', '.join(there) or 'none'}.")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    path = to or root / "dist" / f"{assignment}-{project['version']}.zip"
    if wrong := what_is_wrong_with_target(path, ".zip"):
        raise BundleError(wrong)
    data = zipped(bundle_files(root, assignment), assignment)
    with Keeper(root) as keeper:
        keeper.write(path.absolute(), data)
    return path, left_out(root, assignment)
