"""The part of `requirements.lock` that students need, with its hashes.

uv writes below each package which others asked for it. Walking that upwards gives the same set as resolving
anew, needs no network, and keeps students on the versions that the course is tested with.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course.bundling.errors import BundleError

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class _Pinned:
    """A package in the lock: its name, its lines without the comment, and who asked for it."""

    name: str
    lines: tuple[str, ...]
    needed_by: frozenset[str]


def subset(lock: str, roots: Iterable[str]) -> str:
    """The packages of a lock that these need, and they themselves.

    roots : names of packages.

    Raises BundleError if one of them is not in the lock.
    """
    pinned = list(_packages(lock))
    kept: set[str] = {canonicalize_name(root) for root in roots}
    if missing := kept - {package.name for package in pinned}:
        raise BundleError(f"requirements.lock has no {', '.join(sorted(missing))}. Renew it: make lock.")
    while True:
        more = {package.name for package in pinned if package.needed_by & kept} - kept
        if not more:
            break
        kept |= more
    return "".join(f"{line}\n" for package in pinned if package.name in kept for line in package.lines)


def names_of(requirements: Iterable[str]) -> list[str]:
    """The packages that these requirements are for."""
    return [Requirement(requirement).name for requirement in requirements]


def _packages(lock: str) -> Iterable[_Pinned]:
    """The lock's blocks: a line that begins with a name, then hashes and comments, indented."""
    blocks: list[list[str]] = []
    for line in lock.splitlines():
        if _NAME.match(line):
            blocks.append([line])
        elif blocks and line.strip():
            blocks[-1].append(line)
    for block in blocks:
        comments = [line.strip(" #") for line in block if line.lstrip().startswith("#")]
        asked = [text.removeprefix("via").strip() for text in comments]
        lines = tuple(line for line in block if not line.lstrip().startswith("#"))
        name = _NAME.match(block[0])
        assert name
        needed_by = frozenset(canonicalize_name(text.split(" ")[0]) for text in asked if text)
        yield _Pinned(canonicalize_name(name[0]), lines, needed_by)
