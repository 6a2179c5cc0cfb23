"""A course of two small notebooks, and a class whose submissions go wrong in every way we know."""

import copy
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from course.building import build
from course.cli import ROOT
from course.grading.run import Report, grade_class

HEADER = (
    "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n  language: python\n---\n\n# {name}\n\n"
)
SOLUTION = """```{{code-cell}} ipython3
---
nbgrader:
  grade_id: {name}
  solution: true
---
def {name}(x):
    ### BEGIN SOLUTION
    return {factor} * x
    ### END SOLUTION
```

"""
TEST = """```{{code-cell}} ipython3
---
nbgrader:
  grade: true
  grade_id: {name}-{test}
  points: {points}
---
assert {name}(0) == 0
### BEGIN HIDDEN TESTS
secret = {argument}
assert {name}(secret) == {factor} * secret, "{name} is wrong at {argument}\\nand here is more"
### END HIDDEN TESTS
```

"""
RIGHT = {"double": "def double(x):\n    return x + x", "triple": "def triple(x):\n    return x + x + x"}


class TinyCourse:
    """The course's folder, its released notebooks, and ways to hand them in."""

    right = RIGHT

    def __init__(self, root: Path) -> None:
        self.root = root
        folder = root / "source" / "tiny"
        folder.mkdir(parents=True)
        for name, factor, tests in (("double", 2, {"once": 1, "often": 2}), ("triple", 3, {"once": 1})):
            master = HEADER.format(name=name) + SOLUTION.format(name=name, factor=factor)
            for test, points in tests.items():
                argument = 10 if test == "once" else -10
                master += TEST.format(name=name, test=test, points=points, argument=argument, factor=factor)
            (folder / f"{name}.md").write_text(master)
        settings = (ROOT / "nbgrader_config.py").read_text() + "\nc.Execute.timeout = 4\n"
        (root / "nbgrader_config.py").write_text(settings)
        build(root)
        self.submitted = root / "submitted"
        self.submitted.mkdir()

    def notebook(self, name: str, solution: str | None = None) -> dict[str, Any]:
        """A released notebook, with a solution typed in if there is one."""
        notebook: dict[str, Any] = json.loads((self.root / "release" / "tiny" / f"{name}.ipynb").read_bytes())
        if solution is not None:
            notebook["cells"][1]["source"] = solution
        return notebook

    def hand_in(self, student: str, name: str, content: dict[str, Any] | bytes | str, file: str = "") -> Path:
        """Put a notebook into a student's folder; a str is the solution typed into the released one."""
        if isinstance(content, str):
            content = self.notebook(name, content)
        path = self.submitted / student / "tiny" / (file or f"{name}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def grade(self, force: bool = False) -> Report:
        """Grade the class."""
        return grade_class(self.root, self.root, force=force)


def _bad_files(course: TinyCourse) -> None:
    """Files of every kind that cannot be graded, as the notebook `double`; `triple` is right in one case."""
    right = course.notebook("double", RIGHT["double"])
    course.hand_in("empty-file", "double", b"")
    course.hand_in("cut-off", "double", json.dumps(right).encode()[:700])
    course.hand_in("not-text", "double", bytes(range(256)))
    course.hand_in("a-list", "double", b"[1, 2]")
    course.hand_in("no-cells", "double", b'{"nbformat": 4, "nbformat_minor": 5}')
    course.hand_in("odd-cells", "double", b'{"nbformat": 4, "cells": [17]}')
    course.hand_in("half-character", "double", right | {"cells": [{"cell_type": "code", "source": "\ud800"}]})
    course.hand_in("deep", "double", b"[" * 100_000)
    course.hand_in("from-the-future", "double", right | {"nbformat": 5})
    course.hand_in("no-solution", "double", right | {"cells": right["cells"][:1] + right["cells"][2:]})
    folder = course.submitted / "a-folder" / "tiny" / "double.ipynb"
    folder.mkdir(parents=True)
    (course.submitted / "a-link" / "tiny").mkdir(parents=True)
    secret = course.root / "secret.ipynb"
    secret.write_text(json.dumps(right))
    (course.submitted / "a-link" / "tiny" / "double.ipynb").symlink_to(secret)
    (course.submitted / "linked-folder").mkdir()
    (course.submitted / "linked-folder" / "tiny").symlink_to(course.root / "release" / "tiny")
    (course.submitted / "a-pipe" / "tiny").mkdir(parents=True)
    os.mkfifo(course.submitted / "a-pipe" / "tiny" / "double.ipynb")
    course.hand_in("one-of-two", "double", b"")
    course.hand_in("one-of-two", "triple", RIGHT["triple"])


def _odd_notebooks(course: TinyCourse) -> None:
    """Notebooks that can be graded, though plain nbgrader stumbles over some, and two that end badly."""
    right = course.notebook("double", RIGHT["double"])
    head, solution, once, often = right["cells"]
    course.hand_in("right", "double", RIGHT["double"])
    course.hand_in("right", "triple", RIGHT["triple"])
    course.hand_in("half", "double", "def double(x):\n    return abs(2 * x)")
    course.hand_in("untouched", "double", course.notebook("double"))
    course.hand_in("renamed", "double", RIGHT["double"], file="double (1).ipynb")
    pasted = copy.deepcopy(solution) | {"source": "def double(x):\n    return 0", "id": "pasted"}
    course.hand_in("pasted-twice", "double", right | {"cells": [head, pasted, solution, once, often, once]})
    new = copy.deepcopy(right)
    new["cells"][1]["metadata"]["nbgrader"]["schema_version"] = 99
    new["cells"][3]["metadata"]["nbgrader"]["points"] = 500
    new["cells"][2]["source"] = "pass"
    course.hand_in("edited-tests", "double", new)
    course.hand_in("deleted-tests", "double", right | {"cells": [head, solution]})
    old = copy.deepcopy(right) | {"nbformat": 3, "nbformat_minor": 0}
    for cell in old["cells"]:
        cell["input"] = cell["source"]
    old["worksheets"] = [{"cells": [cell | {"language": "python"} for cell in old.pop("cells")[1:]]}]
    course.hand_in("old-format", "double", old)
    noisy = "import sys\ndef double(x):\n    print('careful', file=sys.stderr)\n    return 2 * x"
    course.hand_in("warns", "double", noisy)
    course.hand_in("loops", "double", "def double(x):\n    while True:\n        pass")
    course.hand_in("dies", "double", "import os\ndef double(x):\n    os._exit(0)")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The course, not yet graded; for tests that hand something in, a copy is made."""
    course = TinyCourse(tmp_path_factory.mktemp("course (tiny)"))
    course.grade()  # makes the gradebook, which takes nbgrader longer than grading does
    return course


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """The class graded once, beside a course of its own: tests only look."""
    course = TinyCourse(tmp_path_factory.mktemp("course [graded]"))
    _bad_files(course)
    _odd_notebooks(course)
    (course.submitted / "stray.ipynb").write_text("{}")
    (course.submitted / "half" / "tniy").mkdir()
    return course, course.grade()


@pytest.fixture
def fresh(tiny, tmp_path):
    """A copy of the ungraded course."""
    shutil.copytree(tiny.root, tmp_path / "course")
    course = copy.copy(tiny)
    course.root = tmp_path / "course"
    course.submitted = course.root / "submitted"
    return course
