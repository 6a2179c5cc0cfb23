"""The course's own decoder, as its users call it."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.shapes import Weights
from decoder_lib import CausalLanguageModel
from decoder_lib.parameters import Config


class Ours:
    """`CausalLanguageModel.generate` with a cache, in float32."""

    def __init__(self, weights: Weights, config: Config) -> None:
        self.model = CausalLanguageModel.from_parameters(weights, config, np.float32)

    def logits(self, ids: list[int], given: int) -> NDArray[np.floating]:
        """As `Contender.logits`."""
        cache = self.model.new_cache()
        passes = [ids[:given], *([token] for token in ids[given:])]
        return np.stack([self.model.logits(fed, cache=cache)[-1] for fed in passes])

    def generate(self, prompt: list[int], new_tokens: int) -> list[int]:
        """As `Contender.generate`."""
        return self.model.generate(prompt, new_tokens, greedy=True, use_cache=True).token_ids
