"""Looks at a cell's code without running it."""

import ast
import re

LONGEST = 100_000  # characters that are parsed: a tree takes some hundred times the text's memory
_MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
_DEFINITION = re.compile(r"^(?:async )?(?:def|class)\s+(\w+)|^(\w+)\s*=(?!=)", re.MULTILINE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def parsed(source: str) -> ast.Module | None:
    """The code as a tree, each magic replaced by `pass`; None if it is no Python, or too long."""
    if len(source) > LONGEST:
        return None
    try:
        return ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return None


def names_defined(source: str) -> set[str]:
    """The names that a cell gives a meaning to, as far as its text tells."""
    tree = parsed(source)
    if tree is None:
        return {name for pair in _DEFINITION.findall(source) for name in pair if name}
    names: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue  # what is defined inside is not defined outside
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        waiting += ast.iter_child_nodes(node)
    return names


def definitions_of(source: str) -> str:
    """Of a cell that cannot be run as a whole, the part that only defines: imports, functions, constants."""
    tree = parsed(source)
    if tree is None:
        return ""
    tree.body = [node for node in tree.body if isinstance(node, _DEFINITIONS) or _is_constant(node)]
    try:
        return ast.unparse(tree)
    except RecursionError:
        return ""


def _is_constant(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
