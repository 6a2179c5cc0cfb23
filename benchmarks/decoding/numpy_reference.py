"""The plainest decoder in NumPy: a few functions, a list of heads, and the whole prefix read for every token.

It is written as short teaching decoders are, with every position's logits computed and the last row used.
"""

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.contenders import Stepwise
from benchmarks.decoding.shapes import Weights
from decoder_lib.parameters import Config

Array = NDArray[np.float32]


def gelu(x: Array) -> Array:
    """The Gaussian error linear unit in its tanh form."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x: Array) -> Array:
    """Shares along the last axis."""
    shares = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shares / np.sum(shares, axis=-1, keepdims=True)


def layer_norm(x: Array, gain: Array, bias: Array) -> Array:
    """Mean 0 and variance 1 a position, then scaled and shifted: (T, d) -> (T, d)."""
    mean = np.mean(x, axis=-1, keepdims=True)  # (T, 1)
    variance = np.var(x, axis=-1, keepdims=True)  # (T, 1)
    return gain * (x - mean) / np.sqrt(variance + 1e-5) + bias


def attend(query: Array, key: Array, value: Array, mask: Array) -> Array:
    """One head: (T, d_head) each -> (T, d_head)."""
    return softmax(query @ key.T / math.sqrt(query.shape[-1]) + mask) @ value


class NumpyWithoutCache(Stepwise):
    """All of the prefix through every layer, for each token; float32 throughout."""

    def __init__(self, weights: Weights, config: Config) -> None:
        self.weights, self.config = weights, config
        self.ids: list[int] = []

    def begin(self) -> None:
        """As `Stepwise.begin`."""
        self.ids = []

    def read(self, ids: list[int]) -> Array:
        """As `Stepwise.read`."""
        self.ids = self.ids + ids
        return self._rows(self.ids)[-1]

    def _rows(self, ids: list[int]) -> Array:
        """Every position's logits: (T, V)."""
        weights = self.weights
        x = weights["wte"][ids] + weights["wpe"][range(len(ids))]  # (T, d)
        for layer in range(self.config.n_layers):
            block = f"h.{layer}"
            x = x + self._attention(self._norm(x, f"{block}.ln_1"), f"{block}.attn")
            inner = gelu(self._linear(self._norm(x, f"{block}.ln_2"), f"{block}.mlp.c_fc"))  # (T, 4d)
            x = x + self._linear(inner, f"{block}.mlp.c_proj")
        return self._norm(x, "ln_f") @ weights["wte"].T

    def _attention(self, x: Array, name: str) -> Array:
        parts = np.split(self._linear(x, f"{name}.c_attn"), 3, axis=-1)  # three of (T, d)
        heads = [np.split(part, self.config.n_heads, axis=-1) for part in parts]  # H of (T, d_head), thrice
        mask = (1 - np.tri(len(x), dtype=x.dtype)) * -1e10  # (T, T)
        mixed = [attend(query, key, value, mask) for query, key, value in zip(*heads, strict=True)]
        return self._linear(np.hstack(mixed), f"{name}.c_proj")

    def _linear(self, x: Array, name: str) -> Array:
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _norm(self, x: Array, name: str) -> Array:
        return layer_norm(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])
