"""Which room of grading may use which: a submission goes one way, from the file to the page."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import course.grading

ROOMS = Path(course.grading.__path__[0])


def rooms_used(room: str) -> set[str]:
    """The rooms of `course.grading` that the modules of a room import, in functions and for types too."""
    used = set()
    modules = [ROOMS / f"{room}.py"] if (ROOMS / f"{room}.py").is_file() else (ROOMS / room).rglob("*.py")
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{module} imports by a relative name, which this test does not follow"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            used |= {name.split(".")[2] for name in names if name.startswith("course.grading.")}
    return used - {room}


def all_rooms() -> list[str]:
    """The packages and modules that lie directly in `course.grading`."""
    found = [path.stem for path in ROOMS.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted(set(found) - {"__init__"})


def test_no_two_rooms_need_each_other() -> None:
    """Bug: rebuilding took its outputs from the jobs and the jobs took it, so neither could change alone."""
    uses = {room: rooms_used(room) for room in all_rooms()}
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        pytest.fail(" uses ".join(reversed(error.args[1])))


@pytest.mark.parametrize(
    ("room", "before"),
    [
        ("submissions", {"rebuilding", "sandbox", "jobs", "gradebook", "feedback", "report", "runs"}),
        ("rebuilding", {"sandbox", "jobs", "gradebook", "feedback", "report", "runs"}),
        ("sandbox", {"jobs", "gradebook", "feedback", "report", "runs"}),
        ("jobs", {"gradebook", "feedback", "report", "runs"}),
        ("gradebook", {"feedback", "report", "runs"}),
        ("feedback", {"report", "runs"}),
    ],
)
def test_a_room_knows_nothing_of_those_behind_it(room: str, before: set[str]) -> None:
    """Bug: a change to students' pages makes it necessary to read how notebooks are put together."""
    assert not rooms_used(room) & before
