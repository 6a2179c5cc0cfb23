"""Which challenge a file belongs to, from the names of the functions it defines."""

from __future__ import annotations

from collections.abc import Iterable

from course.checks.registry import CHALLENGES


class UnknownChallengeError(Exception):
    """A file's functions belong to no challenge, or to several. The text is for whoever named the file.

    found : the challenges, if there are several.
    """

    def __init__(self, message: str, found: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.found = tuple(found)


ALL_FUNCTIONS = tuple(dict.fromkeys(check.function for checks in CHALLENGES.values() for check in checks))


def functions_of(challenge: str) -> tuple[str, ...]:
    """The functions that a challenge asks for, in the order of its checks."""
    return tuple(dict.fromkeys(check.function for check in CHALLENGES[challenge]))


def challenge_of(names: Iterable[str]) -> str:
    """The challenge that functions of these names belong to. UnknownChallengeError where it is not one."""
    defined = set(names)
    found = {name: [f for f in functions_of(name) if f in defined] for name in CHALLENGES}
    found = {name: functions for name, functions in found.items() if functions}
    if len(found) == 1:
        return next(iter(found))
    if not found:
        asked = [f"`{function}`" for function in ALL_FUNCTIONS]
        raise UnknownChallengeError(
            f"No function of a challenge is defined in this file: it has none of {', '.join(asked)}."
        )
    parts = [f"{_listed(functions)} of {name}" for name, functions in found.items()]
    raise UnknownChallengeError(
        f"This file defines functions of {len(found)} challenges: {', and '.join(parts)}. "
        f"Name the one to check, for example --challenge {list(found)[-1]}.",
        found,
    )


def _listed(functions: list[str]) -> str:
    return " and ".join(f"`{function}`" for function in functions)
