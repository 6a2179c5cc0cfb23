"""Judges every mutant of the reference solutions: `python -m mutation.run`, from the top of the repository.

Exit status 1 where a mutant costs no point and is not listed as equivalent, where a listed one does not
survive, or where the list of mutants is not what the tools make.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from mutation.judge import ENDLESS, SURVIVED, Judge
from mutation.mutants import (
    Mutant,
    fingerprint,
    read_equivalent,
    read_list,
    references,
    unequal_to_the_list,
    write_list,
)

SEEDS = (0, 1, 2, 5, 2024)  # a mutant is killed where it loses a point with each of them
STALE = "the list of mutants was made from another solution; make it anew with `--list`"


def main() -> int:
    """Judge the listed mutants and print the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="make the list of mutants anew (needs the tools)")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="seeds of the checks' inputs")
    options = parser.parse_args()

    solutions = references()
    made = None
    try:
        from mutation.operators import make_mutants
    except ImportError as error:
        if options.list:
            raise
        print(f"{error}: without the tools the committed list is taken as it is.\n")
    else:
        made = {challenge: make_mutants(challenge, code) for challenge, code in solutions.items()}
        if options.list:
            write_list(solutions, made)

    fingerprints, mutants = read_list()
    problems = [
        f"{name}: {STALE}" for name, code in solutions.items() if fingerprints.get(name) != fingerprint(code)
    ]
    if made is not None and set(mutants) != {mutant for each in made.values() for mutant in each}:
        problems.append("the tools make other mutants than the list has; make it anew with `--list`")
    if problems:
        print("\n".join(problems))
        return 1

    survivors, counts = [], Counter[tuple[str, str]]()
    with Judge() as judge:
        for mutant in mutants:
            outcome = judge_mutant(judge, mutant, solutions[mutant.challenge], options.seeds)
            counts[mutant.function, outcome] += 1
            if outcome == SURVIVED:
                survivors.append(mutant)
    print(table(counts))
    if made is not None:
        tools = Counter(" and ".join(tools) for each in made.values() for tools in each.values())
        print("\nMade by " + ", by ".join(f"{tool}: {count}" for tool, count in sorted(tools.items())) + ".")
    problems = unequal_to_the_list(survivors, read_equivalent())
    print("\n" + "\n".join(problems or ["Every mutant that is not equivalent loses a point."]))
    return 1 if problems else 0


def judge_mutant(judge: Judge, mutant: Mutant, solution: str, seeds: tuple[int, ...]) -> str:
    """How a mutant ended: SURVIVED where one seed lets it pass, ENDLESS, "failed" or "error"."""
    code = mutant.code(solution)
    verdict = ""
    for seed in seeds:
        verdict = judge.verdict(mutant.challenge, mutant.function, code, seed)
        if verdict in (SURVIVED, ENDLESS):
            break
    return verdict.split()[0]


def table(counts: Counter[tuple[str, str]]) -> str:
    """The result as a Markdown table, a row a function."""
    functions = list(dict.fromkeys(function for function, _ in counts))
    rows = {f"`{function}`": [counts[function, kind] for kind in KINDS] for function in functions}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines = [
        "| function | mutants | wrong answer | raises | endless | survive |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in rows.items():
        lines.append(f"| {name} | {sum(found)} | {' | '.join(map(str, found))} |")
    return "\n".join(lines)


KINDS = ("failed", "error", ENDLESS, SURVIVED)

if __name__ == "__main__":
    sys.exit(main())
