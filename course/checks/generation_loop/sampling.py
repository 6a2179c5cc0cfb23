"""Checks of how the generation loop draws: `sampling` and `temperature`."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from course.checks.candidate import Candidate
from course.checks.failures import Slip, faults
from course.checks.generation_loop.cases import Case, RaisedError, Run, failure, play, require_two_tokens
from course.checks.generation_loop.diagnosis import GLOBAL_STATE, RESEEDED, sampling_slip, temperature_slip
from course.checks.inputs import MOST_DRAWN, distinct_ids, distinct_seeds
from course.checks.models import HistoryScript, ScheduleScript
from course.checks.reference import Row, continuation, draw, probabilities, sampler
from course.checks.reference import greedy as largest
from course.checks.sections import READ
from course.checks.values import show_tokens


def sampling(candidate: Candidate, rng: np.random.Generator) -> None:
    """One uniform number a step, from the generator as given, against the last row's distribution."""
    flat = Case(ScheduleScript({}, np.zeros(50)), distinct_ids(rng, 50, 2), 12)
    seeds = distinct_seeds(rng, 6)
    runs = [
        _sampled(candidate, flat, np.random.default_rng(seed), f"default_rng({seed})") for seed in seeds[:2]
    ]
    if runs[0].tokens == runs[1].tokens and len(set(runs[0].tokens)) > 1:
        shown = " and with ".join(f"rng=default_rng({seed})" for seed in seeds[:2])
        raise failure(RESEEDED, flat, "two different runs", f"{show_tokens(runs[0].tokens)} with {shown}")
    for seed, run in zip(seeds, runs, strict=False):
        _compare(run, np.random.default_rng(seed), f"default_rng({seed})")
    for seed, (n_vocab, length) in zip(seeds[2:], ((6, 2), (9, 1), (40, 4)), strict=False):
        shown = f"default_rng({seed})"
        case = Case(HistoryScript(n_vocab, seed), distinct_ids(rng, n_vocab, length), length + 6)
        run = _sampled(candidate, case, np.random.default_rng(seed), shown)
        own = np.random.default_rng(seed)
        _compare(run, own, shown)
        again = "A second call that shares the generator does not go on where the first one ended."
        _second_call(candidate, run, case, own, f"the same {shown} again", Slip(None, again, READ))
    _stopped_early(candidate, rng, seeds[-1])


def _sampled(candidate: Candidate, case: Case, generator: np.random.Generator, shown: str) -> Run:
    run = play(candidate, case, generator, shown)
    require_two_tokens(run, shown)
    if run.call.used_global_state:
        expected = "draws from `rng` only, and np.random left as it was"
        raise failure(GLOBAL_STATE, case, expected, "np.random's global state has changed", shown)
    return run


def _compare(run: Run, generator: np.random.Generator, shown: str) -> None:
    """Compare with the draws from `generator`, which is left where the run should have left its own."""
    case, before = run.case, copy.deepcopy(generator)
    expected = continuation(case.script, case.prompt, len(run.tokens), sampler(generator))
    if run.tokens == expected:
        return
    general = Slip(None, "Your loop draws other tokens than rng.choice(n_vocab, p=probabilities) does.", READ)
    slip = sampling_slip(case, run.tokens, run.passes, before) or general
    if len(set(run.tokens)) == 1 and slip == general and isinstance(case.script, ScheduleScript):
        slip = RESEEDED  # fifty equal chances, and the same token at every step
    raise failure(slip, case, show_tokens(expected), show_tokens(run.tokens), shown)


def _second_call(
    candidate: Candidate, first: Run, case: Case, own: np.random.Generator, shown: str, slip: Slip
) -> None:
    """A second call that shares the first one's generator goes on where `own` stands.

    slip : what is wrong where it does not, unless it gives the first run again.
    """
    generator = first.call.keywords["rng"]
    if not isinstance(generator, np.random.Generator):
        raise failure(slip, case, "a generator, as it was passed in", f"a {type(generator).__name__}", shown)
    second = _sampled(candidate, case, generator, shown)
    expected = continuation(case.script, case.prompt, len(second.tokens), sampler(own))
    if second.tokens != expected:
        slip = RESEEDED if second.tokens == first.tokens else slip
        raise failure(slip, case, show_tokens(expected), show_tokens(second.tokens), shown)


def _stopped_early(candidate: Candidate, rng: np.random.Generator, seed: int) -> None:
    """A run that ends early has drawn only for the steps it made."""
    sure = 80.0 * np.eye(7)  # the favourite's share is 1 in float64
    script = ScheduleScript({2: sure[3], 3: sure[4], 4: sure[5]}, np.zeros(7))
    run = _sampled(
        candidate, Case(script, [1, 2], 9, end_id=5), np.random.default_rng(seed), f"default_rng({seed})"
    )
    if run.tokens != [3, 4, 5] or len(run.passes) != 3:
        return  # where it ends is the business of `end_token`
    own = np.random.default_rng(seed)
    own.random(3)
    ahead = "Your loop draws numbers ahead, for steps that it never makes: draw one number in each step."
    after = Case(HistoryScript(12, seed), distinct_ids(rng, 12, 2), 8)
    shown = f"default_rng({seed}) after a run that drew three tokens"
    _second_call(candidate, run, after, own, shown, Slip(None, ahead, READ))


