"""Runs a notebook as a reader does: from a fresh kernel, top to bottom."""

import contextlib
import copy
import re
from html import unescape
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from course.building.master import Master
from course.building.masters import read_masters

ROOT = Path(__file__).parents[2]
MASTERS = {master.name: master for master in read_masters(ROOT)}


def run(notebook: Any, folder: Path) -> Any:
    """The notebook with its outputs, up to its first error if it has one."""
    notebook = copy.deepcopy(notebook)
    client = NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    with contextlib.suppress(CellExecutionError):  # the error stands in the cell's output
        client.execute()
    return notebook


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
