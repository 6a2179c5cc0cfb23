"""`course collect`: take in what Canvas or Moodle handed out, or a plain tree of folders."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from course.files import ROOT

if TYPE_CHECKING:
    from course.grading.lms.collecting import Haul

_ABOUT = """\
Put submissions into submitted/<student>/<assignment>/<notebook>.ipynb. SOURCE is a folder or a zip:

Canvas   Assignment > Download Submissions: lovelaceada_12345_678901_05-append-then-predict.ipynb
Moodle   Submissions > Download all submissions, with or without folders:
         Ada Lovelace_12345_assignsubmission_file/05-append-then-predict.ipynb
else     <student>/<notebook>.ipynb or <student>/<assignment>/<notebook>.ipynb

A student may have handed in a zip of notebooks. Nothing in SOURCE is changed. What cannot be matched is
named, with the reason, and stays where it is. A notebook in submitted/ is replaced only by a later one.

Beside the notebooks timestamp.txt says when they were handed in, for late penalties. Canvas and Moodle do not
write that into their zips but the time of the download, so of their files it is left out.

With --students a file is a student's only if its name, number, e-mail and id all agree with the list, as far
as both have them. If one of them is another student's, the file is left, and both are named. The number in a
Canvas file is the user's. The number in a Moodle file need not be, so it points to nobody by itself; but if
the list gives it to another student than the name, the file is left. --numbers changes what numbers mean.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "collect",
        help="take in the submissions that Canvas or Moodle handed out",
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", type=Path, metavar="SOURCE")
    parser.add_argument(
        "--into", type=Path, default=ROOT, metavar="FOLDER", help="the class; default: the course"
    )
    parser.add_argument("--assignment", metavar="NAME", help="default: the only one that there is")
    parser.add_argument(
        "--students",
        type=Path,
        metavar="FILE",
        help="CSV with the columns id, first_name, last_name, email, lms_user_id: who is in the class. "
        "Without, the name that the platform gives is the student's id.",
    )
    parser.add_argument(
        "--timestamps",
        action="store_true",
        help="take the times in a zip of Canvas or Moodle for those of handing in",
    )
    parser.add_argument(
        "--numbers",
        choices=["users", "ignore"],
        help="users: the platform's numbers are the users' own, as in lms_user_id; ignore: they are "
        "something else. Default: users for Canvas; for Moodle a number proves nothing, but can contradict",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="write nothing; show a table of what points to whom and what would be done",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Collect, and print a line for each student and each file that was left; for a dry run, a table."""
    from rich.console import Console

    from course.building import refresh_masters
    from course.building.outputs import MASTERS
    from course.grading.errors import GradingError
    from course.grading.lms.collecting import collect
    from course.grading.lms.looking import show
    from course.grading.lms.roster import read_roster
    from course.grading.lms.targets import assignment_in

    try:
        refresh_masters(ROOT)
        assignment, notebooks = assignment_in(ROOT / MASTERS, options.assignment)
        haul = collect(
            options.source,
            options.into.resolve() / "submitted",
            assignment,
            notebooks,
            read_roster(options.students) if options.students else None,
            numbers=options.numbers,
            timestamps=options.timestamps,
            dry_run=options.dry_run,
        )
    except GradingError as error:
        print(error, file=sys.stderr)
        return 1
    for remark in haul.remarks:
        print(remark)
    if options.dry_run:
        console = Console()
        # In a file or a pipe there is no edge to wrap at; wider lines would be hard to read.
        show(haul, console if console.is_terminal else Console(width=100))
    else:
        _say(haul)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(haul.counts().items())) or "none"
    students, left = _count(len(haul.students), "student"), _count(len(haul.left), "file")
    print(f"{students}, notebooks: {counts}; {left} left.")
    if options.dry_run:
        print("Nothing was written.")
    return 0 if haul.students else 1


def _say(haul: "Haul") -> None:
    from course.grading.lms.collecting import Outcome

    for student in haul.students:
        outcomes = [
            f"{outcome}: {', '.join(name for name, each in student.notebooks.items() if each is outcome)}"
            for outcome in Outcome
            if outcome in student.notebooks.values()
        ]
        late = " (the platform says late)" if student.late else ""
        print(f"{student.student}{late}: {'; '.join(outcomes)}")
    if haul.left:
        print("Left where it is:")
        for file in haul.left:
            print(f"  {file.shown}: {file.reason}.")


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"
