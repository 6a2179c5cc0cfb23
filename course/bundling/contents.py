"""What is in the zip for students, file by file."""

import tomllib
from pathlib import Path
from typing import Any

import jinja2
import mistune
import yaml

from course.building import differences
from course.building.outputs import is_built
from course.bundling.errors import BundleError
from course.bundling.lock import names_of, subset
from course.bundling.wheel import build_wheel
from course.files import notebooks_under, sha256

RELEASE = Path("release")
_PROGRAMS = ("jupyterlab", "nbgrader")  # where students work, and its button Validate
_SECRETS = ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "course.checks")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }}
code {{ background: #f2f2f2; padding: .1rem .25rem; overflow-wrap: anywhere; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def bundle_files(root: Path, assignment: str) -> dict[str, bytes]:
    """Every file for students, by its place in the zip's folder.

    Raises BundleError if the release is not what the build makes, or would give away what students must not
    see; MasterError if a master cannot be built.
    """
    stale = [line for line in differences(root) if line.startswith(f"{RELEASE}/")]
    if stale:
        raise BundleError("The release is not what the build makes. Run `course build`.\n" + "\n".join(stale))
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    wheel, data = build_wheel(root, settings)
    files = {f"{assignment}/{name}": content for name, content in _released(root, assignment).items()}
    files |= {
        wheel: data,
        "requirements.txt": _requirements(root, settings["project"], wheel, data),
        "environment.yml": _environment(settings["project"], wheel),
        "LICENSE": (root / "LICENSE").read_bytes(),
    }
    start = _start(settings["project"], assignment)
    page = _PAGE.format(title=start.splitlines()[0].strip("# "), body=mistune.html(start))
    return files | {"START.md": start.encode(), "START.html": page.encode()}


def left_out(root: Path, assignment: str) -> list[str]:
    """The notebooks in the release's folder that are no part of it, because no source makes them."""
    folder = root / RELEASE / assignment
    return [
        path.relative_to(root).as_posix()
        for path in notebooks_under(folder)
        if not is_built(root, path, path.read_bytes())
    ]


def _released(root: Path, assignment: str) -> dict[str, bytes]:
    folder = root / RELEASE / assignment
    strangers = left_out(root, assignment)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    names = {path.relative_to(folder): path for path in paths}
    files = {
        name.as_posix(): path.read_bytes()
        for name, path in names.items()
        if not any(part.startswith(".") for part in name.parts)
        and path.relative_to(root).as_posix() not in strangers
    }
    if not any(name.endswith(".ipynb") for name in files):
        raise BundleError(f"There is no notebook in {folder}. Run `course build`.")
    for name, data in files.items():
        if found := [secret for secret in _SECRETS if secret.encode() in data]:
            raise BundleError(f"{folder / name} holds what students must not see: {', '.join(found)}.")
    return files


def _requirements(root: Path, project: dict[str, Any], wheel: str, data: bytes) -> bytes:
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    packages = subset(lock, [*names_of(project["dependencies"]), *_PROGRAMS])
    head = "# In this folder: python -m pip install --require-hashes -r requirements.txt\n"
    return f"{head}./{wheel} \\\n    --hash=sha256:{sha256(data)}\n{packages}".encode()


def _environment(project: dict[str, Any], wheel: str) -> bytes:
    course = project["optional-dependencies"]["course"]
    programs = [line for line in course if names_of([line])[0] in _PROGRAMS]
    packages = [f"python{project['requires-python']}", "pip", *project["dependencies"], *programs]
    return yaml.safe_dump(
        {
            "name": project["name"],
            "channels": ["conda-forge"],
            "dependencies": [*packages, {"pip": [f"./{wheel}"]}],
        },
        sort_keys=False,
    ).encode()


def _start(project: dict[str, Any], assignment: str) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    template = environment.from_string(Path(__file__).with_name("START.md").read_text(encoding="utf-8"))
    return template.render(
        python=project["requires-python"].lstrip(">="),
        environment=project["name"],
        contents=f"{assignment}/00-contents.ipynb",
        folder=assignment,
    )
