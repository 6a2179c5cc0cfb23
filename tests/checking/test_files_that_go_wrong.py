"""A file that goes wrong says what happened, and takes nothing from the files beside it."""

from __future__ import annotations

import re

from judged import GOOD, Judge, messages, statuses

FULL = 10
SPIN = "while True:\n    pass\n"

# name: (text of the file, status of every check, what the message says)
NEVER_IMPORTED = {
    "syntax error": ("def generate(model:\n    pass\n", "error", "not valid Python"),
    "null bytes": ("def generate(m):\n    pass\n\0", "error", "not valid Python"),
    "raises": (f"{GOOD}\nraise KeyError('boom')\n", "error", "KeyError: 'boom' in line"),
    "input": (f"{GOOD}\ninput('your name? ')\n", "error", "input() was called"),
    "sys.exit": (f"import sys\n{GOOD}\nsys.exit(main())\n".replace("main()", "3"), "error", "sys.exit()"),
    "os._exit": (f"import os\n{GOOD}\nos._exit(0)\n", "error", "os._exit"),
    "crash": (f"import ctypes\n{GOOD}\nctypes.string_at(0)\n", "error", "SIGSEGV"),
    "endless loop": (f"{GOOD}\n{SPIN}", "timeout", "4 seconds without an end"),
    "10 GB": (f"{GOOD}\nlarge = bytearray(10 * 2**30)\n", "error", "MemoryError"),
    "broken builtins": (
        f"import builtins\n{GOOD}\nbuiltins.str = builtins.len = None\n1 / 0\n",
        "error",
        "Zero",
    ),
    "missing module": ("import no_such_module\n" + GOOD, "error", "no_such_module"),
}


def test_not_imported(judge: Judge) -> None:
    """For a file that ends its process, or its neighbour's, or whose zero has no reason."""
    results = judge(*[text for source, _, _ in NEVER_IMPORTED.values() for text in (source, GOOD)])
    for bad, good, (_, status, said) in zip(
        results[::2], results[1::2], NEVER_IMPORTED.values(), strict=True
    ):
        assert (bad.challenge, bad.points, bad.max_points, bad.judged) == ("generation_loop", 0, FULL, True)
        assert set(statuses(bad).values()) == {status}
        assert all(said in str(check.message) for check in bad.checks)
        assert good.points == FULL


HARMLESS = {
    "prints megabytes": "print('x' * 10**7)\n",
    "replaces sys.stdout": "import io, sys\nsys.stdout = io.StringIO()\nsys.stdout.close()\n",
    "closes standard output": "import os\nos.close(1)\n",
    "empties sys.modules": "import sys\nfor name in list(sys.modules):\n    del sys.modules[name]\n",
    "replaces builtins": "import builtins\nbuiltins.len = builtins.isinstance = lambda *a: 0\n",
    "replaces NumPy's functions": "np.random.default_rng = np.exp = np.array = np.allclose = None\n",
    "replaces json": "import json\njson.dumps = lambda *a: 'x'\n",
    "has a part for the main program": "if __name__ == '__main__':\n    raise SystemExit(1)\n",
    "has a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass State:\n    tokens: list\n",
    "recursion limit": "import sys\nsys.setrecursionlimit(10**6)\n",
}


def test_harmless(judge: Judge) -> None:
    """For a right solution that loses points for what stands around it."""
    results = judge(*[f"{GOOD}\n{addition}" for addition in HARMLESS.values()])
    told = {name: messages(result) for name, result in zip(HARMLESS, results, strict=True)}
    assert [result.points for result in results] == [FULL] * len(HARMLESS), told


# name: (what is done where a temperature was passed, status, what the message says)
IN_A_CHECK = {
    "endless loop": ("while True: pass", "timeout", "without an end"),
    "os._exit": ("import os; os._exit(3)", "error", "exit status 3"),
    "sys.exit": ("import sys; sys.exit(3)", "error", "SystemExit: 3"),
    "interrupt": ("raise KeyboardInterrupt", "error", "KeyboardInterrupt"),
    "input": ("input()", "error", "input() was called"),
    "10 GB": ("np.ones(10 * 2**27)", "error", "Unable to allocate 10.0 GiB"),
    "kept memory": ("kept = [np.empty(2**25) for _ in range(40)]", "error", "MemoryError: Unable"),
    "crash": ("import ctypes; ctypes.string_at(0)", "error", "SIGSEGV"),
    "all descriptors closed": ("import os; os.closerange(0, 1024); os.write(9, b'x')", "error", ""),
    "broken builtins": ("import builtins; builtins.len = builtins.str = None; raise ValueError", "error", ""),
}


def test_one_check_goes_wrong(judge: Judge) -> None:
    """For checks that are lost with the one before them."""
    first = "    prefix = list(prompt)\n"
    assert first in GOOD
    guard = first + "    if temperature not in (1, 1.0) and rng is not None:\n        "
    sources = [GOOD.replace(first, f"{guard}{act}\n") for act, _, _ in IN_A_CHECK.values()]
    results = judge(*[text for source in sources for text in (source, GOOD)])
    for bad, good, (_, status, said) in zip(results[::2], results[1::2], IN_A_CHECK.values(), strict=True):
        lost = [check for check in bad.checks if check.status != "passed"]
        assert {"temperature"} <= {check.name for check in lost} <= {"temperature", "sampling"}
        assert {check.status for check in lost} == {status}
        assert all(said in str(check.message) for check in lost)
        assert bad.points == FULL - sum(check.max_points for check in lost)
        assert good.points == FULL


def test_every_check_loops(judge: Judge) -> None:
    """For a file whose later checks are never tried, or that takes its time once for each check."""
    (result,) = judge("def generate(*a, **k):\n    while True: pass\n")
    assert set(statuses(result).values()) == {"timeout"}
    assert "Not run" not in messages(result)
    assert all(float(after) <= 1 for after in re.findall(r"after ([\d.]+) second", messages(result))[-3:])


def test_replaced_functions_are_told(judge: Judge) -> None:
    """For a mark that a student cannot understand, because what they changed was put back without a word."""
    (result,) = judge("import numpy as np\nnp.exp = None\ndef generate(*a, **k): return None\n")
    assert all("numpy.exp" in check.message.note for check in result.checks)
