"""The decoders that are compared, and the weights that all contenders get."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decoder_lib.parameters import Config, draw_parameters

Weights = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Shape:
    """A decoder and what it is asked for.

    scale : standard deviation of its matrices.
    prompt_length, new_tokens : tokens that are given and that are made.
    rounds : interleaved rounds, unless the command line says otherwise.
    """

    name: str
    config: Config
    scale: float
    prompt_length: int
    new_tokens: int
    rounds: int

    def weights(self) -> Weights:
        """Random float32 parameters under `decoder_lib.parameters`' names.

        Gains and biases are drawn too: with ones and zeros, a contender that left them out would agree.
        """
        drawn = draw_parameters(self.config, 0, self.scale, np.float32)
        rng = np.random.default_rng(1)
        for value in drawn.values():
            if value.ndim == 1:
                value += rng.normal(0.0, self.scale, value.shape).astype(np.float32)
        return drawn

    def tokens(self, count: int, seed: int = 2) -> list[int]:
        """Random token ids, the same for every contender."""
        return np.random.default_rng(seed).integers(0, self.config.n_vocab, count).tolist()

    def __str__(self) -> str:
        c = self.config
        return (
            f"{self.name}: V {c.n_vocab}, d {c.d_model}, {c.n_layers} layers, {c.n_heads} heads, "
            f"context {c.context_length}; {self.prompt_length} tokens given, {self.new_tokens} made"
        )

    @property
    def prompt(self) -> list[int]:
        """The `prompt_length` tokens that are given."""
        return self.tokens(self.prompt_length)


# 0.02 is GPT-2's own scale; the narrower decoders get what keeps their distributions from being even.
SHAPES = {
    shape.name: shape
    for shape in (
        Shape("tiny", Config(7, 16, 2, 2, 16), 0.3, 3, 12, 101),
        Shape("small", Config(2048, 256, 6, 6, 192), 0.08, 32, 224, 7),
        Shape("gpt2", Config(50257, 1024, 12, 12, 768), 0.02, 32, 64, 5),
    )
}
