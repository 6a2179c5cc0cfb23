"""Illegal arguments: a ValueError that names the argument, its value and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from decoder_lib import (
    CausalLanguageModel,
    Config,
    Selection,
    beam_search,
    generate_batch,
    rank_continuations,
    token_log_probabilities,
)

NAN, INF = float("nan"), float("inf")
COUNT = "an integer of at least"
NO_INTEGERS = [True, np.True_, None, "3", 2.0, NAN, INF, [3], np.float64(2.0)]
NO_NUMBERS = [True, None, "1", NAN, INF, -INF, [1.0], 1j, 10**400]

GENERATE = [
    *[("max_new_tokens", value, f"{COUNT} 0") for value in (-1, np.int64(-1), *NO_INTEGERS)],
    *[("end_id", value, "an integer from 0 to 6") for value in (-1, 7, *NO_INTEGERS) if value is not None],
    *[
        ("temperature", value, "a finite number above 0")
        for value in (0, 0.0, -0.0, -1, -1e-300, *NO_NUMBERS)
    ],
    *[("top_k", value, f"{COUNT} 1") for value in (0, -1, *NO_INTEGERS) if value is not None],
    *[
        ("top_p", value, "a finite number above 0 and at most 1")
        for value in (0, -0.1, 1.0000001, 2, *NO_NUMBERS)
        if value is not None
    ],
    *[
        ("context_length", value, "an integer from 1 to 16")
        for value in (0, -1, 17, *NO_INTEGERS)
        if value is not None
    ],
    *[("greedy", value, "True or False") for value in (0, 1, None, "yes")],
    *[("use_cache", value, "True or False") for value in (0, 1, None, "no")],
    *[("seed", value, f"{COUNT} 0") for value in (-1, True, 1.5, "0", NAN, [1, 2], np.float64(1.0))],
    *[("truncate", value, "") for value in (None, "stop", 3)],
]


def short(value: object) -> str:
    """A test's name."""
    return repr(value)[:30]


def refused(name: str, value: object, allowed: str) -> pytest.RaisesExc:
    """Expect a ValueError that says all three; a value of many digits may be shortened."""

    def says_all(error: ValueError) -> bool:
        message = str(error)
        shown = {str(value), repr(value)}
        named = name in message and allowed in message
        return named and (any(text in message for text in shown) or len(repr(value)) > 100)

    return pytest.raises(ValueError, check=says_all)


@pytest.mark.parametrize(("name", "value", "allowed"), GENERATE, ids=short)
def test_generate_says_what_is_wrong(
    model: CausalLanguageModel, name: str, value: object, allowed: str
) -> None:
    """Bug: a nonsense value is taken, or fails somewhere inside with a message about something else."""
    arguments: dict[str, Any] = {"prompt": [0, 1], "max_new_tokens": 2} | {name: value}
    with refused(name, value, allowed):
        model.generate(**arguments)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ([], r"prompt is empty; it must hold at least one"),
        ([0, 7], r"prompt\[1\] is 7; .* 0 to 6"),
        ([-1], r"prompt\[0\] is -1; .* 0 to 6"),
        ([0.0], r"prompt holds float64 values; .*integers from 0 to 6"),
        ([[0, 1]], r"prompt has 2 dimensions"),
        (None, r"prompt has 0 dimensions"),
        ("the cat", r"prompt has 0 dimensions"),
        (["the", "cat"], r"prompt holds .*integers from 0 to 6"),
        ([[0], [1, 2]], r"prompt"),
    ],
    ids=short,
)
def test_an_illegal_prompt_is_named(model: CausalLanguageModel, prompt: Any, message: str) -> None:
    """Bug: text, a table or an unknown id reaches the embedding's look-up."""
    with pytest.raises(ValueError, match=message):
        model.generate(prompt, 2)


@pytest.mark.parametrize("integer", [np.int64, np.int32, np.uint8])
def test_numpy_integers_are_integers(model: CausalLanguageModel, integer: type) -> None:
    """Bug: only Python's own int is taken, though ids and sizes come out of arrays."""
    expected = model.generate([0, 1], 4, end_id=6, seed=2, top_k=3, context_length=8)
    run = model.generate(
        np.array([0, 1], dtype=integer),
        integer(4),
        end_id=integer(6),
        seed=integer(2),
        top_k=integer(3),
        context_length=integer(8),
    )
    assert run.token_ids == expected.token_ids
    assert run.finish_reason == expected.finish_reason


@pytest.mark.parametrize("number", [np.float64, np.float32, np.float16])
def test_numpy_floats_are_numbers(model: CausalLanguageModel, number: type) -> None:
    """Bug: only Python's own float is taken, or the scalar's type decides the draw."""
    run = model.generate([0, 1], 4, temperature=number(0.5), top_p=number(0.75))
    assert run.token_ids == model.generate([0, 1], 4, temperature=0.5, top_p=0.75).token_ids


