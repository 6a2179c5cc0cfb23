"""The check of the cache that comes back: `returned_cache`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course.checks.cache_reuse.cases import MOST_CALLS, Case, RaisedError, Run, play, require_two_tokens
from course.checks.cache_reuse.feeding import end_on_the_way, explain
from course.checks.candidate import Candidate
from course.checks.check import CheckFailure
from course.checks.failures import Slip, failure_of
from course.checks.inputs import ROOMY, distinct_ids
from course.checks.models import HistoryScript
from course.checks.scripted_cache import CachingModel, ScriptedCache, model_of
from course.checks.sections import REUSE
from course.checks.values import describe, show_tokens


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    n_vocab = 12
    script = HistoryScript(n_vocab, int(rng.integers(2**31)))
    prompt = distinct_ids(rng, n_vocab, 4)
    yield Case(script, prompt[:3], 7)
    yield Case(script, prompt[:1], 4, as_array=True)
    yield Case(script, prompt, 1)
    yield Case(script, prompt[:3], 9, end_id=end_on_the_way(script, prompt[:3]))
    yield Case(script, prompt[:2], 20, context_length=8)
    yield Case(script, prompt[:3], 0)
    yield Case(script, prompt[:3], 9, context_length=3)
    yield Case(script, prompt[:3], 6, held=[])
    yield Case(script, prompt, 7, held=prompt[:2])
    yield Case(script, prompt, 7, held=[*prompt[:2], prompt[3], prompt[2], prompt[0]])


def returned_cache(candidate: Candidate, rng: np.random.Generator) -> None:
    """The cache that comes back stands for what was fed, stays so, and can be gone on with."""
    for case in _cases(rng):
        try:
            run = play(candidate, case)
        except RaisedError as raised:
            overflows = case.context_length < ROOMY and raised.error.is_a("ContextOverflowError")
            if case.held or overflows:
                continue  # the business of `common_prefix`, or of `stops`
            raise explain(raised) from raised.error
        if case.max_new_tokens > len(case.prompt) + 1 and case.context_length > len(case.prompt):
            require_two_tokens(run)
        if not case.held or run.starts_right:
            _stands_for_what_was_fed(run)
    _stays(candidate, rng)


def _cache_of(run: Run) -> ScriptedCache:
    """The returned cache; CheckFailure where it is none, or none of this model."""
    cache = run.cache
    if isinstance(cache, ScriptedCache) and model_of(cache) is run.model:
        return cache
    sentence = (
        "The second thing to return is the cache: one that model.new_cache() made, or the one passed in."
    )
    got = f"{describe(cache)} for the cache"
    if isinstance(cache, ScriptedCache):
        sentence = "Your function returns a cache of another model, left over from another call."
        got = "a cache of another model"
    raise failure_of(Slip(None, sentence, REUSE), run.case.show(), "a cache of this model", got)


def _stands_for_what_was_fed(run: Run) -> None:
    held = _cache_of(run).token_ids
    case, prompt = run.case, list(run.case.prompt)
    if not (case.max_new_tokens and case.context_length > len(prompt)) or not run.tokens:
        if held != prompt[: len(held)]:  # nothing to make: the prompt may be read or left unread
            slip = Slip(None, "The returned cache stands for other tokens than the prompt's.", REUSE)
            raise failure_of(slip, case.show(), "nothing, or the prompt", show_tokens(held))
        return
    asked = [*prompt, *run.tokens[:-1]]
    kept = list(run.passes[0].before) if run.passes else []
    # Positions that are fed twice, or too many, are for other checks: the cache may be true to them.
    if held == asked or (run.fed and held == [*kept, *run.fed]):
        return
    raise _wrong(run, held, asked)


def _wrong(run: Run, held: list[int], asked: list[int]) -> CheckFailure:
    before = list(run.case.held or ())
    back = run.case.held is not None and len(held) == len(before)
    if not held and not back:
        sentence = "Your function returns an empty cache: return the one that the passes went through."
        slip = Slip("K14", sentence, REUSE)
    elif len(held) < len(asked) and held == asked[: len(held)]:
        what = "is cropped to the length it came with" if back else "stands for too little"
        sentence = (
            f"The returned cache {what}: it should stand for all that was fed, the prompt and "
            "every new token but the last."
        )
        slip = Slip("K9" if back else "K7", sentence, REUSE)
    elif len(held) < len(asked) and held == asked[-len(held) :]:
        sentence = (
            "The returned cache stands for the last tokens only, as if they were the first: a new cache was "
            "begun on the way. One cache serves the whole run."
        )
        slip = Slip("K1", sentence, REUSE)
    else:
        sentence = "The returned cache stands for other tokens than those that were fed."
        slip = Slip(None, sentence, REUSE)
    expected = f"cache.token_ids = {show_tokens(asked)}"
    return failure_of(slip, run.case.show(), expected, show_tokens(held))


def _stays(candidate: Candidate, rng: np.random.Generator) -> None:
    """A later call that is given no cache leaves the returned one alone; a call that is given it goes on."""
    script = HistoryScript(16, int(rng.integers(2**31)))
    a, b, c, d, e, f, *_ = distinct_ids(rng, 16, 16)
    model = CachingModel(script, ROOMY, 4 * MOST_CALLS)
    first = play(candidate, Case(script, [a, b, c], 6), model)
    cache = _cache_of(first)
    held = cache.token_ids
    other = Case(script, [a, d, e, f], 6)
    second = play(candidate, other, model)
    if cache.token_ids != held:
        sentence = (
            "A later call that is given no cache changes the cache that an earlier call returned. Without a "
            "cache argument, make a new one with model.new_cache() in each call."
        )
        expected = f"the first call's cache still stands for {show_tokens(held)}"
        got = f"it stands for {show_tokens(cache.token_ids)}"
        raise failure_of(Slip("K9", sentence, REUSE), f"two calls, {other.show()} second", expected, got)
    _cache_of(second)
    prompt = [a, b, c, *first.tokens]  # one position is missing, so there is one row to select from
    longer = Case(script, prompt, len(prompt) + 3, held=tuple(held))
    try:
        more = play(candidate, longer, model, cache)
    except RaisedError as raised:
        if raised.passes and raised.passes[0].before != tuple(prompt[: longer.kept]):
            return  # the reuse of a passed cache is the business of `common_prefix`
        raise explain(raised) from raised.error
    if more.starts_right:
        _stands_for_what_was_fed(more)
        if first.has_right_tokens and not more.has_right_tokens:
            slip = Slip(None, "Going on with the returned cache gives other tokens.", REUSE)
            expected = show_tokens(longer.expected(len(more.tokens)))
            raise failure_of(slip, longer.show(), expected, show_tokens(more.tokens))
