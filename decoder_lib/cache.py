"""The key/value cache of one prefix or of many: what earlier positions left for the queries of later ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from decoder_lib.internal.arguments import TokenIds, check_integer
from decoder_lib.internal.staleness import check_fingerprint, check_first_position, check_prefix
from decoder_lib.parameters import Config

Array = NDArray[np.floating]


@dataclass(frozen=True)
class CacheOrigin:
    """What a cache's keys and values were computed with; whoever uses the cache must match it.

    parameters : fingerprint of the decoder's parameters.
    first_position : position at which the first cached token was read (the position convention).
    """

    parameters: str
    first_position: int = 0


class KVCache:
    """Keys and values of one prefix, for every layer, head and position of one decoder.

    `length` positions are in use, of a capacity that is allocated once; `token_ids` is exactly the prefix
    that they stand for. A decoder appends to it (`model.logits(token_ids, cache=cache)`); `crop` forgets
    positions from the end, after which it stands for the shorter prefix.
    """

    def __init__(self, config: Config, origin: CacheOrigin, dtype: DTypeLike = np.float64) -> None:
        self.origin = origin
        capacity = config.context_length - origin.first_position
        shape = (config.n_layers, config.n_heads, capacity, config.d_model // config.n_heads)
        self._keys = np.empty(shape, dtype)  # (L, H, capacity, d_head)
        self._values = np.empty(shape, dtype)  # (L, H, capacity, d_head)
        self._token_ids: list[int] = []

    def __repr__(self) -> str:
        return f"KVCache(length={self.length}, token_ids={self._token_ids})"

    @property
    def length(self) -> int:
        """How many positions the cache holds."""
        return len(self._token_ids)

    @property
    def start(self) -> int:
        """Where new positions go: behind those that the cache holds."""
        return self.length

    @property
    def token_ids(self) -> list[int]:
        """The prefix that the cache stands for, as a new list."""
        return self._token_ids.copy()

    def append(self, layer: int, keys: Array, values: Array) -> tuple[Array, Array]:
        """Write a layer's new keys and values (H, n, d_head); returns views of all, (H, T, d_head).

        They count only once `advance` has named their tokens, so a failed pass changes nothing.
        """
        start, end = self.length, self.length + keys.shape[-2]
        self._keys[layer, :, start:end] = keys
        self._values[layer, :, start:end] = values
        return self._keys[layer, :, :end], self._values[layer, :, :end]

    def advance(self, token_ids: TokenIds) -> None:
        """Count what was just appended in every layer as the positions of `token_ids`."""
        self._token_ids += [int(token_id) for token_id in token_ids]

    def crop(self, length: int) -> None:
        """Keep only the first `length` positions; ValueError where the cache holds fewer."""
        del self._token_ids[check_integer("length", length, 0, self.length) :]

    def reset(self) -> None:
        """Forget everything."""
        self.crop(0)

    def copy(self) -> KVCache:
        """An independent cache of the same prefix, for a second continuation of it."""
        twin = object.__new__(KVCache)
        twin.origin = self.origin
        twin._keys, twin._values = self._keys.copy(), self._values.copy()
        twin._token_ids = self._token_ids.copy()
        return twin

    def keep_common_prefix(self, prefix: TokenIds) -> int:
        """Crop to the longest common prefix of what the cache holds and `prefix`; returns the length kept.

        A position's keys and values depend on every token up to it, so the first difference makes that
        position and all after it stale.
        """
        if isinstance(prefix, list) and self._token_ids == prefix[: self.length]:  # the usual case, at once
            return self.length
        pairs = zip(self._token_ids, prefix, strict=False)
        kept = next((i for i, (held, wanted) in enumerate(pairs) if held != wanted), len(prefix))
        self.crop(min(kept, self.length))
        return self.length

    def check(self, origin: CacheOrigin, prefix: TokenIds | None = None) -> None:
        """Raise StaleCacheError where the cache has another `origin`, or stands for another `prefix`."""
        check_fingerprint(self.origin.parameters, origin.parameters, "model.new_cache()")
        check_first_position(self.origin.first_position, origin.first_position)
        if prefix is not None:
            check_prefix(self._token_ids, prefix)


class BatchCache:
    """Keys and values of B prefixes of any lengths, for every layer and head of one decoder.

    A decoder appends to it (`model.next_logits(tokens, cache=cache)`). Each prefix is a row of the arrays,
    with room for `capacity` positions, allocated once; `drop` gives up the row of a sequence that has ended,
    so that the others cost less.
    """

    def __init__(
        self, config: Config, origin: CacheOrigin, n_rows: int, capacity: int, dtype: DTypeLike = np.float64
    ) -> None:
        self.origin = origin
        self.capacity = capacity
        self._lengths = np.zeros(n_rows, dtype=np.int64)  # (B,)
        shape = (config.n_layers, n_rows, config.n_heads, capacity, config.d_model // config.n_heads)
        # Zeros, since what lies behind a shorter prefix gets a weight of zero, and zero times nan is nan.
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

    def append(self, layer: int, keys: Array, values: Array) -> tuple[Array, Array]:
        """Write a layer's new keys and values (B, H, n, d_head) behind those that each row holds.

        Returns views of all, (B, H, T, d_head), as long as the longest row. The new ones count only after
        `advance`, so a failed pass changes nothing.
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
        """Count what was just appended in every layer: `counts` (B,) positions."""
        self._lengths += counts

    def drop(self, row: int) -> None:
        """Forget a row. The last one takes its place: one row is copied, however many there are."""
        last = len(self) - 1
        check_integer("row", row, 0, last)
        if row != last:
            length = self._lengths[last]
            for held in (self._keys, self._values):
                held[:, row, :, :length] = held[:, last, :, :length]
            self._lengths[row] = length
        self._lengths = self._lengths[:last]

    def select(self, rows: ArrayLike) -> Self:
        """A new cache of these rows, in this order; a row that is named twice can go on in two ways."""
        chosen = np.asarray(rows, dtype=np.int64)
        twin = object.__new__(type(self))
        twin.origin, twin.capacity = self.origin, self.capacity
        twin._lengths = self._lengths[chosen]
        twin._keys, twin._values = self._keys[:, chosen], self._values[:, chosen]
        return twin

    def check(self, origin: CacheOrigin, counts: NDArray[np.int64]) -> None:
        """Raise where the cache has another `origin`, or cannot take `counts` (B,) new positions per row.

        StaleCacheError for other parameters; ValueError for another number of rows, or for different counts
        behind positions that it holds.
        """
        check_fingerprint(self.origin.parameters, origin.parameters, "model.new_batch_cache()")
        if counts.size != len(self):
            raise ValueError(f"there are {counts.size} prefixes; this cache has {len(self)} rows")
        if self._lengths.any() and (counts != counts[0]).any():
            raise ValueError(
                f"the prefixes have {counts.min()} to {counts.max()} tokens; behind what a cache holds, "
                "each row must get as many"
            )
