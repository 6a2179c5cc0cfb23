"""Grades one notebook: a pure function of the submission's bytes, the master's bytes and the settings."""

from collections.abc import Callable
from dataclasses import dataclass, field

from course.files import sha256
from course.grading.errors import GradingError, SandboxError, SubmissionError
from course.grading.jobs.checks_version import checks_sha256
from course.grading.jobs.marking import mark
from course.grading.jobs.outputs import Cleaner
from course.grading.jobs.session import CellKind, CellToRun, NotebookSession
from course.grading.jobs.suspicions import suspicions
from course.grading.limits import Limits
from course.grading.masters import Master, normalised, read_master
from course.grading.rebuilding.frame import failed_notebook, graded_notebook
from course.grading.rebuilding.restore import Rebuilt, RebuiltCell, restored
from course.grading.records import CellResult, Finding, Record, Status
from course.grading.sandbox import drop_sandbox, sandbox_of_this_thread
from course.grading.submissions.parse import parse_notebook
from course.text import readable

MOST_FINDINGS = 60
_LONGEST_FINDING = 600


@dataclass(frozen=True)
class Job:
    """All that grading one notebook needs, in plain data: it travels to another machine as it is.

    submission : the file as the student handed it in.
    master : nbgrader's master of it, as a notebook file.
    checks_sha256 : of the checks that whoever made the job has; another worker must have the same.
    seed : the checks draw their inputs from it.
    bubblewrap : False only where the instructor asked for grading without a sandbox.
    notes : what intake found out, a sentence each.
    """

    student: str
    assignment: str
    notebook: str
    submission: bytes
    master: bytes
    checks_sha256: str
    seed: int
    limits: Limits = field(default_factory=Limits)
    bubblewrap: bool = True
    notes: tuple[str, ...] = ()
    handed_in: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What comes of a job: the record, and the notebook as it was graded, with its outputs.

    autograded : a notebook file, the rebuilt notebook; of a submission that could not be graded, the
        master's frame below a cell that says why.
    """

    record: Record
    autograded: bytes


Grade = Callable[[Job], Outcome]


def grade(job: Job) -> Outcome:
    """Grade one notebook in a sandbox; whatever the submission does, the answer is an Outcome.

    Raises GradingError if the master cannot be graded, or this process has other checks than the job was made
    for; SandboxUnavailableError where there is no bubblewrap; SandboxError where the sandbox itself broke,
    twice.
    """
    if job.checks_sha256 != checks_sha256(job.seed):
        raise GradingError(
            "This worker has other checks than the machine that sent the job. Bring both to the same version "
            "of the course."
        )
    master = read_master(job.master, job.assignment, job.notebook)
    notes = [Finding("note", note) for note in job.notes]
    if not master.tests:
        raise GradingError(f"The master {master.name} has nothing to grade.")
    try:
        rebuilt = restored(parse_notebook(job.submission), master)
    except SubmissionError as error:
        record = _record(job, master, Status.FAILED, (), notes, str(error))
        return Outcome(record, failed_notebook(master, record.problem))
    try:
        results, findings, data = _graded(job, master, rebuilt)
    except SandboxError:  # ours, or the machine's: another one may hold
        drop_sandbox()
        results, findings, data = _graded(job, master, rebuilt)
    by_hand = any(result.status == "manual" for result in results)
    status = Status.NEEDS_PERSON if by_hand else Status.GRADED
    return Outcome(_record(job, master, status, results, [*notes, *rebuilt.findings, *findings]), data)


def _graded(
    job: Job, master: Master, rebuilt: Rebuilt
) -> tuple[tuple[CellResult, ...], list[Finding], bytes]:
    """The results, what is worth telling of the run, and the graded notebook."""
    places = [index for index, cell in enumerate(rebuilt.cells) if cell.code is not None]
    to_run = [_to_run(rebuilt.cells[index], index, master) for index in places]
    sandbox = sandbox_of_this_thread(job.limits, bubblewrap=job.bubblewrap)
    asked_for = [name for test in master.tests for name in test.names]
    session = NotebookSession(sandbox, job.limits, job.seed, asked_for)
    try:
        outputs = session.run(to_run)
        results = mark(master.tests, session, job.limits, job.seed)
    finally:
        session.close()
    cleaner = Cleaner()
    shown = {index: cleaner.clean(raw) for index, raw in zip(places, outputs, strict=True)}
    written = [
        (cell.label, cell.code)
        for cell, index in zip(to_run, places, strict=True)
        if rebuilt.cells[index].is_students
    ]
    findings = [*session.findings, *suspicions(written)]
    findings += [Finding("suspicious", f"While it ran, the code {what}.") for what in session.attempts]
    return results, findings, graded_notebook(master, rebuilt.cells, shown, results)


def _to_run(cell: RebuiltCell, index: int, master: Master) -> CellToRun:
    code = cell.code or ""
    # The pictures of the course's own cells are the same for everybody, and most of the time goes into them.
    in_words = not cell.is_solution and normalised(code) in master.handed_out
    name = f" ({cell.grade_id})" if cell.grade_id else ""
    kind: CellKind = "solution" if cell.is_solution else "test" if cell.is_test else "other"
    return CellToRun(f"Cell {index + 1}{name}", code, kind, in_words)


def _record(
    job: Job,
    master: Master,
    status: Status,
    results: tuple[CellResult, ...],
    findings: list[Finding],
    problem: str = "",
) -> Record:
    told = [Finding(finding.kind, readable(finding.text, _LONGEST_FINDING)) for finding in findings]
    more = len(told) - MOST_FINDINGS
    if more > 0:
        told = [*told[:MOST_FINDINGS], Finding("note", f"There is more of this kind: {more} findings.")]
    failed = status == Status.FAILED
    return Record(
        student=job.student,
        assignment=job.assignment,
        notebook=job.notebook,
        status=status,
        score=None if failed else sum(result.points or 0.0 for result in results),
        max_score=master.max_score,
        problem=readable(problem, _LONGEST_FINDING),
        cells=results,
        findings=tuple(told),
        submission_sha256=sha256(job.submission),
        master_sha256=sha256(job.master),
        checks_sha256=job.checks_sha256,
        handed_in=job.handed_in,
    )
