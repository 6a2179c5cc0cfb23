"""The loop: predict, select, append, stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from decoder_lib import truncation
from decoder_lib.cache import KVCache
from decoder_lib.internal.arguments import (
    Seed,
    TokenIds,
    as_generator,
    as_prompt,
    check_fits,
    check_limits,
    check_switch,
)
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.selection import Selection

Array = TypeVar("Array", bound=NDArray[np.generic])
FinishReason = Literal["stop", "length", "context"]


@dataclass(frozen=True, eq=False)
class Step:
    """One turn of the loop.

    context : int64 (T,), the prefix that was read.
    token_id : the token that was selected.
    log_distribution : float64 (V,), natural logarithms of the distribution that it was selected from.
    uniform : the number in [0, 1) that decided a draw; None under greedy selection.
    positions_read : positions that the pass computed; without a cache, all of `context`.
    """

    context: NDArray[np.int64]
    token_id: int
    log_distribution: NDArray[np.float64]
    uniform: float | None
    positions_read: int

    @cached_property
    def distribution(self) -> NDArray[np.float64]:
        """The distribution itself, (V,), summing to 1."""
        return _frozen(np.exp(self.log_distribution))

    @property
    def log_probability(self) -> float:
        """Natural logarithm of the selected token's probability, in nats."""
        return float(self.log_distribution[self.token_id])

    @property
    def probability(self) -> float:
        """The selected token's probability."""
        return math.exp(self.log_probability)


@dataclass(frozen=True, eq=False)
class Generation(Sequence[Step]):
    """A finished run: its steps, in order, and how it ended.

    prompt : int64 (T,), the tokens it started from.
    steps : one for each selected token.
    finish_reason : "stop" (the end token was selected), "length" (`max_new_tokens` reached) or
        "context" (the prefix filled the context).
    """

    prompt: NDArray[np.int64]
    steps: tuple[Step, ...]
    finish_reason: FinishReason

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return (
            f"Generation(token_ids={self.token_ids}, finish_reason={self.finish_reason!r}, "
            f"probability={self.probability:.6g})"
        )

    @property
    def token_ids(self) -> list[int]:
        """The selected tokens, including the end token where it was selected."""
        return [step.token_id for step in self.steps]

    @property
    def log_probability(self) -> float:
        """Natural logarithm of the run's probability under its selection rule, in nats; 0 for no tokens."""
        return math.fsum(step.log_probability for step in self.steps)

    @property
    def probability(self) -> float:
        """The product of the steps' probabilities; it underflows in long runs, its logarithm does not."""
        return math.exp(self.log_probability)

    @property
    def positions_read(self) -> int:
        """How many positions all passes together computed."""
        return sum(step.positions_read for step in self.steps)


def generate(
    model: LanguageModel,
    prompt: TokenIds,
    max_new_tokens: int,
    *,
    end_id: int | None = None,
    seed: Seed = 0,
    greedy: bool = False,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    context_length: int | None = None,
    use_cache: bool = False,
    truncate: truncation.Truncation = truncation.stop,
) -> Generation:
    """Continue `prompt` by up to `max_new_tokens` tokens, with one forward pass for each.

    prompt : token ids (T,), at least one and at most the context bound.
    end_id : the token that ends the run once it is selected; None for none. In the prompt it ends nothing.
    seed : for the draws, made into one generator per run (`numpy.random.default_rng`). A generator is used
        as it is and goes on from its state; None takes fresh entropy. Greedy selection does not use it.
    greedy, temperature, top_k, top_p : the selection rule, see `decoder_lib.selection.Selection`.
    context_length : the context bound in positions, at most the model's own (the default).
    use_cache : read each position once and keep its keys and values. The tokens are the same.
    truncate : what to read when the prefix fills the context, see `decoder_lib.truncation`.

    Raises ValueError naming the argument, its value and what is allowed; ContextOverflowError for a prompt
    that is longer than the context bound, unless `truncate` shortens it.
    """
    ids = _frozen(as_prompt("prompt", prompt, model.n_vocab))
    bound = check_limits(max_new_tokens, end_id, context_length, model.n_vocab, model.context_length)
    if truncate is truncation.stop:
        check_fits("prompt", ids, bound, ": shorten it or choose a truncation")
    if not callable(truncate):
        raise ValueError(f"truncate is {truncate!r}; it must be a policy of decoder_lib.truncation")
    selection = Selection(greedy, temperature, top_k, top_p)
    rng = as_generator("seed", seed)

    cache = model.new_cache() if check_switch("use_cache", use_cache) else None
    window = ids.tolist()
    steps: list[Step] = []
    while True:
        # 1. Is there a token to make, and room for it?
        if len(steps) == max_new_tokens:
            return Generation(ids, tuple(steps), "length")
        if len(window) >= bound:
            shorter = truncation.shortened(truncate, window, bound, model.n_vocab)
            if shorter is None:
                return Generation(ids, tuple(steps), "context")
            window = shorter
        # 2. Predict: the last row is the one read after the whole window.
        row, positions_read = _predict(model, window, cache)  # (V,)
        # 3. Select.
        log_distribution = _frozen(selection.log_distribution(row))  # (V,)
        token_id, uniform = selection.select(log_distribution, rng)
        steps.append(Step(_frozen(np.array(window)), token_id, log_distribution, uniform, positions_read))
        # 4. Append.
        window = [*window, token_id]
        # 5. Stop?
        if token_id == end_id:
            return Generation(ids, tuple(steps), "stop")


def _predict(
    model: LanguageModel, window: list[int], cache: KVCache | None
) -> tuple[NDArray[np.float64], int]:
    """The logits (V,) after `window`, and how many positions were computed for them."""
    if cache is None:
        return model.logits(window)[-1], len(window)
    cache.keep_common_prefix(window[:-1])  # the last token is always fed: its row is what predicts
    fed = window[cache.length :]
    return model.logits(fed, cache=cache)[-1], len(fed)


def _frozen(array: Array) -> Array:
    """The same array, read-only from here on: a run is a record."""
    array.setflags(write=False)
    return array
