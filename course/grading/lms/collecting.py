"""What `course collect` does: put what a platform handed out where grading looks for it."""

import os
import stat
import zipfile
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from nbgrader.utils import parse_utc

from course.grading.errors import GradingError
from course.grading.lms.archive import Source, UnreadableError
from course.grading.lms.marks import Numbers
from course.grading.lms.people import People
from course.grading.lms.senders import Senders
from course.grading.lms.sorting import HandedIn, Left, sort_out
from course.keeping import Keeper

_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"  # as nbgrader's own collect writes it


class Outcome(StrEnum):
    """What became of a notebook."""

    NEW = "new"
    REPLACED = "replaced an older one"
    SAME = "the same as before"
    KEPT = "kept"


@dataclass
class Collected:
    """One student's notebooks: what became of each, and whether the platform says that one is late."""

    student: str
    notebooks: dict[str, Outcome] = field(default_factory=dict)
    late: bool = False


@dataclass(frozen=True)
class Haul:
    """What was collected, and what was left where it is, each with a reason.

    taken : each notebook that was collected, and what became of it.
    remarks : a sentence about each thing in the list of students that is probably a mistake.
    """

    students: list[Collected]
    left: list[Left]
    taken: list[tuple[HandedIn, Outcome]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def counts(self) -> Counter[Outcome]:
        """How many notebooks ended how."""
        return Counter(outcome for each in self.students for outcome in each.notebooks.values())


def collect(
    source: Path,
    submitted: Path,
    assignment: str,
    notebooks: Collection[str],
    people: People | None = None,
    *,
    numbers: Numbers = None,
    timestamps: bool = False,
    dry_run: bool = False,
) -> Haul:
    """Collect from a folder or a zip into `submitted/<student>/<assignment>/`, or say what that would do.

    A notebook that lies there already is replaced only by one of a later time.

    numbers : whether the platform's numbers are the users' own; None: see `marks.number`.
    timestamps : take the times in a platform's zip, which are those of the download, for those of handing in.

    Raises GradingError if the source cannot be opened.
    """
    with Source(source) as opened, Keeper(submitted.parent) as keeper:
        try:
            there = [entry.name for entry in submitted.iterdir()] if submitted.is_dir() else []
            handed_in, left = sort_out(opened.files(), assignment, notebooks, people, there, numbers)
        except zipfile.BadZipFile:
            raise GradingError(f"{source} is no folder, and no whole zip.") from None
        except OSError as error:
            raise GradingError(f"{error.filename or source} cannot be opened: {error.strerror}.") from None
        senders = Senders(submitted.parent, assignment, numbers)
        handed_in, others = senders.without_others(handed_in)
        left += others
        students: dict[str, Collected] = {}
        taken: list[tuple[HandedIn, Outcome]] = []
        for each in handed_in:
            folder = submitted / each.student / assignment
            try:
                outcome, reason = _place(each, folder, timestamps or not each.from_platform, keeper, dry_run)
            except UnreadableError as error:
                left.append(Left(each.found.shown, str(error), each.fits))
                continue
            except OSError as error:
                reason = f"{folder} cannot be written: {error.strerror}"
                left.append(Left(each.found.shown, reason, each.fits))
                continue
            if not dry_run:
                senders.remember(each)
            student = students.setdefault(each.student, Collected(each.student))
            student.notebooks[each.notebook] = outcome
            student.late |= each.late
            if outcome is Outcome.KEPT:
                left.append(Left(each.found.shown, reason, each.fits))
            taken.append((each, outcome))
        remarks = people.remarks() if people else []
        return Haul(list(students.values()), sorted(left, key=lambda each: each.shown), taken, remarks)


def _place(each: HandedIn, folder: Path, stamped: bool, keeper: Keeper, dry_run: bool) -> tuple[Outcome, str]:
    """Put one notebook into its folder, unless what is there is as new; says what was done, and why not."""
    path = folder / f"{each.notebook}.ipynb"
    if any(place.is_symlink() for place in (path, folder, folder.parent)):
        raise UnreadableError(f"{folder} has a link in its place; links are not followed")
    data, time = each.found.read(), each.found.time
    outcome = Outcome.NEW
    with suppress(FileNotFoundError):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError(f"{path} is there already, and no file")
        there = datetime.fromtimestamp(status.st_mtime, UTC)
        if path.read_bytes() == data:
            outcome = Outcome.SAME
        elif time is None:
            return Outcome.KEPT, f"it does not say when it was written; {path} was kept"
        elif _seconds(time) <= _seconds(there):
            if _seconds(time) == _seconds(there):
                return Outcome.KEPT, f"it is another file of the same time as {path}, which was kept"
            reason = f"it is of {time:%Y-%m-%d %H:%M} UTC, and {path} is of {there:%Y-%m-%d %H:%M} UTC"
            return Outcome.KEPT, f"{reason}, which was kept"
        else:
            outcome = Outcome.REPLACED
    if not dry_run and outcome is not Outcome.SAME:
        # The stamp first: of a run that is killed between the two, the next one does both again.
        if time is not None and stamped:
            _stamp(folder / "timestamp.txt", time, keeper)
        keeper.write(path, data)
        if time is not None:
            # The file's own time tells a later upload from an earlier one at the next collect.
            os.utime(path, (time.timestamp(), time.timestamp()))
    return outcome, ""


def _stamp(path: Path, time: datetime, keeper: Keeper) -> None:
    """Write down when the assignment was handed in: when the last of its notebooks was."""
    with suppress(OSError, ValueError, OverflowError):
        if parse_utc(path.read_text(encoding="utf-8").strip()) >= time.replace(tzinfo=None):
            return
    keeper.write(path, time.strftime(_FORMAT).encode())


def _seconds(time: datetime) -> int:
    return int(time.timestamp())
