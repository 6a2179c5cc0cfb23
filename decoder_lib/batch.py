"""Several sequences at once, each with its own prefix, generator and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decoder_lib.arguments import Seed, TokenIds, as_generator, as_prompt, check_integer, check_switch
from decoder_lib.errors import ContextOverflowError
from decoder_lib.generation import FinishReason
from decoder_lib.interface import LanguageModel
from decoder_lib.selection import Selection


@dataclass(frozen=True, eq=False)
class BatchGeneration:
    """A finished batch of B rows.

    continuations : B lists of selected tokens, ragged, the end token included where it was selected.
    lengths : int64 (B,), tokens a row.
    finished : bool (B,), True where the row selected the end token, False where it was truncated.
    finish_reasons : why each row ended.
    finished_by_round : bool (rounds, B), the mask after each round.
    """

    continuations: list[list[int]]
    lengths: NDArray[np.int64]
    finished: NDArray[np.bool_]
    finish_reasons: list[FinishReason]
    finished_by_round: NDArray[np.bool_]


def generate_batch(
    model: LanguageModel,
    prompts: Sequence[TokenIds],
    max_new_tokens: int,
    *,
    end_id: int | None = None,
    seeds: Sequence[Seed] | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    use_cache: bool = False,
) -> BatchGeneration:
    """Continue B prompts together, one batched pass a round over the rows that still go on.

    prompts : B prefixes of any lengths from 1 to the model's context. B = 0 is a batch too.
    seeds : one a row, or one generator a row; None selects greedily. A row's tokens depend on its own prompt
        and generator alone, so its batch-mates can change nothing. One generator given to several rows ties
        them together: they draw from it in turn.
    use_cache : read each position once and keep its keys and values. The tokens are the same.

    A row that selected the end token, or whose prefix fills the context, is not handed to the model again.
    Raises ValueError naming the argument, its value and what is allowed.
    """
    prefixes = [as_prompt(f"prompts[{b}]", row, model.n_vocab).tolist() for b, row in enumerate(prompts)]
    for b, prefix in enumerate(prefixes):
        if len(prefix) > model.context_length:
            raise ContextOverflowError(
                f"prompts[{b}] has {len(prefix)} tokens; the context bound is {model.context_length}"
            )
    check_integer("max_new_tokens", max_new_tokens, 0)
    if end_id is not None:
        check_integer("end_id", end_id, 0, model.n_vocab - 1)
    if seeds is None:
        seeds = [None] * len(prefixes)  # greedy selection draws nothing
        selection = Selection(greedy=True)
    else:
        selection = Selection(False, temperature, top_k, top_p)
    if not isinstance(seeds, Sequence | np.ndarray):
        raise ValueError(f"seeds is {seeds!r}; it must have one entry a prompt, {len(prefixes)}")
    if len(seeds) != len(prefixes):
        raise ValueError(f"seeds has {len(seeds)} entries; it must have one a prompt, {len(prefixes)}")
    rngs = [as_generator(f"seeds[{b}]", seed) for b, seed in enumerate(seeds)]

    continuations: list[list[int]] = [[] for _ in prefixes]
    finished = np.zeros(len(prefixes), dtype=bool)
    masks: list[NDArray[np.bool_]] = []
    going = [b for b, prefix in enumerate(prefixes) if len(prefix) < model.context_length]
    cached = (
        _CachedRows(model, prefixes, going, max_new_tokens) if check_switch("use_cache", use_cache) else None
    )
    for _ in range(max_new_tokens):
        if not going:
            break
        logits = cached.read(going) if cached else model.next_logits([prefixes[b] for b in going])
        for b, log_distribution in zip(going, selection.log_distribution(logits), strict=True):
            token_id, _ = selection.select(log_distribution, rngs[b])
            prefixes[b].append(token_id)
            continuations[b].append(token_id)
            finished[b] = token_id == end_id
        masks.append(finished.copy())
        going = [b for b in going if not finished[b] and len(prefixes[b]) < model.context_length]

    lengths = np.array([len(row) for row in continuations], dtype=np.int64)
    reasons: list[FinishReason] = [
        "stop" if finished[b] else "length" if lengths[b] == max_new_tokens else "context"
        for b in range(len(prefixes))
    ]
    mask_table = np.array(masks, dtype=bool).reshape(len(masks), len(prefixes))
    return BatchGeneration(continuations, lengths, finished, reasons, mask_table)


class _CachedRows:
    """Reads what each row has not read yet, with a cache that holds the rows that go on and no others."""

    def __init__(
        self, model: LanguageModel, prefixes: list[list[int]], going: list[int], max_new_tokens: int
    ) -> None:
        self._model = model
        self._prefixes = prefixes  # they grow
        self._held = going.copy()  # the number of the row that each row of the cache belongs to
        longest = max((len(prefixes[b]) for b in going), default=0)
        capacity = min(longest + max(1, max_new_tokens), model.context_length)
        self._cache = model.new_batch_cache(len(going), capacity)

    def read(self, going: list[int]) -> NDArray[np.float64]:
        """The logits (B, V) after the prefixes of the rows `going`, which are ever fewer."""
        still = set(going)
        for place in reversed(range(len(self._held))):
            if self._held[place] not in still:
                self._cache.drop(place)
                self._held[place] = self._held[-1]
                self._held.pop()
        fed = [
            self._prefixes[b][held:] for b, held in zip(self._held, self._cache.lengths.tolist(), strict=True)
        ]
        logits = self._model.next_logits(fed, self._cache)
        places = {b: place for place, b in enumerate(self._held)}
        return logits[[places[b] for b in going]]
