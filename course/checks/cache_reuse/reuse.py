"""The check of a cache that is passed in: `common_prefix`.

A run with a passed cache is held against the same call without one. What is wrong in both is for other
checks, so here only that counts which the passed cache makes worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from course.checks.cache_reuse.cases import (
    MOST_CALLS,
    Case,
    ChainScript,
    RaisedError,
    Run,
    play,
    show_passes,
)
from course.checks.cache_reuse.diagnosis import raised_slip
from course.checks.cache_reuse.reuse_slips import reuse_slip
from course.checks.candidate import Candidate
from course.checks.check import CheckFailure
from course.checks.failures import IDENTITY, Slip, failure_of
from course.checks.inputs import LAST_SHARED, ROOMY, distinct_ids
from course.checks.models import HistoryScript
from course.checks.scripted_cache import CachingModel, Pass, ScriptedCache, model_of
from course.checks.sections import REUSE
from course.checks.values import show_tokens


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    """One call each, with a cache left over from another prompt."""
    n_vocab = 16
    script = HistoryScript(n_vocab, int(rng.integers(2**31)))
    a, b, c, d, e, *others = distinct_ids(rng, n_vocab, n_vocab)
    whole = [a, b, c, d, e]

    def case(held: list[int], prompt: list[int], as_array: bool = False) -> Case:
        return Case(script, prompt, len(prompt) + 3, held=held, as_array=as_array)

    yield case([a, b, c], [a, b, others[0], d])  # edited
    for place in (0, 2, 4, 3):
        yield case(whole, [*whole[:place], others[0], *whole[place + 1 :]], as_array=place == 3)
    yield case(others[:3], whole)  # another prompt: longer, shorter, as long
    yield case(others[:7], [a, b])
    yield case(others[:3], [a, b, c])
    yield case([others[0], a, b], [a, b, c, d])  # the same tokens at other positions
    yield case([a, b], whole)  # longer
    yield case(whole, whole)  # the same again
    yield case([a], [a])
    yield case(whole, whole, as_array=True)
    yield case(whole, [a, b])  # shorter
    yield case([*whole, *others[:5]], [a, b, others[7]])  # edited, and shorter than the cache
    yield case(whole, [a, others[1]])
    yield case([a, b, others[2], d, e], [*whole, others[3]])
    yield case([], [a, b])
    large = [token + LAST_SHARED + 1 for token in distinct_ids(rng, 40, 5)]
    script = HistoryScript(300, int(rng.integers(2**31)))
    yield case(large[:3], large, as_array=True)
    chain, token = ChainScript([1, 2, 3, 0]), int(rng.integers(4))
    held, prompt = [token] * (LAST_SHARED + 2), [token] * (LAST_SHARED + 4)
    yield Case(chain, prompt, 3, held=held, context_length=8 * LAST_SHARED)


def common_prefix(candidate: Candidate, rng: np.random.Generator) -> None:
    """Of a passed cache the longest common prefix is kept, the rest cropped, only the missing part fed."""
    for case in _cases(rng):
        plain = _plain(candidate, case)
        if len(case.prompt) > case.max_new_tokens and plain is not None and not plain.passes:
            continue  # a budget that counts the prompt is looked at by `stops`
        try:
            run = play(candidate, case)
        except RaisedError as raised:
            raise _explained(raised) from raised.error
        _judge(run, plain, _identity_slip(case) or reuse_slip(case, run.passes))
    _branches(candidate, rng)
    _conversation(candidate, rng)


def _plain(candidate: Candidate, case: Case) -> Run | None:
    """The same call without a cache; None where the function does not get through it."""
    try:
        return play(candidate, replace(case, held=None))
    except RaisedError:
        return None


def _explained(raised: RaisedError) -> CheckFailure:
    slip = reuse_slip(raised.case, raised.passes) or raised_slip(raised)
    if raised.error.is_a("IndexError"):
        slip = _identity_slip(raised.case) or slip
    return raised.explained(slip, _shown(raised.case)) if slip else raised


def _identity_slip(case: Case) -> Slip | None:
    """What is wrong only with numbers as large as in this case."""
    if min(case.prompt) > LAST_SHARED:
        sentence = "Your loop does not keep what cache and prompt have in common where the ids are large."
    elif case.kept > LAST_SHARED:
        sentence = "Your loop does not keep what cache and prompt have in common where that is long."
    else:
        return None
    return Slip(None, f"{sentence} {IDENTITY}", REUSE)


def _shown(case: Case) -> str:
    missing = show_tokens(case.prompt[case.kept :])
    if not case.kept:
        return f"nothing kept, and {missing} fed"
    return f"{show_tokens(case.prompt[: case.kept])} kept, and {missing} fed before a token is selected"


def _judge(run: Run, plain: Run | None, slip: Slip | None) -> None:
    case = run.case
    general = Slip(
        None, "Of a passed cache the longest common prefix is kept, and only the rest is fed.", REUSE
    )
    if not run.starts_right:
        raise failure_of(slip or general, case.show(), _shown(case), show_passes(run.passes))
    if plain is None:
        return
    if plain.has_right_tokens and run.tokens != plain.tokens:
        stale = Slip("K10", "With the passed cache your loop selects other tokens than without it.", REUSE)
        got = f"{show_tokens(run.tokens)}, from {show_passes(run.passes)}"
        raise failure_of(slip or stale, case.show(), show_tokens(plain.tokens), got)
    if plain.has_right_tokens and plain.fed == plain.asked and run.fed != run.asked:
        expected = f"{len(run.asked)} positions fed: {show_tokens(run.asked)}"
        raise failure_of(slip or general, case.show(), expected, show_passes(run.passes))


def _next(
    candidate: Candidate, script: HistoryScript, prompt: list[int], cache: ScriptedCache, again: Slip
) -> ScriptedCache:
    """A call with the cache of an earlier one, judged by what that cache holds by now.

    again : the slip where the call before is to blame. Returns the cache to go on with.
    """
    case = Case(script, prompt, len(prompt) + 3)
    plain = _plain(candidate, case)
    case = replace(case, held=tuple(cache.token_ids))
    try:
        run = play(candidate, case, model_of(cache), cache)
    except RaisedError as raised:
        raise raised.explained(_blamed(case, raised.passes, again), _shown(case)) from raised.error
    _judge(run, plain, _blamed(case, run.passes, again))
    returned = run.cache
    fits = isinstance(returned, ScriptedCache) and model_of(returned) is run.model
    return returned if fits and isinstance(returned, ScriptedCache) else cache


def _blamed(case: Case, passes: list[Pass], again: Slip) -> Slip:
    slip = reuse_slip(case, passes)
    return again if slip is None or slip.misconception == "K10" else slip


def _start(
    rng: np.random.Generator, length: int
) -> tuple[ScriptedCache, HistoryScript, list[int], list[int]]:
    """An empty cache, its script, a first prompt, and tokens that neither it nor its run contains."""
    script = HistoryScript(20, int(rng.integers(2**31)))
    ids = distinct_ids(rng, 20, 20)
    prompt = ids[:length]
    selected = Case(script, prompt, length + 3).expected(length + 3)
    cache = CachingModel(script, ROOMY, 4 * MOST_CALLS).new_cache()
    return cache, script, prompt, [token for token in ids[length:] if token not in selected]


def _branches(candidate: Candidate, rng: np.random.Generator) -> None:
    """Continuations of one prefix, one after the other, through the cache of that prefix."""
    cache, script, stem, (d, e, f, *_) = _start(rng, 3)
    sentence = (
        "The second branch from a shared prefix reads tokens of the first: the cache has grown since. Crop "
        "it to what it has in common with *this* prompt."
    )
    for more in ([], [d], [e], [e, f], [d]):
        cache = _next(candidate, script, [*stem, *more], cache, Slip("K9", sentence, REUSE))


def _conversation(candidate: Candidate, rng: np.random.Generator) -> None:
    """Several prompts through one cache, each call with what the one before returned."""
    cache, script, (a, b), (c, d, e, *_) = _start(rng, 2)
    sentence = (
        "The second prompt through one cache is read with something left over from the first. Go by "
        "cache.token_ids, which says what the cache stands for now."
    )
    for prompt in ([a, b], [a, b, c, d, e], [d, e, c], [a, b, c], [d]):
        cache = _next(candidate, script, prompt, cache, Slip("K8", sentence, REUSE))
