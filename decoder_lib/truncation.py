"""What to read when the prefix no longer fits the context.

A policy is called with the full window and the context bound, in tokens, and returns the shorter window to
read next, or None to stop. What it drops is gone: nothing later can depend on it. The kept tokens are read
at positions counted from 0 again, so every kept token that moved needs its keys and values computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from decoder_lib.internal.arguments import as_prompt, check_integer

Truncation = Callable[[list[int], int], list[int] | None]


def stop(window: list[int], context_length: int) -> None:
    """Read nothing further: the run ends with finish reason "context"."""


@dataclass(frozen=True)
class KeepFirst:
    """Keep the first `n_first` tokens (an instruction, say) and drop the oldest after them.

    `n_drop` tokens are dropped at a time, or more where the window is longer than the bound allows. A larger
    `n_drop` makes the costly rebuild of the cache rarer and loses more evidence at once.
    Raises ValueError where `n_first` is negative, `n_drop` is not positive, or the two leave no room.
    """

    n_first: int
    n_drop: int = 1

    def __post_init__(self) -> None:
        check_integer("n_first", self.n_first, 0)
        check_integer("n_drop", self.n_drop, 1)

    def __call__(self, window: list[int], context_length: int) -> list[int]:
        if self.n_first + self.n_drop >= context_length:
            raise ValueError(
                f"n_first is {self.n_first} and n_drop is {self.n_drop}; together they must stay below the "
                f"context bound of {context_length}, so that at least one later token is kept"
            )
        n_drop = max(self.n_drop, len(window) - context_length + 1)
        return window[: self.n_first] + window[self.n_first + n_drop :]


def drop_oldest(window: list[int], context_length: int) -> list[int]:
    """A sliding window: drop the oldest token and read the rest (`KeepFirst(0, n)` drops n at a time)."""
    return KeepFirst(0)(window, context_length)


def shortened(policy: Truncation, window: list[int], context_length: int, n_vocab: int) -> list[int] | None:
    """The window that `policy` makes of a full one; None where it stops.

    Raises ValueError where a policy of the caller's own returns no token ids, or too many to read one more.
    """
    shorter = policy(window, context_length)
    if shorter is None:
        return None
    ids: list[int] = as_prompt("the window returned by truncate", shorter, n_vocab).tolist()
    if len(ids) >= context_length:
        raise ValueError(
            f"the window returned by truncate has {len(ids)} tokens; "
            f"it must hold at most {context_length - 1}, so that one more fits the context"
        )
    return ids
