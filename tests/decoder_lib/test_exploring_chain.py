"""What the chain-rule view shows, and which runs it refuses to rank."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from fake_models import ScriptedModel
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often

from decoder_lib import CausalLanguageModel, Vocabulary, sequence_log_probability, token_log_probabilities
from decoder_lib.views.runs import branch_of, run_of
from decoder_lib.views.scoring.compute import chain_of, choices, compare, run_and_branch, settings_in_words
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
    run, branch = (list(run_of(settings).token_ids), list(branch_of(pair[1].situation).tokens))
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
    model = ScriptedModel(lambda prefix: [0.0, -1000.0, -2000.0], 3, context_length=16)
    decoder = Decoder("sure", model, Vocabulary(("a", "b", "c")))
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
    model = ScriptedModel(lambda prefix: [0.0, -730.0], 2, context_length=16)
    situation = Situation(Decoder("steep", model, Vocabulary(("a", "b"))), (0,), max_new_tokens=1)
    assert "e^730 times" in compare(*run_and_branch(replace(situation, branch=(0, 1)))).verdict


def test_where_a_run_comes_from() -> None:
    """Bug: a kept run cannot be told from another one."""
    assert settings_in_words(Situation(seed=3, temperature=0.5)) == (
        "untrained, <start> the cat, seed 3, temperature 0.5"
    )
    assert settings_in_words(Situation(greedy=True)) == "untrained, <start> the cat, greedy"
    taken = settings_in_words(Situation(greedy=True, branch=(1, 5), on_branch=True))
    assert taken == "untrained, <start> the cat, greedy, slept taken at step 2"
