"""Several sequences at once, each with its own prefix, generator and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import BatchCache
from decoder_lib.generation import FinishReason
from decoder_lib.internal.arguments import (
    Seeds,
    TokenIds,
    as_generators,
    as_prompt,
    check_fits,
    check_limits,
    check_switch,
)
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.selection import Selection


@dataclass(frozen=True, eq=False)
class BatchGeneration:
    """A finished batch of B sequences.

    continuations : B lists of selected tokens, ragged, including the end token where it was selected.
    lengths : int64 (B,), how many tokens each sequence got.
    finished : bool (B,), True where the sequence selected the end token, False where it was truncated.
    finish_reasons : why each sequence ended.
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
    seeds: Seeds = 0,
    greedy: bool = False,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    context_length: int | None = None,
    use_cache: bool = False,
) -> BatchGeneration:
    """Continue B prompts together, in each round with one batched pass over the sequences that still go on.

    Each sequence gets the tokens that `decoder_lib.generation.generate` gives it alone, with its own entry of
    `seeds` as `seed` and the same other arguments; what else is in the batch can change nothing.

    prompts : B prefixes, each with one token at least and at most as many as the context bound. B may be 0.
    seeds : one for each prompt, each a `seed` of `generate`. 0, the default as it is there, and None, fresh
        entropy, stand for every prompt; with 0, equal prompts get equal tokens. One generator given for
        several prompts ties them together: they draw from it in turn.
    greedy, temperature, top_k, top_p : the selection rule, see `decoder_lib.selection.Selection`.
    context_length : the context bound in positions, at most the model's own (the default).
    use_cache : read each position once and keep its keys and values. The tokens are the same.

    A sequence that selected the end token, or whose prefix fills the context, is not handed to the model
    again. Raises ValueError naming the argument, its value and what is allowed; ContextOverflowError for a
    prompt that is longer than the context bound.
    """
    bound = check_limits(max_new_tokens, end_id, context_length, model.n_vocab, model.context_length)
    prefixes = []
    for b, prompt in enumerate(prompts):
        ids = as_prompt(f"prompts[{b}]", prompt, model.n_vocab)
        check_fits(f"prompts[{b}]", ids, bound)
        prefixes.append(ids.tolist())
    selection = Selection(greedy, temperature, top_k, top_p)
    rngs = as_generators("seeds", seeds, len(prefixes))

    continuations: list[list[int]] = [[] for _ in prefixes]
    finished = np.zeros(len(prefixes), dtype=bool)
    masks: list[NDArray[np.bool_]] = []
    going = [b for b, prefix in enumerate(prefixes) if len(prefix) < bound]
    cache = None
    if check_switch("use_cache", use_cache):
        longest = max((len(prefixes[b]) for b in going), default=0)
        cache = model.new_batch_cache(len(going), min(longest + max(1, max_new_tokens), model.context_length))
    while going and len(masks) < max_new_tokens:
        # 1. Predict, for the sequences that go on: row i belongs to the sequence with the number going[i].
        log_distributions = selection.log_distribution(_predict(model, prefixes, going, cache))
        # 2. Select and append, in the order of the prompts, whatever the order of the rows.
        for row in sorted(range(len(going)), key=going.__getitem__):
            b = going[row]
            token_id, _ = selection.select(log_distributions[row], rngs[b])
            prefixes[b].append(token_id)
            continuations[b].append(token_id)
            finished[b] = token_id == end_id
        masks.append(finished.copy())
        # 3. Give up the rows of the sequences that have ended.
        for row in reversed(range(len(going))):
            if finished[going[row]] or len(prefixes[going[row]]) >= bound:
                _give_up(row, going, cache)

    lengths = np.array([len(tokens) for tokens in continuations], dtype=np.int64)  # (B,)
    reasons: list[FinishReason] = [
        "stop" if finished[b] else "length" if lengths[b] == max_new_tokens else "context"
        for b in range(len(prefixes))
    ]
    by_round = np.array(masks, dtype=bool).reshape(len(masks), len(prefixes))  # (rounds, B)
    return BatchGeneration(continuations, lengths, finished, reasons, by_round)


def _predict(
    model: LanguageModel, prefixes: list[list[int]], going: list[int], cache: BatchCache | None
) -> NDArray[np.float64]:
    """The logits (len(going), V) after the prefixes of the sequences that go on."""
    if cache is None:
        return model.next_logits([prefixes[b] for b in going])
    held = cache.lengths.tolist()
    return model.next_logits([prefixes[b][n:] for b, n in zip(going, held, strict=True)], cache)


def _give_up(row: int, going: list[int], cache: BatchCache | None) -> None:
    """Take a row out of `going` and out of the cache, where the last row takes its place."""
    if cache is None:
        del going[row]
    else:
        cache.drop(row)
        going[row] = going[-1]
        going.pop()
