"""The ways to install the course must agree with each other."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def specifiers(lines: list[str]) -> dict[str, str]:
    requirements = [Requirement(line) for line in lines]
    return {requirement.name.lower(): str(requirement.specifier) for requirement in requirements}


def test_environment_yml_asks_for_what_pyproject_asks_for() -> None:
    """A dependency added for pip users and forgotten for conda users."""
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    lines = [line for line in conda["dependencies"] if isinstance(line, str) and line != "pip"]
    expected = specifiers([*PROJECT["dependencies"], *EXTRAS["course"]])
    expected["python"] = PROJECT["requires-python"]
    assert specifiers(lines) == expected


def test_lock_pins_every_dependency_within_its_range() -> None:
    """A lock that was not renewed after pyproject.toml changed."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==([^\s;\\]+)", lock, flags=re.MULTILINE):
        pinned.setdefault(name, []).append(version)
    for line in [*PROJECT["dependencies"], *EXTRAS["course"], *EXTRAS["dev"]]:
        requirement = Requirement(line)
        versions = pinned.get(requirement.name.lower())
        assert versions, f"{requirement.name} is not in requirements.lock; run make lock"
        assert all(requirement.specifier.contains(version) for version in versions), (line, versions)


def test_lock_names_no_other_index_and_no_path() -> None:
    """A lock made on one machine that another one cannot install from."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "--hash=sha256:" in lock
    assert not re.search(r"--(extra-)?index-url|--find-links|file:|/home/|/root/", lock)


def test_every_dependency_gives_its_reason() -> None:
    """A dependency that nobody can say what it is for."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for group in [PROJECT["dependencies"], *EXTRAS.values()]:
        for dependency in group:
            assert re.search(rf'"{re.escape(dependency)}",? *# \w', text), f"{dependency} has no reason"
