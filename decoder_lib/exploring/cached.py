"""A run with a cache: what each pass computes, and what an edit of an earlier token makes of the cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib.cache import KVCache
from decoder_lib.exploring.runs import followed
from decoder_lib.exploring.situation import Decoder, Situation
from decoder_lib.generation import Generation
from decoder_lib.selection import Selection
from decoder_lib.vocabulary import Vocabulary

MOST_SHARES = 10  # of a large vocabulary, that many are shown
_KEPT = 256

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Pass:
    """One pass of a run with a cache.

    context : the tokens that it read.
    held : how many of them, from the first, it took from the cache. It computed the others.
    """

    context: Ids
    held: int

    @property
    def computed(self) -> int:
        """Positions computed, with the cache. Without one it would be all of `context`."""
        return len(self.context) - self.held


@dataclass(frozen=True)
class Answer:
    """What the next pass answers.

    shares : the distribution that is selected from.
    token_id : what is selected, with the draw that the run has next.
    """

    shares: tuple[float, ...]
    token_id: int


@dataclass(frozen=True)
class Edit:
    """An earlier token replaced, and what that makes of the cache.

    before, after : the prefix as the cache knows it, and as it is now.
    held : positions that the cache holds.
    kept : those of them that stay good, all before the edit.
    right : what comes after the edited prefix.
    stale : what comes of the cache as it was, with only the newest token fed, if nobody checks; None where
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
        """Where."""
        return next(i for i, (a, b) in enumerate(zip(self.before, self.after, strict=True)) if a != b)

    @property
    def fallen(self) -> range:
        """Positions whose entries are of no use any more."""
        return range(self.kept, self.held)

    @property
    def fed(self) -> range:
        """Positions that the next pass has to compute."""
        return range(self.kept, len(self.after))

    @property
    def shown(self) -> tuple[int, ...]:
        """The tokens worth showing, in the order of their ids: the largest shares, and what is selected."""
        answers = [self.right] if self.stale is None else [self.right, self.stale]
        largest = np.argsort([-share for share in self.right.shares], kind="stable")[:MOST_SHARES]
        return tuple(sorted({*largest.tolist(), *(answer.token_id for answer in answers)}))

    @property
    def largest_error(self) -> float:
        """How far a share from the stale cache is off, at the most."""
        if self.stale is None:
            return 0.0
        pairs = zip(self.right.shares, self.stale.shares, strict=True)
        return max(abs(right - stale) for right, stale in pairs)

    def sentence(self, words: Vocabulary) -> str:
        """What falls, what is fed again, and what nobody would notice."""
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
    positions : of the whole run, those that come later and the last selected token's included.
    passes : of the whole run.
    shown : how many of them have been made.
    edit : None where nothing is edited.
    """

    prefix: Ids
    positions: int
    passes: tuple[Pass, ...]
    shown: int
    edit: Edit | None

    @property
    def made(self) -> tuple[Pass, ...]:
        """The passes so far."""
        return self.passes[: self.shown]

    @property
    def with_cache(self) -> int:
        """Positions computed so far."""
        return sum(made.computed for made in self.made)

    @property
    def without_cache(self) -> int:
        """Positions that the same passes would have computed without a cache."""
        return sum(len(made.context) for made in self.made)

    def sentence(self, words: Vocabulary) -> str:
        """What the last pass did; or, after an edit, what falls and what a stale cache would answer."""
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
    """The run that is followed, as far as the reader has stepped. An edit outside its prefix is none."""
    run = followed(situation)
    shown = min(situation.step, len(run))
    prefix = (*run.prompt.tolist(), *run.token_ids[:shown])
    return CachedRun(
        prefix=prefix,
        positions=len(run.prompt) + len(run),
        passes=_passes(situation.decoder, run),
        shown=shown,
        edit=_edit_of(situation, prefix, shown),
    )


def _positions(count: int) -> str:
    return "1 position" if count == 1 else f"{count} positions"


@lru_cache(_KEPT)
def _passes(decoder: Decoder, run: Generation) -> tuple[Pass, ...]:
    """The passes of a run, made again with a cache."""
    cache = decoder.model.new_cache()
    passes = []
    for step in run:
        context = step.context.tolist()
        held = cache.keep_common_prefix(context[:-1])
        decoder.model.logits(context[held:], cache=cache)
        passes.append(Pass(tuple(context), held))
    return tuple(passes)


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
    """The row after `prefix`, wrong: from a cache of other tokens, which nobody compares with it."""
    rows = decoder.model.logits(prefix[stale.length :], cache=stale)
    wrong: NDArray[np.float64] = rows[-1]
    return wrong
