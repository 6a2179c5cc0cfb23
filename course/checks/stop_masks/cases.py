"""Inputs for the batch: one call of `generate_batch`, how it is played, and what it returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from course.checks.candidate import Call, Candidate, StudentError
from course.checks.check import CheckFailure
from course.checks.failures import RaisedError, Slip, failure_of, is_missing
from course.checks.inputs import ROOMY, distinct_ids
from course.checks.models import Prefix, Script, ScriptedModel, TableScript
from course.checks.reference import Choose, generate, greedy
from course.checks.sections import STOPPING_STATE
from course.checks.values import (
    UnreadableError,
    as_counts,
    as_flags,
    as_token_rows,
    as_triple,
    show_tokens,
)

ACCOUNT = "account"
BATCH = "generate_batch"
TRIPLE = "(continuations, lengths, finished)"

TokenRows = list[list[int]]


@dataclass(frozen=True)
class Case:
    """Arguments of one call of `generate_batch`, all but the generators.

    prompts : B prefixes; handed over as arrays where `as_arrays`.
    """

    script: Script
    prompts: Sequence[Sequence[int]]
    max_new_tokens: int
    end_id: int
    context_length: int = ROOMY
    as_arrays: bool = False

    def show(self, rngs: str = "") -> str:
        """The call as a student would write it."""
        prompts = [f"np.array({row})" if self.as_arrays else row for row in map(show_tokens, self.prompts)]
        parts = [f"[{', '.join(prompts)}]", str(self.max_new_tokens), f"end_id={self.end_id}"]
        if rngs:
            parts.append(f"rngs={rngs}")
        text = f"generate_batch(model, {', '.join(parts)}) with model.n_vocab = {self.script.n_vocab}"
        room = self.context_length
        return text if room == ROOMY else f"{text}, model.context_length = {room}"

    def alone(self, chooses: Sequence[Choose] | None = None) -> TokenRows:
        """What each row gives by itself; greedily, or with a selection a row."""
        selections = [greedy] * len(self.prompts) if chooses is None else chooses
        return [
            generate(self.script, self.context_length, prompt, self.max_new_tokens, self.end_id, choose)[0]
            for prompt, choose in zip(self.prompts, selections, strict=True)
        ]


@dataclass(frozen=True)
class Run:
    """What came of playing a case.

    tokens : the continuations, read into plain values.
    batches : the prefixes that each call of `next_logits` was handed.
    passes : how many calls of `model.logits` there were.
    shown : how the generators are written in messages.
    """

    case: Case
    tokens: TokenRows
    call: Call = field(repr=False)
    batches: list[tuple[Prefix, ...]] = field(repr=False)
    passes: int
    shown: str

    def lengths(self, unreadable: Slip | None = None) -> list[int]:
        """The lengths; CheckFailure where they can't be read, for the reason that is known beforehand."""
        try:
            return as_counts(as_triple(self.call.result, TRIPLE)[1], "lengths", len(self.case.prompts))
        except UnreadableError as error:
            raise _unreadable(self.case, self.shown, error, unreadable) from None

    def finished(self, unreadable: Slip | None = None) -> list[bool]:
        """The flags; as `lengths`."""
        try:
            return as_flags(as_triple(self.call.result, TRIPLE)[2], "finished", len(self.case.prompts))
        except UnreadableError as error:
            raise _unreadable(self.case, self.shown, error, unreadable) from None

    def until_end(self, alone: TokenRows) -> TokenRows:
        """The rows up to the end token, which is put back where all rows lack it, or have a blank for it.

        What stands behind it, and whether it is kept, is the business of `tokens`.
        """
        end, rows = self.case.end_id, []
        dropped = not any(end in got for got in self.tokens)
        for got, expected in zip(self.tokens, alone, strict=True):
            row = got[: got.index(end) + 1] if end in got else list(got)
            if row[-1:] and not 0 <= row[-1] < self.case.script.n_vocab:
                row[-1] = end
            rows.append(expected if dropped and [*row, end] == expected else row)
        return rows


