"""Which slip a wrong run of the cached loop comes from, going by what its passes read.

What is not recognised stays None: a general message is better than a wrong explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from course.checks.cache_reuse.cases import Case, RaisedError, Run, fed
from course.checks.failures import Slip
from course.checks.scripted_cache import Pass
from course.checks.sections import APPEND, CACHE, READ, REUSE

UNUSED = Slip(
    "K14",
    "Your loop does not use the cache: each pass reads the whole prefix again. The tokens are the same; the "
    "work is that of the loop without a cache.",
    CACHE,
)
OF_ANOTHER_MODEL = Slip(
    "K8",
    "Your function uses a cache that another call left behind, and it belongs to another model. Without a "
    "cache argument, make a new one with model.new_cache() in each call.",
    REUSE,
)
NONE_MADE = Slip(
    None,
    "Your function does not get through without a cache: where none is passed in, begin with "
    "cache = model.new_cache().",
    REUSE,
)
NEW_ROWS_ONLY = Slip(
    None,
    "Your loop looks for a row that is not there: a cached pass returns rows for the new positions only, so "
    "the last row is rows[-1], whatever the prefix's length.",
    REUSE,
)
BIT_EQUAL = Slip(
    "K13",
    "Your loop compares a cached pass with one over the whole prefix. They agree to rounding, not to the "
    "last bit, and the second pass costs all that the cache saves.",
    REUSE,
)
ROUNDED = Slip(
    "K13",
    "Your loop rounds the logits, or turns them into another precision, before it selects: scores that "
    "differ become equal. Cached and uncached rows need not be made equal.",
    REUSE,
)
LAST_FED = Slip(
    "G14",
    "Your loop feeds the token that it selects last: nothing is predicted from it, so it is never fed.",
    CACHE,
)


def decode_slip(case: Case, passes: Sequence[Pass], tokens: Sequence[int]) -> Slip | None:
    """A slip in what the passes after the prompt read, where the first of them shows one."""
    start = next((i for i in range(1, len(passes) + 1) if len(fed(passes[:i])) >= len(case.prompt)), 0)
    if not start:
        return _short_slip(case, passes)
    prompt = tuple(case.prompt)
    first = passes[:start]
    if start == len(passes):
        if len(tokens) > 1:
            sentence = (
                "Your loop selects several tokens from one pass: each selected token must be fed before the "
                "next one is selected."
            )
            return Slip("G4", sentence, APPEND)
        return None
    second = passes[start]
    if _compares(first[-1], second):
        return BIT_EQUAL
    if len(second.token_ids) > len(prompt) and second.token_ids[: len(prompt)] == prompt:
        return _whole_prefix_slip(second)
    if second.token_ids == prompt and len(prompt) > 1:
        sentence = (
            "Your loop feeds the prompt twice: after the first reading the cache holds it, and what follows "
            "is the selected token."
        )
        return Slip("K2", sentence, REUSE)
    if len(second.token_ids) == 1 and second.before == ():
        return _forgotten_slip(second, first)
    if all(len(one.token_ids) == 1 and one.before == prompt for one in passes[start : start + 2]) and (
        len(passes) > start + 1
    ):
        sentence = (
            "Your loop reads each new token but does not keep it: every pass starts from the prompt alone. "
            "The token just read must stay in the cache for those that come after it."
        )
        return Slip("K7", sentence, REUSE)
    after = fed(passes)[len(prompt) :]
    if tokens and after == [prompt[-1], *tokens][: len(after)] and after != list(tokens[: len(after)]):
        sentence = (
            "Your loop feeds the prompt's last token once more: it was read with the prompt, and now counts "
            "twice. After the prompt comes the selected token."
        )
        return Slip("K2", sentence, REUSE)
    if len(second.token_ids) == 1 and tokens and second.token_ids[0] != tokens[0]:
        return Slip(None, "Your loop feeds another token than the one it has just selected.", REUSE)
    return None


def _short_slip(case: Case, passes: Sequence[Pass]) -> Slip | None:
    """Less than the prompt was ever fed."""
    if not passes:
        return Slip(None, "Your loop never reads the prompt: the model is not asked at all.", REUSE)
    if not case.kept:
        return Slip(None, "Your loop does not read the whole prompt before it selects.", REUSE)
    return None


def _whole_prefix_slip(second: Pass) -> Slip:
    if not second.before:
        return UNUSED
    sentence = (
        "Your loop feeds the whole prefix again to a cache that already holds it, so the same tokens stand "
        "in it twice. After the prompt, feed only the token just selected."
    )
    return Slip("K6", sentence, REUSE)


def _forgotten_slip(second: Pass, first: Sequence[Pass]) -> Slip:
    if second.held is None:
        sentence = (
            "Your loop reads the new token without the cache: it stands at position 0 there, with nothing "
            "before it. Hand the cache to every pass."
        )
    elif first[-1].held is None:
        sentence = (
            "Your loop reads the prompt without the cache, so the cache is still empty when the first new "
            "token is fed, and that token stands at position 0."
        )
    else:
        sentence = (
            "Your loop starts again from an empty cache after the prompt, so each new token stands at "
            "position 0, with nothing before it. One cache serves the whole run."
        )
    return Slip("K1", sentence, REUSE)


def row_slip(run: Run) -> Slip | None:
    """A wrong row of the pass over the prompt, or a wrong choice in the right one."""
    case, prompt = run.case, tuple(run.case.prompt)
    rows = case.script.rows(prompt)
    last = ", and only the last one has read the whole prompt."
    other = {int(row.argmax()) for row in rows[:-1]} | {
        int(rows.argmax()) % case.script.n_vocab,
        int(rows.mean(axis=0).argmax()),
    }
    if run.tokens[0] in other and run.tokens[0] != int(rows[-1].argmax()):
        sentence = f"Your loop predicts from a row other than the last: there is one for each token fed{last}"
        return Slip("G1", sentence, READ)
    if run.tokens[: len(prompt)] == list(prompt) and len(run.tokens) > len(prompt):
        sentence = "Your function returns the prompt as well: only the new tokens are asked for."
        return Slip(None, sentence, APPEND)
    return None


def _compares(one: Pass, other: Pass) -> bool:
    """Whether a cached pass is followed by one over the same whole prefix without the cache."""
    return one.held is not None and other.held is None and other.token_ids == one.read


def raised_slip(raised: RaisedError) -> Slip | None:
    """The slip behind an error of the student's function, other than in the reuse of a passed cache."""
    passes, error = raised.passes, raised.error
    if error.is_a("StaleCacheError"):
        return OF_ANOTHER_MODEL
    if not passes:
        return NONE_MADE if raised.case.held is None and "NoneType" in error.message else None
    last = passes[-1]
    if len(passes) > 1 and _compares(passes[-2], last):
        return BIT_EQUAL
    if error.is_a("IndexError") and last.before:
        return NEW_ROWS_ONLY
    if any(not 0 <= token < raised.case.script.n_vocab for token in last.token_ids):
        sentence = (
            "Your loop selects an id that is not in the vocabulary: `argmax` over a whole array of rows "
            "counts through all of them. Take the last row first."
        )
        return Slip("G1", sentence, READ)
    went_on = len(fed(passes)) > len(raised.case.prompt) and not raised.case.held
    return decode_slip(raised.case, passes, ()) if went_on else None


def feeding_slip(run: Run) -> Slip | None:
    """The slip behind positions that were fed wrongly in a run without a passed cache."""
    tokens = run.tokens
    if run.fed == [*run.case.prompt, *tokens] and tokens:
        return LAST_FED
    slip = decode_slip(run.case, run.passes, tokens)
    if slip is None and any(_compares(one, other) for one, other in pairwise(run.passes)):
        return BIT_EQUAL
    return slip
