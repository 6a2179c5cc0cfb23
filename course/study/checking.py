"""The door for check cells: run a check, show its card, keep a pass, and stop the notebook at a failure."""

from __future__ import annotations

from collections.abc import Callable

from course.checks import NOTEBOOK_SEED, DirectCandidate, NotPassedError, find_check, run_check
from course.checks.message import Message
from course.study import store, tally
from course.study.card import Card, Verdict
from course.study.showing import show
from course.study.style import of


class NotWrittenError(NotPassedError):
    """The function that a check calls is still the stub."""


def check(challenge: str, name: str, /, **functions: Callable[..., object]) -> None:
    """Run one check on functions of this notebook: `check("generation_loop", "greedy", generate=generate)`.

    Shows a card. A pass is kept; anything else raises NotPassedError after the card, so that *Run All* stops.
    KeyError for a challenge or a check that does not exist.
    """
    __tracebackhide__ = True
    found, key = find_check(challenge, name), tally.check_key(challenge, name)
    result = run_check(found, DirectCandidate(functions), NOTEBOOK_SEED)
    points = of(result.points, result.max_points, "point")
    if result.status == "passed":
        kept = store.add(key, result.points)
        show(Card("passed", name, points, None, tally.so_far(challenge, kept), kept.notes))
        return
    kept = store.read()
    so_far = tally.so_far(challenge, kept)
    if key in kept.entries:
        so_far += " This check passed before, and that stays counted."
    if not result.written:
        sentence = f"Write `{found.function}` in its cell above, run that cell, then this one."
        show(Card("unwritten", name, points, Message(sentence), so_far, kept.notes))
        raise NotWrittenError(str(result.message)) from None
    verdict: Verdict = "failed" if result.status == "failed" else "error"
    show(Card(verdict, name, points, result.message, so_far, kept.notes))
    raise NotPassedError(f"{name} is not passed yet; the card above says why.") from None
