"""The forward pass of a GPT-2 style decoder, as plain functions over a dictionary of parameters.

Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3 (normalisation
moved to the front of each sub-block), on the Transformer of Vaswani et al. 2017.

Shapes: T positions, width d, H heads of d_head = d / H, V vocabulary entries; `...` stands for no axis at all
or for a batch of B. Only attention looks at more than one token, so everything else works on N tokens, of
however many sequences. With a cache, a single token takes the same steps in `decoder_lib.internal.step`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import BatchCache, KVCache
from decoder_lib.parameters import Config, Parameters

Array = NDArray[np.floating]
Float = TypeVar("Float", bound=np.floating)

EPSILON = 1e-5  # of the norms


def gelu(x: Array) -> Array:
    """The Gaussian error linear unit in GPT-2's tanh form (Hendrycks and Gimpel 2016, section 2)."""
    # The factors are Python's floats, since a NumPy scalar would promote float32 to float64.
    return x * (0.5 * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * (x * x * x)))))


def layer_norm(x: Array, parameters: Parameters, name: str) -> Array:
    """Each vector brought to mean 0 and variance 1, then scaled and shifted (Ba et al. 2016): (..., d)."""
    centred: Array = x - mean(x)
    centred = centred / np.sqrt(mean(centred * centred) + EPSILON)
    return centred * parameters[f"{name}.weight"] + parameters[f"{name}.bias"]


def mean(x: Array) -> Array:
    """The mean of each vector: (..., d) -> (..., 1)."""
    averages: Array = x.dot(equal_shares(x.shape[-1], x.dtype))
    return averages[..., None]


@lru_cache
def equal_shares(n: int, dtype: np.dtype[np.floating]) -> Array:
    """1 / n, n times: (n,). A product with them is a mean, and takes a fraction of the time of `np.mean`."""
    shares = np.full(n, 1.0 / n, dtype)
    shares.setflags(write=False)
    return shares


def linear(x: Array, parameters: Parameters, name: str) -> Array:
    """A projection with its bias: (N, in) -> (N, out)."""
    projected: Array = x.dot(parameters[f"{name}.weight"])
    projected += parameters[f"{name}.bias"]
    return projected


def softmax(scores: NDArray[Float]) -> NDArray[Float]:
    """Probabilities along the last axis: `exp(scores)` over its sum; same shape and dtype as `scores`.

    The largest score is subtracted first: that changes no probability, and no `exp` can overflow. A score of
    minus infinity gets a probability of zero.
    """
    shares: NDArray[Float] = scores - scores.max(axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def log_softmax(scores: NDArray[Float]) -> NDArray[Float]:
    """Natural logarithm of `softmax(scores)`, finite even where the probability would underflow to zero."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    logarithms: NDArray[Float] = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logarithms


def attention(queries: Array, keys: Array, values: Array, visible: NDArray[np.bool_] | None = None) -> Array:
    """Causal scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    queries (..., n, d_head), keys and values (..., T, d_head) -> (..., n, d_head).
    visible : bool (..., n, T), which keys each query may read. None where the n queries are the last n of the
        T positions, and each may read the keys up to its own.
    """
    n, T = queries.shape[-2], keys.shape[-2]  # noqa: N806 (the field's letter)
    if visible is None and n > 1:
        visible = causal_mask(n, T)
    scores = queries @ keys.swapaxes(-1, -2)  # (..., n, T)
    scores *= 1.0 / math.sqrt(queries.shape[-1])
    if visible is not None:
        np.copyto(scores, -np.inf, where=~visible)
    mixed: Array = softmax(scores) @ values  # (..., n, d_head)
    return mixed


@lru_cache(1)  # the same for all blocks of a pass
def causal_mask(n: int, T: int) -> NDArray[np.bool_]:  # noqa: N803
    """Which of T positions each of the last n may read, those up to its own: (n, T)."""
    mask = np.tri(n, T, T - n, dtype=bool)
    mask.setflags(write=False)
    return mask


def split_heads(x: Array, shape: tuple[int, ...], n_heads: int) -> Array:
    """The width divided among the heads, and the tokens among sequences: (N, d) -> (..., H, T, d_head).

    shape : of the token ids, (T,) or (B, T).
    """
    return x.reshape(*shape, n_heads, -1).swapaxes(-2, -3)


def merge_heads(x: Array) -> Array:
    """The heads side by side again, one row for each token: (..., H, T, d_head) -> (N, d)."""
    return x.swapaxes(-2, -3).reshape(-1, x.shape[-3] * x.shape[-1])


def forward(
    token_ids: NDArray[np.int64],
    parameters: Parameters,
    config: Config,
    first_position: int = 0,
    cache: KVCache | BatchCache | None = None,
) -> Array:
    """The residual stream after the final norm, one row for each token: ids (T,) or (B, T) -> (N, d).

    The row of token i has read tokens 0 to i of its own sequence, and nothing later. With a `cache` the ids
    are what follows its prefix or prefixes: their keys and values are appended to it, and those of the
    prefix are read from it. The caller makes the cache count them (`cache.advance`).
    """
    d, n = config.d_model, token_ids.shape[-1]
    start = 0 if cache is None else cache.start  # one number, or (B, 1) where the prefixes differ in length
    places = start + np.arange(n)  # (n,) or (B, n)
    visible = None if isinstance(start, int) else np.arange(places.max() + 1) <= places[:, None, :, None]
    x = parameters["wte"][token_ids] + parameters["wpe"][first_position + places]  # (..., n, d)
    x = x.reshape(-1, d)  # (N, d)
    for layer in range(config.n_layers):
        block = f"h.{layer}"
        projected = linear(layer_norm(x, parameters, f"{block}.ln_1"), parameters, f"{block}.attn.c_attn")
        queries, keys, values = (
            split_heads(part, token_ids.shape, config.n_heads)  # (..., H, n, d_head)
            for part in (projected[:, :d], projected[:, d : 2 * d], projected[:, 2 * d :])  # (N, d)
        )
        if cache is not None:
            keys, values = cache.append(layer, keys, values)  # (..., H, T, d_head)
        mixed = merge_heads(attention(queries, keys, values, visible))  # (N, d)
        x += linear(mixed, parameters, f"{block}.attn.c_proj")
        hidden = gelu(linear(layer_norm(x, parameters, f"{block}.ln_2"), parameters, f"{block}.mlp.c_fc"))
        x += linear(hidden, parameters, f"{block}.mlp.c_proj")
    return layer_norm(x, parameters, "ln_f")


def unembed(x: Array, unembedding: Array) -> NDArray[np.float64]:
    """Scores over the vocabulary, always float64: (N, d) by (d, V) -> (N, V)."""
    scores: Array = x.dot(unembedding)
    return scores.astype(np.float64, copy=False)
