"""Reads what a graded test asks for: the one call of `require` or `require_answer` in its hidden tests."""

import ast
from dataclasses import dataclass

HIDDEN_TESTS = "HIDDEN TESTS"
EXAMPLES = (
    '`require("stop_masks", "edges", generate_batch=generate_batch)` or '
    '`require_answer("one-draw", answer_one_draw)`'
)


class HiddenTestsError(Exception):
    """Hidden tests that cannot be run apart from the student's code; the text says what would be right."""


@dataclass(frozen=True)
class AskedCheck:
    """A check, and what the functions that it calls are called in the notebook."""

    challenge: str
    check: str
    functions: dict[str, str]


@dataclass(frozen=True)
class AskedAnswer:
    """A question, and the variable that holds the answer."""

    question: str
    variable: str


def asked_in(source: str) -> AskedCheck | AskedAnswer:
    """What the hidden tests of a cell ask for.

    They hold an import from `course.checks` and one call, for the marks come from that call alone: it is made
    outside the process that the student's code runs in. Raises HiddenTestsError for anything else, also where
    the check, its function or the question does not exist.
    """
    _, hidden = parted(source)
    try:
        body = ast.parse(hidden).body
    except (SyntaxError, ValueError) as error:
        raise HiddenTestsError(f"its hidden tests are no Python: {error}") from None
    statements = [node for node in body if not _is_import(node)]
    calls = [node.value for node in statements if isinstance(node, ast.Expr)]
    if len(statements) != 1 or len(calls) != 1 or not isinstance(calls[0], ast.Call):
        found = f"{len(statements)} statements" if len(statements) != 1 else "another statement"
        raise HiddenTestsError(
            f"its hidden tests hold {found if statements else 'no call'}; they must be one call, like "
            f"{EXAMPLES}, because other tests would run in the student's own process"
        )
    return _read(calls[0])


def parted(source: str, kind: str = HIDDEN_TESTS) -> tuple[str, str]:
    """A cell's visible text, as students get it, and its hidden tests, or another region's text."""
    visible: list[str] = []
    hidden: list[str] = []
    inside = False
    for line in source.split("\n"):
        if f"BEGIN {kind}" in line:
            inside = True
        elif f"END {kind}" in line:
            inside = False
        else:
            (hidden if inside else visible).append(line)
    return "\n".join(visible).rstrip(), "\n".join(hidden)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "course.checks" and not node.level


def _read(call: ast.Call) -> AskedCheck | AskedAnswer:
    door = call.func.id if isinstance(call.func, ast.Name) else ""
    texts = [node.value for node in call.args if isinstance(node, ast.Constant)]
    names = {word.arg: word.value.id for word in call.keywords if isinstance(word.value, ast.Name)}
    plain = len(names) == len(call.keywords) and None not in names
    match door, texts, call.args:
        case "require", [str(challenge), str(check)], [_, _] if names and plain:
            functions = {str(name): variable for name, variable in names.items()}
            return _existing_check(AskedCheck(challenge, check, functions))
        case "require_answer", [str(question)], [_, ast.Name(id=variable)] if not names and plain:
            return _existing_answer(AskedAnswer(question, variable))
    raise HiddenTestsError(f"`{ast.unparse(call)}` in its hidden tests must be a call like {EXAMPLES}")


def _existing_check(asked: AskedCheck) -> AskedCheck:
    from course.checks import find_check  # here: nbgrader loads this module at each start, without NumPy

    try:
        function = find_check(asked.challenge, asked.check).function
    except KeyError as error:
        raise HiddenTestsError(
            f"its hidden tests ask for a check that does not exist: {error.args[0]}"
        ) from None
    if function not in asked.functions:
        raise HiddenTestsError(
            f"the check {asked.check} calls `{function}`, which its hidden tests do not hand over; "
            f"add `{function}={function}`"
        )
    return asked


def _existing_answer(asked: AskedAnswer) -> AskedAnswer:
    from course.questions import find_question

    try:
        find_question(asked.question)
    except KeyError as error:
        raise HiddenTestsError(
            f"its hidden tests ask for a question that does not exist: {error.args[0]}"
        ) from None
    return asked
