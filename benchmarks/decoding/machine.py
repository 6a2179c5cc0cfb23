"""What the figures were taken on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from benchmarks.decoding.threads import threads
from course.processors import processors

_PACKAGES = ("numpy", "torch", "transformers", "onnx", "onnxruntime", "ctranslate2")


def describe() -> str:
    """Lines on processor, load, versions and threads."""
    versions = [f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in _PACKAGES)]
    lines = [
        f"{_processor()}, {processors()} cores, {platform.system()} {platform.machine()}{_load()}",
        f"{', '.join(versions)}; NumPy's BLAS is {_blas()}",
        f"float32, greedy, {threads()} thread{'s' * (threads() > 1)}; medians, with smallest and largest",
    ]
    if "OPENBLAS_CORETYPE" in os.environ:
        lines.append("OPENBLAS_CORETYPE is set: NumPy may not run the kernels that suit this processor")
    return "\n".join(lines)


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load() -> str:
    if not hasattr(os, "getloadavg"):
        return ""
    return f", load {os.getloadavg()[0]:.2f} before the run"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _blas() -> str:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"
