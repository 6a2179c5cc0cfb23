"""What the cache view shows: what each pass of a run computes, and what an edit does to the cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import KVCache
from decoder_lib.selection import Selection
from decoder_lib.views.runs import followed, largest
from decoder_lib.views.situation import Decoder, Situation
from decoder_lib.vocabulary import Vocabulary

_KEPT = 256

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Pass:
    """One pass of a run with a cache.

    context : the tokens that the pass read.
    held : how many of them, from the first, it took from the cache. It computed the others.
    """

    context: Ids
    held: int

    @property
    def computed(self) -> int:
        """The number of positions that the pass computed; without a cache it would be all of `context`."""
        return len(self.context) - self.held


@dataclass(frozen=True)
class Answer:
    """The next prediction and what is selected from it.

    shares : the distribution that is selected from.
    token_id : the token that the next draw of the run selects.
    """

    shares: tuple[float, ...]
    token_id: int


@dataclass(frozen=True)
class Edit:
    """An earlier token replaced, and what that does to the cache.

    before, after : the prefix as the cache knows it, and as it is now.
    held : how many positions the cache holds.
    kept : how many of them stay valid, all before the edit.
    right : the answer after the edited prefix.
    stale : the answer that the old cache gives if nobody checks it and only the newest token is fed; None if
        no entry has fallen.
    """

    before: Ids
    after: Ids
    held: int
    kept: int
    right: Answer
    stale: Answer | None

    @property
    def position(self) -> int:
        """The position that was edited."""
        return next(i for i, (a, b) in enumerate(zip(self.before, self.after, strict=True)) if a != b)

    @property
    def fallen(self) -> range:
        """The positions whose entries are no longer valid."""
        return range(self.kept, self.held)

    @property
    def fed(self) -> range:
        """The positions that the next pass has to compute."""
        return range(self.kept, len(self.after))

    @property
    def shown(self) -> tuple[int, ...]:
        """The tokens worth showing, in the order of their ids: the largest shares and the selected tokens."""
        answers = [self.right] if self.stale is None else [self.right, self.stale]
        selected = (answer.token_id for answer in answers)
        return tuple(sorted(largest(np.array(self.right.shares), *selected)))

    @property
    def largest_error(self) -> float:
        """The largest difference between a share from the stale cache and the right one."""
        if self.stale is None:
            return 0.0
        pairs = zip(self.right.shares, self.stale.shares, strict=True)
        return max(abs(right - stale) for right, stale in pairs)

    def sentence(self, words: Vocabulary) -> str:
        """Which entries fall, what is computed again, and what the stale cache would answer."""
        old, new = (words.tokens[ids[self.position]] for ids in (self.before, self.after))
        edited = f"Position {self.position} is now {new} and not {old}."
        if self.stale is None:
            return f"{edited} No entry falls: the cache does not hold this position yet."
        fall = "falls" if len(self.fallen) == 1 else "fall"
        right, stale = (words.tokens[answer.token_id] for answer in (self.right, self.stale))
        told = f"would select {stale}; the right answer is {right}"
        if right == stale:
            told = f"would select {right} too, from shares that are off by up to {self.largest_error:.4f}"
        return (
            f"{edited} Of {self.held} entries {len(self.fallen)} {fall}; the next pass computes "
            f"{_positions(len(self.fed))}. The stale cache {told}."
        )


@dataclass(frozen=True)
class CachedRun:
    """A run with a cache up to some step.

    prefix : the prompt and what was selected so far.
    positions : how many positions the whole run has, its last selected token included.
    passes : all passes of the run.
    shown : how many of them have been made so far.
    edit : None if nothing is edited.
    """

    prefix: Ids
    positions: int
    passes: tuple[Pass, ...]
    shown: int
    edit: Edit | None

    @property
    def made(self) -> tuple[Pass, ...]:
        """The passes made so far."""
        return self.passes[: self.shown]

    @property
    def with_cache(self) -> int:
        """The number of positions computed so far."""
        return sum(made.computed for made in self.made)

    @property
    def without_cache(self) -> int:
        """The number of positions that the same passes would have computed without a cache."""
        return sum(len(made.context) for made in self.made)

    def sentence(self, words: Vocabulary) -> str:
        """What the last pass did, or what an edit does to the cache."""
        if self.edit is not None:
            return self.edit.sentence(words)
        if not self.made:
            fed = _positions(len(self.prefix))
            return f"The cache is empty. The first pass will compute the whole prompt: {fed}."
        last = self.made[-1]
        return (
            f"Pass {self.shown} computed {_positions(last.computed)} and took {last.held} from the cache. "
            f"So far {self.with_cache} with the cache, {self.without_cache} without."
        )


def cached_run_of(situation: Situation) -> CachedRun:
    """The run that is followed, as far as the reader has stepped. An edit outside its prefix is ignored."""
    run = followed(situation)
    shown = min(situation.step, len(run))
    prefix = (*run.prompt.tolist(), *run.token_ids[:shown])
    return CachedRun(
        prefix=prefix,
        positions=len(run.prompt) + len(run),
        passes=tuple(
            Pass(tuple(step.context.tolist()), len(step.context) - step.positions_read) for step in run
        ),
        shown=shown,
        edit=_edit_of(situation, prefix, shown),
    )


def _positions(count: int) -> str:
    return "1 position" if count == 1 else f"{count} positions"


def _edit_of(situation: Situation, prefix: Ids, shown: int) -> Edit | None:
    if situation.edit is None or situation.edit[0] >= len(prefix):
        return None
    position, token_id = situation.edit
    if prefix[position] == token_id:
        return None
    after = (*prefix[:position], token_id, *prefix[position + 1 :])
    selection = Selection(**situation.selection)
    return _edit(situation.decoder, prefix, after, shown, selection, situation.seed)


@lru_cache(_KEPT)
def _edit(decoder: Decoder, before: Ids, after: Ids, made: int, selection: Selection, seed: int) -> Edit:
    cache = decoder.model.new_cache()
    if made:
        decoder.model.logits(before[:-1], cache=cache)  # what the passes have read: all but the newest
    old = cache.copy()
    kept = cache.keep_common_prefix(after[:-1])

    def answer(row: NDArray[np.float64]) -> Answer:
        log_distribution = selection.log_distribution(row)
        generator = np.random.default_rng(seed)
        generator.random(made)  # the draws that the run has used up to here
        token_id, _ = selection.select(log_distribution, generator)
        return Answer(tuple(np.exp(log_distribution).tolist()), token_id)

    return Edit(
        before=before,
        after=after,
        held=old.length,
        kept=kept,
        right=answer(decoder.model.logits(after)[-1]),
        stale=answer(_unchecked(decoder, old, after)) if kept < old.length else None,
    )


def _unchecked(decoder: Decoder, stale: KVCache, prefix: Ids) -> NDArray[np.float64]:
    """The wrong scores after `prefix`: from a cache of other tokens, which nobody compares with it."""
    rows = decoder.model.logits(prefix[stale.length :], cache=stale)
    wrong: NDArray[np.float64] = rows[-1]
    return wrong
