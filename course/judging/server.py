"""`python -m course.judging.server`: judge files as they are named on standard input, a JSON object a line.

Everything is imported once, here; a file costs a fork. The process has one thread, so that it can be forked
at any time, and judges one file at a time, so that every descendant it finds belongs to that file.
"""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict
from typing import NoReturn

from course.judging import descendants
from course.judging.judge import judge
from course.judging.limits import Limits


def serve() -> None:
    """Answer each job, {"path": ..., "challenge": ..., "seed": ..., "limits": {...}}, with a FileResult."""
    descendants.adopt()
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's: whoever asked will end us
    for line in sys.stdin:
        job = json.loads(line)
        result = judge(job["path"], job["challenge"], job["seed"], Limits(**job["limits"]))
        print(json.dumps(asdict(result)), flush=True)


def _leave(number: int, frame: object) -> NoReturn:
    """End by an exception, so that a file's process is ended on the way out."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    serve()
