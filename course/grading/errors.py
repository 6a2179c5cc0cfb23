"""The two ways grading stops."""


class SubmissionError(Exception):
    """One submission cannot be graded; the message says why, to its student and to the instructor."""


class GradingError(Exception):
    """Nothing can be graded; the message says to the instructor what is missing and what to do."""


class SandboxUnavailableError(GradingError):
    """There is no sandbox on this machine; the message says how to get one."""


class SandboxError(Exception):
    """A sandbox broke down: our fault or the machine's, not the submission's. Another one may work."""
