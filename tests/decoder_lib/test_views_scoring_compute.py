"""What the chain-rule view shows, and which runs it refuses to rank."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often, scripted

from decoder_lib import CausalLanguageModel, Vocabulary, sequence_log_probability, token_log_probabilities
from decoder_lib.views.runs import branch_of, run_of
from decoder_lib.views.scoring.compute import (
    MOST_KEPT,
    Pair,
    chain_of,
    choices,
    compare,
    run_and_branch,
    settings_in_words,
)
from decoder_lib.views.situation import Decoder, Situation, lesson_decoders


def the(key: str, situation: Situation, kept: tuple[Situation, ...] = ()):
    return {choice.key: choice for choice in choices(situation, kept)}[key]


def temperature_of(situation: Situation) -> float:
    return 1.0 if situation.greedy else situation.temperature


@often
@given(SITUATIONS)
def test_factors_products_and_sums(situation: Situation) -> None:
    """Bug: a factor is of another token or policy, or the product and the log-sum part ways."""
    chain, run = chain_of(the("run", situation)), run_of(situation)
    scores = token_log_probabilities(
        situation.decoder.model, situation.prompt, run.token_ids, temperature=temperature_of(situation)
    )
    assert [row.log_factor for row in chain.factors] == pytest.approx(scores.tolist(), abs=1e-9)
    assert [row.log_sum for row in chain.factors] == pytest.approx(np.cumsum(scores).tolist(), abs=1e-9)
    assert [row.product for row in chain.factors] == pytest.approx(
        np.cumprod(np.exp(scores)).tolist(), rel=1e-9
    )
    assert [row.number for row in chain.factors] == list(range(1, len(run) + 1))
    assert chain.tokens == tuple(situation.words.tokens[i] for i in run.token_ids)
    assert chain.product == pytest.approx(math.exp(chain.log_sum))
    assert chain.product == pytest.approx(run.probability, rel=1e-9)


def test_a_run_without_steps() -> None:
    """Bug: the product of no factors is missing or 0."""
    chain = chain_of(the("run", Situation(context_length=3)))
    assert (chain.factors, chain.product, chain.log_sum) == ((), 1.0, 0.0)
    full = Situation(context_length=3)
    assert compare(the("run", full), the("twin", full)).ranked


def test_what_can_be_chosen() -> None:
    """Bug: the branch is missing, or the twin is the run again."""
    situation = Situation(branch=(1, 5), on_branch=True)
    found = {choice.key: choice for choice in choices(situation, [Situation(seed=4)])}
    assert list(found) == ["run", "twin", "branch", "kept 1"]
    assert chain_of(found["run"]).tokens == chain_of(the("run", Situation())).tokens
    assert chain_of(found["twin"]).tokens == chain_of(the("run", Situation(greedy=True))).tokens
    assert chain_of(found["branch"]).tokens[1] == "slept"
    assert chain_of(found["kept 1"]).tokens == chain_of(the("run", Situation(seed=4))).tokens
    assert the("twin", Situation(greedy=True)).name == "the sampled run"
    assert found["twin"].name == "the greedy run"


def test_kept_runs_of_another_vocabulary_are_left_out() -> None:
    """Bug: tokens of one vocabulary are shown with the words of another."""
    words = Vocabulary(("a", "b", "c"))
    other = Situation(Decoder("other", CausalLanguageModel(n_vocab=3), words), (0,))
    keys = [choice.key for choice in choices(Situation(), [other, Situation(seed=2)])]
    assert keys == ["run", "twin", "kept 2"]


@often
@given(SITUATIONS, st.integers(0, 11), st.integers(0, 6))
def test_the_ranking_is_the_library_s(settings: Situation, place: int, token_id: int) -> None:
    """Bug: the wrong run is called more probable, or runs of unequal length are ranked."""
    pair = run_and_branch(replace(settings, branch=(place, token_id)))
    if pair is None:
        assert place >= len(run_of(settings))
        return
    run, branch = (list(run_of(settings).token_ids), branch_of(pair[1].situation).run.token_ids)
    found = compare(*pair)
    assert found.ranked == (len(run) == len(branch))
    if not found.ranked:
        shorter = "this run" if len(run) < len(branch) else f"the branch at step {place + 1}"
        fewer = min(len(run), len(branch))
        assert found.verdict.startswith(f"Not ranked: {shorter} has {fewer} factor")
        run, branch = run[:fewer], branch[:fewer]
        assert "Cut to the first" in found.verdict
    scores = [
        sequence_log_probability(
            settings.decoder.model, settings.prompt, tokens, temperature=temperature_of(settings)
        )
        for tokens in (run, branch)
    ]
    if run == branch:
        assert "the same tokens" in found.verdict
    elif abs(scores[0] - scores[1]) > 1e-9:
        names = ["this run", f"the branch at step {place + 1}"]
        more, less = names if scores[0] > scores[1] else names[::-1]
        times = f"{math.exp(abs(scores[0] - scores[1])):.3g}"
        assert f"{more} is {times} times as probable as {less}".lower() in found.verdict.lower()


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Situation(decoder=lesson_decoders()[1]), "the parameters differ"),
        (Situation(prompt=(0, 1, 3)), "the prompts differ"),
        (Situation(temperature=0.5), "the temperatures differ (1 and 0.5"),
        (Situation(prompt=(0,), temperature=2.0), "the prompts differ and the temperatures differ"),
    ],
    ids=["parameters", "prompt", "temperature", "both"],
)
def test_products_of_different_distributions_are_not_ranked(other: Situation, reason: str) -> None:
    """Bug: a run sampled at a low temperature is called more probable than one at 1."""
    for one in (Situation(end=False), Situation(greedy=True, end=False)):
        found = compare(the("run", one), the("run", replace(other, end=False)))
        assert not found.ranked
        assert reason in found.verdict
        assert "times as probable" not in found.verdict


def test_greedy_is_ranked_against_sampling_at_one() -> None:
    """Bug: a temperature that greedy selection does not use keeps two runs apart."""
    pair = the("run", Situation(end=False)), the("run", Situation(greedy=True, temperature=2.0, end=False))
    assert compare(*pair).ranked


def test_the_lesson_s_two_runs() -> None:
    """Bug: the ratio is taken the wrong way round."""
    found = compare(the("run", Situation()), the("twin", Situation()))
    ratio = run_of(Situation(greedy=True)).probability / run_of(Situation()).probability
    assert found.ranked
    assert found.verdict.startswith(f"The greedy run is {ratio:.3g} times as probable as this run")


@pytest.mark.parametrize("swap", [False, True])
def test_a_run_that_cannot_come_about(swap: bool) -> None:
    """Bug: a factor of 0 ends in a traceback, or in a ratio of infinity."""
    decoder = scripted(lambda prefix: [0.0, -1000.0, -2000.0], "a b c")
    situation = Situation(decoder, (0,), temperature=1e-306, max_new_tokens=3)
    pair = run_and_branch(replace(situation, branch=(1, 2)))
    assert math.isinf(chain_of(pair[1]).log_sum)
    assert chain_of(pair[1]).product == 0.0
    found = compare(*(pair[::-1] if swap else pair))
    assert found.verdict == "This run is more probable: the branch at step 2 has a factor of 0."
    both = compare(pair[1], run_and_branch(replace(situation, branch=(0, 1)))[1])
    assert both.verdict.startswith("Neither can come about")


def test_a_gap_beyond_floating_point() -> None:
    """Bug: exp of the gap overflows."""
    situation = Situation(scripted(lambda prefix: [0.0, -730.0], "a b"), (0,), max_new_tokens=1)
    assert "e^730 times" in compare(*run_and_branch(replace(situation, branch=(0, 1)))).verdict


def test_where_a_run_comes_from() -> None:
    """Bug: a kept run cannot be told from another one."""
    assert settings_in_words(Situation(seed=3, temperature=0.5)) == (
        "untrained, <start> the cat, seed 3, temperature 0.5"
    )
    assert settings_in_words(Situation(greedy=True)) == "untrained, <start> the cat, greedy"
    taken = settings_in_words(Situation(greedy=True, branch=(1, 5), on_branch=True))
    assert taken == "untrained, <start> the cat, greedy, slept taken at step 2"


def keys(pair: Pair, situation: Situation) -> tuple[str, str]:
    return tuple(choice.key for choice in pair.of(situation))


def test_a_branch_that_is_dropped_gives_way() -> None:
    """Bug: the view asks for a run that does not exist any more."""
    pair = Pair(first="branch", second="run")
    assert keys(pair, Situation(branch=(1, 6))) == ("branch", "run")
    assert keys(pair, Situation()) == ("run", "run")
    assert pair.among(Situation()) == Pair("run", "run")
    assert pair.among(Situation(branch=(1, 6))) == pair


def test_keeping_a_run() -> None:
    """Bug: a kept run changes with the settings, or can't be compared with what they give now."""
    pair = Pair().keep(Situation())
    assert keys(pair, Situation(seed=9)) == ("run", "kept 1")
    assert chain_of(pair.of(Situation(seed=9))[1]).tokens == chain_of(the("run", Situation())).tokens
    assert keys(pair.keep(Situation(seed=9)), Situation(seed=9)) == ("run", "kept 2")
    assert keys(replace(pair, kept=()), Situation()) == ("run", "twin")


