"""Runs a student's cells, files and functions where they can do no harm.

This is the trusted side; `course.grading.inside` runs in the sandbox, and gets plain data only.

    bubblewrap  the command that starts a process in the sandbox
    sandbox     starts it, and has it fork a worker for each notebook or file
    worker      asks one worker: to run cells or a file, for a variable, for a call
    served      the models and caches that stay here while a student's function works with them
    candidate   a worker's functions, as the checks call them
    session     brings a fresh worker where the last one ended, and runs the checks
    file        a session for a plain Python file
"""

from course.grading.sandbox.bubblewrap import require_bubblewrap, why_not
from course.grading.sandbox.candidate import SandboxedCandidate
from course.grading.sandbox.file import FileSession
from course.grading.sandbox.sandbox import Sandbox, drop_sandbox, sandbox_of_this_thread
from course.grading.sandbox.session import CheckLostError, ExhaustedError, Session, Turns
from course.grading.sandbox.worker import CellRun, Worker, WorkerEndedError

__all__ = [
    "CellRun",
    "CheckLostError",
    "ExhaustedError",
    "FileSession",
    "Sandbox",
    "SandboxedCandidate",
    "Session",
    "Turns",
    "Worker",
    "WorkerEndedError",
    "drop_sandbox",
    "require_bubblewrap",
    "sandbox_of_this_thread",
    "why_not",
]
