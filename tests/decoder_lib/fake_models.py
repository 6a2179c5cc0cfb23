"""Models whose scores a test dictates, and a wrapper that writes down what a real one was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from decoder_lib import BatchCache, CausalLanguageModel, KVCache


def emit(token_id: int, n_vocab: int) -> list[float]:
    """A row of scores that leaves all but one token practically impossible."""
    return [0.0 if other == token_id else -1000.0 for other in range(n_vocab)]


class ScriptedModel:
    """Scores are a function of the whole prefix; `passes` and `rounds` list what was handed over."""

    def __init__(
        self, row: Callable[[list[int]], Sequence[float]], n_vocab: int, context_length: int = 64
    ) -> None:
        self.row, self.n_vocab, self.context_length = row, n_vocab, context_length
        self.passes: list[list[int]] = []
        self.rounds: list[list[list[int]]] = []

    def new_cache(self) -> KVCache:
        raise AssertionError("this model has no cache")

    def logits(self, token_ids: Sequence[int], cache: KVCache | None = None) -> np.ndarray:
        ids = [int(token_id) for token_id in token_ids]
        self.passes.append(ids)
        return np.array([self.row(ids[: end + 1]) for end in range(len(ids))], dtype=np.float64)

    def next_logits(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        handed = [[int(token_id) for token_id in prefix] for prefix in prefixes]
        self.rounds.append(handed)
        return np.array([self.row(prefix) for prefix in handed], dtype=np.float64)


class RecordingModel:
    """A real decoder; `passes` lists, for each `logits` call, the ids fed and the cache's length before.

    `rounds` lists, for each batched pass, the tokens handed over; `batched` counts these passes.
    """

    def __init__(self, model: CausalLanguageModel) -> None:
        self.model, self.n_vocab, self.context_length = model, model.n_vocab, model.context_length
        self.passes: list[tuple[list[int], int]] = []
        self.rounds: list[list[list[int]]] = []

    @property
    def batched(self) -> int:
        return len(self.rounds)

    def new_cache(self) -> KVCache:
        return self.model.new_cache()

    def logits(self, token_ids: Sequence[int], cache: KVCache | None = None) -> np.ndarray:
        self.passes.append(([int(token_id) for token_id in token_ids], 0 if cache is None else cache.length))
        return self.model.logits(token_ids, cache=cache)

    def new_batch_cache(self, n_rows: int, capacity: int | None = None) -> BatchCache:
        return self.model.new_batch_cache(n_rows, capacity)

    def next_logits(self, prefixes: Sequence[Sequence[int]], cache: BatchCache | None = None) -> np.ndarray:
        self.rounds.append([[int(token_id) for token_id in prefix] for prefix in prefixes])
        return self.model.next_logits(prefixes, cache)
