"""The door for notebook cells, tried in a real IPython shell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from submission_bank import correct, functions, wrong

import course.checks
from course.checks import NotPassedError, require

RIGHT = correct("generation_loop")[0]
WRONG = next(solution.path for solution in wrong("generation_loop") if solution.path.stem == "G01_first_row")
CELL = 'require("generation_loop", "greedy", generate=generate)'


@pytest.fixture
def shell() -> Iterator[Any]:
    shell: Any = InteractiveShell.instance()
    shell.run_cell("from course.checks import require")
    yield shell
    InteractiveShell.clear_instance()


def _source_lines() -> set[str]:
    """Lines of the checks' code that would give something away, were they shown."""
    folder = Path(course.checks.__file__).parent
    lines = {line.strip() for path in folder.glob("*.py") for line in path.read_text().splitlines()}
    return {line for line in lines if len(line) > 25}


def test_pass_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """For a cell whose success says nothing, or too much."""
    require("generation_loop", "greedy", **functions(RIGHT))
    require("generation_loop", "budget", **functions(RIGHT))
    assert capsys.readouterr() == ("passed: greedy (2 points)\npassed: budget (1 point)\n", "")


def test_failure_is_the_message_alone(shell: Any) -> None:
    """For a traceback that shows students the source of the hidden checks."""
    shell.run_cell(WRONG.read_text())
    with capture_output() as shown:
        result = shell.run_cell(CELL)
    text = shown.stdout + shown.stderr
    assert isinstance(result.error_in_exec, AssertionError)
    assert "predicts from a row other than the last one" in text
    assert "Section 4, Read the prefix and select the next token" in text
    assert "Traceback" not in text
    assert "course/checks" not in text
    assert not [line for line in _source_lines() if line in text]


@pytest.mark.parametrize(
    "body", ["return None", "return 'text'", "raise KeyError('k')", "print(1); return [1, 2, 3]"]
)
def test_junk_shows_no_source(shell: Any, body: str) -> None:
    """For an exception in a student's function that drags the check's frames along."""
    shell.run_cell(f"def generate(*arguments, **keywords):\n    {body}\n")
    with capture_output() as shown:
        shell.run_cell(CELL)
    text = shown.stdout + shown.stderr
    assert "greedy (0 of 2 points)" in text
    assert not [line for line in _source_lines() if line in text]


def test_noisy_solution_passes_quietly(shell: Any) -> None:
    """For prints and warnings in a right solution: grading tools take stderr for a failure."""
    noisy = next(path for path in correct("generation_loop") if path.stem == "prints_left_in")
    shell.run_cell(noisy.read_text())
    with capture_output() as shown:
        shell.run_cell(CELL)
    assert shown.stdout == "passed: greedy (2 points)\n"
    assert shown.stderr == ""


def test_error_has_no_chain() -> None:
    """For a chained exception, whose own traceback would be printed first."""
    with pytest.raises(NotPassedError) as caught:
        require("generation_loop", "greedy", **functions(WRONG))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(("challenge", "name"), [("generation_lop", "greedy"), ("generation_loop", "gredy")])
def test_unknown_names(challenge: str, name: str) -> None:
    """For a misspelt name in a cell that would pass without checking anything."""
    with pytest.raises(KeyError, match="there are"):
        require(challenge, name, generate=print)


def test_grading_has_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a solution that is fitted to the inputs of the open checks."""
    drawn: list[list[int]] = []

    def generate(model, prompt, *arguments, **keywords):  # type: ignore[no-untyped-def]
        drawn[-1] += list(prompt)
        return [], "length"

    for seed in (None, "12", "12"):
        drawn.append([])
        if seed is not None:
            monkeypatch.setenv("COURSE_CHECK_SEED", seed)
        with pytest.raises(NotPassedError):
            require("generation_loop", "greedy", generate=generate)
    assert drawn[1] == drawn[2]
    assert drawn[0] != drawn[1]


def test_plain_python_shows_no_check() -> None:
    """For the plain interpreter, whose traceback knows nothing of IPython: no frame but the door's own."""
    code = f"{WRONG.read_text()}\nfrom course.checks import require\n{CELL}\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "selection.py" not in done.stderr
    assert "predicts from a row other than the last one" in done.stderr
