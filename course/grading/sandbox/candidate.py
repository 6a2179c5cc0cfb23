"""A student's solution that runs in a sandbox, for the checks."""

import time
from collections.abc import Mapping
from math import inf

from course.checks.candidate import Call
from course.grading.sandbox.worker import Worker


class SandboxedCandidate:
    """See `course.checks.Candidate`. Each of its calls has its limit, and all of them together have one.

    names : the variables that hold the functions, by what the checks call them.
    most : seconds of one call.
    together : seconds of all calls.
    seconds : after which the last call was to be stopped: those of a call, or of all calls if they ran out.
    """

    def __init__(
        self, worker: Worker, most: float, names: Mapping[str, str], *, together: float = inf
    ) -> None:
        self._worker, self._most, self._names = worker, most, dict(names)
        self._together, self._end = together, time.monotonic() + together
        self.seconds = most

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `course.checks.Candidate.call`.

        Raises WorkerEndedError as well, which a check does not know: it ends the check.
        """
        left = self._end - time.monotonic()
        self.seconds = self._most if self._most <= left else self._together
        name = self._names.get(function, function)
        return self._worker.call(function, name, arguments, keywords, min(self._most, max(0.0, left)))

    def value(self, name: str) -> object:
        """A variable, as plain data. Raises StudentError where there is none; WorkerEndedError."""
        self.seconds = self._most
        return self._worker.value(name, self.seconds)
