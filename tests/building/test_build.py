"""The build: what each version holds, and that what is committed is what the build makes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course.building import MasterError, build, differences, refresh_masters
from course.files import ROOT
from coursework.origin import parse, seal, to_bytes

MASTER = """---
kernelspec:
  name: python3
  display_name: Python 3
  language: python
---

# Doubling “for real”

+++ {"tags": ["release-only"]}

Hand it in.

+++ {"tags": ["self-study-only"]}

Take your time.

```{code-cell} ipython3
---
nbgrader:
  grade_id: double
  solution: true
---
def double(x):
    ### BEGIN SOLUTION
    return 2 * x  # the secret
    ### END SOLUTION
```

```{code-cell} ipython3
---
nbgrader:
  grade: true
  grade_id: double-once
  points: 2
---
assert double(1) == 2
### BEGIN HIDDEN TESTS
from course.checks import require

require("stop_masks", "account_lengths", account=double)
### END HIDDEN TESTS
```
"""
RELEASED = Path("release/tiny/one.ipynb")
SELF_STUDY = Path("notebooks/one.ipynb")


@pytest.fixture
def course(tmp_path):
    """A course of one section, built."""
    (tmp_path / "source" / "tiny").mkdir(parents=True)
    (tmp_path / "source" / "tiny" / "one.md").write_text(MASTER, encoding="utf-8")
    (tmp_path / "sample_class" / "answers").mkdir(parents=True)
    (tmp_path / "sample_class" / "answers" / "right.py").write_text("# %% double\ndouble = lambda x: x + x\n")
    (tmp_path / "sample_class" / "answers" / "broken").mkdir()
    (tmp_path / "sample_class" / "answers" / "broken" / "one.ipynb").write_text('{"cells": [')
    build(tmp_path)
    return tmp_path


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_bytes())["cells"]


def text(path: Path) -> str:
    return "\n".join("".join(cell["source"]) for cell in cells(path))


def test_what_is_committed_is_what_the_build_makes():
    """Bug: a section was edited and its notebooks were not built again."""
    assert differences(ROOT) == []


@pytest.mark.parametrize("path", sorted((ROOT / "release").rglob("*.ipynb")), ids=lambda path: path.name)
def test_nothing_secret_is_released(path):
    """Bug: a solution, a hidden test or an output reaches the students."""
    everything = path.read_text(encoding="utf-8")
    for secret in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "course.checks", "require("):
        assert secret not in everything
    for cell in cells(path):
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert "tags" not in cell["metadata"]


def test_two_builds_are_equal_to_the_byte(tmp_path):
    """Bug: random cell ids, or the order of a set, change every notebook at every build."""
    builds = []
    for seed in ("1", "2"):
        root = tmp_path / seed
        for name in ("source", "sample_class"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("submitted", "feedback"))
        code = f"from pathlib import Path; from course.building import build; build(Path({str(root)!r}))"
        environment = os.environ | {"PYTHONHASHSEED": seed}
        builds.append((root, subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=ROOT)))
    files = []
    for root, process in builds:
        assert process.wait() == 0
        files.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*.ipynb")})
    assert files[0] == files[1]
    assert any("release" in path.parts for path in files[0])


def test_the_students_version(course):
    """Bug: the students' version shows the solution, lacks the stub, or leaves a test unlocked."""
    assert "Hand it in." in text(course / RELEASED)
    assert "Take your time." not in text(course / RELEASED)
    for secret in ("the secret", "account_lengths", "SOLUTION", "HIDDEN"):
        assert secret not in text(course / RELEASED)
    solution, test = cells(course / RELEASED)[-2:]
    assert "raise NotImplementedError(" in "".join(solution["source"])
    assert test["metadata"]["nbgrader"]["points"] == 2
    assert test["metadata"]["editable"] is False
    assert "assert double(1) == 2" in "".join(test["source"])


def test_the_self_study_version(course):
    """Bug: a self-learner cannot see a check or the solution, or cannot edit a cell."""
    assert "Take your time." in text(course / SELF_STUDY)
    assert "Hand it in." not in text(course / SELF_STUDY)
    stub, fold, test = cells(course / SELF_STUDY)[-3:]
    assert stub["source"] == cells(course / RELEASED)[-2]["source"]
    assert "".join(fold["source"]).startswith("<details>")
    assert "return 2 * x  # the secret" in "".join(fold["source"])
    assert "".join(test["source"]) == (
        'from course.study import check\n\ncheck("stop_masks", "account_lengths", account=double)\n\n'
        "# The same, on cases to read and to change:\nassert double(1) == 2"
    )
    assert all(set(cell["metadata"]) == {"course"} for cell in cells(course / SELF_STUDY))


