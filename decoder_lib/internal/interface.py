"""What generation, scoring and search need of a model: any object that offers these will do."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import BatchCache, KVCache
from decoder_lib.internal.arguments import TokenIds, TokenRows


class LanguageModel(Protocol):
    """A next-token model (see `decoder_lib.model.CausalLanguageModel`)."""

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""

    @property
    def context_length(self) -> int:
        """Longest prefix it can read, in positions."""

    def new_cache(self) -> KVCache:
        """An empty cache for this model."""

    def logits(self, token_ids: TokenIds, cache: KVCache | None = None) -> NDArray[np.float64]:
        """One forward pass: (T, V); row i scores the token after position i."""

    def new_batch_cache(self, n_rows: int, capacity: int | None = None) -> BatchCache:
        """An empty cache for several prefixes."""

    def next_logits(self, prefixes: TokenRows, cache: BatchCache | None = None) -> NDArray[np.float64]:
        """One batched pass: (B, V), the last row for each prefix.

        With a `cache`, the prefixes are what follows those that it holds.
        """
