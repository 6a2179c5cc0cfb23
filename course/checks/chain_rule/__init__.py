"""Challenge 2, the chain rule: `token_log_probabilities` and `sequence_log_probability`.

`rows` and `temperature` call the first function only; the others call both. Each looks at one thing: where
the rows all agree and the tokens are all equal, neither a wrong row nor a wrong slice makes a difference.
A wrong base or sign is left to `sum`, a wrong number of entries to `rows`.
"""

from __future__ import annotations

from course.checks.chain_rule.cases import SEQUENCE, TOKENS
from course.checks.chain_rule.numbers import stability, temperature
from course.checks.chain_rule.rows import only_continuation, rows, single_pass
from course.checks.chain_rule.sums import empty, total
from course.checks.check import Check

CHECKS = (
    Check("rows", "chain_rule", TOKENS, 2, rows),
    Check("only_continuation", "chain_rule", TOKENS, 1, only_continuation),
    Check("sum", "chain_rule", SEQUENCE, 1, total),
    Check("temperature", "chain_rule", TOKENS, 1, temperature),
    Check("stability", "chain_rule", TOKENS, 1, stability),
    Check("empty", "chain_rule", TOKENS, 1, empty),
    Check("single_pass", "chain_rule", TOKENS, 1, single_pass),
)
