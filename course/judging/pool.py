"""Hand files to servers, and give their results in the order of the files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from course.checks.registry import CHALLENGES
from course.judging.limits import Limits
from course.judging.results import CheckOutcome, FileResult
from course.processors import ONE_THREAD

_ROOT = Path(__file__).resolve().parents[2]
_GONE = "The process that judged this file was ended from outside, or by the file."


def judge_files(
    files: Sequence[str],
    challenge: str | None,
    *,
    seed: int,
    workers: int,
    limits: Limits | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[FileResult]:
    """Judge files in parallel; the results are in the order of the files.

    challenge : the challenge to check; None to find it for each file from the names of its functions.
    progress : called with the number of files that are done.
    """
    idle: SimpleQueue[_Server] = SimpleQueue()

    def judge_next(file: str) -> FileResult:
        server = idle.get()
        try:
            return server.judge(file, challenge, seed, limits or Limits())
        finally:
            idle.put(server)

    count = max(1, min(workers, len(files)))
    with ThreadPoolExecutor(count) as threads, ExitStack() as stack:
        for _ in range(count):
            idle.put(stack.enter_context(_Server()))
        results = []
        try:
            for result in threads.map(judge_next, files):
                results.append(result)
                progress(len(results))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
        return results


class _Server:
    """A server process; a new one where the old one is gone."""

    def __enter__(self) -> _Server:
        self._closed = False
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        self._end()

    def judge(self, file: str, challenge: str | None, seed: int, limits: Limits) -> FileResult:
        """Judge one file."""
        job = {"path": file, "challenge": challenge, "seed": seed, "limits": asdict(limits)}
        try:
            self._stdin.write(json.dumps(job) + "\n")
            self._stdin.flush()
            line = self._stdout.readline()
            return FileResult.from_plain(json.loads(line))
        except (OSError, ValueError):
            self._end()
            if not self._closed:
                self._start()
        checks = CHALLENGES.get(challenge or "", ())
        lost = [CheckOutcome.of(check, "error", None, _GONE) for check in checks]
        return FileResult(file, challenge, tuple(lost or [CheckOutcome.of_file(_GONE)]), judged=False)

    def _start(self) -> None:
        # -P: a file named numpy.py in the working folder is a solution, and not NumPy.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "course.judging.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait()
        with suppress(OSError, ValueError):
            self._stdout.close()
            self._stdin.close()


def _environment() -> dict[str, str]:
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    fixed = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
    return {**os.environ, **ONE_THREAD, **fixed}
