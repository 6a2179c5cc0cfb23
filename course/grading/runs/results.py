"""Keeps what came of a notebook: its files, its scores in the gradebook, and last of all its record."""

from dataclasses import replace

from course.grading.feedback import feedback_page
from course.grading.gradebook.writer import GradebookWriter
from course.grading.masters import Master
from course.grading.rebuilding.frame import failed_notebook
from course.grading.records import Record, Status, append
from course.grading.runs.folder import ClassFolder
from course.grading.standing import Standing
from course.keeping import Keeper

_RECEIPT = ("timestamp.txt", "submission_secret.txt")
_MOST_BYTES = 10_000  # of each of them


class Results:
    """Where a run puts its results.

    Each step may be the last one before the process is killed: what has no record yet is graded again, and
    then written over. What a person changed since we wrote it is set aside first.
    """

    def __init__(
        self, folder: ClassFolder, writer: GradebookWriter, masters: list[Master], keeper: Keeper
    ) -> None:
        self._folder, self._writer, self._keeper = folder, writer, keeper
        self._masters = {(master.assignment, master.name): master for master in masters}

    def keep(self, record: Record, autograded: bytes | None = None, *, resubmitted: bool = False) -> Standing:
        """Write down a result, and say how its notebook stands with what persons gave.

        autograded : the graded notebook; None where nothing could be run.
        resubmitted : whether it is of another file than the result before it.
        """
        if record.status == Status.MISSING:
            self._keeper.remove(self._folder.autograded(record))
            self._keeper.remove(self._folder.page(record))
            stands = self._writer.write(record)
        else:
            master = self._masters[record.assignment, record.notebook]
            notebook = autograded or failed_notebook(master, record.problem)
            self._keeper.write(self._folder.autograded(record), notebook)
            stands = self._writer.write(record, resubmitted=resubmitted)
            self._write_page(stands, notebook)
        append(self._folder.records, [record])
        return stands

    def confirm(self, old: Record, handed_in: str | None) -> Standing:
        """See to it that a result from before is in this gradebook, and say how its notebook stands.

        handed_in : when, as it is written down now.
        """
        # The result itself does not depend on it, so nothing has to run again.
        record = replace(old, handed_in=handed_in)
        if not self._writer.holds(record):
            self._writer.write(record)
            self.renew_page(record)
        if record != old:
            append(self._folder.records, [record])
        return self._writer.standing(record)

    def renew_page(self, record: Record) -> None:
        """Write the student's page once more, with what persons gave since.

        Raises OSError if the graded notebook is not there any more.
        """
        if record.status != Status.MISSING:
            self._write_page(self._writer.standing(record), self._folder.autograded(record).read_bytes())

    def _write_page(self, stands: Standing, notebook: bytes) -> None:
        record = stands.record
        master = self._masters[record.assignment, record.notebook]
        page = feedback_page(record, notebook, stands.manual, master.handed_out)
        self._keeper.write(self._folder.page(record), page)
        self._copy_receipt(record)

    def _copy_receipt(self, record: Record) -> None:
        """Lay beside a page what `nbgrader release_feedback` finds its student by, if `collect` left it."""
        collected = self._folder.submitted / record.student / record.assignment
        for name in _RECEIPT:
            path = collected / name
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
                self._keeper.write(self._folder.page(record).with_name(name), path.read_bytes())
