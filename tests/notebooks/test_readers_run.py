"""The students' and the self-study version, as they are handed out: they run to the first stub."""

import nbformat
import pytest
from execution import ROOT, outputs, run_without_kernel, warnings

HANDED_OUT = sorted([*(ROOT / "release").rglob("*.ipynb"), *(ROOT / "notebooks").glob("*.ipynb")])
STUB = "write your solution here, then run this cell again"
# An answer cell that is still empty does not stop a reader; its check does, and says what to type.
UNANSWERED = "your answer is None"


@pytest.mark.parametrize("path", HANDED_OUT, ids=lambda path: f"{path.parts[-2]}/{path.stem}")
def test_it_runs_to_the_first_stub(path, tmp_path):
    """Bug: a reader's notebook fails before there is anything to write, or its stub says nothing."""
    notebook = nbformat.read(path, as_version=4)
    text = "".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for cell in notebook.cells:
        if UNANSWERED.replace("None", "") in cell.source:
            cell.metadata["tags"] = ["raises-exception"]
    notebook = run_without_kernel(notebook, tmp_path)
    errors = [error.evalue for error in outputs(notebook, "error")]
    unanswered = [error for error in errors if error.startswith(UNANSWERED)]
    others = [error for error in errors if error not in unanswered]
    assert len(unanswered) == text.count("# Check: question") or (others and len(unanswered) <= 1)
    assert len(others) == (STUB in text)
    assert all(error.endswith(STUB) for error in others)  # a card says besides which function is not written
    assert warnings(notebook) == []


def test_every_section_is_there_in_both_forms():
    """Bug: a version that lost a section."""
    assert len(HANDED_OUT) == 28
    assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} == {
        path.name for path in (ROOT / "release").rglob("*.ipynb")
    }
