"""The contents page's table: it counts what is there, and starts again when it is asked to."""

import re
from pathlib import Path

import pytest

from course.checks import CHALLENGES, checks_of
from course.questions import load_questions
from course.study import overview, reset_progress, store
from course.study.overview import Overview
from course.study.places import SOURCE, section_mentioned, sections
from course.study.tally import check_key, question_key, standings


def shown() -> Overview:
    kept = store.read()
    return Overview(tuple(standings(kept)), kept.notes)


def test_there_is_a_row_a_section_and_every_challenge_has_its_place() -> None:
    """Bug: a section or a challenge that was renamed drops out of the table without a word."""
    assert [section.number for section in sections()] == list(range(1, 14))
    assert {section.challenge for section in sections()} == {None, *CHALLENGES}
    assert [s.challenge_label for s in sections() if s.challenge] == [f"Challenge {n}" for n in range(1, 5)]
    for section in sections():
        assert (SOURCE.parent / "notebooks" / section.notebook).exists()


def test_points_are_those_of_the_table_of_contents() -> None:
    """Bug: a self-learner who has done everything stays below the full points."""
    assert (shown().total.points, shown().total.max_points) == (0, 49)
    for challenge in CHALLENGES:
        for check in checks_of(challenge):
            store.add(check_key(challenge, check.name), check.points)
    assert shown().total.points == 40
    for question in load_questions():
        store.add(question_key(question.id), 1)
    assert shown().total.points == 49
    assert all(row.whole.passed == row.whole.all for row in shown().rows)


def test_what_no_longer_exists_does_not_count() -> None:
    """Bug: more points than there are, after a check was renamed."""
    store.add("generation_loop/an_old_name", 7)
    store.add("question/an-old-one", 7)
    assert shown().total.points == 0


def test_the_bar_s_value_stands_beside_it_in_words() -> None:
    """Bug: progress that only those can tell who see a bar, or its colour."""
    store.add("generation_loop/greedy", 2)
    html = shown()._repr_html_()
    row = next(row for row in html.split("<tr>") if "05-append" in row)
    assert "0 of 1 question, Challenge 1: 1 of 8 checks" in row
    assert "2 of 11" in row
    assert 'aria-hidden="true"' in row
    assert "width:18%" in row
    text = str(shown()).splitlines()
    assert re.search(r"^5 .*Challenge 1: 1 of 8 checks +2 of 11$", text[6])


def test_a_note_reaches_the_page(kept: Path) -> None:
    """Bug: a file that was moved aside, and a reader who wonders where the points went."""
    kept.parent.mkdir()
    kept.write_text("{")
    html = shown()._repr_html_()
    assert "could not be understood; it is kept as" in html


def test_reset_keeps_the_old_file_and_says_where(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bug: one call, and weeks of work are gone."""
    reset_progress()
    assert capsys.readouterr().out == "There was no progress to reset.\n"
    store.add("generation_loop/greedy", 2)
    before = kept.read_bytes()
    reset_progress()
    said = capsys.readouterr().out
    assert "rename it to progress.json" in said
    (aside,) = kept.parent.glob("progress-until-*.json")
    assert store.shown(aside) in said
    assert aside.read_bytes() == before
    assert shown().total.points == 0


def test_a_reset_that_fails_is_a_sentence(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bug: a traceback, or the claim that something was reset."""

    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(overview.store, "move_aside", refuse)
    reset_progress()
    assert capsys.readouterr().out == "Progress could not be reset: Permission denied.\n"


def test_a_mention_of_no_section_links_nowhere() -> None:
    """Bug: a link to a page that does not exist."""
    assert section_mentioned("the contract above") is None
    assert section_mentioned("Section 99, Nothing") is None
