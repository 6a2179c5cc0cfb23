"""The forward pass of a GPT-2 style decoder, as plain functions over a dictionary of parameters.

Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3 (normalisation
moved to the front of each sub-block), on the Transformer of Vaswani et al. 2017.

Shapes: T positions, width d, H heads of d_head = d / H, V vocabulary entries; `...` stands for no axis at all
or for a batch.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import KVCache
from decoder_lib.numerics import softmax
from decoder_lib.parameters import Config, Parameters

Array = NDArray[np.floating]


def gelu(x: Array) -> Array:
    """The Gaussian error linear unit in GPT-2's tanh form (Hendrycks and Gimpel 2016, section 2)."""
    # A Python float, since a NumPy scalar would promote float32 to float64.
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


def linear(x: Array, parameters: Parameters, name: str) -> Array:
    """A projection with its bias."""
    projected: Array = x @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"]
    return projected  # (..., T, in) -> (..., T, out)


def layer_norm(x: Array, parameters: Parameters, name: str, epsilon: float = 1e-5) -> Array:
    """Each position's vector brought to mean 0 and variance 1, then scaled and shifted (Ba et al. 2016)."""
    centred = x - x.mean(axis=-1, keepdims=True)  # (..., T, d)
    variance = (centred * centred).mean(axis=-1, keepdims=True)  # (..., T, 1)
    normal = centred / np.sqrt(variance + epsilon)  # (..., T, d)
    scaled: Array = normal * parameters[f"{name}.weight"] + parameters[f"{name}.bias"]
    return scaled


def attention(queries: Array, keys: Array, values: Array) -> Array:
    """Causal scaled dot-product attention (Vaswani et al. 2017, section 3.2.1).

    The n queries are the last n of the T positions whose keys and values are given: query i may read
    positions up to and including its own, T - n + i. With n = T it is a pass without a cache, with n < T
    a pass whose earlier positions come from one.
    """
    n, d_head = queries.shape[-2:]
    T = keys.shape[-2]  # noqa: N806 (the field's letter)
    scores = queries @ keys.swapaxes(-1, -2) / math.sqrt(d_head)  # (..., n, T)
    visible = np.tri(n, T, T - n, dtype=bool)  # (n, T)
    mixed: Array = softmax(np.where(visible, scores, -np.inf)) @ values  # (..., n, d_head)
    return mixed


def split_heads(x: Array, n_heads: int) -> Array:
    """A width shared out to heads."""
    *batch, T, d = x.shape  # noqa: N806
    return x.reshape(*batch, T, n_heads, d // n_heads).swapaxes(-2, -3)  # (..., T, d) -> (..., H, T, d_head)


def merge_heads(x: Array) -> Array:
    """The heads side by side again."""
    *batch, H, T, d_head = x.shape  # noqa: N806
    return x.swapaxes(-2, -3).reshape(*batch, T, H * d_head)  # (..., H, T, d_head) -> (..., T, d)


def forward(
    token_ids: NDArray[np.int64],
    parameters: Parameters,
    config: Config,
    first_position: int = 0,
    cache: KVCache | None = None,
) -> Array:
    """The residual stream after the final norm, one vector a position read: (..., T) ids -> (..., T, d).

    Row i has read tokens 0 to i and nothing later. With a `cache` the ids are what follows its prefix, whose
    keys and values are read from it. Those of the ids are appended to it; of a batch, which are many
    continuations of the one prefix, nothing is.
    """
    held = 0 if cache is None else cache.length
    start = first_position + held
    positions = slice(start, start + token_ids.shape[-1])
    x = parameters["wte"][token_ids] + parameters["wpe"][positions]  # (..., T, d)
    for layer in range(config.n_layers):
        block = f"h.{layer}"
        projected = linear(layer_norm(x, parameters, f"{block}.ln_1"), parameters, f"{block}.attn.c_attn")
        queries, keys, values = (
            split_heads(part, config.n_heads)  # (..., H, T, d_head)
            for part in np.split(projected, 3, axis=-1)  # (..., T, 3d) -> three (..., T, d)
        )
        if cache is not None:
            join = cache.append if token_ids.ndim == 1 else cache.followed_by
            keys, values = join(layer, keys, values)  # (..., H, held + T, d_head)
        mixed = merge_heads(attention(queries, keys, values))  # (..., T, d)
        x = x + linear(mixed, parameters, f"{block}.attn.c_proj")
        hidden = gelu(linear(layer_norm(x, parameters, f"{block}.ln_2"), parameters, f"{block}.mlp.c_fc"))
        x = x + linear(hidden, parameters, f"{block}.mlp.c_proj")
    if cache is not None and token_ids.ndim == 1:
        cache.advance(token_ids)
    return layer_norm(x, parameters, "ln_f")


def unembed(x: Array, parameters: Parameters) -> NDArray[np.float64]:
    """Scores over the vocabulary, by the token embedding itself (tied); float64 always."""
    return (x @ parameters["wte"].T).astype(np.float64, copy=False)  # (..., d) -> (..., V)
