"""Judges one file, and many at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from course.checking.detection import ALL_FUNCTIONS, UnknownChallengeError, challenge_of
from course.checking.results import FileResult
from course.checks.check import Check, CheckResult, Status
from course.checks.message import Message
from course.checks.registry import CHALLENGES
from course.grading.errors import SandboxError
from course.grading.limits import MEBI, Limits
from course.grading.runs.processes import LocalPool
from course.grading.sandbox import (
    CheckLostError,
    FileSession,
    Turns,
    drop_sandbox,
    sandbox_of_this_thread,
    why_not,
)
from course.grading.sandbox.worker import Broken, Loaded
from course.text import readable

LARGEST_SOURCE = 4 * MEBI
LONGEST_MESSAGE = 8_000
_MOST_NAMED = 4
_GONE = "The process that judged this file was ended from outside, or by the file."


@dataclass(frozen=True)
class Task:
    """One file to be judged, in plain data: it travels to another process as it is.

    file : its name as it was given.
    challenge : the challenge to check; None to find it from the names of the file's functions.
    seed : of the checks' inputs.
    folders : of all the files that are judged together.
    bubblewrap : whether there is a sandbox.
    """

    file: str
    challenge: str | None
    seed: int
    folders: tuple[Path, ...]
    bubblewrap: bool
    limits: Limits = field(default_factory=Limits)


def judge_files(
    files: Sequence[str],
    challenge: str | None,
    *,
    seed: int,
    workers: int,
    limits: Limits | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[FileResult]:
    """Judge files in parallel; the results are in the order of the files.

    challenge : see `Task`.
    progress : called with the number of files that are done.
    """
    folders = tuple(sorted({Path(file).resolve().parent for file in files}))
    problem = why_not()
    tasks = [Task(file, challenge, seed, folders, not problem, limits or Limits()) for file in files]
    note = f"The code ran without a sandbox, with your own rights, because {problem}." if problem else ""
    results = []
    with LocalPool(max(1, min(workers, len(files))), judge, None) as pool:
        under_way = [(task, pool.submit(task)) for task in tasks]
        for task, future in under_way:
            try:
                result = pool.result(future)
            except pool.lost:  # through this file, or another one
                result = _judged_alone(task, pool)
            results.append(replace(result, note=note))
            progress(len(results))
    return results


def _judged_alone(task: Task, pool: LocalPool[Task, FileResult]) -> FileResult:
    try:
        return pool.result(pool.submit(task))
    except pool.lost:
        return _unjudged(task, task.challenge, _GONE)


def judge(task: Task) -> FileResult:
    """Run all checks on a file. Whatever it does, the answer is a FileResult."""
    path = Path(task.file).resolve()
    try:
        with path.open("rb") as file:
            source = file.read(LARGEST_SOURCE + 1)
    except OSError as error:
        return _unjudged(task, task.challenge, f"The file cannot be read: {error.strerror or error}.")
    if len(source) > LARGEST_SOURCE:
        too_large = f"The file is larger than {LARGEST_SOURCE // MEBI} MB, and was not read."
        return _unjudged(task, task.challenge, too_large)
    try:
        sandbox = sandbox_of_this_thread(task.limits, bubblewrap=task.bubblewrap, folders=task.folders)
        session = FileSession(sandbox, task.limits, task.seed, sandbox.inside(path), source, ALL_FUNCTIONS)
        try:
            return _judged(task, session)
        finally:
            session.close()
    except SandboxError:
        drop_sandbox()
        return _unjudged(task, task.challenge, _GONE)


def _judged(task: Task, session: FileSession) -> FileResult:
    challenge, unknown = task.challenge, ""
    try:
        challenge = challenge or challenge_of(session.defined())
    except UnknownChallengeError as error:
        if error.found:
            return _unjudged(task, None, str(error))
        unknown = str(error)
    except CheckLostError as lost:
        return _unjudged(task, None, str(lost))

    try:
        loaded = session.load()
    except CheckLostError as lost:
        if challenge is None:
            return _unjudged(task, None, str(lost))
        return _all_alike(task, challenge, lost.status, Message(str(lost)))
    if loaded.broken:
        message = _import_error(loaded.broken)
        if challenge is None:
            return _unjudged(task, None, replace(message, sentence=f"{unknown}\n{message.sentence}"))
        return _all_alike(task, challenge, "error", message)
    if challenge is None:
        try:  # perhaps its functions come from another file beside it
            challenge = challenge_of(name for name, kind in loaded.kinds.items() if not kind)
        except UnknownChallengeError as error:
            return _unjudged(task, None, str(error))
    return FileResult(task.file, challenge, _checked(task, challenge, session, loaded))


def _checked(task: Task, challenge: str, session: FileSession, loaded: Loaded) -> tuple[CheckResult, ...]:
    checks = CHALLENGES[challenge]
    turns = Turns(session, task.limits, len(checks))
    results = []
    for check in checks:
        if loaded.kinds.get(check.function) == "":
            result = turns.run(check, task.seed, {})
        else:
            result = CheckResult.of(check, "error", _missing(check, loaded))
        message = result.message
        if message and session.replaced:
            message = replace(message, note=_replaced(session.replaced))
        results.append(replace(result, message=message.each(_readable)))
    return tuple(results)


def _all_alike(task: Task, challenge: str, status: Status, message: Message) -> FileResult:
    """For a file whose checks all end in the same way."""
    told = message.each(_readable)
    return FileResult(
        task.file, challenge, tuple(CheckResult.of(check, status, told) for check in CHALLENGES[challenge])
    )


def _unjudged(task: Task, challenge: str | None, message: Message | str) -> FileResult:
    """For a file that no check looked at."""
    told = (Message(message) if isinstance(message, str) else message).each(_readable)
    if challenge is not None:
        return replace(_all_alike(task, challenge, "error", told), judged=False)
    whole = CheckResult("", "file", "", 0, 0, "error", None, told)
    return FileResult(task.file, None, (whole,), judged=False)


def _import_error(broken: Broken) -> Message:
    at = f" in line {broken.line}" if broken.line else ""
    shown = broken.text.strip()
    line = (("The line", shown),) if shown else ()
    if not broken.python:
        return Message(f"The file is not valid Python: {broken.what}{at}.", line)
    sentence = (
        f"The file cannot be imported: {broken.what}{at}. Keep only definitions at its top level; what shall "
        'run when the file is started goes under `if __name__ == "__main__":`.'
    )
    return Message(sentence, line)


def _missing(check: Check, loaded: Loaded) -> str:
    if kind := loaded.kinds.get(check.function):
        return f"`{check.function}` is of type {kind} in this file; a function is needed."
    return f"`{check.function}` is not defined in this file."


def _replaced(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"this file replaces {', '.join(names[:_MOST_NAMED])}{more}; the originals were put back."


def _readable(text: str) -> str:
    return readable(text, LONGEST_MESSAGE)
