"""Inputs for the cached loop: one call, how it is played, what was fed, how it is shown to the student."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course.checks import failures
from course.checks.candidate import Call, Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.failures import Slip, failure_of
from course.checks.inputs import ROOMY, count_of
from course.checks.models import Prefix, Rows, Script
from course.checks.reference import continuation, greedy
from course.checks.scripted_cache import CachingModel, Pass, ScriptedCache, filled
from course.checks.sections import REUSE
from course.checks.values import UnreadableError, as_pair, as_tokens, show_tokens

PAIR = "(new_token_ids, cache)"
MOST_CALLS = 400  # far more passes than any case needs, one a position of the prompt and a token


@dataclass(frozen=True)
class Case:
    """Arguments of one call of `generate_with_cache`.

    prompt : token ids; handed over as an array where `as_array`.
    held : what the cache passed in stands for; None passes none.
    """

    script: Script
    prompt: Sequence[int]
    max_new_tokens: int
    end_id: int | None = None
    held: Sequence[int] | None = None
    context_length: int = ROOMY
    as_array: bool = False

    @property
    def kept(self) -> int:
        """How many positions of the cache are reused: all but the prompt's last may be."""
        return min(common_prefix(self.held or (), self.prompt), len(self.prompt) - 1)

    def expected(self, steps: int) -> list[int]:
        """The first `steps` tokens of the greedy loop without a cache."""
        return continuation(self.script, self.prompt, steps, greedy)

    def show(self) -> str:
        """The call as a student would write it."""
        prompt = show_tokens(self.prompt)
        parts = [f"np.array({prompt})" if self.as_array else prompt, str(self.max_new_tokens)]
        if self.end_id is not None:
            parts.append(f"end_id={self.end_id}")
        if self.held is not None:
            parts.append("cache=cache")
        text = f"generate_with_cache(model, {', '.join(parts)})"
        given = [f"model.n_vocab = {self.script.n_vocab}"]
        if self.held is not None:
            given.insert(0, f"cache.token_ids = {show_tokens(self.held)}")
        if self.context_length != ROOMY:
            given.append(f"model.context_length = {self.context_length}")
        return f"{text} with {', '.join(given)}"


class ChainScript:
    """Logits of the last token read only: each favours its successor by 4.

    A loop that reads a wrong row of a prompt of equal tokens, or a stale prefix, selects the right tokens
    here, so a check of where it ends does not punish that slip a second time.

    successors : the favourite (V,) after each token.
    """

    def __init__(self, successors: Sequence[int]) -> None:
        self._successors = list(successors)

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return len(self._successors)

    def rows(self, prefix: Prefix) -> Rows:
        """See `Script.rows`."""
        return np.asarray(4.0 * np.eye(self.n_vocab)[[self._successors[token] for token in prefix]])


@dataclass(frozen=True)
class Run:
    """What came of playing a case, read into plain values.

    cache : what the function returned as the cache, not yet looked at.
    passes : what the model was asked during the call, in order.
    """

    case: Case
    model: CachingModel
    tokens: list[int]
    cache: object
    call: Call
    passes: list[Pass] = field(repr=False)

    @property
    def fed(self) -> list[int]:
        """All positions that were fed, in order."""
        return fed(self.passes)

    @property
    def asked(self) -> list[int]:
        """What should have been fed: what the prompt has more, then every selected token but the last."""
        return [*self.case.prompt[self.case.kept :], *self.tokens[:-1]]

    @property
    def has_right_tokens(self) -> bool:
        """Whether there are tokens, and they are those of the loop without a cache."""
        return bool(self.tokens) and self.tokens == self.case.expected(len(self.tokens))

    @property
    def starts_right(self) -> bool:
        """Whether the missing part of the prompt is fed, and to a cache that holds just what is kept."""
        return starts_right(self.case, self.passes)


def fed(passes: Sequence[Pass]) -> list[int]:
    """All positions that passes feed, in order."""
    return [token for one in passes for token in one.token_ids]


def starts_right(case: Case, passes: Sequence[Pass]) -> bool:
    """See `Run.starts_right`."""
    missing = list(case.prompt[case.kept :])
    if not passes or passes[0].before != tuple(case.prompt[: case.kept]):
        return False
    return len(passes[0].token_ids) <= len(missing) and fed(passes)[: len(missing)] == missing


def common_prefix(one: Sequence[int], two: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    differing = (i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    return next(differing, min(len(one), len(two)))


def play(
    candidate: Candidate,
    case: Case,
    model: CachingModel | None = None,
    cache: ScriptedCache | None = None,
) -> Run:
    """Call the student's `generate_with_cache` on a case.

    model : one that an earlier call used; a new one by default.
    cache : one from an earlier call, of that model; by default one is filled with `case.held`.

    Raises RaisedError where the function raised, another CheckFailure where its result is not a pair that
    starts with tokens.
    """
    if model is None:
        model = CachingModel(case.script, case.context_length, MOST_CALLS)
    if cache is None and case.held is not None:
        cache = filled(model, tuple(case.held))
    before = len(model.passes)
    keywords: dict[str, object] = {}
    if case.end_id is not None:
        keywords["end_id"] = case.end_id
    if cache is not None:
        keywords["cache"] = cache
    prompt = np.array(case.prompt) if case.as_array else list(case.prompt)
    try:
        call = candidate.call("generate_with_cache", model, prompt, case.max_new_tokens, **keywords)
    except StudentError as error:
        raise RaisedError(case, error, model.passes[before:]) from error
    try:
        first, second = as_pair(call.result, f"the pair {PAIR}")
        return Run(case, model, as_tokens(first), second, call, model.passes[before:])
    except UnreadableError as error:
        raise CheckFailure(
            "`generate_with_cache` must return two things, the new token ids and the cache.",
            case=case.show(),
            expected=f"{PAIR}, like ([4, 1], cache)",
            got=str(error),
            section=REUSE,
        ) from None


class RaisedError(failures.RaisedError):
    """The student's `generate_with_cache` raised where it should have returned.

    passes : what the model had been asked by then.
    """

    def __init__(self, case: Case, error: StudentError, passes: list[Pass]) -> None:
        self.case = case
        self.passes = passes
        sentence = f"Your function raised {error.kind} where it should return two things."
        super().__init__(case.show(), error, PAIR, sentence, REUSE)


def require_two_tokens(run: Run) -> None:
    """At least two tokens: how many exactly is the business of `stops`, but none prove nothing."""
    wanted = run.case.max_new_tokens
    ended = run.case.end_id is not None and run.tokens[-1:] == [run.case.end_id]
    if len(run.tokens) < min(2, wanted) and not ended:
        slip = Slip(None, "Your loop returns too few tokens to compare.", REUSE)
        raise failure_of(slip, run.case.show(), count_of(wanted), count_of(len(run.tokens)))


def show_passes(passes: Sequence[Pass]) -> str:
    """How many positions were fed, and the first passes, each with what it follows."""
    parts = []
    for one in passes[:3]:
        behind = f" after {show_tokens(one.before)}" if one.before else ""
        parts.append(show_tokens(one.token_ids) + (behind or ("" if one.held is not None else " (no cache)")))
    more = ", ..." if len(passes) > 3 else ""
    return f"{len(fed(passes))} positions fed" + (f": {', then '.join(parts)}{more}" if parts else "")
