"""One thread for every library, or as many as the parent process asks for."""

import os

from course.processors import ONE_THREAD

_ASKED = "DECODING_THREADS"


def threads() -> int:
    """How many threads each contender computes with."""
    return int(os.environ.get(_ASKED, "1"))


def set_threads() -> None:
    """Tell the libraries that are not imported yet, whatever the environment said before."""
    os.environ |= dict.fromkeys(ONE_THREAD, str(threads()))


def environment(count: int) -> dict[str, str]:
    """The environment of a child process that computes with `count` threads."""
    return os.environ | {_ASKED: str(count)}
