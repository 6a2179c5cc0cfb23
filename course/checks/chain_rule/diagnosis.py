"""Which slip wrong log probabilities come from.

Each diagnosis computes what a known slip would give, and compares. What is not recognised stays None.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course.checks.chain_rule.cases import Case, Numbers, Run, agree, scale_of
from course.checks.failures import Slip
from course.checks.reference import Row, log_probabilities, probabilities
from course.checks.sections import COMBINE


def _slip(misconception: str | None, sentence: str) -> Slip:
    return Slip(misconception, sentence, COMBINE)


OWN_ROW = _slip(
    "S1",
    "Your function scores a token with its own position's row. That row has read the token already and "
    "predicts the next one; a token is scored by the row before it.",
)
SHIFTED = _slip(
    "S2",
    "Your function's slice is shifted by one: the first token of the continuation is scored by the row of "
    "the last prompt token, row len(prompt) - 1, and the others follow.",
)
NO_OFFSET = _slip(
    "S2",
    "Your function counts the continuation's rows from the start of the sequence: they begin at row "
    "len(prompt) - 1, because the rows before that predict the prompt.",
)
PROMPT_TOO = _slip(
    "S3",
    "Your function scores the prompt as well. Its tokens were handed in, not selected: they are read, and "
    "supply no factor.",
)
RAW_LOGITS = _slip(
    "S4",
    "Your function takes raw logits for logarithms. Logits become log probabilities once the logarithm of "
    "the sum of their exponentials is subtracted; a constant added to all of them then changes nothing.",
)
UNDERFLOW = _slip(
    "S5",
    "A product of many probabilities underflows to 0, and the logarithm of 0 is minus infinity. Take the "
    "logarithms first, then add them.",
)
UNSHIFTED = _slip(
    "S8",
    "Your logarithm of the softmax breaks down for large logits: an exponential overflows, or a share "
    "becomes 0 before its logarithm is taken. Subtract each row's maximum, and take the logarithm on paper: "
    "s - m - log(sum(exp(s - m))).",
)

ONE_FOR_ALL = _slip(
    "S8",
    "Your logarithm of the softmax takes one number off all rows, so where a row is far below the largest "
    "one, all its shares become 0. Subtract from each row its own maximum: max(axis=-1, keepdims=True).",
)


def _row_slips(case: Case) -> Iterator[tuple[Slip, Numbers]]:
    """Known slips, each with the entries that it gives."""
    sequence, start, count = np.array(case.sequence), len(case.prompt), len(case.continuation)
    logits = case.script.rows(case.sequence)  # (T, V)
    rows, after = log_probabilities(logits), sequence[start:]
    before = np.arange(start - 1, start + count - 1)  # the right rows
    right = rows[before, after]
    yield OWN_ROW, rows[before + 1, after]
    yield SHIFTED, rows[before - 1, after]
    yield SHIFTED, rows[before, sequence[before]]
    yield SHIFTED, rows[before - 1, sequence[before]]
    yield NO_OFFSET, rows[np.arange(count), after]
    yield RAW_LOGITS, logits[before, after]
    shifted = (
        "Your function subtracts each row's maximum and stops there. That keeps the exponentials small; the "
        "logarithm of their sum has to be subtracted as well."
    )
    yield _slip("S4", shifted), logits[before, after] - logits[before].max(axis=-1)
    yield _slip(None, "Your function returns probabilities; their logarithms are asked for."), np.exp(right)
    only_prompt = (
        "Your function predicts every token from the prompt alone: each token's condition is the prompt and "
        "the continuation's tokens before it."
    )
    yield _slip(None, only_prompt), rows[start - 1, after]
    running = "Your function returns running sums: entry t belongs to token t alone."
    yield _slip(None, running), np.cumsum(right)
    reverse = "Your function's entries stand in the wrong order: entry t belongs to token t."
    yield _slip(None, reverse), right[::-1]


def rows_slip(run: Run) -> Slip:
    """The slip behind entries of the right number and wrong size."""
    if [asked.token_ids for asked in run.model.calls] == [tuple(run.case.continuation)]:
        return _slip(None, "Your function hands the model the continuation without the prompt before it.")
    for slip, values in _row_slips(run.case):
        if scale_of(run.values, values):
            return slip
    if not np.all(np.isfinite(run.values)):
        return _slip(None, "Your function returns numbers that are not finite.")
    return _slip(None, "Your function gives other log probabilities than the row before each token does.")


def count_slip(run: Run) -> Slip:
    """The slip behind a wrong number of entries, for a prompt of more than two tokens."""
    start, count, got = len(run.case.prompt), len(run.case.continuation), run.values.size
    if got in (count + start - 1, count + start):
        return PROMPT_TOO
    if abs(got - count) == 1:
        return _slip("S2", f"Your slice of rows is one off: {count} tokens have {count} entries. {_WINDOW}")
    return _slip(None, "Your function must return one entry for each token of the continuation.")


_WINDOW = "The rows from len(prompt) - 1 up to, and without, the last one are theirs."


def temperature_slip(logits: Row, temperature: float, token: int, values: Numbers) -> Slip | None:
    """The slip behind wrong log probabilities of one token at one temperature."""
    shares = probabilities(logits)
    wrong = {
        "The temperature changes nothing in your function. Tokens that are drawn at a temperature have the "
        "probabilities of that temperature.": log_probabilities(logits),
        "Your function multiplies the logits by the temperature; they are divided by it.": (
            log_probabilities(logits, 1 / temperature)
        ),
        "Your function applies the temperature to probabilities; the logits are divided by it, before the "
        "softmax.": log_probabilities(shares, temperature),
        "Your function divides the finished logarithms by the temperature. Then the probabilities no longer "
        "sum to 1: divide the logits, before the softmax.": log_probabilities(logits) / temperature,
        "Your function divides probabilities by the temperature; logits are divided, before the softmax.": (
            np.log(shares / temperature)
        ),
        "Your function multiplies the finished logarithms by the temperature; the logits are divided by it, "
        "before the softmax.": log_probabilities(logits) * temperature,
        "Your function applies the temperature twice.": log_probabilities(logits, temperature**2),
        "Your function divides the logits by the temperature in one place and not in the other: the same "
        "logits / temperature stand above and in the sum of exponentials.": (
            logits / temperature - np.log(np.exp(logits).sum())
        ),
    }
    for sentence, expected in wrong.items():
        if scale_of(values, np.full(values.shape, expected[token])):
            return _slip("S6", sentence)
    for raw in (logits, logits / temperature):
        if agree(values, np.full(values.shape, raw[token])):
            return RAW_LOGITS
    return None
