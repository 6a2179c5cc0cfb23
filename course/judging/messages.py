"""What the student reads where not a check speaks, but whoever runs it."""

from __future__ import annotations

import os
import signal
from typing import Literal

from course.judging.limits import MEBI, Limits
from course.judging.process import Ending

_SIGNALS = {
    signal.SIGSEGV: "a crash inside Python or a library, as endless recursion can bring about",
    signal.SIGKILL: "as the system does where memory runs out",
    signal.SIGXCPU: "its processor time was used up",
}


def of_ending(ending: Ending, where: str, limits: Limits) -> tuple[Literal["error", "timeout"], str]:
    """Status and message for a process that ended before its time; `where`, like "in this check"."""
    if ending.kind == "timeout":
        return "timeout", (
            f"Stopped {where} after {ending.seconds:.3g} seconds without an end. Is there a loop that never "
            "ends, or a call that waits?"
        )
    if ending.kind == "garbled":
        return "error", f"The code disturbed the process that runs it {where}: its report could not be read."
    if ending.kind == "crowded":
        return "error", f"Stopped {where}: the code started more than {limits.processes} processes."
    if ending.code < 0:
        number = -ending.code
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        hint = _SIGNALS.get(number)  # type: ignore[call-overload]
        return "error", f"Python was ended by {name} {where}" + (f": {hint}." if hint else ".")
    if ending.code == os.EX_SOFTWARE:
        return "error", f"Python could not go on {where}, for example because memory ran out."
    return "error", (
        f"The code ended Python itself {where}, with exit status {ending.code}. Is there an `os._exit`?"
    )


IMPORTING = "while the file was imported"
CHECKING = "in this check"
NO_TIME_LEFT = "Not run: the checks before it used up the file's time."


def could_not_import(what: str, line: int | None, text: str) -> str:
    """For a file whose import raised."""
    at = f" in line {line}" if line else ""
    shown = f"\nThe line:      {text.strip()}" if text.strip() else ""
    return (
        f"The file cannot be imported: {what}{at}. Keep only definitions at its top level; what shall run "
        f'when the file is started goes under `if __name__ == "__main__":`.{shown}'
    )


def no_python(what: str, line: int | None, text: str) -> str:
    """For a file that does not compile."""
    at = f" in line {line}" if line else ""
    shown = f"\nThe line:      {text.strip()}" if text.strip() else ""
    return f"The file is not valid Python: {what}{at}.{shown}"


def missing(function: str, defined: object) -> str:
    """For a function that the challenge asks for and the file does not have."""
    if defined is None:
        return f"`{function}` is not defined in this file."
    return f"`{function}` is of type {type(defined).__name__} in this file; a function is needed."


def replaced(names: list[str]) -> str:
    """A note for a file that changes what others use as well."""
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"\nNote:          this file replaces {shown}; the originals were put back."


def too_large(most: int) -> str:
    """For a file that no one has written by hand."""
    return f"The file is larger than {most // MEBI} MB, and was not read."
