"""Every link leads somewhere, and the table of contents tells the truth."""

import re
from pathlib import Path

import nbformat
import pytest
from execution import MASTERS, ROOT

from course.building.navigation import CONTENTS
from course.questions import load_questions

SECTIONS = (
    "How does one prediction become a whole passage?",
    "How does one predicted token become a paragraph?",
    "Follow the changing prefix, not changing weights",
    "Read the prefix and select the next token",
    "Append, then predict with the new context",
    "Combine conditional predictions",
    "Understand why greedy choices are local",
    "Give the loop explicit limits",
    "Recognize what an inference cache changes",
    "A cache reuses computation from an unchanged prefix",
    "Different sequences can finish at different times",
    "Retain a per-sequence stopping state",
    "Dropping old tokens changes the available evidence",
)
CHALLENGES = {5: "generation-loop", 6: "chain-rule", 10: "cache-reuse", 12: "stop-masks"}
CHALLENGE_POINTS = {5: 10, 6: 8, 10: 12, 12: 10}
FOLDERS = (ROOT / "notebooks", ROOT / "release" / "autoregressive-generation")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def texts(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_link_between_pages_leads_to_a_page_and_a_heading(folder):
    """Bug: a renamed section that the others still link to by its old name."""
    followed = 0
    for path in sorted(folder.glob("*.ipynb")):
        for link in LINK.findall("\n".join(texts(path))):
            if not link.startswith("http"):
                page, _, anchor = link.partition("#")
                assert (folder / page).exists(), f"{path.name} links to {link}"
                headings = re.findall(r"^#+ (.+)$", "\n".join(texts(folder / page)), flags=re.MULTILINE)
                assert not anchor or anchor in {heading.replace(" ", "-") for heading in headings}, link
                followed += 1
    assert followed > 60


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_section_links_to_its_neighbours_and_the_contents_at_top_and_bottom(folder):
    """Bug: a reader at the end of a page with nowhere to go."""
    names = [path.stem for path in sorted(folder.glob("*.ipynb"))]
    assert names[0] == CONTENTS
    for before, name, after in zip([None, *names[1:]], names[1:], [*names[2:], None], strict=False):
        wanted = [page for page in (before, CONTENTS, after) if page]
        for place in (texts(folder / f"{name}.ipynb")[0], texts(folder / f"{name}.ipynb")[-1]):
            assert LINK.findall(place) == [f"{page}.ipynb" for page in wanted]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_contents_name_every_section_question_and_challenge(folder):
    """Bug: a table of contents that promises what is elsewhere, or keeps quiet about a section."""
    rows = re.findall(r"^\| (\d+) \| \[(.+?)\]\((.+?)\.ipynb\) \| (\d+) \| (.*?) \| (\d*) \|$",
                      "\n".join(texts(folder / f"{CONTENTS}.ipynb")), flags=re.MULTILINE)  # fmt: skip
    assert [title for _, title, *_ in rows] == list(SECTIONS)
    for number, title, page, _, tasks, points in rows:
        text = "\n".join(texts(folder / f"{page}.ipynb"))
        assert f"# {number}. {title}" in text
        questions = [question for question in load_questions() if question.section == int(number)]
        assert [int(found) for found in re.findall(r"question (\d+)", tasks)] == [q.number for q in questions]
        assert all(f"**Question {question.number}" in text for question in questions)
        challenges = re.findall(r"\[(Challenge \d+\. .+?)\]", tasks)
        assert len(challenges) == (int(number) in CHALLENGES)
        assert all(f"## {challenge}" in text for challenge in challenges)
        assert int(points or 0) == len(questions) + CHALLENGE_POINTS.get(int(number), 0)


def test_points_add_up():
    """Bug: a check that was added or dropped without its points."""
    points = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for master in MASTERS.values()
        for cell in master.notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    for section, challenge in CHALLENGES.items():
        named = [worth for name, worth in points.items() if name.startswith(challenge)]
        assert sum(named) == CHALLENGE_POINTS[section], challenge
    assert sum(worth for name, worth in points.items() if name.startswith("question-")) == 9
    assert sum(points.values()) == 49
