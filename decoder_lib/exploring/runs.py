"""The runs of a situation: as it is, and with another token taken at some step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from decoder_lib.exploring.situation import Situation
from decoder_lib.generation import FinishReason, Generation, generate
from decoder_lib.truncation import Truncation, stop

_KEPT = 256  # runs; a reader goes back and forth between a few


def run_of(situation: Situation) -> Generation:
    """The run that the settings give. Where the reader stands in it makes no difference."""
    return run_under(settings_of(situation))


def settings_of(situation: Situation) -> Situation:
    """The same, standing at the start with nothing taken or edited: what the runs depend on."""
    return replace(
        situation, step=0, branch=None, on_branch=False, beam_width=1, edit=None, policy="drop oldest"
    )


@lru_cache(_KEPT)
def run_under(settings: Situation, truncate: Truncation = stop) -> Generation:
    """The run of some settings, with a policy for a full context."""
    return generate(
        settings.decoder.model,
        settings.prompt,
        settings.max_new_tokens,
        end_id=settings.end_id,
        seed=settings.seed,
        context_length=settings.context_length,
        truncate=truncate,
        **settings.selection,
    )


@dataclass(frozen=True, eq=False)
class Branch:
    """What would have come of another token.

    place : the number of the step, from 0, at which the runs part.
    run : the branch as a run of its own, the steps before it included. The step at `place` has the draw that
        the other run made there, which would have selected another token.
    """

    place: int
    run: Generation

    @property
    def tokens(self) -> tuple[int, ...]:
        """All new tokens of the branch, those before the step included."""
        return tuple(self.run.token_ids)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Of each, under the same selection rule."""
        return tuple(step.probability for step in self.run)

    @property
    def finish_reason(self) -> FinishReason:
        """As of a run."""
        return self.run.finish_reason


def branch_of(situation: Situation) -> Branch | None:
    """The branch that the reader took; None where none was, or where the run does not come so far.

    The draws after it are those that the run itself would have made next: only the token differs.
    """
    if situation.branch is None or situation.branch[0] >= len(run_of(situation)):
        return None
    return _branch(settings_of(situation), *situation.branch)


@lru_cache(_KEPT)
def _branch(settings: Situation, place: int, token_id: int) -> Branch:
    run = run_under(settings)
    steps = (*run.steps[:place], replace(run.steps[place], token_id=token_id))
    if token_id == settings.end_id:
        return Branch(place, Generation(run.prompt, steps, "stop"))
    generator = np.random.default_rng(settings.seed)
    if not settings.greedy:
        generator.random(place + 1)  # those that the run has used up to here
    rest = generate(
        settings.decoder.model,
        [*settings.prompt, *(step.token_id for step in steps)],
        settings.max_new_tokens - len(steps),
        end_id=settings.end_id,
        seed=generator,
        context_length=settings.context_length,
        **settings.selection,
    )
    return Branch(place, Generation(run.prompt, (*steps, *rest.steps), rest.finish_reason))


def followed(situation: Situation) -> Generation:
    """The run whose steps are shown: the branch where the reader follows it, else the run itself."""
    branch = branch_of(situation) if situation.on_branch else None
    return run_of(situation) if branch is None else branch.run
