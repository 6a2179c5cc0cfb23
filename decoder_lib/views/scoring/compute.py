"""What the chain-rule view shows: the factors of two runs, their products, and whether these compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from decoder_lib.views.generation.compute import finish_in_words
from decoder_lib.views.runs import branch_of, followed
from decoder_lib.views.situation import Situation

MOST_KEPT = 8  # runs that a reader can tell apart


@dataclass(frozen=True)
class Factor:
    """A token's probability given everything before it, with the product and the log-sum up to it.

    number : counted from 1.
    log_factor, log_sum : natural logarithms; that of a factor of 0 is minus infinity.
    """

    number: int
    token: str
    factor: float
    product: float
    log_factor: float
    log_sum: float


@dataclass(frozen=True, eq=False)
class Chain:
    """A run by the chain rule.

    name : what readers call the run.
    about : the settings that it came from.
    factors : one for each new token.
    finish : why the run ended, as half a sentence.
    """

    name: str
    about: str
    factors: tuple[Factor, ...]
    finish: str

    @property
    def log_sum(self) -> float:
        """The sum of the factors' natural logarithms; 0 for none."""
        return self.factors[-1].log_sum if self.factors else 0.0

    @property
    def product(self) -> float:
        """The product of the factors; 1 for none."""
        return math.exp(self.log_sum)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The new tokens."""
        return tuple(factor.token for factor in self.factors)


@dataclass(frozen=True)
class Comparison:
    """Whether one run is more probable than another.

    ranked : whether the two can be ranked at all.
    verdict : what can be said, or why nothing can.
    """

    ranked: bool
    verdict: str


@dataclass(frozen=True)
class Choice:
    """A run that can be looked at.

    key : stays the same while the settings change.
    name : what it is called now.
    situation : where the run comes from (`decoder_lib.views.runs.followed`).
    """

    key: str
    name: str
    situation: Situation


def choices(situation: Situation, kept: Sequence[Situation] = ()) -> tuple[Choice, ...]:
    """The run, its twin under the other selection rule, its branch, and the runs that the reader kept.

    Kept runs over another vocabulary are left out, since their tokens can't be compared with these.
    """
    run = situation.afresh()
    twin = replace(run, greedy=not run.greedy)
    found = [
        Choice("run", "this run", run),
        Choice("twin", "the greedy run" if twin.greedy else "the sampled run", twin),
    ]
    branch = branch_of(situation)
    if branch is not None:
        on_branch = replace(run, branch=situation.branch, on_branch=True)
        found.append(Choice("branch", f"the branch at step {branch.place + 1}", on_branch))
    for number, old in enumerate(kept, 1):
        if old.words == situation.words:
            found.append(Choice(f"kept {number}", f"kept run {number}", old))
    return tuple(found)


@dataclass(frozen=True)
class Pair:
    """What the view needs beside a situation: which two runs are compared, and the runs that were kept.

    first, second : keys of choices. A choice that is gone gives way to the run, or to its twin.
    kept : each looked at from the start, so that two of them are equal if they are the same run.
    """

    first: str = "run"
    second: str = "twin"
    kept: tuple[Situation, ...] = ()

    def among(self, situation: Situation) -> Pair:
        """The same pair with choices that exist in this situation."""
        keys = {choice.key for choice in choices(situation, self.kept)}
        return replace(
            self,
            first=self.first if self.first in keys else "run",
            second=self.second if self.second in keys else "twin",
        )

    def of(self, situation: Situation) -> tuple[Choice, Choice]:
        """The two runs."""
        found = {choice.key: choice for choice in choices(situation, self.kept)}
        pair = self.among(situation)
        return found[pair.first], found[pair.second]

    def keep(self, situation: Situation) -> Pair:
        """The same with the run that is followed kept, and compared as the second one.

        Raises ValueError for a run that is kept already, and where as many are kept as can be told apart.
        """
        now = situation.afresh("branch", "on_branch") if situation.on_branch else situation.afresh()
        if now in self.kept:
            raise ValueError(f"This run is kept already, as kept run {self.kept.index(now) + 1}.")
        if len(self.kept) == MOST_KEPT:
            raise ValueError(f"{MOST_KEPT} runs are kept, and more cannot be told apart: forget them first.")
        kept = (*self.kept, now)
        return replace(self, second=f"kept {len(kept)}", kept=kept)


def chain_of(choice: Choice) -> Chain:
    """A run's factors and what they come to."""
    situation = choice.situation
    run, words = followed(situation), situation.words
    product, log_sum, rows = 1.0, 0.0, []
    for number, step in enumerate(run, 1):
        log_sum += step.log_probability
        product = math.exp(log_sum)
        rows.append(
            Factor(
                number,
                words.tokens[step.token_id],
                step.probability,
                product,
                step.log_probability,
                log_sum,
            )
        )
    return Chain(choice.name, settings_in_words(situation), tuple(rows), finish_in_words(situation, run))


