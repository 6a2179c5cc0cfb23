"""Points at code that looks like tampering, for an instructor to look at. It has no effect on marks.

In grading, none of it gains anything: the checks run elsewhere. But whoever tried should be asked about it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from course.grading.rebuilding.code import parsed
from course.grading.records import Finding
from course.text import readable

MOST = 20  # of one notebook
MOST_CODE = 300_000  # characters of one notebook that are parsed
_LONGEST_LINE = 160
_LONGEST_NAME = 8  # parts of it

# What a dotted name, or the beginning of one, says of its author's plans.
_NAMES = {
    "course": "it imports the checks",
    "course.study": "",  # the self-study notebooks do, and students paste from them
    "nbgrader": "it uses nbgrader",
    "socket": "it uses the network",
    "urllib": "it uses the network",
    "requests": "it uses the network",
    "http": "it uses the network",
    "httpx": "it uses the network",
    "ftplib": "it uses the network",
    "smtplib": "it uses the network",
    "ctypes": "it reaches into memory",
    "cffi": "it reaches into memory",
    "sqlite3": "it opens a database",
    "sqlalchemy": "it opens a database",
    "subprocess": "it starts other programs",
    "pty": "it starts other programs",
    "os.system": "it starts other programs",
    "os.popen": "it starts other programs",
    "os.fork": "it copies its own process",
    "os.forkpty": "it copies its own process",
    "os.kill": "it sends signals to processes",
    "os.killpg": "it sends signals to processes",
    "os.abort": "it ends its own process",
    "os._exit": "it ends its own process",
    "sys.settrace": "it watches other code at work",
    "sys.setprofile": "it watches other code at work",
    "threading.settrace": "it watches other code at work",
    "sys.addaudithook": "it watches other code at work",
    "sys._getframe": "it reads the variables of other code",
    "sys._current_frames": "it reads the variables of other code",
    "inspect.currentframe": "it reads the variables of other code",
    "inspect.stack": "it reads the variables of other code",
    "inspect.trace": "it reads the variables of other code",
    "gc.get_objects": "it searches the memory of other code",
    "gc.get_referrers": "it searches the memory of other code",
}
# Attributes of whatever object, which no solution needs.
_ATTRIBUTES = {
    "input_transformers_cleanup": "it changes how cells are read",
    "input_transformers_post": "it changes how cells are read",
    "input_transformer_manager": "it changes how cells are read",
    "ast_transformers": "it changes how cells are read",
    "do_execute": "it changes how cells are run",
    "run_cell_async": "it changes how cells are run",
    "set_custom_exc": "it changes how errors are shown",
    "shell_handlers": "it reaches into the kernel",
    "f_back": "it reads the variables of other code",
    "f_locals": "it reads the variables of other code",
    "f_globals": "it reads the variables of other code",
    "tb_frame": "it reads the variables of other code",
    "gi_frame": "it reads the variables of other code",
    "__subclasses__": "it searches Python for other classes",
    "__globals__": "it reaches into the module of a function",
    "__code__": "it reaches into the code of a function",
    "__builtins__": "it reaches into Python's own functions",
}
# Modules whose functions are everyone's: what is put in their place is used by other code as well.
_SHARED = ("builtins", "__builtins__", "numpy", "random", "math", "sys", "decoder_lib", "unittest")
_STRINGS = (
    (re.compile(r"gradebook|grading\.jsonl"), "it names the gradebook"),
    (re.compile(r"\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b", re.IGNORECASE), "it changes a database"),
    (re.compile(r"/proc/|^/proc$"), "it looks at other processes"),
    (re.compile(r"COURSE_CHECK_SEED|(BEGIN|END) HIDDEN TESTS|require_answer\("), "it looks for hidden tests"),
    (re.compile(r"\b(autograded|submitted)/|build/source"), "it looks at other students' or hidden files"),
)
_IN_TEXT = re.compile(
    r"input_transformer|do_execute|ast_transformers|get_ipython\(\)\.kernel|gradebook|sqlite3|/proc/|os\._exit"
    r"|os\.kill|sys\._getframe|sys\.settrace|^[ \t]*(?:from|import)\s+(?:course|nbgrader|ctypes|socket|urllib"
    r"|requests|sqlite3|subprocess)\b",
    re.MULTILINE,
)
_OUTSIDE = re.compile(r"^(/(?!tmp/|home/|dev/null)|~|\.\.(/|$))")
_WRITERS = {"write_text", "write_bytes", "unlink", "rename", "symlink_to", "hardlink_to", "touch", "mkdir"}


@dataclass(frozen=True)
class _Sight:
    line: int
    what: str


def suspicions(cells: Iterable[tuple[str, str]]) -> list[Finding]:
    """What looks like tampering in a student's cells, each a label and its code; a finding a line."""
    found: list[Finding] = []
    written = list(cells)
    # A notebook imports in one cell what it uses in another.
    imported = {"np": "numpy", "builtins": "builtins", "__builtins__": "builtins"}
    left = MOST_CODE
    for _, source in written:
        left -= len(source)
        tree = parsed(source) if left >= 0 else None
        imported |= _imports(tree) if tree else {}
    left = MOST_CODE
    for label, source in written:
        left -= len(source)
        tree = parsed(source) if left >= 0 else None
        lines = source.split("\n")
        told: set[int] = set()
        sights = _Reader(tree, imported).sights() if tree else _sights_in_text(source)
        for sight in sorted(sights, key=lambda sight: sight.line):
            if sight.line not in told:
                told.add(sight.line)
                line = readable(lines[min(sight.line, len(lines)) - 1].strip(), _LONGEST_LINE)
                found.append(Finding("suspicious", f"{label}, line {sight.line}: {sight.what}: {line}"))
    return found[:MOST]


