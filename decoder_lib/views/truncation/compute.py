"""What the truncation view shows: what each policy drops of one text, and what follows from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib import truncation
from decoder_lib.generation import Generation
from decoder_lib.selection import Selection, draw
from decoder_lib.views.runs import largest, run_under
from decoder_lib.views.situation import Settings, Situation

WHOLE = "whole text"  # read by a decoder with room for it
_KEPT = 256  # runs and readings; a reader goes back and forth between a few


@dataclass(frozen=True)
class Truncating:
    """What the truncation view needs beside a situation.

    n_first : how many tokens "keep first" keeps.
    shown : the number of the step, from 1; None for the first step at which something is dropped.
    """

    n_first: int = 3
    shown: int | None = None


@dataclass(frozen=True)
class Place:
    """One token of the text, as a policy treats it.

    position : the position that the token is read at; None if it is not read.
    kept : whether the policy keeps the token for good.
    newest : whether the step before selected it.
    """

    word: str
    position: int | None
    kept: bool
    newest: bool


@dataclass(frozen=True, eq=False)
class Reading:
    """The text as a policy reads it, and what follows from that.

    name : the name of the policy, or "whole text".
    places : one for each token of the text.
    distribution : (V,), the distribution of the next token; None if nothing is read.
    selected : the token that the selection rule takes from it; None if nothing is selected.
    moved : the probability that lies on other tokens than after the whole text (half the summed
        differences); None if one of the two is not known.
    """

    name: str
    places: tuple[Place, ...]
    distribution: NDArray[np.float64] | None
    selected: int | None
    moved: float | None

    @property
    def dropped(self) -> tuple[str, ...]:
        """The tokens that are not read, in their order; none if nothing is read at all."""
        gone = tuple(place.word for place in self.places if place.position is None)
        return () if self.distribution is None else gone

    @property
    def note(self) -> str:
        """How much is read, in words."""
        if self.distribution is None:
            return "reads nothing: the run has ended"
        if not self.dropped:
            return "reads all of it"
        return f"reads {len(self.places) - len(self.dropped)} of {len(self.places)}"

    @property
    def effect(self) -> str:
        """What the policy does to a text that fills the context, in words."""
        if self.distribution is None:
            return f"'{self.name}' ends the run"
        return f"'{self.name}' drops {', '.join(self.dropped)}"


@dataclass(frozen=True)
class Windows:
    """One step of a run, and the same text as every policy would read it.

    policy : the policy that the run was made with.
    without_room : the policy that was asked for, if it has no room and the run stops instead; else "".
    greedy : whether the run selects greedily.
    step, steps : the number of the step, from 1, and how many there are.
    full : whether the text fills the context.
    readings : the whole text first, if the decoder has room for it; then each policy that has room.
    run : the library's own run.
    truncate, bound : the policy and the context bound that it was made with.
    """

    policy: str
    without_room: str
    greedy: bool
    step: int
    steps: int
    full: bool
    readings: tuple[Reading, ...]
    run: Generation
    truncate: truncation.Truncation
    bound: int

    @property
    def shares(self) -> tuple[int, ...]:
        """The tokens worth showing, in the order of their ids: the ten largest and the selected."""
        rows = [reading.distribution for reading in self.readings if reading.distribution is not None]
        if not rows:
            return ()
        selected = (reading.selected for reading in self.readings if reading.selected is not None)
        return tuple(sorted(largest(np.max(rows, axis=0), *selected)))

    @property
    def sentence(self) -> str:
        """What the step shows, in words."""
        instead = f"'{self.without_room}' has no room in this context. " if self.without_room else ""
        start = f"{instead}Step {self.step} of {self.steps}, in the run of '{self.policy}'"
        if not self.full:
            return f"{start}: the text does not fill the context of {self.bound} yet, so all of it is read."
        policies = [reading for reading in self.readings if reading.name != WHOLE]
        moves = [f"'{reading.name}' moves {reading.moved:.2f}" for reading in policies if reading.moved]
        change = (
            f" Of the share after the whole text, {' and '.join(moves)} to other tokens." if moves else ""
        )
        effects = "; ".join(reading.effect for reading in policies)
        return f"{start}: the context of {self.bound} is full; {effects}.{change}"


def policies_of(settings: Settings, truncating: Truncating) -> dict[str, truncation.Truncation]:
    """The policies that have room within the context bound, by name; stopping needs none."""
    bound = settings.context_length
    found: dict[str, truncation.Truncation] = {"stop": truncation.stop}
    if bound >= 2:  # one token to read, and room for the next
        found["drop oldest"] = truncation.drop_oldest
    if bound >= 3:
        found["keep first"] = truncation.KeepFirst(min(truncating.n_first, most_kept(bound)))
    return found


def most_kept(bound: int) -> int:
    """How many first tokens can be kept: beside them there is one later token, and room for the next."""
    return max(1, bound - 2)


def windows_of(situation: Situation, truncating: Truncating) -> Windows:
    """The step shown, in the run of the situation's policy, or of "stop" if that policy has no room."""
    own = situation.settings
    policies = policies_of(own, truncating)
    policy = situation.policy if situation.policy in policies else "stop"
    without_room = "" if policy == situation.policy else situation.policy
    run = run_under(own, policies[policy])
    steps = len(run) + (run.finish_reason == "context")  # and the pass that the policy refuses
    first_drop = max(1, own.context_length - len(own.prompt) + 1)
    step = min(truncating.shown or first_drop, steps)
    readings = _readings(own, policy, truncating.n_first, step)
    full = len(readings[0].places) >= own.context_length
    return Windows(
        policy=policy,
        without_room=without_room,
        greedy=own.greedy,
        step=step,
        steps=steps,
        full=full,
        readings=readings,
        run=run,
        truncate=policies[policy],
        bound=own.context_length,
    )


