"""What a check tells: slips that are recognised, and the failures that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.checks.candidate import StudentError
from course.checks.check import CheckFailure
from course.checks.sections import APPEND
from course.checks.values import UnreadableError, as_tokens, show_tokens

IDENTITY = (
    "Compare numbers with `==`, not with `is`: that asks whether both are the very same object, and Python "
    "keeps one object only for each of the integers up to 256."
)


@dataclass(frozen=True)
class Slip:
    """A recognised slip: its id in the catalogue (None for one that is not there), and what to tell."""

    misconception: str | None
    sentence: str
    section: str


def failure_of(slip: Slip, case: str, expected: str, got: str, model: str = "") -> CheckFailure:
    """What a check raises once it knows the slip; `case` is the call as a student would write it."""
    return CheckFailure(
        slip.sentence,
        case=case,
        model=model,
        expected=expected,
        got=got,
        section=slip.section,
        misconception=slip.misconception,
    )


class RaisedError(CheckFailure):
    """A student's function raised where it should have returned.

    shown : the call as a student would write it.
    expected : what it should have returned.
    error : what it raised.
    """

    def __init__(
        self, shown: str, error: StudentError, expected: str, sentence: str = "", section: str = ""
    ) -> None:
        self.shown = shown
        self.error = error
        self.expected = expected
        super().__init__(
            sentence or f"Your function raised {error.kind} where it should return a result.",
            case=shown,
            expected=expected,
            got=str(error),
            section=section,
            status="error",
        )

    def explained(self, slip: Slip, expected: str = "") -> CheckFailure:
        """The same failure, once its cause is known."""
        return CheckFailure(
            slip.sentence,
            case=self.shown,
            expected=expected or self.expected,
            got=str(self.error),
            section=slip.section,
            misconception=slip.misconception,
            status="error",
        )


def require_same_ids(name: str, before: Sequence[int], after: object, case: str) -> None:
    """CheckFailure where the caller's token ids, `name`, are not after the call what they were before."""
    try:
        now = as_tokens(after)
        same, got = now == list(before), show_tokens(now)
    except UnreadableError as error:
        same, got = False, str(error)
    if not same:
        sentence = (
            f"Your function changes the caller's {name}: `append`, `+=` and `extend` work on the very list "
            f"that was passed in. Make a copy first, like list({name})."
        )
        expected = f"{name} is still {show_tokens(before)} after the call"
        raise failure_of(Slip("G5", sentence, APPEND), case, expected, f"{name} is {got}")


def is_missing(error: StudentError) -> bool:
    """Whether the candidate has no such function at all."""
    return error.is_a("TypeError") and error.message.endswith("a function is needed")


def faults(warnings: Sequence[str]) -> list[str]:
    """Floating-point faults among the warnings of a call."""
    words = ("overflow", "divide by zero", "invalid value")
    return [
        text for text in warnings if text.startswith("RuntimeWarning") and any(word in text for word in words)
    ]
