"""Cards below check cells, questions, and the progress that the contents page shows."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from lab import kept_windows
from playwright.sync_api import Page, expect

from course.questions import find_question
from course.study.store import FOLDER_VARIABLE

ROOT = Path(__file__).parents[2]
BANK = ROOT / "tests" / "submissions"
RIGHT = BANK / "correct" / "generation_loop" / "while_loop.py"
WRONG = BANK / "misconceptions" / "generation_loop" / "G01_first_row.py"
SECTION, CONTENTS = "05-append-then-predict.ipynb", "00-contents.ipynb"
STUB = "def generate("
CARD = ".jp-OutputArea-output .course-card"
# JupyterLab shows a traceback, and whatever else goes to stderr, under this type.
ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]'


@pytest.fixture
def windows():
    """New ones for each test: one ends while a notebook is still starting."""
    with kept_windows() as kept:
        yield kept


@pytest.fixture
def reader(lab, tmp_path: Path):
    """A reader of their own: a folder of notebooks in the Lab whose progress is kept in `tmp_path`.

    The Lab may be running already when this file's turn comes, so each notebook sets the variable itself.
    """
    folder = lab.folder / tmp_path.name
    shutil.copytree(ROOT / "notebooks", folder)
    for path in (folder / SECTION, folder / CONTENTS):
        notebook = nbformat.read(path, as_version=4)
        apart = f"import os\n\nos.environ[{FOLDER_VARIABLE!r}] = {str(tmp_path / 'kept')!r}"
        notebook.cells.insert(0, nbformat.v4.new_code_cell(apart))
        nbformat.write(notebook, path)
    return folder  # not removed: the Lab's list of files may stand in it


def solve(path: Path, solution: Path) -> None:
    """Type a solution into the stub of challenge 1."""
    notebook = nbformat.read(path, as_version=4)
    (stub,) = (cell for cell in notebook.cells if STUB in cell.source and cell.cell_type == "code")
    stub.source = solution.read_text(encoding="utf-8")
    nbformat.write(notebook, path)


def test_a_solved_challenge_is_found_on_the_contents_page(lab, reader, page: Page, tmp_path: Path) -> None:
    """Bug: points that a reader made in one notebook and never sees again."""
    solve(reader / SECTION, RIGHT)
    lab.open_notebook(page, f"{reader.name}/{SECTION}")
    lab.run_all(page)
    assert page.locator(ERROR).count() == 0
    cards = page.locator(CARD)
    assert cards.count() == 8
    expect(cards.last).to_contain_text("Challenge 1 so far: 10 of 10 points, 8 of 8 checks passed.")

    question = find_question("one-draw")
    verdict = page.locator(".jp-Notebook [role=alert]")
    wrong = next(letter for letter in question.lettered if letter != question.letter)
    for letter, answer in {wrong: f"{wrong} is not it.", question.letter: "Right."}.items():
        page.get_by_role("button", name=letter, exact=True).press("Enter")
        expect(verdict).to_contain_text(answer)

    lab.open_notebook(page, f"{reader.name}/{CONTENTS}")
    lab.run_all(page)
    row = page.locator(".course-progress tr", has_text="Append, then predict")
    expect(row).to_contain_text("1 of 1 question, Challenge 1: 8 of 8 checks")
    expect(row).to_contain_text("11 of 11")
    expect(page.locator(".course-progress tr").last).to_contain_text("11 of 49")
    kept = json.loads((tmp_path / "kept" / "progress.json").read_text())
    assert len(kept["passed"]) == 9


def test_a_failure_shows_its_card_and_stops_the_run(lab, reader, page: Page) -> None:
    """Bug: a traceback through the course's own files where a reader looks for what went wrong."""
    solve(reader / SECTION, WRONG)
    lab.open_notebook(page, f"{reader.name}/{SECTION}")
    lab.run_all(page)
    card = page.locator(CARD)
    expect(card).to_have_count(1)
    for text in ("Not passed: greedy (0 of 2 points)", "a row other than the last one", "[3, 1, 2, 4, 0, 5]"):
        expect(card).to_contain_text(text)
    error = page.locator(ERROR)
    expect(error).to_have_count(1)
    expect(error).to_have_text("greedy is not passed yet; the card above says why.")
    expect(page.locator(".jp-Notebook")).not_to_contain_text("Traceback")
    card.get_by_role("link", name="Section 4, Read the prefix").click()
    expect(page.locator(".lm-DockPanel-tabBar .lm-mod-current")).to_contain_text("04-read-and-select.ipynb")


def test_a_stub_is_not_called_a_mistake(lab, reader, page: Page) -> None:
    """Bug: somebody who has not begun is told that their function raised an error."""
    lab.open_notebook(page, f"{reader.name}/{SECTION}")
    lab.run_all(page)
    expect(page.locator(CARD)).to_contain_text("Not written yet: greedy")
    expect(page.locator(CARD)).not_to_contain_text("raised")
    expect(page.locator(ERROR)).to_have_count(1)
    expect(page.locator(ERROR)).to_contain_text("write your solution here")
