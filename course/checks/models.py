"""Scripted models: what a student's code may call of a decoder, and nothing else.

A *script* says which logits follow a prefix. A *model* stands before it: it offers the contract's names,
refuses what a real decoder refuses, and records what it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course.checks.candidate import Offers
from decoder_lib.errors import ContextOverflowError
from decoder_lib.internal.arguments import as_token_ids

Rows = NDArray[np.float64]
Prefix = tuple[int, ...]

MOST_CALLS = 2_000  # more passes than any right solution needs; an endless loop ends here
# These bound what one call can take of the process that the model lives in, which nothing interrupts.
MOST_ROWS = 10_000  # prefixes in one call
MOST_PREFIXES = 10_000  # that a script makes up rows for; the bank's solutions come to some hundred


class Script(Protocol):
    """Which logits a model gives."""

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        ...

    def rows(self, prefix: Prefix) -> Rows:
        """Logits (T, V) of one pass over `prefix` of T tokens; a new array each time."""
        ...


class HistoryScript:
    """Logits that depend on the whole prefix, on its order and on its length.

    Each row favours another token than the V - 1 rows before it, so a wrong row, a stale prefix or a wrong
    offset changes the answer.

    spread : standard deviation of the logits.
    """

    def __init__(self, n_vocab: int, seed: int, spread: float = 1.5) -> None:
        self._n_vocab = n_vocab
        self._seed = seed
        self._spread = spread
        self._known: dict[Prefix, Rows] = {}

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return self._n_vocab

    def rows(self, prefix: Prefix) -> Rows:
        """See `Script.rows`."""
        rows = np.empty((len(prefix), self._n_vocab))
        for i in range(len(prefix)):
            read = prefix[: i + 1]
            if read not in self._known:
                if len(self._known) >= MOST_PREFIXES:
                    raise RuntimeError(
                        f"the model has read {MOST_PREFIXES} different prefixes; no task needs so many"
                    )
                self._known[read] = self._row(read, rows[:i])
            rows[i] = self._known[read]
        return rows

    def _row(self, read: Prefix, earlier: Rows) -> Rows:
        """The row (V,) after `read`, whose earlier positions have the rows `earlier`."""
        # The length goes in as well: NumPy seeds that differ in trailing zeros only give one stream.
        row = np.random.default_rng([self._seed, len(read), *read]).normal(0.0, self._spread, self._n_vocab)
        taken = earlier[-(self._n_vocab - 1) :].argmax(axis=1) if len(earlier) else np.empty(0, dtype=int)
        free = np.setdiff1d(np.arange(self._n_vocab), taken)
        favourite, largest = free[row[free].argmax()], row.argmax()
        row[[favourite, largest]] = row[[largest, favourite]]
        return row


class TableScript:
    """Logits that a test's author writes down: "after this prefix, these logits".

    table : logits (V,) by prefix.
    otherwise : logits (V,) after any other prefix.
    """

    def __init__(self, table: Mapping[Sequence[int], ArrayLike], otherwise: ArrayLike) -> None:
        self._table = {tuple(prefix): np.asarray(row, dtype=np.float64) for prefix, row in table.items()}
        self._otherwise = np.asarray(otherwise, dtype=np.float64)

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return self._otherwise.size

    def rows(self, prefix: Prefix) -> Rows:
        """See `Script.rows`."""
        return np.array(
            [self._table.get(prefix[: i + 1], self._otherwise) for i in range(len(prefix))],
        )


class ScheduleScript:
    """Logits that depend on the length of the pass only, and are the same in every row of it.

    A loop that reads a wrong row selects the right tokens here, so a check of counts or of reasons does not
    punish that slip a second time.

    by_length : logits (V,) by the number of tokens read.
    otherwise : logits (V,) at any other length.
    """

    def __init__(self, by_length: Mapping[int, ArrayLike], otherwise: ArrayLike) -> None:
        self._by_length = {length: np.asarray(row, dtype=np.float64) for length, row in by_length.items()}
        self._otherwise = np.asarray(otherwise, dtype=np.float64)

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return self._otherwise.size

    def rows(self, prefix: Prefix) -> Rows:
        """See `Script.rows`."""
        row = self._by_length.get(len(prefix), self._otherwise)
        return np.tile(row, (len(prefix), 1))


@dataclass(frozen=True)
class ModelCall:
    """One request to a scripted model, a refused one among them.

    token_ids : the ids that were handed over.
    cache_length : positions that the cache held before; 0 without one.
    """

    token_ids: Prefix
    cache_length: int = 0


def plain_ids(token_ids: ArrayLike) -> Prefix:
    """Token ids as they were handed over; what are no token ids at all is noted as none."""
    ids = np.asarray(token_ids)
    return tuple(ids.tolist()) if ids.ndim == 1 and np.issubdtype(ids.dtype, np.integer) else ()


class ScriptedModel:
    """A model that offers the contract's names only.

    most_calls : after so many requests it gives up on the loop that makes them.
    calls : every request of `logits` so far, in order.
    batches : every request of `next_logits` so far, each the prefixes that were handed over.
    """

    offers = Offers(constants=("n_vocab", "context_length"), methods=("logits", "next_logits"))

    def __init__(self, script: Script, context_length: int, most_calls: int = MOST_CALLS) -> None:
        self._script = script
        self._context_length = context_length
        self._most_calls = most_calls
        self.calls: list[ModelCall] = []
        self.batches: list[tuple[Prefix, ...]] = []

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return self._script.n_vocab

    @property
    def context_length(self) -> int:
        """Longest prefix it can read, in positions."""
        return self._context_length

    def logits(self, token_ids: ArrayLike) -> Rows:
        """One pass: float64 (len(token_ids), V); row i scores the token after position i.

        Raises ValueError for an empty prefix or an id outside the vocabulary, ContextOverflowError past
        `context_length`, RuntimeError once an endless loop has called too often.
        """
        self._count()
        self.calls.append(ModelCall(plain_ids(token_ids)))
        return self._script.rows(self._readable("token_ids", token_ids))

    def next_logits(self, prefixes: Sequence[ArrayLike]) -> Rows:
        """The last row of each of B prefixes of any lengths: float64 (B, V); no prefixes give (0, V).

        Raises as `logits` does.
        """
        self._count()
        asked = list(prefixes)
        if len(asked) > MOST_ROWS:
            raise RuntimeError(f"{len(asked)} prefixes at once; the model reads up to {MOST_ROWS}")
        self.batches.append(tuple(plain_ids(prefix) for prefix in asked))
        rows = [self._script.rows(self._readable(f"prefixes[{b}]", row))[-1] for b, row in enumerate(asked)]
        return np.array(rows).reshape(len(rows), self.n_vocab)

    def _count(self) -> None:
        if len(self.calls) + len(self.batches) >= self._most_calls:
            raise RuntimeError(f"the model has been called {self._most_calls} times; the loop does not end")

    def _readable(self, name: str, token_ids: ArrayLike) -> Prefix:
        """The ids of a prefix that a decoder would read; the errors of `logits` for any other."""
        ids = as_token_ids(name, token_ids, self.n_vocab)
        if not ids.size:
            raise ValueError(f"{name} is empty; a pass reads at least one token")
        if ids.size > self._context_length:
            raise ContextOverflowError(
                f"{name} has {ids.size} tokens; this model reads at most {self._context_length}"
            )
        return tuple(ids.tolist())

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"this model has no `{name}`: only the names in the challenge may be called, "
            "n_vocab, context_length, logits(token_ids) and next_logits(prefixes)"
        )

    def __deepcopy__(self, memo: object) -> ScriptedModel:
        return self  # it records: a copy would keep the record to itself
