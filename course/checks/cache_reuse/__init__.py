"""Challenge 3, cache reuse: `cached_attention` and `generate_with_cache`.

Each check looks at one thing, on inputs where a slip in another thing makes no difference, so that one
mistake costs the checks it breaks and no more. Cases go from small to large: the first that fails is the
smallest.
"""

from __future__ import annotations

from course.checks.cache_reuse.attention import (
    attention_alignment,
    attention_causal,
    attention_stable,
    attention_values,
)
from course.checks.cache_reuse.feeding import fed_once, tokens
from course.checks.cache_reuse.returned import returned_cache
from course.checks.cache_reuse.reuse import common_prefix
from course.checks.cache_reuse.stopping import stops
from course.checks.check import Body, Check


def _check(function: str, points: int, run: Body) -> Check:
    return Check(run.__name__, "cache_reuse", function, points, run)


CHECKS = (
    _check("cached_attention", 1, attention_values),
    _check("cached_attention", 1, attention_causal),
    _check("cached_attention", 1, attention_alignment),
    _check("cached_attention", 1, attention_stable),
    _check("generate_with_cache", 2, tokens),
    _check("generate_with_cache", 2, fed_once),
    _check("generate_with_cache", 1, stops),
    _check("generate_with_cache", 2, common_prefix),
    _check("generate_with_cache", 1, returned_cache),
)
