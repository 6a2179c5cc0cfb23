"""All checks, by challenge."""

from __future__ import annotations

from course.checks import cache_reuse, chain_rule, generation_loop, stop_masks
from course.checks.check import Check

CHALLENGES: dict[str, tuple[Check, ...]] = {
    "generation_loop": generation_loop.CHECKS,
    "chain_rule": chain_rule.CHECKS,
    "cache_reuse": cache_reuse.CHECKS,
    "stop_masks": stop_masks.CHECKS,
}


def checks_of(challenge: str) -> tuple[Check, ...]:
    """The checks of a challenge, in order. KeyError names the challenges there are."""
    if challenge not in CHALLENGES:
        raise KeyError(f"no challenge named {challenge!r}; there are {', '.join(CHALLENGES)}")
    return CHALLENGES[challenge]


def find_check(challenge: str, name: str) -> Check:
    """One check by name. KeyError names those there are."""
    named = {check.name: check for check in checks_of(challenge)}
    if name not in named:
        raise KeyError(f"{challenge} has no check named {name!r}; there are {', '.join(named)}")
    return named[name]
