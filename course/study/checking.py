"""The door for check cells: run a check, show its card, keep a pass, and stop the notebook at a failure."""

from __future__ import annotations

from collections.abc import Callable

from course.checks import (
    NOTEBOOK_SEED,
    Call,
    DirectCandidate,
    NotPassedError,
    StudentError,
    find_check,
    run_check,
)
from course.study import store, tally
from course.study.card import Card
from course.study.message import Message, take_apart
from course.study.showing import show
from course.study.style import of


class NotWrittenError(NotPassedError):
    """The function that a check calls is still the stub. Its text is the stub's own."""

    def __init__(self, function: str, stub: str) -> None:
        super().__init__(stub)
        self._line = f"{function} is not written yet; it says: {stub}"

    def _render_traceback_(self) -> list[str]:
        return [self._line]


def check(challenge: str, name: str, /, **functions: Callable[..., object]) -> None:
    """Run one check on functions of this notebook: `check("generation_loop", "greedy", generate=generate)`.

    Shows a card. A pass is kept; anything else raises NotPassedError after the card, so that *Run All* stops.
    KeyError for a challenge or a check that does not exist.
    """
    __tracebackhide__ = True
    found, key = find_check(challenge, name), tally.check_key(challenge, name)
    candidate = _Watched(DirectCandidate(functions))
    result = run_check(found, candidate, NOTEBOOK_SEED)
    points = of(result.points, result.max_points, "point")
    if result.status == "passed":
        kept = store.add(key, result.points)
        show(Card("passed", name, points, None, tally.so_far(challenge, kept), kept.notes))
        return
    kept = store.read()
    so_far = tally.so_far(challenge, kept)
    if key in kept.entries:
        so_far += " This check passed before, and that stays counted."
    stub = candidate.raised
    if stub is not None and stub.is_a("NotImplementedError"):
        sentence = f"Write `{found.function}` in its cell above, run that cell, then this one."
        show(Card("unwritten", name, points, Message(sentence), so_far, kept.notes))
        raise NotWrittenError(found.function, stub.message) from None
    show(Card(result.status, name, points, take_apart(result.message), so_far, kept.notes))
    raise NotPassedError(f"{name} is not passed yet; the card above says why.") from None


class _Watched:
    """A candidate that remembers what its functions raised last."""

    def __init__(self, candidate: DirectCandidate) -> None:
        self._candidate = candidate
        self.raised: StudentError | None = None

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `Candidate.call`."""
        try:
            return self._candidate.call(function, *arguments, **keywords)
        except StudentError as error:
            self.raised = error
            raise
