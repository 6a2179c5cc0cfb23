"""Judges mutants by the hidden checks, in a process of its own that an endless loop takes down with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from course.checks import DirectCandidate, checks_of, run_check

CPU_LIMIT = 3.0  # seconds a mutant and a seed; the reference solutions take a tenth of one
MEMORY_LIMIT = 4 * 2**30

SURVIVED = "survived"
ENDLESS = "endless"


class Judge:
    """The process that runs mutants, and a new one after each that did not come back."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def verdict(self, challenge: str, function: str, code: str, seed: int) -> str:
        """SURVIVED, ENDLESS, or the first check that costs a point: "failed greedy", "error greedy".

        function : the one that was changed; its own checks come first.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mutation.judge"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([challenge, function, code, seed]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if answer:
            return str(json.loads(answer))
        self.close()
        return ENDLESS

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def judge(challenge: str, function: str, code: str, seed: int) -> str:
    """See `Judge.verdict`; in this process, and with nothing to end an endless loop."""
    namespace: dict[str, Any] = {"__name__": "mutant"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has something to say about `x is 0`
            exec(compile(code, "mutant.py", "exec", dont_inherit=True), namespace)
    except Exception:
        return "error at its definition"
    solutions: Mapping[str, Any] = {name: value for name, value in namespace.items() if callable(value)}
    for check in sorted(checks_of(challenge), key=lambda check: check.function != function):
        result = run_check(check, DirectCandidate(solutions), seed)
        if result.status != "passed":
            return f"{result.status} {check.name}"
    return SURVIVED


def _serve() -> None:
    """Judge what comes in on standard input, a line a mutant and a seed."""
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)  # by default its signal ends the process
        answer = judge(*json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
