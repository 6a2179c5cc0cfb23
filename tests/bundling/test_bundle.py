"""The zip that students get: what is in it, what is not, and that one can work from it."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile

import pytest
from lab_server import lab_server

from course.bundling.bundle import bundle
from course.bundling.errors import BundleError
from course.bundling.lock import subset
from course.bundling.zipping import zipped
from course.files import ROOT

NAME = "autoregressive-generation"
NEEDED = ("source", "release", "notebooks", "sample_class", "decoder_lib", "coursework")
LOCK = """# made by a program
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
    # via
    #   beta
    #   tools
beta==2.0 ; sys_platform == 'darwin' \\
    --hash=sha256:bb
    # via the-course (pyproject.toml)
beta==3.0 ; sys_platform != 'darwin' \\
    --hash=sha256:bc
    # via the-course (pyproject.toml)
deep-one==1.0 \\
    --hash=sha256:dd
    # via alpha
tools==9.0 \\
    --hash=sha256:ee
    # via the-course (pyproject.toml)
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The zip of the course as it is here."""
    return bundle(ROOT, to=tmp_path_factory.mktemp("bundle") / "for-students.zip")[0]


@pytest.fixture(scope="session")
def files(made):
    """Every file in the zip, those of the wheel included, by place."""
    with zipfile.ZipFile(made) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    (wheel,) = (name for name in found if name.endswith(".whl"))
    with zipfile.ZipFile(io.BytesIO(found[wheel])) as archive:
        return found | {f"{wheel}/{name}": archive.read(name) for name in archive.namelist()}


@pytest.fixture
def copied(tmp_path):
    """The course in another folder, with other times and rights."""
    root = tmp_path / "another course"
    for name in NEEDED:
        shutil.copytree(ROOT / name, root / name, copy_function=shutil.copyfile)
    for name in ("LICENSE", "pyproject.toml", "requirements.lock", "nbgrader_config.py"):
        shutil.copyfile(ROOT / name, root / name)
    for path in root.rglob("*.py"):
        path.chmod(0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return root


def test_the_same_course_makes_the_same_zip(made, copied):
    """Bug: two instructors hand out different files of one version, and nobody can tell what differs."""
    assert bundle(copied)[0].read_bytes() == made.read_bytes()
    assert zipped({"b": b"2", "a": b"1"}, "top") == zipped({"a": b"1", "b": b"2"}, "top")


def test_the_zip_has_what_a_student_needs_and_nothing_else(files):
    """Bug: a file that a student needs is missing, or the whole course is packed with its checks."""
    released = {path.name for path in (ROOT / "release" / NAME).glob("*.ipynb")}
    places = {name.removeprefix(f"{NAME}/") for name in files}
    assert {f"{NAME}/{name}" for name in released} <= places
    others = {place for place in places if not place.startswith((f"{NAME}/", "decoder_lib-"))}
    assert others == {"START.md", "START.html", "LICENSE", "environment.yml", "requirements.txt"}
    in_wheel = {place.split(".whl/")[1].split("/")[0] for place in places if ".whl/" in place}
    assert {re.sub(r"-.*\.dist-info", "", name) for name in in_wheel} == {"coursework", "decoder_lib"}
    assert any(place.endswith("/data/trained.npz") for place in places)
    assert not [
        place for place in places if "course/" in place or "checks" in place or place.endswith(".pyc")
    ]


def test_no_solution_and_no_hidden_check_is_in_the_zip(files):
    """Bug: a worked solution or the source of a hidden check reaches students."""
    region = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END", re.DOTALL)
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "source" / NAME).glob("*.md")]
    hidden = {
        line.strip() for text in texts for found in region.finditer(text) for line in found[2].split("\n")
    }
    open_lines = {line.strip() for text in texts for line in region.sub("", text).split("\n")}
    secret = {line for line in hidden - open_lines if len(line) > 20}
    assert len(secret) > 50  # or the test would look for nothing
    for name, data in files.items():
        if name.endswith(".ipynb"):
            cells = json.loads(data)["cells"]
            shown = {line.strip() for cell in cells for line in "".join(cell["source"]).split("\n")}
            assert not shown & secret, name
            assert not any(cell.get("outputs") for cell in cells), name


def test_every_link_leads_to_a_file_of_the_zip(files):
    """Bug: the contents page links to a notebook that only the course's own folder has."""
    links = 0
    for name, data in files.items():
        if name.endswith(".ipynb"):
            text = "".join("".join(cell["source"]) for cell in json.loads(data)["cells"])
            for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
                assert f"{NAME}/{NAME}/{urllib.parse.unquote(target)}" in files, (name, target)
                links += 1
    assert links > 20
    start = files[f"{NAME}/START.md"].decode()
    for target in re.findall(r"[\w./-]+\.(?:ipynb|txt|yml)", start):
        assert f"{NAME}/{target}" in files, target
    assert "<h1" in files[f"{NAME}/START.html"].decode()


def test_the_lock_is_the_part_that_is_needed_with_all_its_hashes():
    """Bug: a package that another one needs is left out, and pip refuses to install any."""
    lines = LOCK.splitlines()
    assert subset(LOCK, ["beta"]).splitlines() == [*lines[1:4], *lines[7:9], *lines[10:12], *lines[13:15]]
    assert subset(LOCK, ["Tools"]).splitlines() == [*lines[1:4], *lines[13:15], *lines[16:18]]
    with pytest.raises(BundleError, match=r"has no gamma\. Renew it: make lock"):
        subset(LOCK, ["gamma"])


