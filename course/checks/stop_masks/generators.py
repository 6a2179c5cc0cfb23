"""The check of how a batch draws: `own_generators`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course.checks.candidate import Candidate
from course.checks.failures import RaisedError, Slip, faults
from course.checks.inputs import distinct_ids, distinct_seeds
from course.checks.models import HistoryScript, ScheduleScript
from course.checks.reference import draw, probabilities, sampler
from course.checks.sections import READ, STOPPING_STATE
from course.checks.stop_masks.cases import Case, Run, TokenRows, failure, play, show_rows_of
from course.checks.stop_masks.diagnosis import RESEEDED, with_wrong_generators

NEVER = -80.0  # the logit of an end token that no draw selects
OVERFLOWS = Slip(
    None,
    "Your softmax overflows for large logits: subtract the largest logit of the row first. That changes no "
    "probability, and no exponential is then above 1.",
    READ,
)
ONE_FOR_ALL = Slip(
    None,
    "Your softmax breaks down where one row's logits are far below another's: subtract from each row its own "
    "largest logit, not the largest of the whole batch.",
    READ,
)


def own_generators(candidate: Candidate, rng: np.random.Generator) -> None:
    """Each row draws with its own generator: one number a round, whatever its batch-mates do.

    Rows are compared as far as they go: where they end is the business of `tokens`.
    """
    n_vocab = 12
    logits = np.round(rng.normal(0.0, 0.6, n_vocab), 2)
    logits[0] = NEVER
    flat = ScheduleScript({}, logits)
    no_ends = [token for token in range(n_vocab) if token not in (0, 3, 8)]  # the end tokens below
    prompts = [[no_ends[i] for i in distinct_ids(rng, len(no_ends), length)] for length in (2, 1, 3, 2)]
    favourite = int(logits.argmax())  # a first draw of it would look like greedy selection
    seeds = [
        seed
        for seed in distinct_seeds(rng, 24)
        if draw(probabilities(logits), np.random.default_rng(seed)) != favourite
    ][:4]
    _uses_them(candidate, Case(flat, prompts[:2], 6, 0), seeds)
    # First the rows all agree on their distribution, so that only the generators make a difference.
    for kept in ((0, 1), (0, 1, 2, 3), (3, 1, 2), (2, 0)):
        _drawn(candidate, Case(flat, [prompts[b] for b in kept], 6, 0), [seeds[b] for b in kept])
    _ends(candidate, rng, prompts)
    for size in (2, 4):
        _drawn(candidate, _endless(rng, seeds[:size]), seeds[:size])
    for base in (1e6, -1e6 + 10):
        large = base - rng.uniform(0.0, 4.0, n_vocab)
        _stable(candidate, Case(ScheduleScript({}, large), prompts[:2], 4, 8), seeds[:2], OVERFLOWS)
    # One of the two rows has an even length in every round, and the other an odd one.
    uneven = {length: logits + (10_000.0 if length % 2 else -10_000.0) for length in range(1, 7)}
    _stable(candidate, Case(ScheduleScript(uneven, logits), prompts[:2], 4, 0), seeds[:2], ONE_FOR_ALL)


def _endless(rng: np.random.Generator, seeds: Sequence[int]) -> Case:
    """Rows of one model with a history each, none of which draws the end token from its seed."""
    n_vocab, end = 60, 30  # in the middle: a number next to 1 would draw the last id from every model
    while True:
        prompts = [distinct_ids(rng, end, length) for length in (1, 4, 2, 3)[: len(seeds)]]
        case = Case(HistoryScript(n_vocab, int(rng.integers(2**31))), prompts, 6, end)
        if not any(end in row for row in case.alone([sampler(own) for own in _fresh(seeds)])):
            return case


def _shown(seeds: Sequence[int]) -> str:
    return f"[{', '.join(f'default_rng({seed})' for seed in seeds)}]"


def _fresh(seeds: Sequence[int]) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def _uses_them(candidate: Candidate, case: Case, seeds: Sequence[int]) -> None:
    """Two batches from unlike generators are not the same, unless they are greedy."""
    runs = [play(candidate, case, _fresh(two), _shown(two)) for two in (seeds[:2], seeds[2:])]
    _own_state(runs[0])
    if any(runs[0].tokens) and runs[0].tokens == runs[1].tokens and not _agree(runs[0].tokens, case.alone()):
        expected = "other tokens than from other generators"
        raise failure(RESEEDED, runs[1], expected, show_rows_of(runs[1].tokens))


def _drawn(candidate: Candidate, case: Case, seeds: Sequence[int]) -> Run:
    """Play a case with fresh generators, and compare each row with its own draws."""
    run = play(candidate, case, _fresh(seeds), _shown(seeds))
    _own_state(run)
    _compare(run, _fresh(seeds), seeds)
    return run


def _own_state(run: Run) -> None:
    if run.call.used_global_state:
        sentence = (
            "Your loop uses NumPy's global random state (np.random.choice, np.random.seed and the like). "
            "Each row draws from the generator that is passed in for it."
        )
        got = "np.random's global state has changed"
        raise failure(Slip("G11", sentence, READ), run, "draws from `rngs` only", got)


def _compare(run: Run, own: Sequence[np.random.Generator], seeds: Sequence[int]) -> None:
    """Compare rows with the draws from `own`, which are left where the rows should have left theirs."""
    alone = run.case.alone([sampler(generator) for generator in own])
    rows = run.until_end(alone)
    if any(row and not got for row, got in zip(alone, rows, strict=True)) or not _agree(rows, alone):
        slip = _slip(run, rows, alone, seeds)
        raise failure(slip, run, show_rows_of(alone), show_rows_of(run.tokens))


def _agree(rows: TokenRows, expected: TokenRows) -> bool:
    """Whether rows agree as far as both of them go."""
    return all(
        got[: len(row)] == row[: len(got)] for got, row in zip(rows, expected, strict=True) if got and row
    )


def _slip(run: Run, rows: TokenRows, alone: TokenRows, seeds: Sequence[int]) -> Slip:
    if not all(got or not row for got, row in zip(rows, alone, strict=True)):
        return Slip(None, "Your loop returns too few tokens to compare.", STOPPING_STATE)
    if _agree(rows, run.case.alone()):
        sentence = "Your loop selects greedily although it was given generators to draw with."
        return Slip(None, sentence, READ)
    for slip, wrong in with_wrong_generators(run.case, seeds):
        if _agree(rows, wrong):
            return slip
    if all(len(row) > 2 and len(set(row)) == 1 for row in rows):
        return RESEEDED  # eleven chances, and the same token in every round
    return Slip(
        None,
        "Your rows draw other tokens than rngs[b].choice(n_vocab, p=probabilities) does, with one draw a "
        "round for each row that goes on.",
        READ,
    )


def _ends(candidate: Candidate, rng: np.random.Generator, prompts: Sequence[Sequence[int]]) -> None:
    """Rows that end in different rounds, and a second call that goes on with their generators."""
    logits = np.round(rng.normal(0.0, 0.6, 12), 2)
    logits[3] = logits.max() + 1.2
    case = Case(ScheduleScript({}, logits), prompts[:3], 7, 3)
    seeds: list[int] = []
    for low, high in ((1, 1), (4, 5), (6, 7)):
        seeds.append(next(s for s in distinct_ids(rng, 10_000, 5_000) if low <= _length(case, s) <= high))
    run = _drawn(candidate, case, seeds)
    own = _fresh(seeds)
    alone = case.alone([sampler(generator) for generator in own])
    if run.tokens != alone or [len(batch) for batch in run.batches] != _live_counts(alone):
        return  # which rows go on is the business of `tokens` and `only_live_rows`
    generators = run.call.keywords["rngs"]
    after = replace(case, max_new_tokens=4, script=ScheduleScript({}, np.zeros(12)))
    shown = f"the same generators again, after a first call drew {[len(row) for row in alone]} tokens"
    if not isinstance(generators, list) or not all(isinstance(g, np.random.Generator) for g in generators):
        slip = Slip(None, "Your function changes the list of generators that it was given.", READ)
        raise failure(slip, run, "rngs as they were passed in", type(generators).__name__)
    second = play(candidate, after, generators, shown)
    expected = after.alone([sampler(generator) for generator in own])
    rows = second.until_end(expected)
    if not _agree(rows, expected) or not all(rows):
        sentence = (
            "Your rows take more or fewer numbers than one a round from their generators, or take them from "
            "others: a second call with the same generators goes on elsewhere. A finished row draws no "
            "more."
        )
        afresh = after.alone([sampler(generator) for generator in _fresh(seeds)])
        slip = RESEEDED if _agree(rows, afresh) else Slip(None, sentence, STOPPING_STATE)
        raise failure(slip, second, show_rows_of(expected), show_rows_of(second.tokens))


def _length(case: Case, seed: int) -> int:
    """How many tokens a single row draws from that seed until it ends."""
    single = replace(case, prompts=case.prompts[:1])
    return len(single.alone([sampler(np.random.default_rng(seed))])[0])


def _live_counts(rows: TokenRows) -> list[int]:
    return [sum(step < len(row) for row in rows) for step in range(max(map(len, rows)))]


def _stable(candidate: Candidate, case: Case, seeds: Sequence[int], slip: Slip) -> None:
    """Scores of a million, or far from those of another row: the softmax must not break down."""
    alone = case.alone([sampler(generator) for generator in _fresh(seeds)])
    expected = (
        f"{show_rows_of(alone)}, from logits around {case.script.rows((0,)).max():.0e}, with no warning"
    )
    try:
        run = play(candidate, case, _fresh(seeds), _shown(seeds))
    except RaisedError as raised:
        raise raised.explained(slip, expected) from raised.error
    found = faults(run.call.warnings)
    if found or not _agree(run.until_end(alone), alone):
        raise failure(slip, run, expected, ", ".join([show_rows_of(run.tokens), *found]))
