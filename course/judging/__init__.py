"""Judge plain Python files that define a student's functions: the work behind `course check`.

Each file runs in a process of its own, which the checks share with the student's code. An endless loop, a
crash or `os._exit` stops nothing; but a file that sets out to deceive the checks can. This door is for people
who try their own code, and for tests: it trusts its files. Grading strangers is the sandbox's job.

    pool       hands the files to as many servers as there are workers
    server     has everything imported, and judges one file after the other
    judge      starts the file's process, and starts it again where a check ended it
    process    forks that process, follows it, and leaves no descendant of it alive
    solution   in that process: imports the file and runs the checks
"""

from course.judging.limits import Limits
from course.judging.pool import judge_files
from course.judging.results import CheckOutcome, FileResult

__all__ = ["CheckOutcome", "FileResult", "Limits", "judge_files"]
