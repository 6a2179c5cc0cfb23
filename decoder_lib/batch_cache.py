"""The key/value cache of several prefixes at once, a row each."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from decoder_lib.arguments import check_integer
from decoder_lib.cache import CacheOrigin
from decoder_lib.parameters import Config


class BatchCache:
    """Keys and values of B prefixes of any lengths, for every layer and head of one decoder.

    A decoder appends to it (`model.next_logits(tokens, cache=cache)`). Each row has room for `capacity`
    positions, allocated once; `drop` gives up a row that goes on no longer, so that the rest costs less.
    """

    def __init__(
        self, config: Config, origin: CacheOrigin, n_rows: int, capacity: int, dtype: DTypeLike = np.float64
    ) -> None:
        self.origin = origin
        self.capacity = capacity
        self._lengths = np.zeros(n_rows, dtype=np.int64)  # (B,)
        shape = (config.n_layers, n_rows, config.n_heads, capacity, config.d_model // config.n_heads)
        # Zeros, since what lies behind a shorter row gets a share of zero, and zero times nan is nan.
        self._keys = np.zeros(shape, dtype)  # (L, B, H, capacity, d_head)
        self._values = np.zeros(shape, dtype)  # (L, B, H, capacity, d_head)

    def __repr__(self) -> str:
        return f"BatchCache(lengths={self._lengths.tolist()})"

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many positions each row holds, (B,), as a new array."""
        return self._lengths.copy()

    @property
    def start(self) -> int | NDArray[np.int64]:
        """Where new positions go: one number where it is the same in every row, else (B, 1)."""
        lengths = self._lengths
        return int(lengths[0]) if (lengths == lengths[0]).all() else lengths[:, None]

    def check(self, origin: CacheOrigin, counts: NDArray[np.int64]) -> None:
        """Raise where it was made with another `origin`, or cannot take `counts` (B,) new positions a row.

        StaleCacheError for other parameters; ValueError for another number of rows, or for a ragged batch
        behind positions that it holds.
        """
        self.origin.check_parameters(origin, "model.new_batch_cache()")
        if counts.size != len(self):
            raise ValueError(f"there are {counts.size} prefixes; this cache has {len(self)} rows")
        if self._lengths.any() and (counts != counts[0]).any():
            raise ValueError(
                f"the prefixes have {counts.min()} to {counts.max()} tokens; behind what a cache holds, "
                "each row must get as many"
            )

    def append(
        self, layer: int, keys: NDArray[np.floating], values: NDArray[np.floating]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Write a layer's new positions (B, H, n, d_head) behind the held ones of each row.

        Returns views of all, (B, H, T, d_head), as long as the longest row. The new ones count once `advance`
        says so, so a failed pass changes nothing.
        """
        start, n_rows, n = self.start, len(self), keys.shape[-2]
        total = int(self._lengths.max()) + n
        for held, new in ((self._keys[layer], keys), (self._values[layer], values)):
            if isinstance(start, int):
                held[:n_rows, :, start:total] = new
            else:
                rows = np.arange(n_rows)[:, None]  # (B, 1)
                held[rows, :, start + np.arange(n)] = new.swapaxes(1, 2)  # (B, n, H, d_head)
        return self._keys[layer, :n_rows, :, :total], self._values[layer, :n_rows, :, :total]

    def advance(self, counts: NDArray[np.int64]) -> None:
        """Count the positions just appended in every layer, `counts` (B,) of them."""
        self._lengths += counts

    def drop(self, row: int) -> None:
        """Forget a row. The last one takes its place: one row is copied, whatever the number of rows."""
        last = len(self) - 1
        check_integer("row", row, 0, last)
        if row != last:
            length = self._lengths[last]
            for held in (self._keys, self._values):
                held[:, row, :, :length] = held[:, last, :, :length]
            self._lengths[row] = length
        self._lengths = self._lengths[:last]

    def select(self, rows: ArrayLike) -> Self:
        """A new cache of these rows, in this order; one that is named twice goes on in two ways."""
        chosen = np.asarray(rows, dtype=np.int64)
        twin = object.__new__(type(self))
        twin.origin, twin.capacity = self.origin, self.capacity
        twin._lengths = self._lengths[chosen]
        twin._keys, twin._values = self._keys[:, chosen], self._values[:, chosen]
        return twin
