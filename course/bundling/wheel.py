"""A wheel of what students need, the decoder and `coursework`; they must not get the checks."""

import importlib.metadata
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from course.bundling.errors import BundleError

PACKAGE = "decoder_lib"  # which also names the wheel
PACKAGES = (PACKAGE, "coursework")
MOMENT = "1767225600"  # 1 January 2026: the same files make the same wheel, whenever it is made
_PROJECT = """[build-system]
requires = {requires}
build-backend = "hatchling.build"

[project]
name = "decoder-lib"
version = {version}
description = "A small GPT-2 style decoder in NumPy, for the course on autoregressive generation."
requires-python = {python}
license = {license}
license-files = ["LICENSE"]
dependencies = {dependencies}

[tool.hatch.build.targets.wheel]
packages = {packages}
"""


def build_wheel(root: Path, settings: dict[str, Any]) -> tuple[str, bytes]:
    """The wheel's file name and its bytes.

    root : the course's folder.
    settings : what is in its pyproject.toml.

    Raises BundleError if it cannot be built, or would hold anything but these packages.
    """
    project, requires = settings["project"], settings["build-system"]["requires"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
            shutil.copytree(root / package, folder / package, ignore=ignored)
        shutil.copyfile(root / "LICENSE", folder / "LICENSE")
        # JSON's strings and lists are TOML's, too.
        text = _PROJECT.format(
            requires=json.dumps(requires),
            version=json.dumps(project["version"]),
            python=json.dumps(project["requires-python"]),
            license=json.dumps(project["license"]),
            dependencies=json.dumps(project["dependencies"]),
            packages=json.dumps(PACKAGES),
        )
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--no-cache-dir", "--wheel-dir", str(folder / "dist")]
        if _is_installed(requires):
            command.append("--no-build-isolation")  # else pip fetches it, as it did to install the course
        environment = os.environ | {"SOURCE_DATE_EPOCH": MOMENT}
        done = subprocess.run([*command, str(folder)], env=environment, capture_output=True, text=True)
        built = list((folder / "dist").glob("*.whl"))
        if done.returncode or len(built) != 1:
            reason = next(iter(done.stderr.strip().splitlines()[-1:]), "pip made none")
            raise BundleError(f"The wheel of {PACKAGE} cannot be built: {reason}")
        data = built[0].read_bytes()
        _check(data)
        return built[0].name, data


def _is_installed(requires: list[str]) -> bool:
    """Whether what builds the wheel is here already, in the version that is asked for."""
    for requirement in requires:
        name, _, version = requirement.partition("==")
        try:
            if importlib.metadata.version(name) != version:
                return False
        except importlib.metadata.PackageNotFoundError:
            return False
    return True


def _check(wheel: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        strangers = [
            name
            for name in archive.namelist()
            if name.split("/")[0] not in PACKAGES and not name.split("/")[0].endswith(".dist-info")
        ]
    if strangers:
        raise BundleError(f"The wheel of {PACKAGE} holds what students must not get: {', '.join(strangers)}.")
