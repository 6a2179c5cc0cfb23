"""Marks out: what the gradebook and grading.jsonl say, as CSV for people, for Canvas and for Moodle.

`StatusExport` is the plugin of `nbgrader export`; `course export` writes the same rows, and the
platforms' files. A score is the gradebook's: automatic and manual points and extra credit, less the late
penalty. What has no score is left empty, with the reason beside it, and never a zero.
"""

from course.grading.export.plugin import StatusExport
from course.grading.export.table import COLUMNS

__all__ = ["COLUMNS", "StatusExport"]
