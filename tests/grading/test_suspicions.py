"""Code that looks like tampering is pointed at, and code that does not is left alone."""

import json
from pathlib import Path

import pytest

from course.files import ROOT
from course.grading.jobs.suspicions import MOST, suspicions

BANK = sorted((ROOT / "tests" / "submissions").glob("[cm]*/[!.]*/"))
NOTEBOOKS = sorted([*(ROOT / "release").rglob("*.ipynb"), *(ROOT / "notebooks").rglob("*.ipynb")])

TAMPERING = {
    "an input transformer": "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass'])",
    "an AST transformer": "ip = get_ipython()\nip.ast_transformers.append(Blank())",
    "the kernel": "get_ipython().kernel.do_execute = nothing",
    "run_cell": "shell = get_ipython()\nshell.run_cell = lambda *a, **k: None",
    "numpy.testing": "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None",
    "numpy under another name": "import numpy.testing as t\nt.assert_equal = print",
    "an import in another cell": "np.exp = lambda x: 1",
    "builtins": "import builtins\nbuiltins.len = lambda x: 3",
    "builtins by name": "__builtins__.abs = lambda x: 0",
    "setattr": "import builtins\nsetattr(builtins, 'len', lambda x: 3)",
    "an object that equals everything": "class A:\n    def __eq__(self, other):\n        return True",
    "the same without a class statement": "A = type('A', (), {'__eq__': lambda self, other: True})",
    "the gradebook": "open('../../gradebook.db')",
    "a database": "import sqlite3",
    "an UPDATE": "c.execute('UPDATE grade SET auto_score = 500')",
    "the checks": "from course.checks import find_check",
    "the checks by name": "import importlib\nimportlib.import_module('course.checks.registry')",
    "nbgrader": "import nbgrader.api as api",
    "processes": "open('/proc/1/mem', 'rb')",
    "signals": "import os as system\nsystem.kill(1, 9)",
    "an exit": "from os import _exit\n_exit(0)",
    "a trace": "import sys\nsys.settrace(watch)",
    "a frame": "import sys\nsys._getframe(1)",
    "a frame's variables": "frame.f_back.f_locals",
    "the stack": "import inspect\ninspect.stack()",
    "a socket": "import socket",
    "urllib": "from urllib.request import urlopen",
    "memory": "import ctypes",
    "a program": "import subprocess",
    "a file elsewhere": "open('/etc/passwd', 'a')",
    "a file above": "from pathlib import Path\nPath('../other/notebook.ipynb').write_text('')",
    "the seed": "import os\nos.environ['COURSE_CHECK_SEED']",
    "a broken cell": "def broken(:\n    os._exit(0)",
}
HONEST = {
    "a list called requests": "requests = []\nrequests.append(3)",
    "an attribute of one's own": "class A:\n    def run_cell(self):\n        return self.kernel",
    "an equality of one's own": "class A:\n    def __eq__(self, other):\n        return self.x == other.x",
    "a magic": "%matplotlib inline\n!ls\nget_ipython().run_line_magic('timeit', 'f()')",
    "a file of one's own": "open('notes.txt', 'w').write('x')",
    "a file read": "open('/usr/share/dict/words').read()",
    "printing options": "import numpy as np\nnp.set_printoptions(precision=3)\nnp.random.seed(0)",
    "self-study": "from course.study import check",
    "broken code": "def account(choices:\n    return",
}


@pytest.mark.parametrize("name", TAMPERING)
def test_tampering_is_pointed_at_with_its_line(name):
    """Bug: what was tried stays unseen, or is told without the line to look at."""
    source = TAMPERING[name]
    found = suspicions([("Cell 1", "import numpy as np"), ("Cell 4 (account)", source)])
    assert found, source
    assert {finding.kind for finding in found} == {"suspicious"}
    assert all(finding.text.startswith("Cell 4 (account), line ") for finding in found)
    assert any(
        line.strip() and line.strip() in finding.text for finding in found for line in source.split("\n")
    )


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_left_alone(name):
    """Bug: an honest student is asked about an ordinary line."""
    assert suspicions([("Cell 1", HONEST[name])]) == []


@pytest.mark.parametrize("folder", BANK, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_solutions_right_and_wrong_are_left_alone(folder: Path):
    """Bug: a style or a slip that students have is taken for tampering."""
    files = sorted(folder.glob("*.py"))
    assert files
    for path in files:
        assert suspicions([(path.name, path.read_text(encoding="utf-8"))]) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_courses_own_notebooks_are_left_alone(path: Path):
    """Bug: what the course itself shows in a cell is taken for tampering."""
    cells = json.loads(path.read_bytes())["cells"]
    code = [("Cell", "".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]
    assert suspicions(code) == []


def test_any_text_can_be_looked_at_and_little_is_said():
    """Bug: a cell that is no Python, or far too much of it, ends the run or fills the page."""
    for text in (
        "a\0b",
        "(" * 5_000,
        "-" * 100_000 + "1",
        "1+" * 50_000 + "1",
        "a" + ".b" * 40_000,
        "x = '''",
    ):
        suspicions([("Cell 1", text)])
    assert len(suspicions([("Cell 1", "import socket\n" * 500)])) == MOST
    (found,) = suspicions([("Cell 1", f"import socket  # {'x' * 5_000}")])
    assert len(found.text) < 300
    (found,) = suspicions([("Cell 1", "import socket  # \x1b[31m\u202e")])
    assert found.text.isprintable()
