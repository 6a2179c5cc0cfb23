"""The mutants: what they are made of, the committed list of them, and the list of the equivalent ones."""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from course.building.masters import read_masters
from course.checks import CHALLENGES

ROOT = Path(__file__).parent.parent
LISTED = Path(__file__).parent / "mutants.json"
EQUIVALENT = Path(__file__).parent / "equivalent.toml"


@dataclass(frozen=True, order=True)
class Mutant:
    """One line of one reference function, written in another way.

    line, mutated : the line as it is and as the mutant has it, without indentation. Both are as `ast.unparse`
        writes them, so comments and line breaks of the masters play no part.
    """

    challenge: str
    function: str
    line: str
    mutated: str

    def __str__(self) -> str:
        return f"{self.function}: {self.line}\n{' ' * len(self.function)}→ {self.mutated}"

    def code(self, reference: str) -> str:
        """The whole solution with this one line changed. ValueError where the line is not there once."""
        lines = reference.splitlines()
        places = [i for i, line in lines_of(reference, self.function) if line.strip() == self.line]
        if len(places) != 1:
            raise ValueError(f"{self.function} has {len(places)} lines like this one: {self.line}")
        (place,) = places
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
        lines[place] = indent + self.mutated
        return "\n".join(lines)


def lines_of(code: str, function: str) -> Iterator[tuple[int, str]]:
    """The lines of one function, each with its place in the code."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            assert node.end_lineno is not None
            yield from ((i, lines[i]) for i in range(node.lineno - 1, node.end_lineno))


def references(root: Path = ROOT) -> dict[str, str]:
    """The reference solution of each challenge, out of the masters, as `ast.unparse` writes it."""
    cells = [
        ast.parse(cell["source"])
        for master in read_masters(root)
        for cell in master.notebook.cells
        if cell["cell_type"] == "code" and "### BEGIN SOLUTION" in cell["source"]
    ]
    found = {}
    for challenge, checks in CHALLENGES.items():
        needed = {check.function for check in checks}
        solution = [
            ast.unparse(cell)
            for cell in cells
            if any(isinstance(node, ast.FunctionDef) and node.name in needed for node in cell.body)
        ]
        found[challenge] = "\n".join(solution) + "\n"
    return found


def fingerprint(reference: str) -> str:
    """Says whether a list of mutants was made from this solution."""
    return hashlib.sha256(reference.encode()).hexdigest()[:16]


def read_list(path: Path = LISTED) -> tuple[dict[str, str], list[Mutant]]:
    """The committed list: the fingerprint of each solution that it was made from, and the mutants."""
    listed = json.loads(path.read_text(encoding="utf-8"))
    fingerprints = {challenge: entry["fingerprint"] for challenge, entry in listed.items()}
    return fingerprints, [
        Mutant(challenge, function, line, mutated)
        for challenge, entry in listed.items()
        for function, lines in entry["functions"].items()
        for line, versions in lines.items()
        for mutated in versions
    ]


def write_list(
    solutions: Mapping[str, str], mutants: Mapping[str, Iterable[Mutant]], path: Path = LISTED
) -> None:
    """Write what `read_list` reads, in the order of the solutions' lines."""
    listed = {}
    for challenge, solution in solutions.items():
        functions: dict[str, dict[str, list[str]]] = {}
        for mutant in mutants[challenge]:
            lines = functions.setdefault(mutant.function, {})
            lines.setdefault(mutant.line, []).append(mutant.mutated)
        listed[challenge] = {"fingerprint": fingerprint(solution), "functions": functions}
    path.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_equivalent(path: Path = EQUIVALENT) -> dict[tuple[str, str, str], str]:
    """The reason for each equivalent mutant, by its function, its line and what it has in place of it."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"]
    return {
        (entry["function"], entry["line"], mutated): entry["reason"]
        for entry in entries
        for mutated in entry["mutants"]
    }


def unequal_to_the_list(mutants: Iterable[Mutant], equivalent: Iterable[tuple[str, str, str]]) -> list[str]:
    """What is wrong between the mutants that cost no point and the list of the equivalent ones.

    mutants : those that survived.
    """
    survived = {(mutant.function, mutant.line, mutant.mutated) for mutant in mutants}
    listed = set(equivalent)
    problems = {
        "costs no point and is not listed as equivalent": survived - listed,
        "is listed as equivalent and does not survive": listed - survived,
    }
    return [
        f"{function}: {line}\n  → {mutated}\n  {problem}"
        for problem, found in problems.items()
        for function, line, mutated in sorted(found)
    ]
