"""`course check`: its JSON, its table, its exit codes, and that it says what the checks say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judged import GOOD

from course.checks import CHALLENGES, NOTEBOOK_SEED, DirectCandidate, run_check
from course.cli import main

BANK = Path(__file__).parent.parent / "submissions"
SAMPLE = [
    path
    for challenge in CHALLENGES
    for path in (
        *sorted((BANK / "correct" / challenge).glob("*.py"))[-1:],
        *sorted((BANK / "misconceptions" / challenge).glob("*.py"))[::50],
    )
]
FIELDS = ["file", "challenge", "points", "max_points", "checks", "note"]
CHECK_FIELDS = ["name", "function", "points", "max_points", "status", "misconception", "message"]


def _json(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict[str, Any]]]:
    code = main(["check", "--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)


def test_same_as_in_process(capsys: pytest.CaptureFixture[str]) -> None:
    """For a mark that depends on the door through which a solution comes; and for lost order or fields."""
    assert len(SAMPLE) >= 10
    code, objects = _json(capsys, *SAMPLE)
    assert code == 0
    assert [found["file"] for found in objects] == [str(path) for path in SAMPLE]
    for path, found in zip(SAMPLE, objects, strict=True):
        assert list(found) == FIELDS
        namespace: dict[str, Any] = {}
        exec(compile(path.read_text(), path.name, "exec", dont_inherit=True), namespace)
        candidate = DirectCandidate({name: value for name, value in namespace.items() if callable(value)})
        results = [run_check(check, candidate, NOTEBOOK_SEED) for check in CHALLENGES[path.parent.name]]
        assert found["challenge"] == path.parent.name
        assert found["points"] == sum(result.points for result in results)
        assert found["max_points"] == sum(result.max_points for result in results)
        for check, result in zip(found["checks"], results, strict=True):
            assert list(check) == CHECK_FIELDS
            plain = {name: getattr(result, name) for name in CHECK_FIELDS}
            assert check == plain | {"message": str(result.message)}


def test_missing_function(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For an exercise half done: the other half counts, and what is missing is named."""
    right = sorted((BANK / "correct" / "stop_masks").glob("*.py"))[0].read_text()
    half = tmp_path / "half.py"
    half.write_text(right.replace("def generate_batch(", "def my_batch("))
    code, (found,) = _json(capsys, half)
    assert (code, found["points"], found["max_points"]) == (0, 2, 10)
    missing = [check for check in found["checks"] if check["function"] == "generate_batch"]
    assert {check["status"] for check in missing} == {"error"}
    assert all("`generate_batch` is not defined" in check["message"] for check in missing)


AMBIGUOUS = GOOD + "\ndef account(choices, end_id):\n    return None\n"


