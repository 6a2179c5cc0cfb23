"""What a student reads where not a check speaks, but whoever runs it."""

from course.grading.limits import Limits
from course.grading.sandbox import WorkerEndedError
from course.grading.sandbox.session import seconds_in_words as in_words
from course.text import readable

_LONGEST_REASON = 300


def not_defined(name: str) -> str:
    """For an answer that the notebook does not hold."""
    return f"This check looks at `{name}`, which is not defined in your notebook."


def cell_interrupted(label: str, seconds: float) -> str:
    """For a cell that ran too long, and could be stopped."""
    how = f"ran for more than {in_words(seconds)} and was interrupted"
    return f"{label} {how}. Is there a loop that never ends?"


def cell_lost(label: str, error: WorkerEndedError, seconds: float) -> str:
    """For a cell that took the whole process with it."""
    if error.kind == "time":
        return (
            f"{label} ran for more than {in_words(seconds)} and could not be interrupted; of what it does "
            "only the definitions were kept."
        )
    reason = readable(str(error), _LONGEST_REASON)
    return f"{label} ended the notebook's process: {reason}. Of what it does only the definitions were kept."


def cells_not_run(labels: list[str], limits: Limits) -> str:
    """For the cells that there was no time for, or no process."""
    which = labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more"
    return (
        f"{which} did not run: the cells before had used up the {in_words(limits.cells_seconds)} that all "
        "cells have together, or ended their process too often."
    )
