"""The pass of one token, against the textbook's pass over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_decoder import random_parameters

from decoder_lib import CausalLanguageModel, Config
from decoder_lib.internal.step import TokenStep
from decoder_lib.transformer import forward

SHAPES = st.builds(
    lambda n_vocab, n_layers, n_heads, d_head: Config(n_vocab, 12, n_layers, n_heads, n_heads * d_head),
    n_vocab=st.integers(2, 9),
    n_layers=st.integers(1, 3),
    n_heads=st.integers(1, 4),
    d_head=st.integers(1, 5),
)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(config=SHAPES, seed=st.integers(0, 10**6), first_position=st.integers(0, 3), length=st.integers(1, 9))
def test_steps_equal_the_whole_pass(config: Config, seed: int, first_position: int, length: int) -> None:
    """Bug: the two passes differ in a bias, a gain, a head's layout, the scale or a position."""
    parameters = random_parameters(config, seed)
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, config.n_vocab, length)
    model = CausalLanguageModel.from_parameters(parameters, config)
    cache = model.new_cache(first_position=first_position)
    step = TokenStep(parameters, config)
    rows = []
    for place, token_id in enumerate(ids):
        rows.append(step(token_id, first_position + place, cache))
        cache.advance([token_id])
    np.testing.assert_allclose(rows, forward(ids, parameters, config, first_position), rtol=1e-8, atol=1e-10)


@pytest.mark.filterwarnings("error")
def test_large_scores_stay_finite() -> None:
    """Bug: `exp` overflows in one head, or underflows in all because another head's scores are larger."""
    config = Config(n_vocab=3, n_layers=1, n_heads=2, d_model=4)
    parameters = random_parameters(config, 0)
    weight = parameters["h.0.attn.c_attn.weight"].copy()
    weight[:, :2] *= 1e4  # the queries of the first head alone
    parameters = parameters | {"h.0.attn.c_attn.weight": weight}
    model = CausalLanguageModel.from_parameters(parameters, config, np.float32)
    cache = model.new_cache()
    rows = np.concatenate([model.logits([token_id], cache=cache) for token_id in (0, 1, 2, 1)])
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows, model.logits([0, 1, 2, 1]), rtol=1e-4, atol=1e-5)


def test_one_token_behind_a_cache_takes_the_short_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: nothing but a prompt goes through the textbook's pass, or nothing goes through the short one."""
    taken: list[str] = []

    def noted(name: str, function):  # type: ignore[no-untyped-def]
        return lambda *args: taken.append(name) or function(*args)

    monkeypatch.setattr("decoder_lib.model.forward", noted("forward", forward))
    monkeypatch.setattr(TokenStep, "__call__", noted("step", TokenStep.__call__))
    CausalLanguageModel(n_vocab=7, seed=0).generate([0, 1, 2], 4, use_cache=True)
    assert taken == ["forward", "step", "step", "step"]
