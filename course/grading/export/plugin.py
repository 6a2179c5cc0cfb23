"""`nbgrader export`: the rows of `course export`, where a failure is not a zero."""

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from course.grading.export.standing import read_rows
from course.grading.export.table import notebooks_table
from course.grading.records import latest
from course.keeping import Keeper


class StatusExport(ExportPlugin):  # type: ignore[misc]
    """nbgrader's CSV with a row a notebook, its status, and an empty score where there is none."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file that `--to` names, grades.csv if it names none."""
        url = gradebook.engine.url
        in_file = url.get_backend_name() == "sqlite" and url.database
        # grading.jsonl lies beside the gradebook's file; at the root where a server keeps the gradebook.
        folder = Path(url.database).parent if in_file else Path(self.parent.coursedir.root)
        rows = read_rows(
            gradebook,
            latest(folder / "grading.jsonl"),
            folder / self.parent.coursedir.submitted_directory,
            assignments=set(map(str, self.assignment)),
            students=set(map(str, self.student)),
        )
        with Keeper(folder) as keeper:
            keeper.write(Path(self.to or "grades.csv").absolute(), notebooks_table(rows))
