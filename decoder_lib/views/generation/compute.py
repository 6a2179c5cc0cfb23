"""What the generation explorer shows: a run up to the step where the reader stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from decoder_lib.generation import Generation, Step
from decoder_lib.selection import draw
from decoder_lib.views.runs import MOST_SHARES, branch_of, followed, largest, run_of
from decoder_lib.views.situation import Situation
from decoder_lib.vocabulary import Vocabulary

_KEPT = 256


@dataclass(frozen=True)
class Share:
    """A candidate for the next token.

    note : whether it was selected or taken, in a word or two; empty for most candidates.
    stands : whether it is the token that was appended.
    """

    token_id: int
    token: str
    share: float
    note: str
    stands: bool


@dataclass(frozen=True)
class Interval:
    """A part of the cumulative scale from 0 to 1: a token, or many with neighbouring ids.

    hit : whether the draw fell there.
    """

    name: str
    start: float
    end: float
    hit: bool


@dataclass(frozen=True)
class Turn:
    """A row of the table of steps.

    number : counted from 1.
    positions, positions_with_cache : how many positions the pass computes without a cache, and with one.
    """

    number: int
    token: str
    probability: float
    product: float
    positions: int
    positions_with_cache: int


@dataclass(frozen=True)
class Steps:
    """What the explorer shows at one step of a run.

    prefix : the prompt and the tokens selected so far; `n_prompt` of them were given.
    step, n_steps : how many steps are shown, and how many there are.
    taken : the position of the token that the reader took; None while the prefix holds none.
    shares : the candidates of the newest step in the order of their ids. If there are too many to show all,
        the largest come first, and `n_left_out` more have a probability of `left_out` together. Empty at the
        start.
    intervals, uniform : the newest step's draw; none under greedy selection.
    how : how the newest token was selected, in a sentence.
    turns : the table of steps.
    finish : whether the run has ended, and why, in a sentence.
    can_take : whether another token can be taken at the newest step; `take` says at which, or why not.
    """

    prefix: tuple[str, ...]
    n_prompt: int
    step: int
    n_steps: int
    taken: int | None
    shares: tuple[Share, ...]
    n_left_out: int
    left_out: float
    intervals: tuple[Interval, ...]
    uniform: float | None
    how: str
    turns: tuple[Turn, ...]
    finish: str
    can_take: bool
    take: str

    @property
    def product(self) -> float:
        """The product of the probabilities so far; 1 for no token."""
        return self.turns[-1].product if self.turns else 1.0


@lru_cache(_KEPT)
def steps_of(situation: Situation) -> Steps:
    """The run that the reader follows, up to where the reader stands."""
    run, words, step = followed(situation), situation.words, situation.step
    made = run.steps[:step]
    newest = made[-1] if made else None
    branch = branch_of(situation) if situation.on_branch else None
    in_branch = branch is not None and step > branch.place
    can_take = newest is not None and (branch is None or step <= branch.place + 1)
    shares, n_left_out, left_out = ((), 0, 0.0) if newest is None else _shares(newest, words)
    return Steps(
        prefix=tuple(words.tokens[i] for i in (*situation.prompt, *(each.token_id for each in made))),
        n_prompt=len(situation.prompt),
        step=step,
        n_steps=len(run),
        taken=len(situation.prompt) + branch.place if branch is not None and in_branch else None,
        shares=shares,
        n_left_out=n_left_out,
        left_out=left_out,
        intervals=() if newest is None else _intervals(newest, words),
        uniform=None if newest is None else newest.uniform,
        how="" if newest is None else _how(newest, words, situation),
        turns=_turns(made, words),
        finish=_finish(situation, run),
        can_take=can_take,
        take=_take(situation, can_take, len(run)),
    )


def fields_to_take(situation: Situation, token_id: int) -> dict[str, object]:
    """What to change so that `token_id` is taken at the newest step shown.

    The run's own token there leads back to the run. Raises ValueError where no token can be taken.
    """
    shown = steps_of(situation)
    if not shown.can_take:
        raise ValueError(shown.take)
    place = situation.step - 1
    if token_id == run_of(situation).steps[place].token_id:
        return {"branch": None, "on_branch": False}
    return {"branch": (place, token_id), "on_branch": True}


def finish_in_words(situation: Situation, run: Generation) -> str:
    """The reason why a run ended, as half a sentence."""
    if run.finish_reason == "stop":
        return f"it selected the end token {situation.words.tokens[run.token_ids[-1]]} (stop)"
    if run.finish_reason == "length":
        count = len(run)
        return f"it has made the {count} token{'s' if count > 1 else ''} asked for (length)"
    return f"the prefix fills the context of {situation.context_length} positions (context)"


def _turns(steps: Sequence[Step], words: Vocabulary) -> tuple[Turn, ...]:
    products = np.exp(np.cumsum([step.log_probability for step in steps])).tolist()  # (T,)
    return tuple(
        Turn(
            number=number,
            token=words.tokens[step.token_id],
            probability=step.probability,
            product=product,
            positions=len(step.context),
            positions_with_cache=step.positions_read,
        )
        for number, (step, product) in enumerate(zip(steps, products, strict=True), 1)
    )


def _shares(step: Step, words: Vocabulary) -> tuple[tuple[Share, ...], int, float]:
    """The shares to show, how many others there are, and the probability of the others together."""
    drawn = _drawn(step)
    notes = {step.token_id: "selected"}
    if drawn != step.token_id:
        notes = {drawn: "not taken", step.token_id: "taken instead"}
    ids = largest(step.distribution, *notes)
    shown = tuple(
        Share(i, words.tokens[i], float(step.distribution[i]), notes.get(i, ""), i == step.token_id)
        for i in ids
    )
    n_left_out = len(words) - len(ids)
    left_out = max(0.0, 1.0 - sum(share.share for share in shown)) if n_left_out else 0.0
    return shown, n_left_out, left_out


def _drawn(step: Step) -> int:
    """What the selection rule selects; the reader may have taken another token."""
    if step.uniform is None:
        return int(np.argmax(step.log_distribution))
    return draw(step.distribution, step.uniform)


def _intervals(step: Step, words: Vocabulary) -> tuple[Interval, ...]:
    """The cumulative scale in ascending id order; of a large vocabulary, the one hit and the rest."""
    if step.uniform is None:
        return ()
    hit = _drawn(step)
    cumulative = np.cumsum(step.distribution)
    edges = [0.0, *(cumulative / cumulative[-1]).tolist()]
    if len(words) <= MOST_SHARES:
        bounds = [(i, i + 1) for i in range(len(words))]
    else:
        bounds = [
            (start, end) for start, end in ((0, hit), (hit, hit + 1), (hit + 1, len(words))) if start < end
        ]
    return tuple(
        Interval(
            words.tokens[start] if end == start + 1 else f"{end - start} tokens",
            edges[start],
            edges[end],
            start == hit,
        )
        for start, end in bounds
    )


def _how(step: Step, words: Vocabulary, situation: Situation) -> str:
    selected, drawn = words.tokens[step.token_id], words.tokens[_drawn(step)]
    if step.uniform is None:
        rule = f"Greedy selection makes no draw: {drawn} has the largest share"
        rule += "." if drawn == selected else f"; {selected} was taken instead."
        return f"{rule} Seed and temperature have no effect."
    interval = next(interval for interval in _intervals(step, words) if interval.hit)
    place = f"The draw {step.uniform:.4f} fell on {drawn} between {interval.start:.4f} and {interval.end:.4f}"
    return f"{place}." if drawn == selected else f"{place}; {selected} was taken instead."


def _finish(situation: Situation, run: Generation) -> str:
    left = len(run) - situation.step
    if not left:
        return f"Finished: {finish_in_words(situation, run)}."
    return f"Not finished: {left} more step{'s' if left > 1 else ''} to come."


def _take(situation: Situation, can_take: bool, n_steps: int) -> str:
    if can_take:
        return f"Take at step {situation.step}:"
    if not n_steps:
        return "No step was made, so no other token can be taken."
    if not situation.step:
        return "Step forward to take another token."
    assert situation.branch is not None, "only behind a branch can no token be taken"
    return f"Go back to step {situation.branch[0] + 1}, or to the run, to take another token."
