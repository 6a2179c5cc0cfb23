"""A course of two small notebooks, and a class whose submissions go wrong in every way we know."""

import copy
import json
import os
import shutil
from contextlib import contextmanager

import pytest
from tiny_course import DIES, HALF, LOOPS, OTHER_HALF, RIGHT, WRONG, TinyCourse

from course.grading.jobs import job as jobs
from course.grading.runs.run import Report, grade_class

LIMITS = """
c.GradingLimits.cell_seconds = 5
c.GradingLimits.call_seconds = 2
c.GradingLimits.checks_seconds = 3
c.GradingLimits.least_seconds = 0.5
"""


class Course(TinyCourse):
    """The little course, with a class that can be graded."""

    def __init__(self, root):
        super().__init__(root)
        with (root / "nbgrader_config.py").open("a") as settings:
            settings.write(LIMITS)

    def grade(self, **options) -> Report:
        """Grade the class that lies in the course's folder."""
        return grade_class(self.root, self.root, **options)

    @property
    def log(self):
        """The records, a line each."""
        return self.root / "grading.jsonl"


@contextmanager
def in_this_process(**options):
    """In place of an executor: jobs run one by one, and need no processes but their sandbox."""
    yield lambda jobs: ((job, _outcome(job)) for job in jobs)


def _outcome(job):
    try:
        return jobs.grade(job)
    except Exception as error:
        return error


@pytest.fixture
def one_process(monkeypatch):
    """Real grading without a pool, for tests that are not about one."""
    monkeypatch.setattr("course.grading.runs.run.executor", in_this_process)
    monkeypatch.setattr("course.grading.runs.regrade.executor", in_this_process)


def _bad_files(course: Course) -> None:
    """Files of every kind that cannot be graded, as the notebook `account`; `picks` is right in one case."""
    right = course.notebook("account", RIGHT["account"])
    course.hand_in("empty-file", "account", b"")
    course.hand_in("cut-off", "account", json.dumps(right).encode()[:700])
    course.hand_in("not-text", "account", bytes(range(256)))
    course.hand_in("a-list", "account", b"[1, 2]")
    course.hand_in("no-cells", "account", b'{"nbformat": 4, "nbformat_minor": 5}')
    course.hand_in("odd-cells", "account", b'{"nbformat": 4, "cells": [17]}')
    half_character = {"cells": [{"cell_type": "code", "source": "\ud800"}]}
    course.hand_in("half-character", "account", right | half_character)
    course.hand_in("deep", "account", b"[" * 100_000)
    course.hand_in("from-the-future", "account", right | {"nbformat": 5})
    folder = course.submitted / "a-folder" / "tiny" / "account.ipynb"
    folder.mkdir(parents=True)
    (course.submitted / "a-link" / "tiny").mkdir(parents=True)
    secret = course.root / "secret.ipynb"
    secret.write_text(json.dumps(right))
    (course.submitted / "a-link" / "tiny" / "account.ipynb").symlink_to(secret)
    (course.submitted / "linked-folder").mkdir()
    (course.submitted / "linked-folder" / "tiny").symlink_to(course.root / "release" / "tiny")
    (course.submitted / "a-pipe" / "tiny").mkdir(parents=True)
    os.mkfifo(course.submitted / "a-pipe" / "tiny" / "account.ipynb")
    course.hand_in("one-of-two", "account", b"")
    course.hand_in("one-of-two", "picks", RIGHT["picks"])


def _odd_notebooks(course: Course) -> None:
    """Notebooks that can be graded, though plain nbgrader stumbles over some."""
    right = course.notebook("account", RIGHT["account"])
    head, solution, lengths, finished = right["cells"]
    course.hand_in("right", "account", RIGHT["account"])
    course.hand_in("right", "picks", RIGHT["picks"])
    course.hand_in("half", "account", HALF)
    course.hand_in("other-half", "account", OTHER_HALF)
    course.hand_in("wrong", "account", WRONG["account"])
    course.hand_in("wrong", "picks", WRONG["picks"])
    course.hand_in("untouched", "account", course.notebook("account"))
    course.hand_in("renamed", "account", RIGHT["account"], file="account (1).ipynb")
    pasted = copy.deepcopy(solution) | {"source": WRONG["account"], "id": "pasted"}
    twice = [head, pasted, solution, lengths, finished, lengths]
    course.hand_in("pasted-twice", "account", right | {"cells": twice})
    new = copy.deepcopy(right)
    new["cells"][1]["metadata"]["nbgrader"]["schema_version"] = 99
    new["cells"][3]["metadata"]["nbgrader"]["points"] = 500
    new["cells"][2]["source"] = "pass"
    course.hand_in("edited-tests", "account", new)
    course.hand_in("deleted-tests", "account", right | {"cells": [head, solution]})
    old = copy.deepcopy(right) | {"nbformat": 3, "nbformat_minor": 0}
    for cell in old["cells"]:
        cell["input"] = cell["source"]
    old["worksheets"] = [{"cells": [cell | {"language": "python"} for cell in old.pop("cells")[1:]]}]
    course.hand_in("old-format", "account", old)
    noisy = RIGHT["account"].replace("    lengths =", "    print('x', file=sys.stderr)\n    lengths =", 1)
    course.hand_in("warns", "account", "import sys\n" + noisy)
    course.hand_in("loops", "account", LOOPS)
    course.hand_in("dies", "account", DIES)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The course, with an empty gradebook; for tests that hand something in, a copy is made."""
    course = Course(tmp_path_factory.mktemp("course (tiny)"))
    course.grade()
    return course


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """The class graded once, beside a course of its own: tests only look."""
    course = Course(tmp_path_factory.mktemp("course [graded]"))
    _bad_files(course)
    _odd_notebooks(course)
    (course.submitted / "stray.ipynb").write_text("{}")
    (course.submitted / "half" / "tniy").mkdir()
    return course, course.grade(workers=2)


@pytest.fixture
def fresh(tiny, tmp_path):
    """A copy of the ungraded course."""
    shutil.copytree(tiny.root, tmp_path / "course")
    course = copy.copy(tiny)
    course.root = tmp_path / "course"
    course.submitted = course.root / "submitted"
    return course
