"""Which of a class's notebooks a run is about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from course.grading.errors import GradingError
from course.grading.masters import Master
from course.grading.records import Key
from course.grading.runs.folder import ClassFolder
from course.grading.submissions.intake import Submission, collect


@dataclass(frozen=True)
class Selection:
    """Names of students, assignments and notebooks; where there are none, all are meant."""

    students: Sequence[str] = ()
    assignments: Sequence[str] = ()
    notebooks: Sequence[str] = ()

    def masters(self, masters: list[Master]) -> list[Master]:
        """Those of them that are meant. Raises GradingError if a name is no notebook's or assignment's."""
        _all_known("assignment", self.assignments, {master.assignment for master in masters})
        _all_known("notebook", self.notebooks, {master.name for master in masters})
        return [
            master
            for master in masters
            if master.assignment in (self.assignments or [master.assignment])
            and master.name in (self.notebooks or [master.name])
        ]

    def check(self, folder: ClassFolder) -> None:
        """Raises GradingError if there is no folder of submissions, or a student has none in it."""
        if not folder.submitted.is_dir():
            raise GradingError(
                f"There is no {folder.submitted}. Submissions belong in "
                "submitted/<student>/<assignment>/<notebook>.ipynb; "
                "`course grade sample_class` shows it at work."
            )
        if self.students:
            _all_known("student", self.students, {path.name for path in folder.submitted.iterdir()})

    def submissions(self, folder: ClassFolder, masters: list[Master]) -> Iterator[Submission]:
        """What the students that are meant handed in for these masters, read one by one."""
        for submission in collect(folder.submitted, masters):
            if submission.student in (self.students or [submission.student]):
                yield submission


def key_of(submission: Submission) -> Key:
    """Whose notebook it is, as in its record."""
    return submission.student, submission.master.assignment, submission.master.name


def _all_known(kind: str, names: Sequence[str], known: set[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        there_are = ", ".join(sorted(known)[:20]) or "none"
        more = f" and {len(known) - 20} more" if len(known) > 20 else ""
        raise GradingError(f"There is no {kind} {', '.join(unknown)}; there are {there_are}{more}.")
