"""Makes the mutants, with the operators of two tools: Cosmic Ray and mutmut (the extra `mutation`).

Neither tool's own run is of use here. They mutate modules on disk and start a test runner a mutant, which
takes seconds; what they would run is not a module but cells of notebooks, and the checks judge a mutant in
a tenth of a second.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import cosmic_ray.plugins
import libcst
from cosmic_ray.mutating import mutate_code
from mutmut.mutation.mutators import mutation_operators

from mutation.mutants import Mutant, lines_of

# One changes nothing; the others put random numbers in the place of named variables, so that no list could
# be made of what they give.
LEFT_OUT = {"core/NoOp", "core/VariableReplacer", "core/VariableInserter"}


def by_cosmic_ray(code: str) -> Iterator[str]:
    """Every mutation of the code by Cosmic Ray's operators."""
    for name in cosmic_ray.plugins.operator_names():
        if name not in LEFT_OUT:
            operator = cosmic_ray.plugins.get_operator(name)()
            occurrence = 0
            while (mutated := mutate_code(code, operator, occurrence)) is not None:
                yield mutated
                occurrence += 1


def by_mutmut(code: str) -> Iterator[str]:
    """Every mutation of the code by mutmut's operators, in calls of `len` too, which mutmut leaves out."""
    module = libcst.parse_module(code)
    nodes: list[libcst.CSTNode] = [module]
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                for mutated in operator(node):
                    yield module.deep_replace(node, mutated).code


TOOLS = {"cosmic-ray": by_cosmic_ray, "mutmut": by_mutmut}


def make_mutants(challenge: str, reference: str) -> dict[Mutant, list[str]]:
    """All mutants of a solution, each once, with the tools that make it, in the order of the lines."""
    made: dict[Mutant, list[str]] = {}
    for tool, mutations in TOOLS.items():
        for code in mutations(reference):
            mutant = _read(challenge, reference, code)
            if mutant is not None and tool not in made.setdefault(mutant, []):
                made[mutant].append(tool)
    place = {
        (mutant.function, line.strip()): i
        for mutant in made
        for i, line in lines_of(reference, mutant.function)
    }
    return dict(sorted(made.items(), key=lambda item: (place[item[0].function, item[0].line], item[0])))


def _read(challenge: str, reference: str, code: str) -> Mutant | None:
    """The mutant that a tool's text stands for; None where it is no Python, or the same as the reference."""
    try:
        written = ast.unparse(ast.parse(code))
    except SyntaxError:
        return None
    before, after = reference.splitlines(), written.splitlines()
    differ = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    if not differ:
        return None
    (place,) = differ  # no operator changes two lines, or the number of lines
    for node in ast.parse(reference).body:
        if isinstance(node, ast.FunctionDef) and place in dict(lines_of(reference, node.name)):
            mutant = Mutant(challenge, node.name, before[place].strip(), after[place].strip())
            assert mutant.code(reference).splitlines() == after, mutant
            return mutant
    raise ValueError(f"a mutation outside the functions: {after[place]}")
