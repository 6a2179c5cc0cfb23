"""Checks of what the chain rule adds up: `sum` and `empty`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course.checks.candidate import Candidate
from course.checks.chain_rule.cases import (
    SCALES,
    SEQUENCE,
    TOKENS,
    Case,
    Numbers,
    Run,
    agree,
    failure,
    play,
    scale_of,
    show_numbers,
)
from course.checks.check import CheckFailure
from course.checks.failures import RaisedError, Slip, is_missing
from course.checks.inputs import distinct_ids
from course.checks.models import HistoryScript, ScheduleScript
from course.checks.reference import Row, log_probabilities, token_log_probabilities
from course.checks.sections import COMBINE


def total(candidate: Candidate, rng: np.random.Generator) -> None:
    """The sum of the tokens' natural logarithms, at the temperature that was given.

    First all rows agree and all tokens are equal, then a real history is scored. There the sum of the
    student's own entries counts as well: what is wrong in those has other checks.
    """
    n_vocab = 4
    logits = log_probabilities(rng.normal(size=n_vocab))
    for count in (2, 5, 9):
        token = int(rng.integers(n_vocab))
        _equal_tokens(candidate, Case(ScheduleScript({}, logits), [token] * 3, [token] * count), logits)
    for length, count, temperature in ((3, 4, None), (2, 3, 0.5), (1, 5, 2.0)):
        script = HistoryScript(8, int(rng.integers(2**31)))
        ids = distinct_ids(rng, 8, length + count)
        _history(candidate, Case(script, ids[:length], ids[length:], temperature))


def _own(candidate: Candidate, case: Case) -> Numbers | None:
    """The student's own entries; None where there are none to speak of, which other checks look at."""
    try:
        values = play(candidate, TOKENS, case).values
    except CheckFailure:
        return None
    return values if values.size and np.all(np.isfinite(values)) else None


def _equal_tokens(candidate: Candidate, case: Case, logits: Row) -> None:
    run = play(candidate, SEQUENCE, case)
    token, count, length = case.continuation[0], len(case.continuation), len(case.prompt)
    entry, own = float(logits[token]), _own(candidate, case)
    right = np.array([count * entry])
    # A scored prompt and a shifted slice are looked at by others: the sum is right for the entries it has.
    counts = {count, count + length - 1, count + length}
    scale = None
    if own is not None:
        scale = scale_of(own, np.full(own.shape, entry))
        counts |= {own.size}
    if not any(agree(run.values, np.array([n * entry])) for n in counts):
        raise failure(_sum_slip(run, entry, counts), run, show_numbers(right))
    if scale not in (None, "natural") and own is not None:
        shown = Run(TOKENS, case, own, run.call, run.model)
        raise failure(_unit_slip(str(scale)), shown, show_numbers(np.full(own.shape, entry)))


def _unit_slip(scale: str) -> Slip:
    if scale == "negated":
        sentence = (
            "Your logarithms have the other sign: a probability is at most 1, so its logarithm is at most 0."
        )
        return Slip(None, sentence, COMBINE)
    sentence = f"Your logarithms have {scale}; natural ones are asked for, np.log."
    return Slip("S7", sentence, COMBINE)


def _sum_slips(entry: float, count: int) -> Iterator[tuple[Slip, float]]:
    """Known slips, each with the value that it gives for `count` equal entries."""
    for name, scale in SCALES.items():
        yield _unit_slip(name), count * entry * scale
        mean = "Your function returns the mean of the logarithms; the logarithm of a product is their sum."
        yield Slip("S7", mean, COMBINE), entry * scale
    product = "Your function returns the probability itself; its natural logarithm is asked for."
    yield Slip(None, product, COMBINE), float(np.exp(count * entry))
    shares = "Your function adds up probabilities; their logarithms are added."
    yield Slip(None, shares, COMBINE), count * float(np.exp(entry))
    logged = (
        "Your function takes the logarithm of a sum of probabilities; the sum of their logarithms is asked."
    )
    yield Slip(None, logged, COMBINE), float(np.log(count * np.exp(entry)))
    factors = "Your function multiplies logarithms; they are added."
    yield Slip(None, factors, COMBINE), entry**count
    perplexity = "Your function returns the perplexity; the sum of the logarithms is asked for."
    yield Slip("S7", perplexity, COMBINE), float(np.exp(-entry))


def _sum_slip(run: Run, entry: float, counts: set[int]) -> Slip:
    for count in sorted(counts, key=lambda n: n != len(run.case.continuation)):
        for slip, value in _sum_slips(entry, count):
            if agree(run.values, np.array([value])):
                return slip
    return Slip(None, "Your function does not return the sum of the tokens' natural logarithms.", COMBINE)


def _history(candidate: Candidate, case: Case) -> None:
    run, own = play(candidate, SEQUENCE, case), _own(candidate, case)
    value = 1.0 if case.temperature is None else case.temperature
    whole = token_log_probabilities(case.script, case.prompt[:1], case.sequence[1:], value)
    right = token_log_probabilities(case.script, case.prompt, case.continuation, value)
    accepted = [right, whole] + ([] if own is None else [own])
    if any(agree(run.values, entries.sum(keepdims=True)) for entries in accepted):
        return
    slip = Slip(None, "Your function does not return the sum of the tokens' log probabilities.", COMBINE)
    ignored = token_log_probabilities(case.script, case.prompt, case.continuation)
    if case.temperature is not None and agree(run.values, ignored.sum(keepdims=True)):
        sentence = "Your sequence's value ignores the temperature. Pass it on to where the tokens are scored."
        slip = Slip("S6", sentence, COMBINE)
    raise failure(slip, run, show_numbers(right.sum(keepdims=True)))


def empty(candidate: Candidate, rng: np.random.Generator) -> None:
    """No tokens: no entries, and a sum of 0.0. With a longer prompt only that it works at all."""
    script = HistoryScript(6, int(rng.integers(2**31)))
    ids = distinct_ids(rng, 6, 4)
    _does_something(candidate, Case(script, ids[:1], ids[1:]))
    for as_arrays in (False, True):
        for length in (1, 3):
            case = Case(script, ids[:length], [], as_arrays=as_arrays)
            entries = _empty(candidate, TOKENS, case, "an empty array")
            if length == 1 and entries.values.size:
                raise failure(_EMPTY, entries, "an empty array")
            value = _empty(candidate, SEQUENCE, case, "0.0")
            if (length == 1 and value.value != 0.0) or np.isnan(value.value):
                raise failure(_EMPTY, value, "0.0")


_EMPTY = Slip(
    "S9",
    "An empty continuation has no tokens to score: an empty array, and the empty sum 0.0, the logarithm of a "
    "product of no factors. Slices and means of nothing need a case of their own.",
    COMBINE,
)


def _empty(candidate: Candidate, function: str, case: Case, expected: str) -> Run:
    try:
        return play(candidate, function, case, _EMPTY)
    except RaisedError as raised:
        if is_missing(raised.error):
            raise
        raise raised.explained(_EMPTY, expected) from raised.error


def _does_something(candidate: Candidate, case: Case) -> None:
    """A function that returns nothing for every continuation has not understood the empty one."""
    for function in (TOKENS, SEQUENCE):
        try:
            run = play(candidate, function, case)
        except CheckFailure:
            continue  # what is wrong there has other checks
        if not np.any(run.values):
            slip = Slip(None, "Your function returns nothing for a continuation of three tokens.", COMBINE)
            raise failure(slip, run, "log probabilities, none of them 0")
