"""The door for check cells, tried in a real IPython shell: the card, the error, and what is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course.building import CODE_STUB
from course.checks import CHALLENGES, CheckFailure, DirectCandidate, checks_of, run_check
from course.checks.message import Message
from course.study import check, store
from course.study.card import Card

BANK = Path(__file__).parents[1] / "submissions"
RIGHT = BANK / "correct" / "generation_loop" / "while_loop.py"
WRONG = BANK / "misconceptions" / "generation_loop" / "G01_first_row.py"
CELL = 'check("generation_loop", "greedy", generate=generate)'
STUB = f"def generate(*_, **__):\n    {CODE_STUB.splitlines()[-1]}"


def defined(path: Path) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(path.read_text(), path.name, "exec", dont_inherit=True), namespace)
    return {name: value for name, value in namespace.items() if callable(value)}


@pytest.fixture
def shell() -> Iterator[Any]:
    shell: Any = InteractiveShell.instance()
    shell.run_cell("from course.study import check")
    yield shell
    InteractiveShell.clear_instance()


def ran(shell: Any, source: str) -> tuple[Any, str, list[Card]]:
    """What a cell raised, what it wrote, and the cards it showed; `source` defines the solution."""
    shell.run_cell(source)
    cards: list[Card] = []
    with pytest.MonkeyPatch.context() as patch, capture_output() as shown:
        patch.setattr(sys.modules["course.study.checking"], "show", cards.append)
        result = shell.run_cell(CELL)
    return result.error_in_exec, shown.stdout + shown.stderr, cards


def test_a_pass_is_shown_and_kept(shell: Any) -> None:
    """Bug: a card that says passed, and a contents page that knows nothing of it."""
    error, text, (card,) = ran(shell, RIGHT.read_text())
    assert error is None
    assert text == ""
    assert str(card).splitlines() == [
        "✓ Passed: greedy (2 of 2 points)",
        "Challenge 1 so far: 2 of 10 points, 1 of 8 checks passed.",
    ]
    assert list(store.read().entries) == ["generation_loop/greedy"]


def test_a_failure_is_a_card_and_one_line(shell: Any) -> None:
    """Bug: a traceback through the course's files, or a failure that Run All walks past."""
    error, text, (card,) = ran(shell, WRONG.read_text())
    assert isinstance(error, AssertionError)
    assert error.__suppress_context__
    assert text.split("\x1b")[0].strip() == "greedy is not passed yet; the card above says why."
    assert "Traceback" not in text
    assert str(card).startswith("✗ Not passed: greedy (0 of 2 points)\nYour loop predicts from a row")
    assert "Read again:    Section 4, Read the prefix and select the next token" in str(card)
    assert store.read().entries == {}


def test_a_stub_is_not_called_a_mistake(shell: Any) -> None:
    """Bug: somebody who has not begun is told that their function raised an error."""
    error, text, (card,) = ran(shell, STUB)
    assert isinstance(error, AssertionError)
    assert str(error).endswith(
        "not written yet; its cell says: write your solution here, then run this cell again"
    )
    assert text.strip() == str(error)
    assert str(card).startswith(
        "○ Not written yet: greedy (0 of 2 points)\nWrite `generate` in its cell above"
    )


def test_a_check_that_fails_after_a_pass_says_what_counts(shell: Any) -> None:
    """Bug: a card with full points below a failure, and no word on how that can be."""
    ran(shell, RIGHT.read_text())
    *_, (card,) = ran(shell, WRONG.read_text())
    assert card.so_far.endswith("This check passed before, and that stays counted.")


def test_a_pass_that_cannot_be_kept_is_still_a_pass(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: a read-only home breaks check cells, or keeps quiet about what is lost."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path / "file"))
    error, _, (card,) = ran(shell, RIGHT.read_text())
    assert error is None
    assert card.verdict == "passed"
    assert card.notes[-1].startswith("Progress could not be kept: ")


def test_an_unknown_check_is_not_passed_over() -> None:
    """Bug: a misspelt name in a cell that would pass without checking anything."""
    with pytest.raises(KeyError, match="there are"):
        check("generation_loop", "gredy", generate=print)


def test_a_card_has_its_text_for_terminals_and_pdf() -> None:
    """Bug: `<course.study.card.Card object>` where no HTML is shown."""
    assert repr(Card("passed", "greedy", "2 of 2 points")) == "✓ Passed: greedy (2 of 2 points)"


def test_nothing_of_a_student_s_gets_into_the_page() -> None:
    """Bug: an answer like `<script>` runs in the reader's notebook, or breaks the card."""
    evil = "<img src=x onerror=alert(1)>\"'"
    html = Card(
        "failed", evil, evil, Message(f"`{evil}`", (("got", evil),), evil), evil, (evil,)
    )._repr_html_()
    assert "<img" not in html
    assert html.count("&lt;img") == 9


def test_a_result_is_told_without_colour_and_links_to_the_section() -> None:
    """Bug: red and green alone; or a section to read again that one has to look for."""
    message = Message(
        "A `slip`.", (("got", "[1]\n[2]"),), "Section 5, Append, then predict with the new context"
    )
    html = Card("failed", "greedy", "0 of 2 points", message)._repr_html_()
    assert "<strong>Not passed</strong>" in html
    assert 'aria-label="Not passed: greedy (0 of 2 points)"' in html
    assert '<a href="05-append-then-predict.ipynb"' in html
    assert ">slip</code>" in html


def test_a_message_keeps_its_parts() -> None:
    """Bug: what a function returned looks like a label, and the card puts it where it does not belong."""
    parts = {"case": "f([1])", "model": "m", "expected": "[1]\n[2]", "got": "expected: x\ngot:           y"}
    failure = CheckFailure("A sentence " * 20, **parts, section="Section 4, Read")
    message = failure.message
    assert message.in_a_line == ("A sentence " * 20).strip()
    assert dict(message.case) == {
        "Smallest case": "f([1])",
        "the model": "m",
        "expected": "[1]\n[2]",
        "got": "expected: x\ngot:           y",
    }
    assert message.section == "Section 4, Read"
    assert Message.from_plain(str(failure)) == message  # as journals of earlier versions hold it


@pytest.mark.parametrize("challenge", CHALLENGES)
def test_every_failure_of_the_bank_keeps_each_of_its_words(challenge: str) -> None:
    """Bug: a part of a message that the card does not show."""
    path = sorted((BANK / "misconceptions" / challenge).glob("*.py"))[::6]
    shown = 0
    for solution in map(defined, path):
        for one in checks_of(challenge):
            result = run_check(one, DirectCandidate(solution), 5)
            if result.status != "passed":
                card = str(Card("failed", one.name, "", result.message))
                assert card.split()[-len(str(result.message).split()) :] == str(result.message).split()
                shown += 1
    assert shown >= 4