def play(
    candidate: Candidate,
    case: Case,
    rngs: Sequence[np.random.Generator] | None = None,
    shown: str = "",
    unreadable: Slip | None = None,
) -> Run:
    """Call the student's `generate_batch` on a case.

    shown : how the generators are written in messages.
    unreadable : why its continuations can't be read, where that is known beforehand.

    Raises RaisedError where it raised, another CheckFailure where its continuations can't be read.
    """
    model = ScriptedModel(case.script, case.context_length)
    prompts = [np.array(row) if case.as_arrays else list(row) for row in case.prompts]
    keywords = {} if rngs is None else {"rngs": list(rngs)}
    try:
        call = candidate.call(BATCH, model, prompts, case.max_new_tokens, case.end_id, **keywords)
    except StudentError as error:
        missing = f"This check calls `{BATCH}`, which is not defined in your notebook."
        sentence = missing if is_missing(error) else ""
        raise RaisedError(case.show(shown), error, TRIPLE, sentence, STOPPING_STATE) from error
    try:
        rows = as_token_rows(as_triple(call.result, TRIPLE)[0], len(case.prompts))
    except UnreadableError as error:
        raise _unreadable(case, shown, error, unreadable) from None
    return Run(case, rows, call, model.batches, len(model.calls), shown)


def _unreadable(case: Case, shown: str, error: UnreadableError, known: Slip | None) -> CheckFailure:
    sentence = (
        "`generate_batch` must return three things: a list of token lists, the lengths and the finished "
        "flags."
    )
    expected = f"{TRIPLE} of {len(case.prompts)} rows, like ([[4, 1], [3]], [2, 1], [False, True])"
    slip = known or Slip(None, sentence, STOPPING_STATE)
    return failure_of(slip, case.show(shown), expected, str(error))


def failure(slip: Slip, run: Run, expected: object, got: object, model: str = "") -> CheckFailure:
    """What a check raises once it knows the slip."""
    return failure_of(slip, run.case.show(run.shown), str(expected), str(got), model)


def show_rows_of(rows: Sequence[Sequence[int]]) -> str:
    """Token lists as a student would write them."""
    return f"[{', '.join(show_tokens(row) for row in rows)}]"


def scripted(
    rng: np.random.Generator, n_vocab: int, prompts: Sequence[Sequence[int]], runs: Sequence[Sequence[int]]
) -> TableScript:
    """A model that selects `runs[b]`, token by token, after `prompts[b]`, whatever stands in the other rows.

    A run may go on behind its end token, for a loop that does. After any other prefix it favours token 0.
    """
    table: dict[Sequence[int], NDArray[np.float64]] = {}
    for prompt, run in zip(prompts, runs, strict=True):
        for step, token in enumerate(run):
            logits = np.round(rng.normal(size=n_vocab), 2)
            logits[token] = logits.max() + 1.0
            table[(*prompt, *run[:step])] = logits
    return TableScript(table, np.eye(n_vocab)[0])


def batch_case(
    rng: np.random.Generator,
    ends: Sequence[int | None],
    max_new_tokens: int,
    n_vocab: int = 9,
    end_id: int | None = None,
    context_length: int = ROOMY,
    lengths: Sequence[int] = (2, 1, 3, 2, 4),
    as_arrays: bool = False,
    end_in_prompts: bool = False,
) -> Case:
    """A batch whose rows meet the end token in the given rounds, counted from 1; None for never.

    lengths : of the prompts. Each starts with another token.
    """
    end = int(rng.integers(1, n_vocab)) if end_id is None else end_id
    others = [token for token in rng.permutation(n_vocab).tolist() if token != end]
    prompts, runs = [], []
    for b, round_of_end in enumerate(ends):
        pool = [others[i] for i in distinct_ids(rng, len(others), len(others))]
        prompt = [others[b], *pool[: lengths[b] - 1]]
        if end_in_prompts:
            prompt.append(end)
        prompts.append(prompt)
        # Neighbouring tokens and neighbouring rows differ, so that rows which are mixed up show.
        run = [others[(b + 2 * step + step // 3) % len(others)] for step in range(max_new_tokens + 2)]
        if round_of_end is not None:
            run[round_of_end - 1] = end
        runs.append(run)
    script = scripted(rng, n_vocab, prompts, runs)
    return Case(script, prompts, max_new_tokens, end, context_length, as_arrays)


def require_tokens(run: Run) -> None:
    """Some token that the model was asked for, where one is to be had: none prove nothing."""
    alone = run.case.alone()
    if any(row[:1] not in ([], [run.case.end_id]) for row in alone) and not (
        any(run.tokens) and (run.batches or run.passes)
    ):
        slip = Slip(None, "Your loop returns no tokens to compare.", STOPPING_STATE)
        raise failure(slip, run, show_rows_of(alone), show_rows_of(run.tokens))
