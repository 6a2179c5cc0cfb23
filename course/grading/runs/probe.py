"""Asks of a machine, before it grades, whether it can."""

from course.grading.errors import GradingError, SandboxError, SandboxUnavailableError
from course.grading.jobs.checks_version import checks_sha256
from course.grading.limits import Limits
from course.grading.sandbox import Sandbox


def probe(checks: str, seed: int, limits: Limits, bubblewrap: bool) -> None:
    """Raises GradingError if this machine has other checks, or a sandbox does not work here.

    checks : hash of the checks that the run grades with.
    """
    if checks_sha256(seed) != checks:
        raise GradingError(
            "it has other checks or questions than the machine that the run was started on. "
            "Install the same version of the course on both."
        )
    try:
        with Sandbox(limits, bubblewrap=bubblewrap) as sandbox, sandbox.open():
            pass
    except SandboxError as error:
        raise SandboxUnavailableError(
            f"The sandbox for student code does not work here: {error}. Where a container or the system "
            "forbids it (`unprivileged user namespaces`), it has to be allowed. To run what students wrote "
            "with your own rights instead, ask for it: --no-sandbox."
        ) from error
