"""A reader of their own for each test: nothing here looks at, or changes, the progress of whoever runs it."""

from pathlib import Path

import pytest

from course.study.store import FOLDER_VARIABLE


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that progress is kept in; it does not exist yet, nor does its folder."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))
    return tmp_path / "data" / "progress.json"
