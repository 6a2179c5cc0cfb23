"""A student's solution that runs in a sandbox, for the checks."""

from collections.abc import Mapping

from course.checks.candidate import Call
from course.grading.sandbox.worker import Worker


class SandboxedCandidate:
    """See `course.checks.Candidate`.

    names : the variables of the notebook that hold the functions, by what the checks call them.
    seconds : of one call.
    """

    def __init__(self, worker: Worker, seconds: float, names: Mapping[str, str]) -> None:
        self._worker, self._seconds, self._names = worker, seconds, dict(names)

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `course.checks.Candidate.call`.

        Raises WorkerEndedError as well, which a check does not know: it ends the check.
        """
        name = self._names.get(function, function)
        return self._worker.call(function, name, arguments, keywords, self._seconds)