def test_several_challenges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a guess between two challenges; and for a name that is given and not heeded."""
    both = tmp_path / "both.py"
    both.write_text(AMBIGUOUS)
    code, (found,) = _json(capsys, both)
    assert (code, found["challenge"], found["max_points"]) == (1, None, 0)
    (entry,) = found["checks"]
    assert list(entry) == CHECK_FIELDS
    assert entry["status"] == "error"
    assert all(word in entry["message"] for word in ("`generate`", "`account`", "--challenge"))
    code, (found,) = _json(capsys, both, "--challenge", "generation_loop")
    assert (code, found["challenge"], found["points"]) == (0, "generation_loop", 10)


def test_challenge_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For names that do not come from a plain `def`, and for imported ones that define nothing."""
    (tmp_path / "helper.py").write_text(GOOD)
    sources = {
        "assigned": GOOD.replace("def generate(", "def mine(") + "\ngenerate = mine\n",
        "conditional": "if True:\n    generate = lambda *a, **k: ([], 'length')\n",
        "from_beside": "from helper import *\n",
        "imports": "from helper import generate\ndef account(choices, end_id):\n    return None\n",
        "nothing": "def helper():\n    pass\n",
        "empty": "",
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
    code, objects = _json(capsys, *[tmp_path / f"{name}.py" for name in sources])
    assert code == 1  # the last two could not be judged
    assert [found["challenge"] for found in objects] == [*["generation_loop"] * 3, "stop_masks", None, None]
    assert [found["points"] for found in objects[:3:2]] == [10, 10]
    assert "`generate`" in objects[-1]["checks"][0]["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such_file.py"], "There is no file 'no_such_file.py'."),
        (["."], "is a folder"),
        ([str(SAMPLE[0]), "--challenge", "loop"], "no challenge 'loop'; there are generation_loop"),
        ([str(SAMPLE[0]), "--workers", "0"], "--workers"),
        ([str(SAMPLE[0]), "--seed", "-1"], "--seed"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For a traceback, or a zero, where the call was wrong."""
    assert main(["check", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For whole messages that drown a class, and for one that is cut where there is room."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def generate(*a, **k):\n    return '[red]x[/red]'\n")
    assert main(["check", str(wrong)]) == 0
    alone = capsys.readouterr().out
    assert "expected:" in alone
    assert "[red]x[/red]" in alone  # not taken for markup
    assert "0 of 10" in alone
    assert main(["check", str(wrong), str(SAMPLE[0])]) == 0
    beside = capsys.readouterr().out
    assert "expected:" not in beside
    assert "greedy" in beside
    assert "10 of 10" in beside
    assert "2 files: 1 with full marks, 1 with less." in beside


def test_from_any_folder(tmp_path: Path) -> None:
    """For a command that works in the course's folder only, or takes a student's numpy.py for NumPy."""
    (tmp_path / "numpy.py").write_text(GOOD)
    (tmp_path / "json.py").write_text("raise RuntimeError('not the JSON library')\n")
    course = str(BANK.parents[1])
    script = f"import sys; sys.path[:] = [{course!r}, *filter(None, sys.path)]\n"
    script += "from course.cli import main; raise SystemExit(main(sys.argv[1:]))"
    run = subprocess.run(
        [sys.executable, "-c", script, "check", "numpy.py", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)[0]["points"] == 10


def test_without_a_sandbox_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a Mac, where nothing would be checked, or strange code run with all rights without a word."""
    monkeypatch.setattr("course.grading.sandbox.bubblewrap.PROGRAM", "no-such-program")
    (tmp_path / "helper.py").write_text(GOOD)
    (tmp_path / "mine.py").write_text("from helper import *\n")
    code, (found,) = _json(capsys, tmp_path / "mine.py")
    assert (code, found["points"]) == (0, 10)
    note = "The code ran without a sandbox, with your own rights, because its program, bubblewrap"
    assert found["note"].startswith(note)
    assert main(["check", str(tmp_path / "mine.py")]) == 0
    assert capsys.readouterr().out.count(note) == 1


def test_in_a_sandbox_nothing_of_the_course_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a file that reads the hidden checks, or writes where it lies."""
    spy = "import os\nfrom pathlib import Path\nhere = Path(__file__).parent\n"
    spy += f"assert not os.path.exists({str(BANK.parents[1] / 'course')!r})\n"
    spy += "try:\n    (here / 'left').write_text('x')\nexcept OSError:\n    pass\n"
    (tmp_path / "spy.py").write_text(spy + GOOD)
    code, (found,) = _json(capsys, tmp_path / "spy.py")
    assert (code, found["points"], found["note"]) == (0, 10, "")
    assert not (tmp_path / "left").exists()


def test_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a message that moves the cursor of whoever reads it, or that no file can take."""
    odd = tmp_path / "odd.py"
    odd.write_text("def generate(*a, **k):\n    raise ValueError('\\x1b[2J \\ud800 \\x07')\n")
    code, (found,) = _json(capsys, odd)
    assert code == 0
    assert all(c == "\n" or c.isprintable() for check in found["checks"] for c in check["message"])
