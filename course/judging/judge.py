"""Judge one file: start its process, and start it again where a check ended it."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from course.checks.check import Check
from course.checks.registry import CHALLENGES
from course.judging import messages
from course.judging.limits import Limits
from course.judging.process import Ending, GarbledError, Send, run_apart
from course.judging.results import STATUSES, CheckOutcome, FileResult, Status
from course.judging.solution import work
from course.text import readable


def judge(path: str, challenge: str | None, seed: int, limits: Limits) -> FileResult:
    """Run all checks on a file. Whatever it does, the answer is a FileResult."""
    file = _File(path, challenge, limits)
    while not file.is_judged():
        if file.seconds_left() <= 0:
            file.settle("timeout", messages.NO_TIME_LEFT)
            break
        task = partial(_task, path=path, challenge=file.challenge, done=tuple(file.outcomes), seed=seed)
        file.importing = True
        file.ended(run_apart(task, limits, limits.check_seconds, file.receive))
    return file.result()


def _task(send: Send, path: str, challenge: str | None, done: tuple[str, ...], seed: int) -> None:
    work(send, path, challenge, done, seed)


class _File:
    """What is known of a file so far.

    challenge : once it is known.
    outcomes : by the names of the checks.
    importing : whether the process at work has not come to its checks yet.
    """

    def __init__(self, path: str, challenge: str | None, limits: Limits) -> None:
        self.path, self.challenge, self.importing = path, challenge, True
        self.outcomes: dict[str, CheckOutcome] = {}
        self._limits = limits
        self._end = time.monotonic() + limits.file_seconds
        self._unjudged = ""

    def is_judged(self) -> bool:
        """Whether there is nothing left to run."""
        return bool(self._unjudged) or (self.challenge is not None and not self._pending())

    def seconds_left(self) -> float:
        """Of the time for the whole file."""
        return self._end - time.monotonic()

    def settle(self, status: Status, message: str) -> None:
        """Give all checks that are left the same outcome."""
        for check in self._pending():
            self.outcomes[check.name] = CheckOutcome.of(check, status, None, message)

    def receive(self, record: dict[str, Any]) -> float:
        """Take what the process sends; returns the seconds for what it does next.

        The student's code shares that process, so a record is believed only if it is one that can come now.
        """
        match record:
            case {"challenge": str(name)} if name in CHALLENGES and self.challenge in (None, name):
                self.challenge = name
                return self._limits.check_seconds
            case {"imported": True} if self.challenge and self.importing:
                self.importing = False
            case {"broken": str(message)} if self.challenge and self.importing:
                self.settle("error", readable(message))
            case {"unreadable": str(message)} if self.importing:
                self._give_up(message)
            case {"unknown": str(message)} if self.challenge is None:
                self._give_up(message)
            case {
                "check": str(name),
                "status": str(status),
                "misconception": str() | None as misconception,
                "message": str(message),
            } if not self.importing and [check.name for check in self._pending()[:1]] == [name]:
                self._take(self._pending()[0], status, misconception, message)
            case _:
                raise GarbledError
        return self._allowance()

    def ended(self, ending: Ending) -> None:
        """The process has ended: what it was at is to blame, unless all was done."""
        if self.is_judged():
            return
        where = messages.IMPORTING if self.importing else messages.CHECKING
        status, message = messages.of_ending(ending, where, self._limits)
        if self.challenge is None:
            self._give_up(message)
        elif self.importing:
            self.settle(status, message)
        else:
            check = self._pending()[0]
            self.outcomes[check.name] = CheckOutcome.of(check, status, None, message)

    def result(self) -> FileResult:
        """The file's result, once it is judged."""
        if self.challenge is None:
            return FileResult(self.path, None, (CheckOutcome.of_file(self._unjudged),), judged=False)
        outcomes = tuple(self.outcomes[check.name] for check in CHALLENGES[self.challenge])
        return FileResult(self.path, self.challenge, outcomes, judged=not self._unjudged)

    def _pending(self) -> list[Check]:
        checks = CHALLENGES[self.challenge] if self.challenge else ()
        return [check for check in checks if check.name not in self.outcomes]

    def _allowance(self) -> float:
        """Seconds for the next check: what later checks are sure to get is kept back."""
        kept = self._limits.least_seconds * (len(self._pending()) - 1)
        return max(self._limits.least_seconds, min(self._limits.check_seconds, self.seconds_left() - kept))

    def _take(self, check: Check, status: str, misconception: str | None, message: str) -> None:
        known = next((one for one in STATUSES if one == status), None)
        if known is None:
            raise GarbledError
        slip = misconception and readable(misconception)
        self.outcomes[check.name] = CheckOutcome.of(check, known, slip, readable(message))

    def _give_up(self, message: str) -> None:
        self._unjudged = readable(message)
        self.settle("error", self._unjudged)
