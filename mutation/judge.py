"""Judges mutants by the hidden checks, each in a worker of the sandbox that grading uses."""

from __future__ import annotations

from types import TracebackType

from course.checks import checks_of
from course.grading.limits import Limits
from course.grading.sandbox import CheckLostError, FileSession, Sandbox, Turns, why_not

LIMITS = Limits(call_seconds=5.0, checks_seconds=60.0, least_seconds=20.0)
SURVIVED = "survived"
ENDLESS = "endless"


class Judge:
    """Runs mutants, each in a worker of its own."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(LIMITS, bubblewrap=not why_not())

    def verdict(self, challenge: str, function: str, code: str, seed: int) -> str:
        """SURVIVED, ENDLESS, or the first check that costs a point: "failed greedy", "error greedy".

        function : the one that was changed; its own checks come first.
        """
        checks = sorted(checks_of(challenge), key=lambda check: check.function != function)
        names = [check.function for check in checks]
        session = FileSession(self._sandbox, LIMITS, seed, "mutant.py", code.encode(), names)
        try:
            if session.load().broken:
                return "error at its definition"
            turns = Turns(session, LIMITS, len(checks))
            for check in checks:
                result = turns.run(check, seed, {})
                if result.status == "timeout":
                    return ENDLESS
                if result.status != "passed":
                    return f"{result.status} {check.name}"
            return SURVIVED
        except CheckLostError as lost:
            return ENDLESS if lost.status == "timeout" else "error at its definition"
        finally:
            session.close()

    def close(self) -> None:
        """End the sandbox."""
        self._sandbox.close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
