"""One sandbox for each test file: starting it is what takes time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small_limits import LIMITS

from course.grading.sandbox import Sandbox, Worker


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as box:
        yield box


@pytest.fixture
def worker(sandbox: Sandbox) -> Iterator[Worker]:
    with sandbox.open() as opened:
        yield opened
