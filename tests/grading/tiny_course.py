"""A course of two small notebooks, and ways to hand them in.

`account` has one function that two of the real checks judge, of 1 and 2 points; `picks` has one of the real
questions, of 1 point.
"""

import json
from pathlib import Path
from typing import Any

from course.building import build
from course.files import ROOT

ASSIGNMENT = "tiny"
SECRET = "only-in-the-hidden-tests"  # stands in every hidden region, and nowhere else
HEADER = (
    "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n  language: python\n---\n\n# {name}\n\n"
)
SOLUTION = """```{{code-cell}} ipython3
---
nbgrader:
  grade_id: {name}
  solution: true
---
{solution}
```

"""
TEST = """```{{code-cell}} ipython3
---
nbgrader:
  grade: true
  grade_id: {name}
  locked: true
  points: {points}
---
{visible}
### BEGIN HIDDEN TESTS
from course.checks import {door}  # only-in-the-hidden-tests

{call}
### END HIDDEN TESTS
```

"""
ACCOUNT = """import numpy as np

def account(choices, end_id):
    ### BEGIN SOLUTION
    met = np.asarray(choices) == end_id
    finished = met.any(axis=0)
    return (met.cumsum(axis=0) - met == 0).sum(axis=0), finished
    ### END SOLUTION"""
PICKS = "answer_picks = None\n### BEGIN SOLUTION\n### NO STUB\nanswer_picks = 40\n### END SOLUTION"
CHECK = 'require("stop_masks", "account_{what}", account=account)'
VISIBLE = "{names} = account(np.array([[2, 1], [0, 3], [4, 0]]), 0)\nassert len({names}) == 2"
MASTERS = {
    "account": HEADER.format(name="account")
    + SOLUTION.format(name="account", solution=ACCOUNT)
    + TEST.format(
        name="account-lengths",
        points=1,
        visible=VISIBLE.format(names="pair"),
        door="require",
        call=CHECK.format(what="lengths"),
    )
    + TEST.format(
        name="account-finished",
        points=2,
        visible=VISIBLE.format(names="again"),
        door="require",
        call=CHECK.format(what="finished"),
    ),
    "picks": HEADER.format(name="picks")
    + SOLUTION.format(name="picks", solution=PICKS)
    + TEST.format(
        name="picks-check",
        points=1,
        visible='assert answer_picks is not None, "there is no answer yet"',
        door="require_answer",
        call='require_answer("picks-for-a-reply", answer_picks)',
    ),
}

# What a student may type into the solution cell.
RIGHT = {
    "account": """import numpy as np

def account(choices, end_id):
    lengths = np.zeros(choices.shape[1], dtype=int)
    finished = np.zeros(choices.shape[1], dtype=bool)
    for chosen in choices:
        lengths += ~finished
        finished |= chosen == end_id
    return lengths, finished
""",
    "picks": "answer_picks = 40",
}
# The lengths are right, for 1 point; the flags tell of the last round only (B5).
HALF = RIGHT["account"].replace(
    "return lengths, finished", "return lengths, choices[-1] == end_id if len(choices) else finished"
)
# The lengths leave out the end token (B6); the flags are right, for 2 points.
OTHER_HALF = RIGHT["account"].replace("return lengths, finished", "return lengths - finished, finished")
WRONG = {"account": "def account(choices, end_id):\n    return 0, 0\n", "picks": "answer_picks = 52"}
LOOPS = "def account(choices, end_id):\n    while True:\n        pass\n"
DIES = "import os\n\ndef account(choices, end_id):\n    os._exit(0)\n"
MAX_SCORES = {"account": 3, "picks": 1}


class TinyCourse:
    """The course's folder, its released notebooks, and ways to hand them in."""

    right = RIGHT

    def __init__(self, root: Path) -> None:
        self.root = root
        folder = root / "source" / ASSIGNMENT
        folder.mkdir(parents=True)
        for name, text in MASTERS.items():
            (folder / f"{name}.md").write_text(text, encoding="utf-8")
        (root / "nbgrader_config.py").write_bytes((ROOT / "nbgrader_config.py").read_bytes())
        build(root)
        self.submitted = root / "submitted"
        self.submitted.mkdir()

    def master(self, name: str) -> bytes:
        """nbgrader's master of a notebook, as a file."""
        return (self.root / "build" / "source" / ASSIGNMENT / f"{name}.ipynb").read_bytes()

    def notebook(self, name: str, solution: str | None = None) -> dict[str, Any]:
        """A released notebook, with a solution typed in if there is one.

        Its cells are a heading, the solution, and the tests: two of `account`, one of `picks`.
        """
        notebook: dict[str, Any] = json.loads(
            (self.root / "release" / ASSIGNMENT / f"{name}.ipynb").read_bytes()
        )
        if solution is not None:
            notebook["cells"][1]["source"] = solution
        return notebook

    def hand_in(self, student: str, name: str, content: dict[str, Any] | bytes | str, file: str = "") -> Path:
        """Put a notebook into a student's folder; a str is the solution typed into the released one."""
        path = self.submitted / student / ASSIGNMENT / (file or f"{name}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.file(name, content))
        return path

    def file(self, name: str, content: dict[str, Any] | bytes | str) -> bytes:
        """A file to hand in; a str is the solution typed into the released notebook."""
        if isinstance(content, str):
            content = self.notebook(name, content)
        return content if isinstance(content, bytes) else json.dumps(content).encode()