def temperature(candidate: Candidate, rng: np.random.Generator) -> None:
    """Softmax of logits / temperature, at any size of logits; none at 0 or below, but greedy does not care.

    Only the first token of each run is looked at, and all rows agree: the rest of the loop has other checks.
    """
    seeds = distinct_seeds(rng, 12)
    prompt = distinct_ids(rng, 6, 2)
    for n_vocab, value in (
        (6, 2.0),
        (6, 0.5),
        (30, 2.0),
        (30, 0.5),
        (30, round(float(rng.uniform(0.6, 1.8)), 2)),
    ):
        logits = np.sort(rng.normal(0.0, 1.5, n_vocab))[::-1]
        _drawn_at(candidate, Case(ScheduleScript({}, logits), prompt, 4, temperature=value), logits, seeds)
    for base in (1e6, -1e6 + 10):
        for value in (2.0, 0.5):
            logits = base - rng.uniform(0.0, 4.0, 12)
            _stable(candidate, Case(ScheduleScript({}, logits), prompt, 4, temperature=value), logits, seeds)
    for value in (0.0, -1.0):
        _refused(
            candidate, Case(ScheduleScript({}, rng.normal(size=6)), prompt, 4, temperature=value), seeds[0]
        )
    for value in (0.0, -1.0):
        _ignored(candidate, Case(ScheduleScript({}, rng.normal(size=6)), prompt, 4, temperature=value))


def _first_tokens(candidate: Candidate, case: Case, seeds: Sequence[int]) -> list[Run]:
    """One run a seed, each of at least one token."""
    runs = [play(candidate, case, np.random.default_rng(seed), f"default_rng({seed})") for seed in seeds]
    for run in runs:
        require_two_tokens(run)
    return runs


def _drawn_at(candidate: Candidate, case: Case, logits: Row, seeds: Sequence[int]) -> None:
    assert case.temperature is not None
    runs = _first_tokens(candidate, case, seeds)
    got = [run.tokens[0] for run in runs]
    expected = [draw(probabilities(logits, case.temperature), np.random.default_rng(seed)) for seed in seeds]
    if got == expected:
        return
    # First, since what is drawn from a state of no known seed can look like any other slip.
    if any(run.call.used_global_state for run in runs):
        slip: Slip | None = GLOBAL_STATE
    else:
        slip = temperature_slip(logits, case.temperature, got, seeds)
    if slip is None and len(set(got)) == 1:
        slip = RESEEDED
    if slip is None:
        slip = Slip(None, "Your loop does not draw from the softmax of logits / temperature.", READ)
    i = next(i for i in range(len(seeds)) if got[i] != expected[i])
    model = f"its last row is {np.round(logits, 2).tolist()}" if logits.size <= MOST_DRAWN else ""
    shown = f"default_rng({seeds[i]})"
    raise failure(slip, case, f"first token {expected[i]}", f"first token {got[i]}", shown, model)


UNSTABLE = Slip(
    None,
    "Your softmax overflows for large logits: subtract the largest logit first. That changes no probability, "
    "and no exponential is then above 1.",
    READ,
)


def _stable(candidate: Candidate, case: Case, logits: Row, seeds: Sequence[int]) -> None:
    assert case.temperature is not None
    for seed in seeds[:6]:
        shown = f"default_rng({seed})"
        token = draw(probabilities(logits, case.temperature), np.random.default_rng(seed))
        expected = f"first token {token}, from logits around {logits[0]:.0e}, with no warning"
        try:
            run = play(candidate, case, np.random.default_rng(seed), shown)
        except RaisedError as raised:
            raise raised.explained(UNSTABLE, expected) from raised.error
        require_two_tokens(run)
        found = faults(run.call.warnings)
        if run.tokens[0] != token or found:
            got = ", ".join([f"first token {run.tokens[0]}", *found])
            raise failure(UNSTABLE, case, expected, got, shown)


def _refused(candidate: Candidate, case: Case, seed: int) -> None:
    sentence = (
        "A temperature of 0 or below has no softmax: raise a ValueError before anything is divided by it."
    )
    slip, shown, expected = Slip("G8", sentence, READ), f"default_rng({seed})", "ValueError, with no warning"
    try:
        run = play(candidate, case, np.random.default_rng(seed), shown)
    except RaisedError as raised:
        got = ", ".join([str(raised.error), *faults(raised.error.warnings)])
        if not raised.error.is_a("ValueError") or faults(raised.error.warnings):
            raise failure(slip, case, expected, got, shown) from raised.error
        return
    raise failure(
        slip, case, expected, ", ".join([show_tokens(run.tokens), *faults(run.call.warnings)]), shown
    )


def _ignored(candidate: Candidate, case: Case) -> None:
    """Greedy selection has no use for the temperature."""
    sentence = "Without a generator the selection is greedy, and greedy selection ignores the temperature."
    slip, expected = Slip("G8", sentence, READ), largest(case.script.rows(tuple(case.prompt)))
    try:
        run = play(candidate, case)
    except RaisedError as raised:
        raise raised.explained(slip, f"first token {expected}") from raised.error
    require_two_tokens(run)
    if run.tokens[0] != expected:
        raise failure(slip, case, f"first token {expected}", f"first token {run.tokens[0]}")
