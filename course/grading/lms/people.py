"""Who is who: a platform's names and numbers on one side, the ids of nbgrader's students on the other."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


class Clue(Enum):
    """What a text says about a person."""

    ID = auto()  # the student's id in the gradebook
    EMAIL = auto()
    NUMBER = auto()  # the platform's own, lms_user_id
    NAME = auto()
    MAILBOX = auto()  # an id that is the part of an address before the @, or the other way round


@dataclass(frozen=True)
class Person:
    """A student, as nbgrader's gradebook and its `db student import` describe one."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @classmethod
    def from_student(cls, student: Any) -> "Person":
        """One of the gradebook's students."""
        fields = ("id", "first_name", "last_name", "email", "lms_user_id")
        return cls(*(str(getattr(student, field) or "") for field in fields))


class People:
    """Finds students by what a platform says about them."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = list(people)
        self._known: dict[tuple[Clue, str], set[Person]] = {}
        for person in self.people:
            for clue, text in _clues_to(person):
                self._known.setdefault((clue, _plain(clue, text)), set()).add(person)

    def find(self, clues: Iterable[tuple[Clue, str]]) -> list[Person]:
        """Whom the first clue that leads anywhere leads to: nobody, one student, or several."""
        for clue, text in clues:
            found = self._known.get((clue, _plain(clue, text)), set()) if text.strip() else set()
            if found:
                return sorted(found, key=lambda person: person.id)
        return []


def folded(name: str) -> str:
    """A name as its letters and digits alone, in small letters: what is left of it in a file's name."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in text if character.isalnum())


def mailbox(text: str) -> str:
    """What stands before the @ of an address, or the whole text."""
    return text.partition("@")[0]


def _clues_to(person: Person) -> list[tuple[Clue, str]]:
    first, last = person.first_name, person.last_name
    # An id that is a name, because nobody said otherwise when the submissions were collected.
    names = [first + last, last + first, person.id]
    clues = [(Clue.NAME, name) for name in names]
    clues += [(Clue.ID, person.id), (Clue.EMAIL, person.email), (Clue.NUMBER, person.lms_user_id)]
    clues += [(Clue.MAILBOX, mailbox(person.email)), (Clue.MAILBOX, mailbox(person.id))]
    return [(clue, text) for clue, text in clues if _plain(clue, text)]


def _plain(clue: Clue, text: str) -> str:
    if clue is Clue.NAME:
        return folded(text)
    text = unicodedata.normalize("NFC", text.strip())
    return text if clue in (Clue.ID, Clue.NUMBER) else text.casefold()
