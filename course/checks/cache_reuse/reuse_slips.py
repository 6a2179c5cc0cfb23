"""Which slip a wrong use of a passed cache comes from: what the first pass follows, and what it reads."""

from __future__ import annotations

from collections.abc import Sequence

from course.checks.cache_reuse.cases import Case, common_prefix, starts_right
from course.checks.failures import Slip
from course.checks.scripted_cache import Pass
from course.checks.sections import REUSE


def reuse_slip(case: Case, passes: Sequence[Pass]) -> Slip | None:
    """The slip in what the first pass follows and reads, where a cache was passed in."""
    held, prompt = tuple(case.held or ()), tuple(case.prompt)
    agreed = common_prefix(held, prompt)
    if not passes and agreed == len(prompt):
        sentence = (
            "The cache holds the whole prompt, and your loop then makes no tokens. The last token must be "
            "fed all the same, since its row predicts: keep one position less."
        )
        return Slip("K11", sentence, REUSE)
    if not passes or starts_right(case, passes) or not held:
        return None
    first = passes[0]
    if not first.token_ids and agreed == len(prompt):
        sentence = (
            "The cache holds the whole prompt, and your loop has nothing left to feed. The last token must "
            "be fed all the same, since its row predicts: keep one position less."
        )
        return Slip("K11", sentence, REUSE)
    if first.before == prompt[: len(prompt)] and agreed == len(prompt) and first.token_ids == prompt[-1:]:
        sentence = (
            "The cache holds the whole prompt, and your loop feeds the last token on top of it, so that "
            "token stands there twice. Crop the cache to one position less first."
        )
        return Slip("K11", sentence, REUSE)
    if first.before and first.token_ids == prompt:
        if first.before == prompt[: len(first.before)]:
            sentence = (
                "Your loop feeds the whole prompt to a cache that already holds a part of it, so those "
                "tokens stand there twice. Feed only what is missing."
            )
            return Slip("K6", sentence, REUSE)
        sentence = (
            "Your loop reads the prompt behind what the cache still holds of another one. Crop the cache to "
            "what the two have in common first."
        )
        return Slip("K8", sentence, REUSE)
    if first.before != prompt[: len(first.before)] or (not first.token_ids and agreed < len(prompt)):
        sentence = (
            "Your loop keeps stale positions: from the first token on that differs, nothing in the cache "
            "stands for this prompt. Compare the tokens, not the lengths, and crop to what agrees."
        )
        return Slip("K10", sentence, REUSE)
    if not first.before and case.kept and first.token_ids[:1] == prompt[:1]:
        sentence = (
            "Your loop reads the whole prompt although the cache that was passed in holds the beginning of "
            "it: keep the longest common prefix, and feed only what is missing."
        )
        return Slip("K14", sentence, REUSE)
    if len(first.before) < case.kept:
        sentence = (
            "Your loop keeps less of the cache than it could: all that agrees with the prompt is still good, "
            "only the prompt's last token must be left to feed."
        )
        return Slip(None, sentence, REUSE)
    return None
