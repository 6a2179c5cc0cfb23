"""What generation, scoring and search ask of a model, and no more: any object that offers these will do."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from decoder_lib.arguments import TokenIds, TokenRows
from decoder_lib.batch_cache import BatchCache
from decoder_lib.cache import KVCache


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
        """One forward pass: (T, V), row i scores the token after position i."""

    def new_batch_cache(self, n_rows: int, capacity: int | None = None) -> BatchCache:
        """An empty cache for several prefixes."""

    def next_logits(self, prefixes: TokenRows, cache: BatchCache | None = None) -> NDArray[np.float64]:
        """One batched pass: (B, V), the last row of each prefix; each of them follows a row of `cache`."""
