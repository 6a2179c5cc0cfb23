"""The forward pass of a GPT-2 style decoder, as plain functions over a dictionary of parameters.

Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3 (normalisation
moved to the front of each sub-block), on the Transformer of Vaswani et al. 2017.

Shapes: T positions, width d, H heads of d_head = d / H, V vocabulary entries; `...` stands for no axis at all
or for a batch of B. Only attention looks at more than one token, so everything else works on rows: N tokens,
of however many sequences. `.dot`, sums as products and operations in place take half of what `@`, `np.sum`
and new arrays take where there are few rows. `decoder_lib.step` is the same pass for a single one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib.batch_cache import BatchCache
from decoder_lib.cache import KVCache
from decoder_lib.numerics import softmax
from decoder_lib.parameters import Config, Parameters

Array = NDArray[np.floating]

EPSILON = 1e-5  # of the norms


def gelu(x: Array) -> Array:
    """The Gaussian error linear unit in GPT-2's tanh form (Hendrycks and Gimpel 2016, section 2)."""
    # x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x**3))), in one array. The factors are Python floats,
    # since a NumPy scalar would promote float32 to float64.
    factor = math.sqrt(2.0 / math.pi)
    y = x * x
    y *= 0.044715 * factor
    y += factor
    y *= x
    np.tanh(y, out=y)
    y += 1.0
    y *= x
    y *= 0.5
    return y


def linear(x: Array, parameters: Parameters, name: str) -> Array:
    """A projection with its bias: (N, in) -> (N, out)."""
    projected: Array = x.dot(parameters[f"{name}.weight"])
    projected += parameters[f"{name}.bias"]
    return projected


def layer_norm(x: Array, parameters: Parameters, name: str) -> Array:
    """Each row brought to mean 0 and variance 1, then scaled and shifted (Ba et al. 2016): (..., d)."""
    shares = equal_shares(x.shape[-1], x.dtype)
    normal: Array = x - x.dot(shares)[..., None]  # (..., d)
    variance = (normal * normal).dot(shares)[..., None]  # (..., 1)
    normal /= np.sqrt(variance + EPSILON)
    normal *= parameters[f"{name}.weight"]
    normal += parameters[f"{name}.bias"]
    return normal


@lru_cache
def equal_shares(n: int, dtype: np.dtype[np.floating]) -> Array:
    """1 / n, n times: (n,). A product with them is a mean, and takes a fraction of what `np.mean` takes."""
    shares = np.full(n, 1.0 / n, dtype)
    shares.setflags(write=False)
    return shares


def attention(queries: Array, keys: Array, values: Array, visible: NDArray[np.bool_] | None = None) -> Array:
    """Causal scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    queries (..., n, d_head), keys and values (..., T, d_head) -> (..., n, d_head).
    visible : bool (..., n, T), which keys each query may read. None where the n queries are the last n of the
        T positions, and each may read those up to its own.
    """
    n, T = queries.shape[-2], keys.shape[-2]  # noqa: N806 (the field's letter)
    if visible is None and n > 1:
        visible = np.tri(n, T, T - n, dtype=bool)
    scores = queries @ keys.swapaxes(-1, -2)  # (..., n, T)
    scores *= 1.0 / math.sqrt(queries.shape[-1])
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    mixed: Array = softmax(scores) @ values  # (..., n, d_head)
    return mixed


def split_heads(x: Array, shape: tuple[int, ...], n_heads: int) -> Array:
    """A width shared out to heads, and rows to sequences of `shape`: (N, d) -> (*shape, H, T, d_head)."""
    return x.reshape(*shape, n_heads, -1).swapaxes(-2, -3)


def merge_heads(x: Array) -> Array:
    """The heads side by side again, a row a token: (..., H, T, d_head) -> (N, d)."""
    return x.swapaxes(-2, -3).reshape(-1, x.shape[-3] * x.shape[-1])


def forward(
    token_ids: NDArray[np.int64],
    parameters: Parameters,
    config: Config,
    first_position: int = 0,
    cache: KVCache | BatchCache | None = None,
) -> Array:
    """The residual stream after the final norm, a row a token: ids (T,) or (B, T) -> (T, d) or (B T, d).

    The row of token i has read tokens 0 to i of its own sequence, and nothing later. With a `cache` the ids
    are what follows its prefix or prefixes: their keys and values are appended to it, and those of the
    prefix are read from it. The caller makes it count them (`cache.advance`).
    """
    d, n = config.d_model, token_ids.shape[-1]
    start = 0 if cache is None else cache.start  # of all sequences, or (B, 1)
    places = start + np.arange(n)  # (n,) or (B, n)
    x = parameters["wte"][token_ids] + parameters["wpe"][first_position + places]  # (..., n, d)
    x = x.reshape(-1, d)  # (N, d)
    visible = None if isinstance(start, int) else reading(places)
    for layer in range(config.n_layers):
        block = f"h.{layer}"
        projected = linear(layer_norm(x, parameters, f"{block}.ln_1"), parameters, f"{block}.attn.c_attn")
        queries, keys, values = (
            split_heads(projected[:, part : part + d], token_ids.shape, config.n_heads)  # (..., H, n, d_head)
            for part in (0, d, 2 * d)
        )
        if cache is not None:
            keys, values = cache.append(layer, keys, values)  # (..., H, T, d_head)
        mixed = merge_heads(attention(queries, keys, values, visible))  # (N, d)
        x += linear(mixed, parameters, f"{block}.attn.c_proj")
        hidden = gelu(linear(layer_norm(x, parameters, f"{block}.ln_2"), parameters, f"{block}.mlp.c_fc"))
        x += linear(hidden, parameters, f"{block}.mlp.c_proj")
    return layer_norm(x, parameters, "ln_f")


def reading(places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which places each token may read, its own and those before: (B, n) -> (B, 1, n, T)."""
    return np.arange(places.max() + 1) <= places[:, None, :, None]


def unembed(x: Array, unembedding: Array) -> NDArray[np.float64]:
    """Scores over the vocabulary, float64 always: (N, d) by (d, V) -> (N, V)."""
    scores: Array = x.dot(unembedding)
    return scores.astype(np.float64, copy=False)
