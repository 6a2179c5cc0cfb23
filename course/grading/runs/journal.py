"""Keeps what nbgrader has to say off the screen and in a file."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def logging_to(path: Path | None) -> Iterator[None]:
    """Send every log message and warning to a file for a while, and nowhere else; None is nowhere at all."""
    handler = (
        logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
        if path
        else logging.NullHandler()
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    top = logging.getLogger()
    handlers, level = top.handlers, top.level
    top.handlers = [handler]
    top.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        logging.captureWarnings(False)
        top.handlers = handlers
        top.setLevel(level)
        handler.close()
