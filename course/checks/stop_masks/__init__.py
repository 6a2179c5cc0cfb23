"""Challenge 4, stop masks: `account(choices, end_id)` and `generate_batch(model, prompts, ..., rngs)`.

The checks of the batch look at one part of the result each, and take the rest as the student has it: a
length is right if it counts the tokens that were returned, and a row goes on as long as those say. So one
mistake costs the checks it breaks and no more.
"""

from __future__ import annotations

from course.checks.check import Body, Check
from course.checks.stop_masks.accounting import account_finished, account_lengths
from course.checks.stop_masks.cases import ACCOUNT, BATCH
from course.checks.stop_masks.edges import edges
from course.checks.stop_masks.generators import own_generators
from course.checks.stop_masks.masks import finished, lengths
from course.checks.stop_masks.rounds import only_live_rows, tokens


def _check(points: int, run: Body, function: str = BATCH) -> Check:
    return Check(run.__name__, "stop_masks", function, points, run)


CHECKS = (
    _check(1, account_lengths, ACCOUNT),
    _check(1, account_finished, ACCOUNT),
    _check(2, tokens),
    _check(1, lengths),
    _check(1, finished),
    _check(1, only_live_rows),
    _check(2, own_generators),
    _check(1, edges),
)