def test_the_form_of_a_built_file(course):
    """Bug: escaped letters, a version of Python, or a missing last newline make noise in every diff."""
    for path in (RELEASED, SELF_STUDY):
        data = (course / path).read_bytes()
        assert "“for real”".encode() in data
        assert data.endswith(b"}\n")
        notebook = json.loads(data)
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        assert set(notebook["metadata"]) == {"course", "kernelspec"}
        assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_the_sample_class_is_the_release_with_answers_typed_in(course):
    """Bug: the sample class lags behind the release, so that its notebooks are no real submissions."""
    submitted = course / "sample_class" / "submitted"
    right = cells(submitted / "right" / "tiny" / "one.ipynb")
    assert "".join(right[-2]["source"]) == "double = lambda x: x + x"
    assert right[-1] == cells(course / RELEASED)[-1]
    assert (submitted / "broken" / "tiny" / "one.ipynb").read_text() == '{"cells": ['


def test_an_answer_to_no_cell_is_an_error(course):
    """Bug: a renamed cell leaves the sample class with a stub, and nobody notices."""
    (course / "sample_class" / "answers" / "right.py").write_text("# %% triple\nx = 1\n")
    with pytest.raises(MasterError, match=r"right\.py: no solution cell is called triple"):
        differences(course)


def test_check_names_stale_missing_and_left_over_files_and_writes_nothing(course):
    """Bug: CI passes with notebooks that no source makes, or the check mends what it checks."""
    assert differences(course) == []
    old = course / "release" / "tiny" / "old.ipynb"
    old.write_bytes(to_bytes(seal(parse((course / RELEASED).read_bytes()), "tiny/old")))
    copied = old.with_name("one-Copy1.ipynb")
    copied.write_bytes((course / RELEASED).read_bytes())
    (course / RELEASED).write_text("{}")
    (course / SELF_STUDY).unlink()
    (course / "release" / "tiny" / "data.csv").write_text("1")
    assert sorted(differences(course)) == [
        "notebooks/one.ipynb: missing",
        "release/tiny/old.ipynb: left over, no source makes it",
        "release/tiny/one.ipynb: not what the build makes",
    ]
    assert (course / RELEASED).read_text() == "{}"
    build(course)
    assert differences(course) == []
    assert (course / "release" / "tiny" / "data.csv").exists()
    assert not old.exists()
    assert copied.exists()


def test_a_broken_master_leaves_everything_as_it_was(course):
    """Bug: a build that stops half-way leaves a mixture of old and new files."""
    before = {path: path.read_bytes() for path in course.rglob("*.ipynb")}
    master = course / "source" / "tiny" / "one.md"
    master.write_text(MASTER.replace("  points: 2\n", ""))
    with pytest.raises(MasterError, match=r"source/tiny/one\.md: cell `double-once`: points are missing"):
        build(course)
    assert {path: path.read_bytes() for path in course.rglob("*.ipynb")} == before


def test_nbgraders_masters_are_made_again_when_they_are_stale_and_only_then(course):
    """Bug: nbgrader releases an outdated master, or each start of it pays for jupytext."""
    made = course / "build" / "source" / "tiny" / "one.ipynb"
    first = made.stat().st_mtime_ns
    refresh_masters(course)
    assert made.stat().st_mtime_ns == first
    master = course / "source" / "tiny" / "one.md"
    master.write_text(MASTER.replace("# the secret", "# the new secret"))
    refresh_masters(course)
    assert "the new secret" in text(made)
    made.write_text("{}")
    refresh_masters(course)
    assert "the new secret" in text(made)
    master.rename(master.with_name("two.md"))
    refresh_masters(course)
    assert [path.name for path in made.parent.iterdir()] == ["two.ipynb"]


def test_nbgrader_finds_no_master_rather_than_an_outdated_one(course):
    """Bug: a master with an error in it is released as it was before the error."""
    (course / "source" / "tiny" / "one.md").write_text(MASTER.replace("  points: 2\n", ""))
    with pytest.raises(MasterError):
        refresh_masters(course)
    assert not list((course / "build").rglob("*.ipynb"))