def run_and_branch(situation: Situation) -> tuple[Choice, Choice] | None:
    """The run and the branch that was taken from it; None if there is no branch."""
    found = {choice.key: choice for choice in choices(situation)}
    return (found["run"], found["branch"]) if "branch" in found else None


def settings_in_words(situation: Situation) -> str:
    """The settings that a run comes from, in words."""
    rule = "greedy" if situation.greedy else f"seed {situation.seed}, temperature {situation.temperature:g}"
    branch = branch_of(situation) if situation.on_branch else None
    taken = (
        f", {situation.words.tokens[branch.run.token_ids[branch.place]]} taken at step {branch.place + 1}"
        if branch
        else ""
    )
    return f"{situation.decoder.name}, {situation.words.decode(situation.prompt)}, {rule}{taken}"


def compare(first: Choice, second: Choice) -> Comparison:
    """Which of two runs is the more probable, where their probabilities can be ranked.

    They cannot be ranked if the factors come from different distributions, or if one run has fewer of them.
    """
    differing = _differences(first.situation, second.situation)
    if differing:
        return Comparison(
            False,
            f"Not ranked: {_joined(differing)}. Each product holds for its own distributions, "
            "so the larger number says nothing about the other run.",
        )
    one, other = chain_of(first), chain_of(second)
    if len(one.factors) == len(other.factors):
        ranking = _ranking(one, other)
        return Comparison(True, ranking[0].upper() + ranking[1:])
    shorter, longer = sorted((one, other), key=lambda chain: len(chain.factors))
    fewer = len(shorter.factors)
    fair = ""
    if fewer:
        cut = [replace(chain, factors=chain.factors[:fewer]) for chain in (one, other)]
        fair = f" Cut to the first {_counted(fewer, 'token')} of each: {_ranking(*cut)}"
    return Comparison(
        False,
        f"Not ranked: {shorter.name} has {_counted(fewer, 'factor')}, {longer.name} has "
        f"{len(longer.factors)}. No factor is above 1, so a product can only fall with each further token: "
        f"the run with fewer factors has the advantage, whatever its tokens are.{fair}",
    )


def _differences(one: Situation, other: Situation) -> list[str]:
    """What makes the distributions of two situations different, after the same tokens."""
    found = []
    if one.decoder is not other.decoder:
        found.append("the parameters differ")
    if one.prompt != other.prompt:
        found.append("the prompts differ")
    warmth = [1.0 if situation.greedy else situation.temperature for situation in (one, other)]
    if warmth[0] != warmth[1]:
        found.append(f"the temperatures differ ({warmth[0]:g} and {warmth[1]:g}; greedy counts as 1)")
    return found


def _ranking(one: Chain, other: Chain) -> str:
    """A sentence on two chains of the same length over the same distributions."""
    if one.tokens == other.tokens:
        return f"{one.name} and {other.name} are the same tokens, so their products are equal."
    more, less = (one, other) if one.log_sum >= other.log_sum else (other, one)
    if math.isinf(more.log_sum):
        return "Neither can come about: each has a factor of 0."
    if math.isinf(less.log_sum):
        return f"{more.name} is more probable: {less.name} has a factor of 0."
    gap = more.log_sum - less.log_sum
    if gap < 1e-12:
        return f"{more.name} and {less.name} are equally probable."
    times = f"{math.exp(gap):.3g}" if gap < 700 else f"e^{gap:.0f}"
    return (
        f"{more.name} is {times} times as probable as {less.name}: "
        f"their log-sums are {gap:.4f} apart, and exp({gap:.4f}) = {times}."
    )


def _counted(count: int, thing: str) -> str:
    return f"{count or 'no'} {thing}{'' if count == 1 else 's'}"


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(parts)
