"""How probable a given continuation is, by the chain rule."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import BatchCache
from decoder_lib.errors import ContextOverflowError
from decoder_lib.internal.arguments import (
    TokenIds,
    as_context_bound,
    as_prompt,
    as_token_ids,
    check_integer,
)
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.selection import Selection

MOST_CONTINUATIONS = 1_000_000
MOST_AT_ONCE = 4096  # prefixes in one pass, so that the last level of a large tree fits in memory


def token_log_probabilities(
    model: LanguageModel,
    prompt: TokenIds,
    continuation: TokenIds,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    greedy: bool = False,
    context_length: int | None = None,
) -> NDArray[np.float64]:
    """`log p(continuation[t] | prompt, continuation[:t])` for each t, in nats: float64 (len(continuation),).

    The probabilities are those that `generate` selects from with the same `greedy`, `temperature`, `top_k`
    and `top_p`; a token that a filter leaves out scores minus infinity. One forward pass scores them all,
    since the causal mask keeps every row from reading what comes after it.

    context_length : the context bound in positions, at most the model's own (the default).

    Raises ValueError for an empty prompt or illegal arguments, ContextOverflowError where the sequence is
    too long for the context.
    """
    selection = Selection(greedy, temperature, top_k, top_p)
    bound = as_context_bound(context_length, model.context_length)
    before = as_prompt("prompt", prompt, model.n_vocab)
    after = as_token_ids("continuation", continuation, model.n_vocab)
    if not after.size:
        return np.empty(0)
    read = np.concatenate([before, after[:-1]])  # the last token is scored, never read
    if context_length is not None and read.size > bound:
        raise ContextOverflowError(
            f"the prefix would fill {read.size} positions; the context bound is {bound}"
        )
    rows = model.logits(read)[before.size - 1 :]  # (len(continuation), V)
    scores: NDArray[np.float64] = selection.log_distribution(rows)[np.arange(after.size), after]
    return scores


def sequence_log_probability(
    model: LanguageModel,
    prompt: TokenIds,
    continuation: TokenIds,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    greedy: bool = False,
    context_length: int | None = None,
) -> float:
    """`log p(continuation | prompt)` in nats, the sum of `token_log_probabilities`; 0.0 for no tokens."""
    scores = token_log_probabilities(
        model, prompt, continuation, temperature, top_k, top_p, greedy=greedy, context_length=context_length
    )
    return math.fsum(scores)


def rank_continuations(
    model: LanguageModel, prompt: TokenIds, length: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Every continuation of `length` tokens, most probable first.

    Returns ids int64 (V**length, length) and log probabilities in nats float64 (V**length,). Equally probable
    continuations are in ascending order of their ids. The tree of prefixes is walked with a cache, in batched
    passes, so each prefix is read once and not once for every continuation of it.
    Raises ValueError where there would be more than a million, ContextOverflowError where they would be too
    long for the context.
    """
    ids = as_prompt("prompt", prompt, model.n_vocab)
    check_integer("length", length, 0)
    if length * math.log(model.n_vocab) > math.log(MOST_CONTINUATIONS):  # no power of thousands of digits
        raise ValueError(
            f"length is {length}; that makes {model.n_vocab}**{length} continuations, "
            f"and at most {MOST_CONTINUATIONS:,} can be ranked"
        )
    if length and ids.size + length - 1 > model.context_length:
        raise ContextOverflowError(
            f"length is {length}; after a prompt of {ids.size} tokens the context of {model.context_length} "
            f"leaves at most {model.context_length - ids.size + 1}"
        )
    if not length:
        return np.empty((1, 0), dtype=np.int64), np.zeros(1)
    cache = model.new_batch_cache(1, min(ids.size + length, model.context_length))
    first = Selection().log_distribution(model.next_logits(ids[None], cache))  # (1, V)
    scores = _walk(model, cache, first, length - 1)  # (V**length,)
    continuations = np.indices((model.n_vocab,) * length).reshape(length, -1).T  # (V**length, length)
    order = np.argsort(-scores, kind="stable")
    return continuations[order], scores[order]


def _walk(
    model: LanguageModel, cache: BatchCache, scores: NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    """Log probabilities of all continuations by `length` more tokens, in the order of their ids.

    cache holds the N prefixes so far; scores (N, V) are of each followed by each token.
    The result has the shape (N V**(length + 1),).
    """
    if not length:
        return scores.ravel()
    parents = np.repeat(np.arange(len(cache)), model.n_vocab)  # (N V,): each prefix goes on with each token
    tokens = np.tile(np.arange(model.n_vocab), len(cache))  # (N V,)
    found = []
    for part in range(0, len(parents), MOST_AT_ONCE):
        rows = slice(part, part + MOST_AT_ONCE)
        branches = cache.select(parents[rows])
        log_distributions = Selection().log_distribution(model.next_logits(tokens[rows, None], branches))
        after = scores[parents[rows], tokens[rows], None] + log_distributions  # (rows, V)
        found.append(_walk(model, branches, after, length - 1))
    return np.concatenate(found)
