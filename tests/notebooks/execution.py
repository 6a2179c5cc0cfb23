"""Runs a notebook as a reader does: from a fresh process, top to bottom."""

import contextlib
import copy
import multiprocessing
import os
import re
import signal
import sys
from html import unescape
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import from_dict

from course.building.master import Master
from course.building.masters import read_masters
from course.grading.inside.shell import Shell
from course.grading.limits import MEBI
from course.study.store import FOLDER_VARIABLE

ROOT = Path(__file__).parents[2]
MASTERS = {master.name: master for master in read_masters(ROOT)}


def run(notebook: Any, folder: Path) -> Any:
    """The notebook with its outputs, run in a kernel up to its first error if it has one."""
    notebook = copy.deepcopy(notebook)
    client = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    with contextlib.suppress(CellExecutionError):  # the error stands in the cell's output
        client.execute()
    return notebook


def run_without_kernel(notebook: Any, folder: Path) -> Any:
    """The same in a fork of this process, which has everything imported: a kernel takes seconds to start."""
    notebook = copy.deepcopy(notebook)
    fork = multiprocessing.get_context("fork")
    reading, writing = fork.Pipe(duplex=False)
    child = fork.Process(target=_run_cells, args=(notebook.cells, folder, writing))
    child.start()
    writing.close()
    for cell, displayed in zip(
        (cell for cell in notebook.cells if cell.cell_type == "code"), reading.recv(), strict=False
    ):
        cell.outputs = [from_dict(output) for output in displayed]
    child.join()
    return notebook


def _run_cells(cells: list[Any], folder: Path, writing: Connection) -> None:
    os.chdir(folder)
    os.environ[FOLDER_VARIABLE] = str(folder)  # or the progress would be that of whoever runs the tests
    shell = Shell.instance(100 * MEBI)
    sys.stdout, sys.stderr = shell.streams
    displayed: list[list[dict[str, Any]]] = []
    for cell in cells:
        if cell.cell_type == "code":
            signal.alarm(60)  # ends this process, and the other end of the pipe sees it
            displayed.append(shell.run(cell.source))
            failed = any(output["output_type"] == "error" for output in displayed[-1])
            if failed and "raises-exception" not in cell.metadata.get("tags", []):
                break
    writing.send(displayed)


def outputs(notebook: Any, kind: str) -> list[Any]:
    """All outputs of one type."""
    return [out for cell in notebook.cells for out in cell.get("outputs", []) if out.output_type == kind]


def warnings(notebook: Any) -> list[str]:
    """What was written to stderr."""
    return [out.text for out in outputs(notebook, "stream") if out.name == "stderr"]


def shown(notebook: Any) -> str:
    """All text that a reader sees below the cells, the alternatives of pictures included."""
    texts = []
    for cell in notebook.cells:
        for out in cell.get("outputs", []):
            if out.output_type == "stream":
                texts.append(out.text)
            for kind in ("text/plain", "text/html"):
                texts.append(out.get("data", {}).get(kind, ""))
    return unescape(re.sub(r"base64,[^\"]*|<[a-z/][^>]*>", " ", "\n".join(texts)))


def source_of(master: Master) -> str:
    """A master's text and code."""
    return "\n\n".join(cell.source for cell in master.notebook.cells)
