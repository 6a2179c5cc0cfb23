"""Classes to grade: released notebooks with solutions of the tests' bank typed in."""

import json
import random
from pathlib import Path
from typing import Any

from course.building.master import grade_id_of
from course.files import ROOT

ASSIGNMENT = "autoregressive-generation"
BANK = ROOT / "tests" / "submissions"
# The solution cell that a file of the bank goes into.
CELLS = {
    "generation_loop": "generation-loop",
    "chain_rule": "chain-rule",
    "cache_reuse": "cache-reuse",
    "stop_masks": "generate-batch",
}


def released() -> dict[str, dict[str, Any]]:
    """The released notebooks that have something to grade, by name."""
    folder = ROOT / "release" / ASSIGNMENT
    notebooks = {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.ipynb"))}
    return {
        name: notebook
        for name, notebook in notebooks.items()
        if any(cell["metadata"].get("nbgrader", {}).get("points") for cell in notebook["cells"])
    }


def hand_in(folder: Path, students: int, seed: int = 0) -> int:
    """Write a class into `folder/submitted/`; how many notebooks it has. Most solutions are right."""
    rng = random.Random(seed)
    notebooks = released()
    for student in range(students):
        place = folder / "submitted" / f"student-{student:03}" / ASSIGNMENT
        place.mkdir(parents=True)
        for name, notebook in notebooks.items():
            (place / f"{name}.ipynb").write_text(json.dumps(_filled_in(notebook, rng)))
    return students * len(notebooks)


def _filled_in(notebook: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    filled: dict[str, Any] = json.loads(json.dumps(notebook))
    for cell in filled["cells"]:
        name = grade_id_of(cell) or ""
        for challenge, solution_cell in CELLS.items():
            if name == solution_cell:
                kind = "correct" if rng.random() < 0.7 else "misconceptions"
                file = rng.choice(sorted((BANK / kind / challenge).glob("*.py")))
                cell["source"] = file.read_text()
        if name.startswith("question-") and cell["metadata"]["nbgrader"]["solution"]:
            answer = rng.choice(["0.12", repr("A"), repr("E")])
            cell["source"] = "".join(cell["source"]).replace("= None", f"= {answer}")
    return filled