def runs_of(situation: Situation, truncating: Truncating) -> dict[str, Generation]:
    """The whole run of each policy."""
    own = situation.settings
    return {name: run_under(own, truncate) for name, truncate in policies_of(own, truncating).items()}


@lru_cache(_KEPT)
def _readings(settings: Settings, policy_of_run: str, n_first: int, step: int) -> tuple[Reading, ...]:
    """What each policy makes of the text before a step, counted from 1, of the run of one of them."""
    policies = policies_of(settings, Truncating(n_first))
    run = run_under(settings, policies[policy_of_run])
    text = [*settings.prompt, *run.token_ids[: step - 1]]
    uniform = run[step - 1].uniform if step <= len(run) else None
    windows = {}
    if len(text) <= settings.decoder.model.context_length:
        windows[WHOLE] = list(range(len(text)))
    for name, truncate in policies.items():
        windows[name] = _window(truncate, len(settings.prompt), len(text), settings.context_length)
    shares = {
        name: _distribution(settings, [text[place] for place in window]) if window else None
        for name, window in windows.items()
    }
    whole = shares.get(WHOLE)
    readings = []
    for name, window in windows.items():
        policy = policies.get(name)
        n_first = policy.n_first if isinstance(policy, truncation.KeepFirst) else 0
        places = tuple(
            Place(
                settings.words.tokens[token_id],
                window.index(place) if place in window else None,
                place < n_first,
                step > 1 and place == len(text) - 1,
            )
            for place, token_id in enumerate(text)
        )
        after = shares[name]
        moved = None if after is None or whole is None else float(np.abs(after - whole).sum()) / 2
        readings.append(Reading(name, places, after, _selected(settings, after, uniform), moved))
    return tuple(readings)


def _window(truncate: truncation.Truncation, n_prompt: int, n_text: int, bound: int) -> list[int]:
    """The places of the text that the pass after `n_text` tokens reads; none if the policy stops.

    The policy is asked before each pass, as the loop asks it, with places instead of tokens.
    """
    window = list(range(n_prompt))
    for newest in range(n_prompt, n_text + 1):
        if len(window) >= bound:
            window = truncate(window, bound) or []
            if not window:
                return []
        if newest < n_text:
            window = [*window, newest]
    return window


def _distribution(settings: Settings, window: Sequence[int]) -> NDArray[np.float64]:
    """The distribution (V,) that the next token is selected from after a window."""
    row = settings.decoder.model.logits(window)[-1]
    return np.asarray(np.exp(Selection(**settings.selection).log_distribution(row)), dtype=np.float64)


def _selected(settings: Settings, shares: NDArray[np.float64] | None, uniform: float | None) -> int | None:
    """The token that the selection rule takes; the number that decides the draw is that of the run's step."""
    if shares is None:
        return None
    if settings.greedy:
        return int(np.argmax(shares))
    return None if uniform is None else draw(shares, uniform)
