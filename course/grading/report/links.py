"""Links from the report to what there is for each student."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from course.grading.records import Record
from course.grading.runs.folder import ClassFolder


class Links:
    """Addresses as they are seen from the report, percent-encoded; empty for a file that is not there."""

    def __init__(self, folder: Path, report: Path) -> None:
        self._folder, self._from = ClassFolder(folder.resolve()), report.resolve().parent

    def page(self, record: Record) -> str:
        """The student's page."""
        return self._to(self._folder.page(record))

    def notebook(self, record: Record) -> str:
        """The notebook as it was graded."""
        return self._to(self._folder.autograded(record))

    def _to(self, path: Path) -> str:
        return quote(os.fsencode(os.path.relpath(path, self._from))) if os.path.lexists(path) else ""
