"""Checks of which rows the chain rule reads: `rows`, `only_continuation` and `single_pass`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course.checks.candidate import Candidate
from course.checks.chain_rule.cases import (
    SEQUENCE,
    TOKENS,
    BigramScript,
    Case,
    PositionScript,
    Run,
    agree,
    failure,
    play,
    scale_of,
    show_numbers,
)
from course.checks.chain_rule.diagnosis import PROMPT_TOO, count_slip, rows_slip
from course.checks.failures import RaisedError, Slip, require_same_ids
from course.checks.inputs import MOST_DRAWN, distinct_ids
from course.checks.models import HistoryScript, Prefix
from course.checks.reference import log_probabilities, token_log_probabilities
from course.checks.sections import COMBINE
from course.checks.values import show_tokens


def _bigram(rng: np.random.Generator, n_vocab: int) -> BigramScript:
    """A model of the last token, whose shares are all different."""
    shares = rng.permutation(n_vocab**2).reshape(n_vocab, n_vocab) + 1.0
    return BigramScript(np.log(shares))


def _row_cases(rng: np.random.Generator) -> Iterator[Case]:
    # Three prompt tokens come first: only there a scored prompt and a shifted slice have different lengths.
    for length, count in ((3, 2), (1, 2)):
        ids = distinct_ids(rng, 5, length + count)
        yield Case(_bigram(rng, 5), ids[:length], ids[length:])
    for n_vocab, length, count, as_arrays in (
        (6, 3, 3, False),
        (7, 1, 3, False),
        (7, 3, 1, False),
        (9, 3, 5, True),
        (40, 1, 12, False),
        (40, 6, 9, True),
    ):
        ids = distinct_ids(rng, n_vocab, length + count)
        script = HistoryScript(n_vocab, int(rng.integers(2**31)))
        yield Case(script, ids[:length], ids[length:], as_arrays=as_arrays)


def rows(candidate: Candidate, rng: np.random.Generator) -> None:
    """Each token is scored by the row before it, and there is one entry a token; in whatever unit."""
    for case in _row_cases(rng):
        try:
            run = play(candidate, TOKENS, case)
        except RaisedError as raised:
            if case.as_arrays:
                raise raised.explained(ARRAYS) from raised.error
            raise
        expected = token_log_probabilities(case.script, case.prompt, case.continuation)
        if run.values.shape != expected.shape:
            got = f"shape {run.values.shape}: {show_numbers(run.values)}"
            raise failure(count_slip(run), run, f"shape {expected.shape}: {show_numbers(expected)}", got)
        if not scale_of(run.values, expected):
            raise failure(rows_slip(run), run, show_numbers(expected), model=_show_rows(case))


ARRAYS = Slip(
    None,
    "Your function works with lists and not with arrays. Mind that `+` adds up the numbers of two arrays, "
    "it does not join them: [*prompt, *continuation] does, for both.",
    COMBINE,
)


def _show_rows(case: Case) -> str:
    """The rows that score the continuation, where they are few enough to read."""
    if len(case.continuation) > 2 or case.script.n_vocab > MOST_DRAWN:
        return ""
    first, last = len(case.prompt) - 1, len(case.sequence) - 2
    shown = np.round(case.script.rows(case.sequence)[first : last + 1], 2).tolist()
    return f"rows {first} to {last} of logits({list(case.sequence)}) are {shown}"


def only_continuation(candidate: Candidate, rng: np.random.Generator) -> None:
    """Rows that score nothing but the prompt's tokens change nothing."""
    n_vocab = 8
    for length, count in ((6, 2), (8, 3)):
        prompt = distinct_ids(rng, n_vocab, length)
        after = distinct_ids(rng, n_vocab, count)
        first, later = log_probabilities(rng.normal(0.0, 2.0, (2, length - 2, n_vocab)))
        other, moved = log_probabilities(rng.normal(0.0, 2.0, (2, length - 2, n_vocab)))
        # The first and the last of the prompt's own rows stay, so that a slice without its offset, or
        # shifted by one, makes no difference.
        other[:count] = first[:count]
        base = Case(PositionScript(first, later[0]), prompt, after)
        changed = Case(PositionScript(other, later[0]), prompt, after)
        unlike = Case(PositionScript(moved, later[1]), prompt, after)
        for function in (TOKENS, SEQUENCE):
            run, second = play(candidate, function, base), play(candidate, function, changed)
            if not agree(second.values, run.values):
                expected = f"{show_numbers(run.values)}, as before the change"
                note = f"its rows {count} to {length - 3}, which score prompt tokens, were changed"
                raise failure(PROMPT_TOO, second, expected, model=note)
            if function == TOKENS and run.values.size >= length + count - 1:
                raise failure(PROMPT_TOO, run, f"{count} entries", f"{run.values.size} entries")
            if not run.values.size or agree(play(candidate, function, unlike).values, run.values):
                sentence = "Your function's result does not depend on the rows that score the continuation."
                raise failure(Slip(None, sentence, COMBINE), run, "another result after a change of them")


def single_pass(candidate: Candidate, rng: np.random.Generator) -> None:
    """Exactly one call of `model.logits`, over the sequence with or without its last token. No values."""
    n_vocab = 9
    for length, count in ((2, 3), (1, 1), (3, 5), (1, 6)):
        ids = distinct_ids(rng, n_vocab, length + count)
        script = HistoryScript(n_vocab, int(rng.integers(2**31)))
        case = Case(script, ids[:length], ids[length:])
        for function in (TOKENS, SEQUENCE):
            run = play(candidate, function, case)
            _same_arguments(run)
            read = [asked.token_ids for asked in run.model.calls]
            allowed = (case.sequence, case.sequence[:-1])
            silent = count > 1 and not run.values.size  # a slice that drops one token is left to `rows`
            if len(read) != 1 or read[0] not in allowed or run.model.batches or silent:
                expected = f"one pass over {show_tokens(case.sequence)}, its last token may be left out"
                raise failure(_pass_slip(run, read), run, expected, _show_passes(run, read))


def _pass_slip(run: Run, read: Sequence[Prefix]) -> Slip:
    if run.model.batches:
        sentence = (
            "`next_logits` reads every prefix again, from its start. One `model.logits` call over the whole "
            "sequence has a row for each of them already."
        )
    elif not read:
        sentence = "Your function never asks the model."
    elif len(read) == 1:
        sentence = "Your function's pass does not read the whole sequence, prompt and continuation."
    elif len(set(read)) == 1:
        sentence = "Your function makes the same pass more than once. Keep its result, and use it again."
    else:
        sentence = (
            "Your function makes several passes. The tokens are all known, and no row reads what comes after "
            "it: one pass over the whole sequence gives every row that is needed."
        )
    return Slip(None, sentence, COMBINE)


def _show_passes(run: Run, read: Sequence[Prefix]) -> str:
    shown = ", ".join(show_tokens(prefix) for prefix in read[:4])
    more = ", ..." if len(read) > 4 else ""
    passes = ("1 pass" if len(read) == 1 else f"{len(read)} passes") + (
        f" over {shown}{more}" if read else ""
    )
    batches = len(run.model.batches)
    return f"{passes} and {batches} of next_logits" if batches else passes


def _same_arguments(run: Run) -> None:
    for name, before, after in zip(
        ("prompt", "continuation"),
        (run.case.prompt, run.case.continuation),
        run.call.arguments[1:],
        strict=False,
    ):
        require_same_ids(name, before, after, run.case.show(run.function))
