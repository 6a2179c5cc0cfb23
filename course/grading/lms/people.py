"""Who is who: what a platform says on one side, the ids of nbgrader's students on the other."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.grading.lms.marks import Mark, Reading
from course.grading.lms.spelling import folded, loose, mailbox, printable, squeezed, whole


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

    @property
    def name(self) -> str:
        """First and last name, as far as they are known."""
        return " ".join(filter(None, [self.first_name.strip(), self.last_name.strip()]))

    def known(self, reading: Reading) -> str:
        """What is known of this student that a text with this reading could differ from."""
        return {
            Reading.ID: self.id,
            Reading.EMAIL: self.email,
            Reading.NUMBER: self.lms_user_id,
            Reading.NAME: self.name,
        }[reading].strip()


Fits = tuple[tuple[Mark, tuple[Person, ...]], ...]


@dataclass(frozen=True)
class Match:
    """Whose something is, or why that is not certain.

    person : the one student whom something points to and nothing contradicts; None if there is no such, or
        several.
    fits : each mark, and whom it fits.
    possible : all students whom something points to and nothing contradicts.
    pointed_at : all students whom some mark fits, contradicted or not.
    alike : students whose name or address looks like a text that fits nobody. Nothing follows from it.
    """

    person: Person | None
    fits: Fits = ()
    possible: tuple[Person, ...] = ()
    pointed_at: tuple[Person, ...] = ()
    alike: tuple[Person, ...] = ()

    @property
    def facts(self) -> str:
        """What each mark says, as one clause for a message."""
        return ", ".join(filter(None, (self._fact(mark, persons) for mark, persons in self.fits)))

    def _fact(self, mark: Mark, persons: Sequence[Person]) -> str:
        what = f"the {mark.kind} {printable(mark.text)}"
        if persons:
            return f"{what} is {_possessive(persons)}"
        denied = [person for person in self.pointed_at if contradicts(mark, persons, person)]
        if not denied:
            return ""
        known = [
            f"{person.id}'s is {printable(next(filter(None, map(person.known, mark.denies))))}"
            for person in denied
        ]
        return f"{what} is nobody's while {' and '.join(known)}"

    @property
    def likeness(self) -> str:
        """Who something looks like; nothing if it looks like nobody."""
        return " or ".join(f"{p.name} ({p.id})" if p.name else p.id for p in self.alike)

    @property
    def number_contradicts(self) -> bool:
        """Whether a number is among what does not agree."""
        persons = self.pointed_at
        return any(
            mark.is_number and any(contradicts(mark, fit, p) for p in persons) for mark, fit in self.fits
        )

    @property
    def number_alone(self) -> bool:
        """Whether nothing points to anybody but a number that may not be a user's."""
        return bool(self.pointed_at) and not any(mark.counts and persons for mark, persons in self.fits)


