"""What the table of attacks and faults is made of: notebooks to start from, cases, a look for what leaked.

A case is a released notebook with a solution typed in, something done to it, and what has to come out. Each
hidden region of the masters holds a canary; so do the environment and a file of another student.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course.files import ROOT
from course.grading.feedback import feedback_page
from course.grading.jobs.checks_version import checks_sha256
from course.grading.jobs.job import Job, Outcome, grade
from course.grading.limits import MEBI, Limits
from course.grading.masters import read_master
from course.grading.records import Status

ASSIGNMENT = "autoregressive-generation"
MASKS, LOOP = "12-stop-masks", "05-append-then-predict"
NUMBER, LETTER = "02-one-token-to-a-paragraph", "04-read-and-select"
SEED = 918273645  # long enough to be found should it be shown
LIMITS = Limits(
    cell_seconds=3.0,
    cells_seconds=12.0,
    call_seconds=3.0,
    checks_seconds=8.0,
    least_seconds=1.0,
    memory=256 * MEBI,
    processes=12,
    disk=4 * MEBI,
    output=100_000,
    message=2 * MEBI,
)

# What must not be in anything that a student gets, or that their code printed.
ENVIRONMENT, OTHERS_WORK = "canary_environment_6021", "canary_of_another_student_7733"
HIDDEN, REFERENCE = "canary_hidden_tests_4711", "canary_reference_solution_1905"
IN_CHECKS = ("HistoryScript", "_lengths_slip", "account_finished(candidate")
SECRETS = (ENVIRONMENT, OTHERS_WORK, HIDDEN, REFERENCE, *IN_CHECKS, str(SEED))

Notebook = dict[str, Any]

# Lengths that leave out the end token and flags of the last round; rows that are never finished.
WRONG_MASKS = """import numpy as np


def account(choices, end_id):
    choices = np.asarray(choices)
    met = choices == end_id
    lengths = (met.cumsum(axis=0) == 0).sum(axis=0)
    return lengths, met[-1] if len(choices) else np.zeros(choices.shape[1], dtype=bool)


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    prefixes = [[int(token) for token in prompt] for prompt in prompts]
    continuations = [[] for _ in prefixes]
    for _ in range(max_new_tokens if prefixes else 0):
        for b, row in enumerate(model.next_logits(prefixes)):
            token = int(np.argmax(row))
            prefixes[b].append(token)
            continuations[b].append(token)
    return continuations, [len(tokens) for tokens in continuations], [True] * len(prefixes)
"""
# Counts the prompt's tokens as new ones, and knows no reason but one.
WRONG_LOOP = """import numpy as np


def generate(model, prompt, max_new_tokens, greedy=True, temperature=1.0, rng=None, end_id=None):
    tokens = list(prompt)
    while len(tokens) < max_new_tokens:
        tokens.append(int(np.argmax(model.logits(tokens)[-1])))
    return tokens[len(prompt):], "length"
