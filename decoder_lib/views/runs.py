"""The runs of a situation: the one that the settings give, and the branch where another token was taken.

Which tokens of a distribution are worth showing is decided here too, once for all views.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib.generation import Generation, generate
from decoder_lib.truncation import Truncation, stop
from decoder_lib.views.situation import Settings, Situation

MOST_SHARES = 10  # of a large vocabulary, so many are shown
_KEPT = 256  # runs; a reader goes back and forth between a few


def run_of(situation: Settings) -> Generation:
    """The run that the settings give. Where the reader stands in it makes no difference."""
    return run_under(situation.settings)


@lru_cache(_KEPT)
def run_under(settings: Settings, truncate: Truncation = stop) -> Generation:
    """The run of some settings, with a policy for a full context.

    Each step records the positions that its pass computed with a cache; without one, a pass computes all of
    its context.
    """
    return generate(
        settings.decoder.model,
        settings.prompt,
        settings.max_new_tokens,
        end_id=settings.end_id,
        seed=settings.seed,
        context_length=settings.context_length,
        use_cache=True,
        truncate=truncate,
        **settings.selection,
    )


@dataclass(frozen=True, eq=False)
class Branch:
    """What another token would have led to.

    place : the number of the step, from 0, at which the two runs part.
    run : the branch as a run of its own, with the steps before it. The step at `place` has the draw that the
        other run made there, which would have selected another token.
    """

    place: int
    run: Generation


def branch_of(situation: Situation) -> Branch | None:
    """The branch that the reader took; None if there is none, or if the run ends before it.

    Its further draws are those that the run itself would have made next: only the token differs.
    """
    if situation.branch is None or situation.branch[0] >= len(run_of(situation)):
        return None
    return _branch(situation.settings, *situation.branch)


@lru_cache(_KEPT)
def _branch(settings: Settings, place: int, token_id: int) -> Branch:
    run = run_under(settings)
    steps = (*run.steps[:place], replace(run.steps[place], token_id=token_id))
    if token_id == settings.end_id:
        return Branch(place, Generation(run.prompt, steps, "stop"))
    generator = np.random.default_rng(settings.seed)
    if not settings.greedy:
        generator.random(place + 1)  # the numbers that the run has used up to here
    rest = generate(
        settings.decoder.model,
        [*settings.prompt, *(step.token_id for step in steps)],
        settings.max_new_tokens - len(steps),
        end_id=settings.end_id,
        seed=generator,
        context_length=settings.context_length,
        use_cache=True,
        **settings.selection,
    )
    later = list(rest.steps)
    if later:  # the run's cache holds everything before the token that was taken
        later[0] = replace(later[0], positions_read=1)
    return Branch(place, Generation(run.prompt, (*steps, *later), rest.finish_reason))


def followed(situation: Situation) -> Generation:
    """The run whose steps are shown: the branch where the reader follows it, else the run itself."""
    branch = branch_of(situation) if situation.on_branch else None
    return run_of(situation) if branch is None else branch.run


def largest(distribution: NDArray[np.float64], *others: int) -> list[int]:
    """The ids to show of a distribution (V,): all, or the ten largest and `others`, the largest first."""
    if len(distribution) <= MOST_SHARES:
        return list(range(len(distribution)))
    top: list[int] = np.argsort(-distribution, kind="stable")[:MOST_SHARES].tolist()
    return top + [token_id for token_id in dict.fromkeys(others) if token_id not in top]
