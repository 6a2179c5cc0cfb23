"""The forward pass of one token behind a cache: `transformer.forward` in as few calls of NumPy as it takes.

For a single token most of the time goes to calling NumPy, a microsecond or so per call whatever the size. So
vectors have no axis of rows, a head's single query needs no mask, sums are products, arrays are changed in
place, and numbers are Python floats. Property tests compare it with `forward`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import KVCache
from decoder_lib.parameters import Config, Parameters
from decoder_lib.transformer import EPSILON, equal_shares

Array = NDArray[np.floating]


class Block(NamedTuple):
    """The parameters of one block, looked up once and not by their names at each step."""

    ln_1: tuple[Array, Array]  # (d,), (d,)
    c_attn: tuple[Array, Array]  # (d, 3d), (3d,)
    attn_c_proj: tuple[Array, Array]  # (d, d), (d,)
    ln_2: tuple[Array, Array]  # (d,), (d,)
    c_fc: tuple[Array, Array]  # (d, 4d), (4d,)
    mlp_c_proj: tuple[Array, Array]  # (4d, d), (d,)


class TokenStep:
    """Reads one token at a time: `step(token_id, position, cache)`."""

    def __init__(self, parameters: Parameters, config: Config) -> None:
        def pair(name: str) -> tuple[Array, Array]:
            return parameters[f"{name}.weight"], parameters[f"{name}.bias"]

        names = ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")
        self._wte, self._wpe, self._ln_f = parameters["wte"], parameters["wpe"], pair("ln_f")
        self._blocks = [
            Block(*(pair(f"h.{layer}.{name}") for name in names)) for layer in range(config.n_layers)
        ]
        self._heads = (3, config.n_heads, config.d_model // config.n_heads)
        self._scale = 1.0 / math.sqrt(self._heads[-1])

    def __call__(self, token_id: int, position: int, cache: KVCache) -> Array:
        """The token's vector in the residual stream after the final norm, (d,).

        Its keys and values are appended to the cache; the caller makes it count them (`cache.advance`).
        """
        x = self._wte[token_id] + self._wpe[position]  # (d,)
        for layer, block in enumerate(self._blocks):
            projected = linear(norm(x, block.ln_1), block.c_attn)  # (3d,)
            queries, new_keys, new_values = projected.reshape(self._heads)  # (H, d_head) each
            keys, values = cache.append(layer, new_keys[:, None], new_values[:, None])  # (H, T, d_head)
            queries *= self._scale
            scores = queries[:, None] @ keys.swapaxes(1, 2)  # (H, 1, T)
            scores -= np.maximum.reduce(scores, axis=2, keepdims=True)
            np.exp(scores, out=scores)
            mixed = scores @ values  # (H, 1, d_head)
            mixed /= np.add.reduce(scores, axis=2, keepdims=True)
            x += linear(mixed.reshape(-1), block.attn_c_proj)
            x += linear(gelu(linear(norm(x, block.ln_2), block.c_fc)), block.mlp_c_proj)
        return norm(x, self._ln_f)


def linear(x: Array, projection: tuple[Array, Array]) -> Array:
    """A projection with its bias: (in,) -> (out,)."""
    weight, bias = projection
    projected: Array = x.dot(weight)
    projected += bias
    return projected


def norm(x: Array, gain_and_bias: tuple[Array, Array]) -> Array:
    """`transformer.layer_norm` of one vector, (d,)."""
    gain, bias = gain_and_bias
    normal: Array = x - x.dot(equal_shares(x.size, x.dtype))
    normal *= 1.0 / math.sqrt(normal.dot(normal) / x.size + EPSILON)
    normal *= gain
    normal += bias
    return normal


def gelu(x: Array) -> Array:
    """`transformer.gelu`, in a single new array."""
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