"""


def bank(file: str) -> str:
    """A solution of the bank."""
    return (ROOT / "tests" / "submissions" / file).read_text(encoding="utf-8")


STARTS = {
    "wrong masks": (MASKS, "account", WRONG_MASKS),
    "right masks": (MASKS, "account", bank("correct/stop_masks/lists_of_live_rows.py")),
    "half masks": (MASKS, "account", bank("misconceptions/stop_masks/B05_flags_of_one_round.py")),
    "wrong loop": (LOOP, "generation-loop", WRONG_LOOP),
    "right loop": (LOOP, "generation-loop", bank("correct/generation_loop/while_loop.py")),
    "wrong number": (NUMBER, "question-picks-for-a-reply", "answer_picks_for_a_reply = 52"),
    "right number": (NUMBER, "question-picks-for-a-reply", "answer_picks_for_a_reply = 40"),
    "wrong letter": (LETTER, "question-which-row-predicts", 'answer_which_row_predicts = "A"'),
    "right letter": (LETTER, "question-which-row-predicts", 'answer_which_row_predicts = "E"'),
}
FULL = {"masks": 10.0, "loop": 10.0, "number": 1.0, "letter": 1.0}  # the loop's notebook has a question, too


@cache
def _released(notebook: str) -> bytes:
    return (ROOT / "release" / ASSIGNMENT / f"{notebook}.ipynb").read_bytes()


@cache
def master(notebook: str) -> bytes:
    """The master of a notebook, with canaries in what students do not get."""
    read = json.loads((ROOT / "build" / "source" / ASSIGNMENT / f"{notebook}.ipynb").read_bytes())
    for cell in read["cells"]:
        source = "".join(cell["source"])
        source = source.replace("### BEGIN HIDDEN TESTS", f"### BEGIN HIDDEN TESTS\n# {HIDDEN}")
        cell["source"] = source.replace("### END SOLUTION", f"# {REFERENCE}\n    ### END SOLUTION")
    return json.dumps(read).encode()


def code(source: str, **metadata: Any) -> dict[str, Any]:
    """A cell of the student's own."""
    return {
        "cell_type": "code",
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def start(name: str) -> Notebook:
    """A released notebook with a solution typed in."""
    notebook, cell, source = STARTS[name]
    read: Notebook = json.loads(_released(notebook))
    named(read, cell)["source"] = source
    if notebook == MASKS:
        named(read, "generate-batch")["source"] = "# both functions are in the cell above"
    return read


def named(notebook: Notebook, grade_id: str) -> dict[str, Any]:
    """The cell that nbgrader knows by a name."""
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def place(notebook: Notebook, grade_id: str) -> int:
    """Where that cell stands."""
    return int(notebook["cells"].index(named(notebook, grade_id)))


def graded_cells(notebook: Notebook) -> list[dict[str, Any]]:
    """The graded cells."""
    return [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade")]


@dataclass(frozen=True)
class Case:
    """One line of the table.

    why : the reason for the case.
    start : what the notebook holds before anything is done to it, see STARTS.
    first, after, last : the text of a cell put before the solution, behind it, and behind the last cell.
    inside : text added to the solution itself.
    edit : something done to the notebook; bytes that it returns are handed in as they are.
    score : what must come out; default: just what the start gives by itself. None where it is no score.
    told : words that a finding, a message or the problem must have.
    untold : kinds of findings that there must be none of.
    """

    name: str
    why: str
    start: str = "wrong masks"
    first: str = ""
    after: str = ""
    last: str = ""
    inside: str = ""
    edit: Callable[[Notebook], bytes | None] | None = None
    score: float | None = -1.0
    status: Status = Status.GRADED
    told: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()

    @property
    def notebook(self) -> str:
        """Which notebook it is."""
        return STARTS[self.start][0]

    def file(self) -> bytes:
        """The file that is handed in."""
        made = start(self.start)
        index = place(made, STARTS[self.start][1])
        made["cells"][index]["source"] += f"\n{self.inside}" if self.inside else ""
        if self.after:
            made["cells"].insert(index + 1, code(self.after))
        if self.first:
            made["cells"].insert(index, code(self.first))
        if self.last:
            made["cells"].append(code(self.last))
        data = self.edit(made) if self.edit else None
        return json.dumps(made).encode() if data is None else data


def job(data: bytes, notebook: str, limits: Limits = LIMITS) -> Job:
    """A submission of one notebook, ready to grade."""
    return Job("s1", ASSIGNMENT, notebook, data, master(notebook), checks_sha256(SEED), SEED, limits)


@cache
def plain_score(name: str, limits: Limits = LIMITS) -> float | None:
    """What a start gives when nothing is done to it."""
    return grade(job(json.dumps(start(name)).encode(), STARTS[name][0], limits)).record.score


def run(case: Case, limits: Limits = LIMITS) -> Outcome:
    """Grade a case, and hold what comes out against what the table says."""
    outcome = grade(job(case.file(), case.notebook, limits))
    record = outcome.record
    assert record.status == case.status, record.problem or record.cells
    expected = plain_score(case.start, limits) if case.score == -1.0 else case.score
    points = {result.cell: (result.points, str(result.message)[:200]) for result in record.cells}
    assert record.score == expected, points
    if expected is not None:
        assert record.score == sum(result.points or 0.0 for result in record.cells)
        assert all(result.points in (0.0, result.max_points) for result in record.cells)
    told = [record.problem, *(finding.text for finding in record.findings)]
    told += [str(result.message) for result in record.cells]
    for words in case.told:
        assert any(words in text for text in told), told
    for kind in case.untold:
        assert not [finding.text for finding in record.findings if finding.kind == kind]
    assert leaks(outcome, case.notebook) == []
    return outcome


def leaks(outcome: Outcome, notebook: str, secrets: Iterable[str] = SECRETS) -> list[str]:
    """What of the secrets stands in what a student or a reader of findings gets, and where."""
    graded = json.loads(outcome.autograded)
    shown = {
        "the record": json.dumps(asdict(outcome.record), ensure_ascii=False, default=str),
        "the page": feedback_page(
            outcome.record,
            outcome.autograded,
            None,
            read_master(master(notebook), ASSIGNMENT, notebook).handed_out,
        ).decode(),
    }
    for index, cell in enumerate(graded["cells"]):
        shown[f"what cell {index} displayed"] = json.dumps(cell.get("outputs", []), ensure_ascii=False)
        if not cell["metadata"].get("nbgrader", {}).get("grade"):  # whose hidden tests are for instructors
            shown[f"the text of cell {index}"] = "".join(cell["source"])
    return [f"{secret} in {where}" for where, text in shown.items() for secret in secrets if secret in text]


def _processes() -> dict[int, tuple[int, str]]:
    """Parent and command line of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                line = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            except OSError:  # it has ended
                continue
            found[int(entry.name)] = int(parent), line
    return found


def processes_of(words: str) -> list[str]:
    """The command lines with these words in them, of all processes."""
    return [line for _, line in _processes().values() if words in line]


def descendants() -> list[str]:
    """The command lines of all processes that this one has started, and those they have."""
    processes, ours = _processes(), {os.getpid()}
    while more := {number for number, (parent, _) in processes.items() if parent in ours} - ours:
        ours |= more
    return [processes[number][1] for number in ours if number in processes]
