"""Writing files so that a reader never meets a half-written one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file in one step: two processes that do it at once both leave a whole file behind."""
    with drafted(path, data) as draft:
        draft.replace(path)


@contextmanager
def drafted(path: Path, data: bytes) -> Iterator[Path]:
    """A draft beside a file that is to take its place; gone afterwards if it did not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(data)
        yield draft
    finally:
        draft.unlink(missing_ok=True)  # what a full disk left behind
