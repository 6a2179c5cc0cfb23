"""A notebook at work: its cells run in a worker, and again in a fresh one where the worker ended."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from course.grading.jobs import messages
from course.grading.limits import Limits
from course.grading.rebuilding.code import definitions_of
from course.grading.records import Finding
from course.grading.sandbox import ExhaustedError, Sandbox, Session, Worker, WorkerEndedError

CellKind = Literal["solution", "test", "other"]


@dataclass(frozen=True)
class CellToRun:
    """A cell's code, and how to speak of it.

    kind : a solution gets some time even when all is used up; a test, of which only the visible part is run
        and nothing is shown, gets as much as a call of a check does.
    in_words : its value is shown as text only.
    brief : gets little time when it is run again.
    """

    label: str
    code: str
    kind: CellKind = "other"
    in_words: bool = False
    brief: bool = False


class NotebookSession(Session):
    """One notebook in a sandbox.

    findings : of cells that did not run as they should.
    asked_for : names of the functions and answers that will be looked at.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits, seed: int, asked_for: Iterable[str] = ()) -> None:
        super().__init__(sandbox, seed, 2 * limits.cells_seconds)
        self._limits, self._asked_for = limits, tuple(asked_for)
        self._replayed: list[CellToRun] = []  # what brings a fresh worker where the last one was
        self.findings: list[Finding] = []

    def run(self, cells: list[CellToRun]) -> list[list[Any]]:
        """Run the cells in order; the outputs of each, which are not to be trusted."""
        left = self._limits.cells_seconds
        longest = {"test": self._limits.call_seconds}
        outputs: list[list[Any]] = []
        skipped: list[str] = []
        for cell in cells:
            seconds = min(longest.get(cell.kind, self._limits.cell_seconds), left)
            if cell.kind == "solution":
                seconds = max(self._limits.least_seconds, seconds)
            try:
                worker = self.living() if seconds > 0 else None
            except ExhaustedError:
                worker = None
            if worker is None:
                skipped.append(cell.label)
                outputs.append([])
                continue
            start = time.monotonic()
            outputs.append(self._run(worker, cell, seconds))
            took = time.monotonic() - start
            left -= took
            if cell.kind == "test" and took >= seconds:
                longest["test"] = self._limits.least_seconds  # very likely the same loop in each of them
        if skipped:
            text = messages.cells_not_run(skipped, self._limits)
            self.findings.append(Finding("problem", text))
        return outputs

    def _run(self, worker: Worker, cell: CellToRun, seconds: float) -> list[Any]:
        """Run one cell; its outputs."""
        try:
            # The visible part of a test runs in between: it must not change what the student's names mean.
            run = worker.run_cell(cell.code, seconds, in_words=cell.in_words, apart=cell.kind == "test")
        except WorkerEndedError as error:
            self.lost()
            self._replay_definitions(cell)
            text = messages.cell_lost(cell.label, error, seconds)
            self._problem(cell, text)
            return [{"output_type": "stream", "name": "stderr", "text": f"[{text}]\n"}]
        if run.interrupted:
            self._replay_definitions(cell)
            self._problem(cell, messages.cell_interrupted(cell.label, seconds))
        else:
            self._replayed.append(cell)
        return run.outputs

    def _replay_definitions(self, cell: CellToRun) -> None:
        if definitions := definitions_of(cell.code):
            self._replayed.append(replace(cell, code=definitions, brief=True))

    def bring_up(self, worker: Worker) -> None:
        """Run again what has run; what ends the worker this time is left out from now on."""
        worker.watch(self._asked_for)
        for at_work in self._replayed:
            seconds = self._limits.least_seconds if at_work.brief else self._limits.cell_seconds
            try:
                worker.run_cell(at_work.code, seconds, in_words=True, apart=at_work.kind == "test")
            except WorkerEndedError:
                self._replayed = [piece for piece in self._replayed if piece is not at_work]
                raise

    def _problem(self, cell: CellToRun, text: str) -> None:
        if cell.kind != "test":  # its check says what is wrong
            self.findings.append(Finding("problem", text))