class People:
    """The students of a class, to be found by what a platform says about them.

    rows : the row of the file `source` on which each id stands, where they come from a file.
    """

    def __init__(
        self, people: Iterable[Person], source: str = "", rows: Mapping[str, int] | None = None
    ) -> None:
        self.people = sorted(people, key=lambda person: person.id)
        self._source, self._rows = source, rows or {}
        self._known: dict[tuple[Reading, str], dict[Person, None]] = {}
        self._alike: dict[str, dict[Person, None]] = {}
        for person in self.people:
            for reading in Reading:
                for form in _forms_of(person, reading):
                    self._known.setdefault((reading, form), {})[person] = None
            for form in _loose_forms_of(person):
                self._alike.setdefault(form, {})[person] = None

    def whose(self, marks: Iterable[Mark]) -> Match:
        """The one student whom a mark that counts points to, and no mark contradicts."""
        fits = tuple((mark, self._fitting(mark)) for mark in marks if mark.text.strip())
        counted = [(mark, persons) for mark, persons in fits if mark.counts]
        possible = tuple(
            person
            for person in _in_order({person for _, persons in counted for person in persons})
            if not any(contradicts(mark, persons, person) for mark, persons in counted)
        )
        # Only now: what does not count must not choose between two either.
        if len(possible) == 1 and any(contradicts(mark, persons, possible[0]) for mark, persons in fits):
            possible = ()
        return Match(
            possible[0] if len(possible) == 1 else None,
            fits,
            possible,
            _in_order({person for _, persons in fits for person in persons}),
            self._looking_like(mark.text for mark, persons in fits if not persons and not mark.is_number),
        )

    def _fitting(self, mark: Mark) -> tuple[Person, ...]:
        return _in_order(
            {
                person
                for reading in mark.readings
                for person in self._known.get((reading, _form(reading, mark.text)), ())
            }
        )

    def _looking_like(self, texts: Iterable[str]) -> tuple[Person, ...]:
        # Moodle puts a group's name and a hyphen before the name of who handed in.
        forms = {loose(part) for text in texts for part in (mailbox(text), text, text.rpartition("-")[2])}
        return _in_order({person for form in forms - {""} for person in self._alike.get(form, ())})

    def where(self, persons: Iterable[Person]) -> str:
        """The rows on which these students stand; nothing if they do not come from a file."""
        rows = sorted(self._rows[person.id] for person in persons if person.id in self._rows)
        if not rows:
            return ""
        return f"{'row' if len(rows) == 1 else 'rows'} {' and '.join(map(str, rows))} of {self._source}"

    def remarks(self) -> list[str]:
        """A sentence about each number and each address that two students share."""
        words = {Reading.NUMBER: "number", Reading.EMAIL: "e-mail"}
        return [
            f"{' and '.join(person.id for person in persons)} have the same {words[reading]}, "
            f"{printable(next(iter(persons)).known(reading))}; "
            f"correct {self.where(persons) or 'one of them'}."
            for (reading, _), persons in self._known.items()
            if reading in words and len(persons) > 1
        ]


def contradicts(mark: Mark, fitting: Sequence[Person], person: Person) -> bool:
    """Whether a mark says that something is not this person's.

    fitting : whom the mark fits.
    """
    if fitting:
        return person not in fitting
    return any(person.known(reading) for reading in mark.denies)


def _possessive(persons: Iterable[Person]) -> str:
    return " and ".join(f"{person.id}'s" for person in persons)


def _in_order(persons: Iterable[Person]) -> tuple[Person, ...]:
    return tuple(sorted(persons, key=lambda person: person.id))


def _form(reading: Reading, text: str) -> str:
    """What two texts have in common if they are the same in this reading."""
    if reading is Reading.NAME:
        return whole(text)
    if reading in (Reading.SQUEEZED_NAME, Reading.SQUEEZED_ID):
        return squeezed(text)
    text = text.strip()
    return folded(text) if reading is Reading.EMAIL else unicodedata.normalize("NFC", text)


def _forms_of(person: Person, reading: Reading) -> set[str]:
    """All forms that fit a person in this reading."""
    first, last = person.first_name, person.last_name
    # Without a list of students the platform's name is the id, and nobody has another name.
    became_id = [] if person.name else [person.id]
    texts = {
        Reading.ID: [person.id],
        Reading.EMAIL: [person.email],
        Reading.NUMBER: [person.lms_user_id],
        Reading.NAME: [f"{first} {last}", f"{last} {first}", *became_id],
        Reading.SQUEEZED_NAME: [first + last, last + first],
        Reading.SQUEEZED_ID: became_id,
    }[reading]
    if reading is Reading.NAME and first.strip() and last.strip():
        texts.append(f"{last}, {first}")
    return {_form(reading, text) for text in texts} - {""}


def _loose_forms_of(person: Person) -> set[str]:
    first, last, address = person.first_name, person.last_name, person.email
    texts = [first + last, last + first, person.id, mailbox(person.id), address, mailbox(address)]
    return {loose(text) for text in texts} - {""}
