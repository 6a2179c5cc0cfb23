"""The questions, as `source/questions.yaml` has them: what is asked, what is right, and why not the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

import yaml

FILE = Path(__file__).resolve().parents[1] / "source" / "questions.yaml"
_KEYS = {
    "choice": {"id", "section", "kind", "text", "options"},
    "numeric": {"id", "section", "kind", "text", "answer", "tolerance", "unit", "why", "slips"},
}


class QuestionError(Exception):
    """Questions that cannot be used; `str` says in a sentence a line which one, and what would be right."""


@dataclass(frozen=True)
class Option:
    """One answer of a choice question, and why it is right or which misunderstanding it is."""

    text: str
    why: str
    correct: bool = False


@dataclass(frozen=True)
class Slip:
    """A wrong number that people give, and what they did to get it."""

    value: float
    why: str


@dataclass(frozen=True)
class Question:
    """One question.

    number : its place among the questions, from 1.
    options : of a choice question, in the order in which readers see them.
    answer, tolerance, unit, why, slips : of a numeric question; the tolerance is absolute.
    """

    number: int
    id: str
    section: int
    kind: Literal["choice", "numeric"]
    text: str
    options: tuple[Option, ...] = ()
    answer: float = 0.0
    tolerance: float = 0.0
    unit: str = ""
    why: str = ""
    slips: tuple[Slip, ...] = ()

    @property
    def lettered(self) -> dict[str, Option]:
        """The options of a choice question by letter, A first."""
        return dict(zip(ascii_uppercase, self.options, strict=False))

    @property
    def asked(self) -> str:
        """A digest of what a reader is asked; an answer counts for as long as it stays the same."""
        parts = [self.text, self.unit, *(option.text for option in self.options)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return next(letter for letter, option in self.lettered.items() if option.correct)


def load_questions(path: Path = FILE) -> list[Question]:
    """Every question, in the order of the file.

    Raises QuestionError, with all that is wrong, where the file is not what it should be.
    """
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(entries, list):
        raise QuestionError(f"{path.name} must be a list of questions")
    problems = [problem for entry in entries for problem in _problems(entry)]
    ids = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    problems += [f"{name}: the id is used more than once" for name in {n for n in ids if ids.count(n) > 1}]
    if problems:
        raise QuestionError("\n".join(f"{path.name}, {problem}" for problem in problems))
    return [_question(number, entry) for number, entry in enumerate(entries, 1)]


def find_question(question_id: str) -> Question:
    """One question by its id. KeyError names those there are."""
    questions = _by_id()
    if question_id not in questions:
        raise KeyError(f"no question {question_id!r}; there are {', '.join(questions)}")
    return questions[question_id]


@cache
def _by_id() -> dict[str, Question]:
    return {question.id: question for question in load_questions()}


def _question(number: int, entry: dict[str, Any]) -> Question:
    def place(option: Option) -> str:
        # An order that has nothing to do with which one is right, and stays when another one is reworded.
        return hashlib.sha256(f"{entry['id']} {option.text}".encode()).hexdigest()

    fields = dict(entry)
    fields["text"] = str(entry["text"]).strip()
    fields["options"] = tuple(sorted((Option(**option) for option in entry.get("options", ())), key=place))
    fields["slips"] = tuple(Slip(**slip) for slip in entry.get("slips", ()))
    return Question(number=number, **fields)


def _problems(entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict) or entry.get("kind") not in _KEYS:
        yield f"{str(entry)[:40]}: a question is a mapping with kind `choice` or `numeric`"
        return
    name = entry.get("id", "a question without an id")
    for key in sorted(set(entry) ^ _KEYS[entry["kind"]]):
        missing = key not in entry
        yield f"{name}: `{key}` is {'missing' if missing else 'unknown'} in a {entry['kind']} question"
    if entry["kind"] == "choice":
        options = entry.get("options", [])
        right = sum(bool(option.get("correct")) for option in options)
        if right != 1:
            yield f"{name}: {right} options are correct; exactly one must be"
        for option in options:
            if not option.get("text") or not option.get("why"):
                yield f"{name}: each option needs a `text` and a `why`"
    else:
        answer = entry.get("answer")
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            yield f"{name}: the answer is {answer!r}; it must be a number"
