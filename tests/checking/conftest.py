"""Judge texts as if they were files."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import SHORT, Judge

from course.checking.judging import judge_files
from course.checking.results import FileResult
from course.grading.limits import Limits


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Judge texts as files, in their order; a file's name is its number."""

    def run(*sources: str | bytes, challenge: str | None = None, limits: Limits = SHORT) -> list[FileResult]:
        paths = []
        for number, source in enumerate(sources):
            path = tmp_path / f"{number}.py"
            path.write_bytes(source if isinstance(source, bytes) else source.encode())
            paths.append(str(path))
        return judge_files(paths, challenge, seed=5, workers=2, limits=limits)

    return run