def test_the_instructors_tools_are_not_installed(files):
    """Bug: students install the programs that grade, test and build."""
    locked = set(
        re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==", files[f"{NAME}/requirements.txt"].decode(), re.MULTILINE)
    )
    assert {"numpy", "matplotlib", "ipywidgets", "jupyterlab", "nbgrader"} <= locked
    assert not locked & {
        "pytest",
        "ruff",
        "mypy",
        "distributed",
        "psycopg",
        "playwright",
        "jupytext",
        "hypothesis",
    }


def test_a_release_that_is_not_what_the_build_makes_is_refused(copied):
    """Bug: students get a notebook that somebody edited by hand, or forgot to build."""
    notebook = copied / "release" / NAME / "05-append-then-predict.ipynb"
    notebook.write_bytes(notebook.read_bytes() + b"\n")
    with pytest.raises(BundleError, match=r"05-append-then-predict\.ipynb: not what the build makes"):
        bundle(copied)
    assert not (copied / "dist").exists()


def test_a_file_beside_the_notebooks_is_packed_unless_it_gives_something_away(copied):
    """Bug: a picture is left out; or a hidden file, a link or notes with solutions are packed."""
    folder = copied / "release" / NAME
    (folder / "images").mkdir()
    (folder / "images" / "loop.png").write_bytes(b"picture")
    (folder / ".notes").write_bytes(b"hidden")
    (folder / "linked.txt").symlink_to(copied / "LICENSE")
    (folder / "solutions.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    path, left_out = bundle(copied)
    assert left_out == [f"release/{NAME}/solutions.ipynb"]
    with zipfile.ZipFile(path) as archive:
        names = {name.removeprefix(f"{NAME}/{NAME}/") for name in archive.namelist()}
    assert "images/loop.png" in names
    assert not names & {".notes", "linked.txt"}
    (folder / "notes.md").write_text("### BEGIN SOLUTION\n")
    with pytest.raises(BundleError, match=r"notes\.md holds what students must not see"):
        bundle(copied)


def test_an_assignment_that_is_not_there_is_named(copied):
    """Bug: a misspelt assignment makes an empty zip."""
    with pytest.raises(BundleError, match=f"no looping there; released are: {NAME}"):
        bundle(copied, "looping")


@pytest.fixture(scope="session")
def installed(made, tmp_path_factory):
    """What a student has after the first two steps of START.md: the folder, and an environment in it."""
    top = tmp_path_factory.mktemp("student's folder")
    with zipfile.ZipFile(made) as archive:
        archive.extractall(top)
    folder = top / NAME
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=folder, check=True)
    command = [".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(  # what is not compiled here is when it is imported, which is a small part
        [*command, "--no-compile", "--require-hashes", "-r", "requirements.txt"],
        cwd=folder,
        env=own_environment(folder),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def own_environment(folder):
    """The variables of a student's terminal: nothing of this environment or of this user's Jupyter."""
    ours = ("PYTHON", "JUPYTER", "VIRTUAL_ENV", "IPYTHON", "COURSE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return kept | {
        "PATH": f"{folder / '.venv' / 'bin'}:/usr/bin:/bin",
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "IPYTHONDIR": str(home / "ipython"),
    }


def run_in(folder, *command):
    """Run a program of a student's environment; gives what it wrote."""
    program, *rest = command
    done = subprocess.run(
        [folder / ".venv" / "bin" / program, *rest],
        cwd=folder,
        env=own_environment(folder),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_student_can_run_a_notebook(installed):
    """Bug: the decoder or a package that a notebook imports is not in what students install."""
    assert "No broken requirements" in run_in(installed, "python", "-m", "pip", "check")
    where = run_in(installed, "python", "-c", "import decoder_lib; print(decoder_lib.__file__)")
    assert str(installed / ".venv") in where
    missing = "import importlib.util as u; print([n for n in ('course', 'jupytext') if u.find_spec(n)])"
    assert run_in(installed, "python", "-c", missing).strip() == "[]"
    run_in(installed, "jupyter", "execute", f"{NAME}/13-dropping-old-tokens.ipynb")


@pytest.fixture(scope="session")
def lab(installed):
    """JupyterLab as step 3 starts it, in the notebook's folder: its address and the token that opens it."""
    command = [installed / ".venv" / "bin" / "jupyter", "lab", f"{NAME}/00-contents.ipynb"]
    with lab_server(command, installed, own_environment(installed), installed / "home" / "lab.log") as server:
        yield server


def ask(lab, path, data=None):
    """What the server answers."""
    url, token = lab
    request = urllib.request.Request(f"{url}/{path}", data, {"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def test_jupyterlab_serves_the_notebooks_and_validate(lab):
    """Bug: step 3 opens another folder, or the button Validate is not there or does not work."""
    listed = {each["name"] for each in ask(lab, "api/contents/")["content"]}
    assert "00-contents.ipynb" in listed
    assert len([name for name in listed if name.endswith(".ipynb")]) == 14
    notebook = "05-append-then-predict.ipynb"
    answer = ask(lab, "assignments/validate", urllib.parse.urlencode({"path": notebook}).encode())
    assert answer["success"], answer
    assert "write your solution here" in json.dumps(answer["value"])


def test_the_contents_page_leads_to_a_section_in_a_browser(lab, browser):
    """Bug: a link of the contents does not open the section in JupyterLab."""
    url, token = lab
    page = browser.new_page()
    page.goto(f"{url}/lab/tree/00-contents.ipynb?token={token}")
    link = page.locator(".jp-RenderedMarkdown a", has_text="Append, then predict").first
    link.wait_for(timeout=90_000)
    link.click()
    heading = page.locator(".jp-NotebookPanel h1", has_text="Append, then predict")
    heading.first.wait_for(timeout=60_000)
    page.close()
