"""What a file's name or a row of a platform's sheet says about whose it is."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

# What an instructor says of a platform's numbers: they are the users' own (lms_user_id), or something else.
# None: they are what the platform is known to write.
Numbers = Literal["users", "ignore"] | None


class Reading(Enum):
    """What a text can be. Each reading is compared in a way of its own."""

    ID = auto()  # the student's id in the gradebook
    EMAIL = auto()
    NUMBER = auto()  # the platform's own number of the user, lms_user_id
    NAME = auto()  # first and last name in either order, or an id that a platform's whole name has become
    SQUEEZED_NAME = auto()  # the same without white space and punctuation
    SQUEEZED_ID = auto()  # an id that a squeezed name has become


@dataclass(frozen=True)
class Mark:
    """A text that points to a student.

    kind : what a message calls it.
    readings : what the text can be; it fits whom it fits in any of these readings.
    denies : if it fits nobody, it still cannot be of a student for whom one of these is known.
    counts : whether it can say whose something is. If not, it can only contradict the marks that do.
    """

    kind: str
    text: str
    readings: tuple[Reading, ...]
    denies: tuple[Reading, ...] = ()
    counts: bool = True

    @property
    def is_number(self) -> bool:
        """Whether it is the platform's number of somebody."""
        return self.readings == (Reading.NUMBER,)


def whole_name(text: str, kind: str = "name") -> Mark:
    """A name that the platform keeps as it is."""
    return Mark(kind, text, (Reading.NAME,), (Reading.NAME,))


def name_in_gradebook(text: str) -> Mark:
    """A name in Canvas's gradebook; in Canvas's files, and so in ids made from them, it is squeezed."""
    return Mark("name", text, (Reading.NAME, Reading.SQUEEZED_ID), (Reading.NAME,))


def squeezed_name(text: str) -> Mark:
    """A name of which the platform kept letters and digits alone."""
    return Mark("name", text, (Reading.SQUEEZED_NAME, Reading.SQUEEZED_ID), (Reading.NAME,))


def email(text: str) -> Mark:
    """An address, which can be the student's id as well."""
    return Mark("e-mail", text, (Reading.EMAIL, Reading.ID), (Reading.EMAIL,))


def account(kind: str, text: str, *also: Reading) -> Mark:
    """A school's name or number for somebody. If it fits nobody it says nothing, unless it is an address."""
    return Mark(kind, text, (Reading.ID, Reading.EMAIL, *also), (Reading.EMAIL,) if "@" in text else ())


def folder(text: str) -> Mark:
    """A folder that somebody named after a student: by id, by e-mail or by name."""
    return Mark("folder", text, (Reading.ID, Reading.EMAIL, Reading.NAME), (Reading.ID,))


def folder_around(text: str) -> Mark:
    """A folder around files that name their student themselves; most such folders are nobody's."""
    return Mark("folder", text, (Reading.ID, Reading.EMAIL, Reading.NAME))


def number(text: str, numbers: Numbers, *, of_users: bool) -> list[Mark]:
    """The platform's number of the user. If it may be something else, it can contradict and proves nothing.

    numbers : what the instructor says of it; None, if nothing.
    of_users : whether the platform is known to write the user's own number here.
    """
    if numbers == "ignore":
        return []
    if of_users or numbers == "users":
        return [Mark("number", text, (Reading.NUMBER,), (Reading.NUMBER,))]
    return [Mark("number", text, (Reading.NUMBER,), counts=False)]
