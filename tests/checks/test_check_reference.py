"""The reference loop, against the library's own loop and the lesson's figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.checks import reference
from course.checks.models import Prefix, Rows
from decoder_lib.model import CausalLanguageModel


class DecoderScript:
    """The lesson's decoder as a script."""

    def __init__(self) -> None:
        self.model = CausalLanguageModel(n_vocab=7)

    @property
    def n_vocab(self) -> int:
        return self.model.n_vocab

    def rows(self, prefix: Prefix) -> Rows:
        return self.model.logits(prefix)


SCRIPT = DecoderScript()


@settings(deadline=None, max_examples=60)
@given(
    prompt=st.lists(st.integers(0, 6), min_size=1, max_size=8),
    budget=st.integers(0, 12),
    room=st.integers(0, 6),
    end_id=st.none() | st.integers(0, 6),
    seed=st.none() | st.integers(0, 999),
    temperature=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_agrees_with_the_library(
    prompt: list[int], budget: int, room: int, end_id: int | None, seed: int | None, temperature: float
) -> None:
    """For a reference that is itself wrong: two loops written apart must give the same tokens and reasons."""
    bound = len(prompt) + room
    choose: reference.Choose = reference.greedy
    if seed is not None:
        choose = reference.sampler(np.random.default_rng(seed), temperature)
    tokens, reason = reference.generate(SCRIPT, bound, prompt, budget, end_id, choose)
    run = SCRIPT.model.generate(
        prompt,
        budget,
        end_id=end_id,
        seed=seed,
        greedy=seed is None,
        temperature=temperature,
        context_length=bound,
    )
    assert (tokens, reason) == (run.token_ids, run.finish_reason)
    assert reference.continuation(SCRIPT, prompt, 1, reference.greedy) == [
        int(SCRIPT.rows(tuple(prompt))[-1].argmax())
    ]


@pytest.mark.parametrize(
    ("seed", "end_id", "steps", "expected"),
    [
        (None, 6, 5, ([3, 3, 3, 5, 5], "length")),
        (0, 6, 5, ([3, 1, 0, 0, 5], "length")),
        (1, 6, 5, ([3, 6], "stop")),
        (4, 6, 5, ([6], "stop")),
    ],
)
def test_lesson_runs(seed: int | None, end_id: int, steps: int, expected: tuple[list[int], str]) -> None:
    """For a draw that differs from the one the lesson prints."""
    choose = reference.greedy if seed is None else reference.sampler(np.random.default_rng(seed))
    assert reference.generate(SCRIPT, 16, [0, 1, 2], steps, end_id, choose) == expected


def test_probabilities_of_extreme_logits() -> None:
    """For a reference softmax that overflows where the contract asks for stability."""
    with np.errstate(all="raise", under="ignore"):
        shares = reference.probabilities(np.array([1e6, 1e6 - 1, -1e6]), 0.5)
    np.testing.assert_allclose(shares, [1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2)), 0.0], rtol=1e-9)