def test_numpy_booleans_are_booleans(model: CausalLanguageModel) -> None:
    """Bug: a comparison's result, which is a NumPy boolean, is no switch."""
    run = model.generate([0, 1], 4, greedy=np.True_, use_cache=np.True_)  # type: ignore[arg-type]
    assert run.token_ids == model.generate([0, 1], 4, greedy=True).token_ids
    assert run.positions_read == 5


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        *[("max_new_tokens", value, f"{COUNT} 0") for value in (-1, *NO_INTEGERS)],
        *[("end_id", value, "an integer from 0 to 6") for value in (-1, 7, True, "6")],
        *[("temperature", value, "a finite number above 0") for value in (0.0, NAN)],
        *[("context_length", value, "an integer from 1 to 16") for value in (0, 17, "3")],
        *[("greedy", value, "True or False") for value in (1, None)],
        *[("seeds", value, "") for value in ([1], [1, 2, 3], 5)],
    ],
    ids=short,
)
def test_generate_batch_says_what_is_wrong(
    model: CausalLanguageModel, name: str, value: object, allowed: str
) -> None:
    """Bug: the batch takes what the single run refuses."""
    arguments: dict[str, Any] = {"prompts": [[0], [1]], "max_new_tokens": 2, "seeds": [1, 2]} | {name: value}
    with pytest.raises(ValueError, match=f"{name} (is|has) ") as caught:
        generate_batch(model, **arguments)
    assert allowed in str(caught.value)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True], ids=short)
def test_generate_batch_names_the_seed(model: CausalLanguageModel, seed: object) -> None:
    """Bug: one bad seed of many fails inside NumPy, with nothing to find it by."""
    with pytest.raises(ValueError, match=r"seeds\[1\] is "):
        generate_batch(model, [[0], [1]], 2, seeds=[0, seed])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        *[("max_new_tokens", value, f"{COUNT} 0") for value in (-1, *NO_INTEGERS)],
        *[("beam_width", value, f"{COUNT} 1") for value in (0, -1, *NO_INTEGERS)],
        *[("end_id", value, "an integer from 0 to 6") for value in (-1, 7, True, "6", 6.0)],
    ],
    ids=short,
)
def test_beam_search_says_what_is_wrong(
    model: CausalLanguageModel, name: str, value: object, allowed: str
) -> None:
    """Bug: a width of 0 gives no beams, and a fractional one fails in a slice."""
    arguments: dict[str, Any] = {"prompt": [0], "max_new_tokens": 2, "beam_width": 2} | {name: value}
    with refused(name, value, allowed):
        beam_search(model, **arguments)


@pytest.mark.parametrize("length", [-1, *NO_INTEGERS], ids=short)
def test_rank_continuations_says_what_is_wrong(model: CausalLanguageModel, length: Any) -> None:
    """Bug: a fraction or a word is raised to a power before it is checked."""
    with refused("length", length, f"{COUNT} 0"):
        rank_continuations(model, [0], length)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [0]), "prompt is empty"),
        (([0], [7]), r"continuation\[0\] is 7"),
        (([0], [0.5]), "continuation holds float64"),
        (([0], [0], 0.0), "temperature is 0.0"),
        (([0], [0], 1.0, 0), "top_k is 0"),
        (([0], [0], 1.0, None, 1.5), "top_p is 1.5"),
        (([0], [], -1.0), "temperature is -1.0"),
    ],
    ids=short,
)
def test_scoring_says_what_is_wrong(model: CausalLanguageModel, arguments: Any, message: str) -> None:
    """Bug: an illegal value is noticed only where there is something to score."""
    with pytest.raises(ValueError, match=message):
        token_log_probabilities(model, *arguments)


@pytest.mark.parametrize("name", ["n_vocab", "context_length", "n_layers", "n_heads", "d_model"])
@pytest.mark.parametrize("value", [0, -1, True, None, "7", 2.0, NAN], ids=short)
def test_a_shape_that_makes_no_decoder_is_named(name: str, value: object) -> None:
    """Bug: a size of zero or a wrong type fails in the first pass and not where it was written."""
    with refused(name, value, "positive integer"):
        Config(**({"n_vocab": 7} | {name: value}))  # type: ignore[arg-type]
    with refused(name, value, "positive integer"):
        CausalLanguageModel(**({"n_vocab": 7, "seed": 0} | {name: value}))  # type: ignore[arg-type]


def test_heads_must_share_the_width() -> None:
    """Bug: the width is cut down to a multiple of the heads, or fails in a reshape."""
    with pytest.raises(ValueError, match=r"d_model is 16.*3 heads.*multiple of n_heads"):
        CausalLanguageModel(n_vocab=7, n_heads=3)


@pytest.mark.parametrize("seed", [-1, True, 0.5, "0"], ids=short)
def test_a_draw_needs_a_seed(seed: Any) -> None:
    """Bug: a seed that is no integer is handed to NumPy."""
    with refused("seed", seed, f"{COUNT} 0"):
        CausalLanguageModel(n_vocab=7, seed=seed)


def test_a_selection_checks_itself() -> None:
    """Bug: the rule is checked by the loop only, so that a rule of one's own is never checked."""
    with pytest.raises(ValueError, match="temperature is 0"):
        Selection(temperature=0)