@pytest.mark.parametrize(
    "looking",
    [{"policy": "stop"}, {"policy": "keep first"}, {"step": 3}, {"beam_width": 4}, {"edit": (1, 4)}],
    ids=lambda looking: str(looking),
)
def test_a_run_is_kept_once_whatever_is_looked_at(looking: dict[str, object]) -> None:
    """Bug: after a change of the truncation policy the same run is kept a second time."""
    pair = Pair().keep(Situation())
    with pytest.raises(ValueError, match="This run is kept already, as kept run 1"):
        pair.keep(Situation(**looking))


def test_a_kept_branch() -> None:
    """Bug: keeping while the branch is followed keeps the run, or the branch loses its token."""
    on_branch = Situation(branch=(1, 6), on_branch=True)
    pair = Pair().keep(on_branch)
    assert chain_of(pair.of(Situation())[1]).about.endswith("<end> taken at step 2")
    with pytest.raises(ValueError, match="kept already, as kept run 1"):
        pair.keep(replace(on_branch, step=1))
    both = pair.keep(replace(on_branch, on_branch=False))
    assert both.kept[1] == Situation()


def test_no_more_runs_than_can_be_told_apart() -> None:
    """Bug: the list grows without end, or a run is dropped without a word."""
    pair = Pair()
    for seed in range(MOST_KEPT):
        pair = pair.keep(Situation(seed=seed))
    with pytest.raises(ValueError, match=f"{MOST_KEPT} runs are kept"):
        pair.keep(Situation(seed=MOST_KEPT))
