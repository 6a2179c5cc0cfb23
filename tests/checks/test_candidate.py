"""The in-process door to a student's functions."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest

from course.checks import DirectCandidate, StudentError
from course.checks.models import HistoryScript, ScriptedModel


def test_arguments_are_copies_and_come_back() -> None:
    """For a change to an argument that spills into the next case, or that no check can see."""
    prompt = [1, 2]
    call = DirectCandidate({"f": lambda p, more: (p.append(3), more.clear())}).call(
        "f", prompt, more={"a": 1}
    )
    assert prompt == [1, 2]
    assert call.arguments == ([1, 2, 3],)
    assert call.keywords == {"more": {}}


def test_generator_is_passed_on_through_the_call() -> None:
    """For a generator that is shared by identity, which a sandbox cannot do."""
    candidate = DirectCandidate({"f": lambda rng: rng.random()})
    generator = np.random.default_rng(4)
    first = candidate.call("f", rng=generator)
    second = candidate.call("f", rng=first.keywords["rng"])
    fresh = np.random.default_rng(4)
    assert [first.result, second.result] == fresh.random(2).tolist()
    assert generator.random() == first.result


def test_model_is_not_copied() -> None:
    """For a record that the check never sees, because a copy of the model was asked."""
    model = ScriptedModel(HistoryScript(5, 0), 8)
    DirectCandidate({"f": lambda m: m.logits([1, 2])}).call("f", model)
    assert [call.token_ids for call in model.calls] == [(1, 2)]


def test_output_is_kept_away(capsys: pytest.CaptureFixture[str]) -> None:
    """For debugging prints, left in a right solution, that drown the message of a check."""

    def noisy() -> int:
        print("debug")
        print("debug", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        np.log(np.zeros(1))
        return 1

    call = DirectCandidate({"f": noisy}).call("f")
    assert capsys.readouterr() == ("", "")
    assert call.warnings == ("UserWarning: careful", "RuntimeWarning: divide by zero encountered in log")


def test_global_state_is_seen_and_put_back() -> None:
    """For a check that disturbs, or misses a use of, NumPy's global generator."""
    before = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    candidate = DirectCandidate({"seeds": lambda: np.random.seed(1), "clean": lambda: None})  # noqa: NPY002
    assert candidate.call("seeds").used_global_state
    assert not candidate.call("clean").used_global_state
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]  # noqa: NPY002


def test_floating_point_settings_are_put_back() -> None:
    """For `np.seterr(all="raise")` in a solution that changes how later checks compute."""
    before = np.geterr()
    DirectCandidate({"f": lambda: np.seterr(all="raise")}).call("f")
    assert np.geterr() == before


def test_error_is_plain_data() -> None:
    """For a check that needs the class of an exception, which a sandbox cannot send."""

    class RefusedError(ValueError):
        pass

    def refuses() -> None:
        np.log(np.zeros(1))
        raise RefusedError("no")

    with pytest.raises(StudentError) as caught:
        DirectCandidate({"f": refuses}).call("f")
    error = caught.value
    assert (error.kind, error.message, str(error)) == ("RefusedError", "no", "RefusedError: no")
    assert error.is_a("ValueError")
    assert not error.is_a("KeyError")
    assert error.warnings == ("RuntimeWarning: divide by zero encountered in log",)
    assert isinstance(error.__cause__, RefusedError)


@pytest.mark.parametrize("function", [None, 3, ...])
def test_what_is_no_function(function: Any) -> None:
    """For an exercise that was not begun: the message must say so."""
    with pytest.raises(StudentError, match="a function is needed"):
        DirectCandidate({"f": function}).call("f")
