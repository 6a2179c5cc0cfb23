"""Whether a cache stands for what it is about to be used for; a StaleCacheError says what differs."""

from __future__ import annotations

from decoder_lib.errors import StaleCacheError
from decoder_lib.internal.arguments import TokenIds


def check_fingerprint(made: str, used: str, maker: str) -> None:
    """Raise where a cache that was `made` with some parameters is `used` with others.

    `maker` is the call that makes a cache which fits.
    """
    if used != made:
        raise StaleCacheError(
            f"the parameters differ: this cache was filled with parameters {made} "
            f"and is used with {used}; make a new one with {maker}"
        )


def check_first_position(made: int, used: int) -> None:
    """Raise where a cache's first token was read at another position than this pass counts from."""
    if used != made:
        raise StaleCacheError(
            f"the position convention differs: this cache's first token was read at position "
            f"{made}, and this pass counts from {used}; "
            "keys and values hold their positions, so they must be computed again"
        )


def check_prefix(held: list[int], prefix: TokenIds) -> None:
    """Raise where a cache holds other tokens than the `prefix` that it is said to stand for."""
    wanted = [int(token_id) for token_id in prefix]
    if wanted == held:
        return
    pairs = zip(held, wanted, strict=False)
    place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(held), len(wanted)))
    raise StaleCacheError(
        f"the prefix differs from position {place} on: the cache stands for {held}, "
        f"and the tokens fed are said to follow {wanted}; crop the cache to {place} and feed the rest"
    )
