"""The checks, proved on every mutant of the reference solutions; see mutation/README.md."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from course.checks import CHALLENGES
from mutation.judge import ENDLESS, SURVIVED, Judge
from mutation.mutants import (
    Mutant,
    fingerprint,
    read_equivalent,
    read_list,
    references,
    unequal_to_the_list,
)

pytestmark = pytest.mark.proof
SEED = 77  # `python -m mutation.run` uses others, and several


@pytest.fixture(scope="module")
def solutions() -> dict[str, str]:
    """The reference solution of each challenge."""
    return references()


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """A process that runs mutants."""
    with Judge() as judge:
        yield judge


def test_the_list_was_made_from_these_solutions(solutions: dict[str, str]) -> None:
    """For a reference solution that was changed without `python -m mutation.run --list` afterwards."""
    fingerprints, _ = read_list()
    assert fingerprints == {challenge: fingerprint(code) for challenge, code in solutions.items()}


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_reference_solutions_survive(challenge: str, solutions: dict[str, str], judge: Judge) -> None:
    """For a judge that kills everything."""
    assert judge.verdict(challenge, "", solutions[challenge], SEED) == SURVIVED


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_every_mutant_loses_a_point_or_is_equivalent(
    challenge: str, solutions: dict[str, str], judge: Judge
) -> None:
    """For a fault that the checks do not see, and for a reason that no longer holds."""
    mutants = [mutant for mutant in read_list()[1] if mutant.challenge == challenge]
    survivors = [
        mutant
        for mutant in mutants
        if judge.verdict(challenge, mutant.function, mutant.code(solutions[challenge]), SEED) == SURVIVED
    ]
    functions = {mutant.function for mutant in mutants}
    equivalent = [key for key in read_equivalent() if key[0] in functions]
    assert unequal_to_the_list(survivors, equivalent) == []


def test_equivalent_mutants_are_listed_ones_with_a_reason() -> None:
    """For a reason that is kept for a line that is no more, or that is none."""
    listed = {(mutant.function, mutant.line, mutant.mutated) for mutant in read_list()[1]}
    equivalent = read_equivalent()
    assert set(equivalent) <= listed
    assert all(len(reason.split()) > 5 for reason in equivalent.values())


def test_the_list_is_what_the_tools_make(solutions: dict[str, str]) -> None:
    """For mutants that were taken off the list by hand."""
    for tool in ("cosmic_ray", "mutmut"):
        pytest.importorskip(tool, reason="the extra `mutation` is not installed: the list is taken as it is")
    from mutation.operators import make_mutants

    made = {mutant for challenge, code in solutions.items() for mutant in make_mutants(challenge, code)}
    assert made == set(read_list()[1])


def test_survivors_and_reasons_are_held_against_each_other() -> None:
    """For a run that would stay green with a survivor, or with a reason for a mutant that is killed."""
    mutant = Mutant("generation_loop", "generate", "a = 1", "a = 2")
    other = ("generate", "b = 1", "b = 2")
    assert unequal_to_the_list([mutant], [("generate", "a = 1", "a = 2")]) == []
    assert len(unequal_to_the_list([mutant], [other])) == 2


def test_an_endless_mutant_is_ended_and_the_next_one_judged(solutions: dict[str, str], judge: Judge) -> None:
    """For a loop that never asks the model, which no count of calls ends."""
    endless = "def generate(*arguments, **keywords):\n    while True:\n        pass\n"
    assert judge.verdict("generation_loop", "generate", endless, SEED) == ENDLESS
    code = solutions["generation_loop"]
    assert judge.verdict("generation_loop", "generate", code, SEED) == SURVIVED
