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
    seconds : that the last call had.
    """

    def __init__(
        self, worker: Worker, most: float, names: Mapping[str, str], *, together: float = inf
    ) -> None:
        self._worker, self._most, self._names = worker, most, dict(names)
        self._end = time.monotonic() + together
        self.seconds = most

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `course.checks.Candidate.call`.

        Raises WorkerEndedError as well, which a check does not know: it ends the check.
        """
        self.seconds = max(0.0, min(self._most, self._end - time.monotonic()))
        name = self._names.get(function, function)
        return self._worker.call(function, name, arguments, keywords, self.seconds)

    def value(self, name: str) -> object:
        """A variable, as plain data. Raises StudentError where there is none; WorkerEndedError."""
        self.seconds = self._most
        return self._worker.value(name, self.seconds)
