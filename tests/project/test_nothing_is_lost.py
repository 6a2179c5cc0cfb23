"""Every command of the guides, in several orders, in a checkout in which somebody has worked everywhere."""

import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps import NbGraderApp

from course.cli import _COMMANDS
from course.files import ROOT, sha256

COURSE = "autoregressive-generation"
NOTEBOOK = "05-append-then-predict.ipynb"
PARTS = ("course", "coursework", "decoder_lib", "source", "release", "notebooks", "sample_class")
FILES = ("nbgrader_config.py", "pyproject.toml", "requirements.lock", "LICENSE")
SETTINGS = '\nc.Exchange.root = "{exchange}"\nc.Exchange.path_includes_course = False\n'

# What the README, the guides and `course --help` name, as somebody would type it.
COMMANDS = {
    "course update": "course update",
    "course update --fresh": "course update --fresh 5",
    "course update --back": "course update --back 5",
    "course build": "course build",
    "course bundle": "course bundle",
    "course check": "course check solution.py",
    "course collect": "course collect submissions.zip",
    "course grade": "course grade --student ada",
    "course grade --force": "course grade --force --student ada",
    "course regrade": "course regrade --all --student ada",
    "course report": "course report",
    "course export": "course export; course export --totals --to totals.csv; course export --format moodle",
    "nbgrader generate_assignment": f"nbgrader generate_assignment {COURSE}",
    "nbgrader release_assignment": f"nbgrader release_assignment {COURSE} --force",
    "nbgrader collect": f"nbgrader collect {COURSE} --update",
    "nbgrader zip_collect": f"nbgrader zip_collect {COURSE} --force",
    "nbgrader autograde": f"nbgrader autograde {COURSE} --student ada --force",
    "nbgrader generate_feedback": f"nbgrader generate_feedback {COURSE} --student ada",
    "nbgrader export": "nbgrader export",
    "python -m coursework.update": f"python -m coursework.update release/{COURSE} handed-out",
}
# These write nothing in the course's folder, or only what their name says into the gradebook or an exchange.
ELSEWHERE = {"nbgrader db", "nbgrader release_feedback"}


def test_no_command_of_the_guides_is_left_out():
    """Bug: a command that deletes what somebody wrote is in a guide, and in no test of this file."""
    guides = ("README.md", "CONTRIBUTING.md", "docs/instructors.md", "course/bundling/START.md")
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in guides)
    programs = {f"nbgrader {name}" for name in NbGraderApp().subcommands} | {"python -m coursework.update"}
    named = {name for name in programs if re.search(rf"{name}\b", text)}
    ours = {f"course {module.__name__.rpartition('.')[2]}" for module in _COMMANDS}
    assert named | ours <= {*COMMANDS, *ELSEWHERE}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the course with a class, graded once, and with work in every folder."""
    root = tmp_path / "course folder"
    for part in PARTS:
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, root)
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS.format(exchange=exchange))
    handed_in = root / "sample_class" / "submitted" / "half-right" / COURSE / NOTEBOOK
    for name, hour in (("submissions.zip", 9), (f"downloaded/{COURSE}/archive/class.zip", 10)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(root / name, "w") as archive:
            entry = zipfile.ZipInfo(f"ada/{NOTEBOOK}", (2026, 10, 1, hour, 0, 0))
            archive.writestr(entry, handed_in.read_bytes() + b"\n" * hour)
    (root / "solution.py").write_text("def generate():\n    return 1\n")
    shutil.copytree(root / "release" / COURSE, root / "handed-out")
    for name in ("course update", "course collect", "course grade", "course report", "course export"):
        run(root, COMMANDS[name])
    return root


def run(root: Path, command: str) -> str:
    """What a command says; whether it does its work is for other tests."""
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "HOME": str(root.parent),
        "JUPYTER_CONFIG_DIR": str(root.parent / "jupyter"),
        "COLUMNS": "200",
    }
    done = subprocess.run(
        command, shell=True, cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in done.stdout + done.stderr, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def work_everywhere(root: Path) -> dict[Path, bytes]:
    """Change, add, copy and rename files in every folder; what each of them holds afterwards."""
    written: dict[Path, bytes] = {}

    def write(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        written[path] = data

    folders = {
        "notebooks": root / "notebooks",
        "release": root / "release" / COURSE,
        "sample": root / "sample_class" / "submitted" / "half-right" / COURSE,
        "masters": root / "build" / "source" / COURSE,
        "mine": root / "my-notebooks",
        "students": root / "handed-out",
        "submitted": root / "submitted" / "ada" / COURSE,
        "autograded": root / "autograded" / "ada" / COURSE,
    }
    for name, folder in folders.items():
        original = (folder / NOTEBOOK).read_bytes()
        write(folder / NOTEBOOK, solved(original, f"tried = 'in {name}'"))
        write(folder / "my-own-notes.ipynb", solved(original, f"my_own = 'in {name}'"))
        write(folder / NOTEBOOK.replace(".ipynb", "-Copy1.ipynb"), original)
        write(folder / "mine" / NOTEBOOK, solved(original, f"deeper = 'in {name}'"))
        if (other := folder / "06-combine-conditional-predictions.ipynb").exists():
            renamed = other.rename(folder / "06-renamed.ipynb")
            written[renamed] = renamed.read_bytes()
    for path in (
        root / "report.html",
        root / "grades.csv",
        root / "totals.csv",
        root / "feedback" / "ada" / COURSE / NOTEBOOK.replace(".ipynb", ".html"),
        root / "dist" / "notes.txt",
        root / "release" / COURSE / "data.csv",
        root / "submitted" / "ada" / COURSE / "helper.py",
        root / "source" / "notes.txt",
        root / "sample_class" / "submitted" / "new-student" / COURSE / NOTEBOOK,
        root / "downloaded" / COURSE / "extracted" / "notes.txt",
    ):
        write(path, (path.read_bytes() if path.exists() else b"") + f"by hand: {path.name}".encode())
    return written


def solved(data: bytes, line: str) -> bytes:
    worked = nbformat.reads(data.decode(), as_version=4)
    next(cell for cell in worked.cells if cell.cell_type == "code").source += f"\n{line}"
    return nbformat.writes(worked).encode()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(1, 5))])
def test_whatever_is_run_every_file_is_there_or_set_aside_by_a_name_that_was_printed(checkout, seed):
    """Bug: `make lab`, a build, grading or one of nbgrader's commands loses somebody's file."""
    run(checkout, COMMANDS["nbgrader generate_assignment"])
    written = work_everywhere(checkout)
    order = list(COMMANDS)
    random.Random(seed).shuffle(order)
    said = "\n".join(run(checkout, COMMANDS[name]) for name in order)
    places: dict[str, list[str]] = {}
    for path in checkout.rglob("*"):
        if path.is_file():
            places.setdefault(sha256(path.read_bytes()), []).append(path.relative_to(checkout).as_posix())
    for path, data in written.items():
        name, found = path.relative_to(checkout).as_posix(), places.get(sha256(data), [])
        assert found, f"{name} is lost after: {', '.join(order)}\n{said}"
        if name not in found:
            assert any(is_told(place, said) for place in found), (
                f"{name} is in {found}, which nobody said:\n{said}"
            )


def is_told(place: str, said: str) -> bool:
    """Whether a place, or the folder that holds it with others, was printed."""
    path = Path(place)
    told = [place, *(parent.as_posix() for parent in path.parents if len(parent.parts) > 1)]
    return any(each in said for each in told) or path.relative_to(path.parts[0]).as_posix() in said
