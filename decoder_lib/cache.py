"""The key/value cache: what earlier positions left behind, kept for the queries that come later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from decoder_lib.arguments import TokenIds, check_integer
from decoder_lib.errors import StaleCacheError
from decoder_lib.parameters import Config


@dataclass(frozen=True)
class CacheOrigin:
    """What a cache's keys and values were computed with, and so what its user must match.

    parameters : fingerprint of the decoder's parameters.
    first_position : position that the first cached token was read at (the position convention).
    """

    parameters: str
    first_position: int = 0

    def check_parameters(self, used: CacheOrigin, maker: str) -> None:
        """Raise StaleCacheError where it is used with other parameters; `maker` makes a cache that fits."""
        if used.parameters != self.parameters:
            raise StaleCacheError(
                f"the parameters differ: this cache was filled with parameters {self.parameters} "
                f"and is used with {used.parameters}; make a new one with {maker}"
            )


class KVCache:
    """Keys and values of one prefix, a row a position, for every layer and head of one decoder.

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
        """How many positions it holds."""
        return len(self._token_ids)

    @property
    def start(self) -> int:
        """Where new positions go: behind those that it holds."""
        return self.length

    @property
    def token_ids(self) -> list[int]:
        """The prefix that it stands for, as a new list."""
        return self._token_ids.copy()

    def crop(self, length: int) -> None:
        """Keep only the first `length` positions; ValueError where it holds fewer."""
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
        """Crop to the longest common prefix of what it holds and `prefix`; returns the length kept.

        A position's keys and values depend on every token up to it, so the first difference makes
        that position and all after it stale.
        """
        if isinstance(prefix, list) and self._token_ids == prefix[: self.length]:  # the usual case, at once
            return self.length
        kept = 0
        for cached, wanted in zip(self._token_ids, prefix, strict=False):
            if cached != wanted:
                break
            kept += 1
        self.crop(kept)
        return kept

    def check(self, origin: CacheOrigin, prefix: TokenIds | None = None) -> None:
        """Raise StaleCacheError where it was made with another `origin`, or stands for another `prefix`."""
        self.origin.check_parameters(origin, "model.new_cache()")
        if origin.first_position != self.origin.first_position:
            raise StaleCacheError(
                f"the position convention differs: this cache's first token was read at position "
                f"{self.origin.first_position}, and this pass counts from {origin.first_position}; "
                "keys and values hold their positions, so they must be computed again"
            )
        if prefix is None:
            return
        wanted = [int(token_id) for token_id in prefix]
        if wanted == self._token_ids:
            return
        pairs = zip(self._token_ids, wanted, strict=False)
        place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(self.length, len(wanted)))
        raise StaleCacheError(
            f"the prefix differs from position {place} on: the cache stands for {self._token_ids}, "
            f"and the tokens fed are said to follow {wanted}; crop the cache to {place} and feed the rest"
        )

    def append(
        self, layer: int, keys: NDArray[np.floating], values: NDArray[np.floating]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Write a layer's new rows (H, n, d_head) behind the held ones; returns views of all, (H, T, d_head).

        The rows count only once `advance` has named their tokens, so a failed pass changes nothing.
        """
        start, end = self.length, self.length + keys.shape[-2]
        self._keys[layer, :, start:end] = keys
        self._values[layer, :, start:end] = values
        return self._keys[layer, :, :end], self._values[layer, :, :end]

    def advance(self, token_ids: TokenIds) -> None:
        """Count the rows just appended in every layer as the positions of `token_ids`."""
        self._token_ids += [int(token_id) for token_id in token_ids]
