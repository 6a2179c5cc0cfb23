"""The worked solutions and the library, held to each other on decoders that neither was written for."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from course.building.masters import read_masters
from course.files import ROOT
from decoder_lib import CausalLanguageModel, generate_batch, sequence_log_probability, token_log_probabilities
from decoder_lib.transformer import attention

MARKERS = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n", re.MULTILINE)
seeds = st.integers(0, 2**20)
prompts = st.lists(st.integers(0, 8), min_size=1, max_size=6)
ends = st.none() | st.integers(0, 8)
temperatures = st.sampled_from([0.3, 1.0, 2.5])
few = settings(max_examples=40, deadline=None)


@cache
def solutions() -> dict[str, Any]:
    """The functions of the worked solutions, as they stand in the masters."""
    namespace: dict[str, Any] = {"np": np}
    for master in read_masters(ROOT):
        for cell in master.notebook.cells:
            nbgrader = cell.metadata.get("nbgrader", {})
            if nbgrader.get("solution") and not nbgrader["grade_id"].startswith("question-"):
                exec(compile(MARKERS.sub("", cell.source), nbgrader["grade_id"], "exec"), namespace)
    return namespace


def decoder(seed: int, context_length: int = 16) -> CausalLanguageModel:
    return CausalLanguageModel(9, seed=seed, d_model=8, n_layers=1, context_length=context_length)


@few
@given(seeds, prompts, st.integers(0, 12), ends, temperatures, st.booleans())
def test_the_loop(seed, prompt, budget, end_id, temperature, greedy):
    """For a worked solution and a library that read the contract differently."""
    model = decoder(seed, 12)
    run = model.generate(prompt, budget, end_id=end_id, seed=seed, greedy=greedy, temperature=temperature)
    rng = None if greedy else np.random.default_rng(seed)
    tokens, reason = solutions()["generate"](model, prompt, budget, end_id, rng, temperature)
    assert (list(tokens), reason) == (run.token_ids, run.finish_reason)


@few
@given(seeds, prompts, st.lists(st.integers(0, 8), max_size=8), temperatures)
def test_the_chain_rule(seed, prompt, continuation, temperature):
    """For a score that is shifted by a row in one of the two."""
    model = decoder(seed)
    arguments = (model, prompt, continuation, temperature)
    own = solutions()["token_log_probabilities"](*arguments)
    assert np.shape(own) == (len(continuation),)
    np.testing.assert_allclose(own, token_log_probabilities(*arguments), rtol=1e-9)
    total = solutions()["sequence_log_probability"](*arguments)
    np.testing.assert_allclose(total, sequence_log_probability(*arguments), rtol=1e-9)


@few
@given(seeds, prompts, prompts, st.integers(0, 12), ends)
def test_the_cached_loop(seed, first, second, budget, end_id):
    """For a cache that two runs share and one of them spoils."""
    model = decoder(seed, 12)
    cache_between = None
    for prompt in (first, second, first):
        expected = model.generate(prompt, budget, end_id=end_id, greedy=True).token_ids
        tokens, cache_between = solutions()["generate_with_cache"](
            model, prompt, budget, end_id, cache_between
        )
        assert list(tokens) == expected


@few
@given(seeds, st.integers(1, 5), st.integers(0, 5))
def test_attention(seed, n, held):
    """For a mask that is aligned at the wrong corner in one of the two."""
    rng = np.random.default_rng(seed)
    queries, keys, values = rng.normal(size=(n, 4)), *rng.normal(size=(2, held + n, 4))
    own = solutions()["cached_attention"](queries, keys, values)
    np.testing.assert_allclose(own, attention(queries, keys, values), rtol=1e-9)


@few
@given(seeds, st.lists(prompts, max_size=4), st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_the_batch(seed, rows, budget, end_id, greedy):
    """For rows that end, or are cut off, in different ways in the two."""
    model = decoder(seed, 10)
    own_seeds = [seed + b for b in range(len(rows))]
    expected = generate_batch(model, rows, budget, end_id=end_id, seeds=own_seeds, greedy=greedy)
    rngs = None if greedy else [np.random.default_rng(own) for own in own_seeds]
    continuations, lengths, finished = solutions()["generate_batch"](model, rows, budget, end_id, rngs)
    assert [list(row) for row in continuations] == expected.continuations
    assert np.array_equal(lengths, expected.lengths)
    assert np.array_equal(finished, expected.finished)