def _sights_in_text(source: str) -> Iterator[_Sight]:
    """For what is no Python, or too much of it."""
    for found in _IN_TEXT.finditer(source):
        start = found.end() - len(found[0].lstrip())
        yield _Sight(source.count("\n", 0, start) + 1, f"it has `{found[0].strip()}`")


def _imports(tree: ast.Module) -> dict[str, str]:
    """The full names of what a cell imports, by the names it gives them."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                full = alias.name if alias.asname else alias.name.split(".")[0]
                names[alias.asname or full] = full
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


class _Reader:
    """Reads one cell's tree; `imported` has the full names of the notebook's imports."""

    def __init__(self, tree: ast.Module, imported: dict[str, str]) -> None:
        self._nodes, self._imported = list(ast.walk(tree)), imported

    def sights(self) -> Iterator[_Sight]:
        for node in self._nodes:
            line = getattr(node, "lineno", 0)
            for what in self._told_by(node):
                yield _Sight(line, what)

    def _told_by(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from _of_name(alias.name)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    yield from _of_name(f"{module}.{alias.name}")
            case ast.Attribute(attr=name, ctx=context):
                if name in _ATTRIBUTES:
                    yield _ATTRIBUTES[name]
                dotted = self._dotted(node)
                yield from _of_name(dotted)
                if not isinstance(context, ast.Load) and dotted.split(".")[0] in _SHARED:
                    yield f"it replaces {dotted}, which other code uses"
                if name == "kernel" and _is_call_of(node.value, "get_ipython"):
                    yield "it reaches into the kernel"
                if name == "run_cell" and not isinstance(context, ast.Load):
                    yield "it changes how cells are run"
            case ast.Subscript(value=ast.Attribute() | ast.Name() as owner, ctx=ast.Store() | ast.Del()):
                if self._dotted(owner) in ("builtins", "sys.modules", "builtins.__dict__"):
                    yield "it replaces what other code uses"
            case ast.FunctionDef(name="__eq__", body=body):
                if _always_true(body):
                    yield "it makes an object that says it equals everything"
            case ast.Assign(targets=[ast.Name(id="__eq__")], value=ast.Lambda(body=ast.Constant(value=True))):
                yield "it makes an object that says it equals everything"
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if (
                        isinstance(key, ast.Constant)
                        and key.value == "__eq__"
                        and isinstance(value, ast.Lambda)
                    ):
                        yield "it makes an object that says it equals everything"
            case ast.Call():
                yield from self._of_call(node)
            case ast.Constant(value=str(text)):
                yield from (what for pattern, what in _STRINGS if pattern.search(text))

    def _of_call(self, call: ast.Call) -> Iterator[str]:
        name = call.func.id if isinstance(call.func, ast.Name) else self._dotted(call.func)
        first = call.args[0] if call.args else None
        text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        if name in ("__import__", "importlib.import_module"):
            yield from _of_name(text)
        if name in ("setattr", "delattr") and first is not None:
            second = call.args[1] if len(call.args) > 1 else None
            owner = self._dotted(first)
            if owner.split(".")[0] in _SHARED:
                yield f"it replaces a part of {owner}, which other code uses"
            if isinstance(second, ast.Constant) and second.value in _ATTRIBUTES:
                yield _ATTRIBUTES[str(second.value)]
        if name == "getattr" and len(call.args) > 1:
            second = call.args[1]
            if isinstance(second, ast.Constant) and second.value in _ATTRIBUTES:
                yield _ATTRIBUTES[str(second.value)]
        if name in ("open", "io.open") and _OUTSIDE.search(text) and _writes(call):
            yield "it writes outside its own folder"
        if isinstance(call.func, ast.Attribute) and call.func.attr in _WRITERS:
            path = call.func.value
            inner = path.args[0] if isinstance(path, ast.Call) and path.args else None
            if isinstance(inner, ast.Constant) and _OUTSIDE.search(str(inner.value)):
                yield "it writes outside its own folder"

    def _dotted(self, node: ast.AST) -> str:
        """`os.path.join` for that expression, by the modules' own names; nothing if not imported."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < _LONGEST_NAME:
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._imported:
            return ""
        return ".".join([self._imported[node.id], *reversed(parts)])


def _of_name(dotted: str) -> Iterator[str]:
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        if (what := _NAMES.get(".".join(parts[:count]))) is not None:
            yield from [what] if what else []
            return


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _always_true(body: list[ast.stmt]) -> bool:
    last = body[-1]
    rest = [node for node in body[:-1] if not isinstance(node, ast.Expr)]
    return (
        not rest
        and isinstance(last, ast.Return)
        and isinstance(last.value, ast.Constant)
        and last.value.value is True
    )


def _writes(call: ast.Call) -> bool:
    mode = (
        call.args[1]
        if len(call.args) > 1
        else next((k.value for k in call.keywords if k.arg == "mode"), None)
    )
    return isinstance(mode, ast.Constant) and bool(set("wax+") & set(str(mode.value)))
