"""Runs a student's cells and functions where they can do no harm.

This is the trusted side; `course.grading.inside` runs in the sandbox, and gets plain data only.
"""

from course.grading.sandbox.bubblewrap import require_bubblewrap
from course.grading.sandbox.candidate import SandboxedCandidate
from course.grading.sandbox.sandbox import Sandbox
from course.grading.sandbox.worker import CellRun, Worker, WorkerEndedError

__all__ = ["CellRun", "Sandbox", "SandboxedCandidate", "Worker", "WorkerEndedError", "require_bubblewrap"]
