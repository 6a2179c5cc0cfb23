"""Challenge 1, the generation loop: `generate(model, prompt, max_new_tokens, end_id, rng, temperature)`.

Each check looks at one thing, on inputs where a slip in another thing makes no difference, so that one
mistake costs the checks it breaks and no more. Cases go from small to large: the first that fails is the
smallest.
"""

from __future__ import annotations

from course.checks.check import Body, Check
from course.checks.generation_loop.limits import budget, context, end_token, finish_reason
from course.checks.generation_loop.sampling import sampling, temperature
from course.checks.generation_loop.selection import greedy, passes


def _check(points: int, run: Body) -> Check:
    return Check(run.__name__, "generation_loop", "generate", points, run)


CHECKS = (
    _check(2, greedy),
    _check(1, budget),
    _check(1, end_token),
    _check(1, context),
    _check(1, finish_reason),
    _check(2, sampling),
    _check(1, temperature),
    _check(1, passes),
)
