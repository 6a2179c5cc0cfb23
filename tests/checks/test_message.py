"""Messages on their way into a journal and back."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from course.checks.message import Message
from course.grading.records import CellResult, Record, Status

MESSAGE = Message(
    "What went wrong,\nin two lines.",
    (("Smallest case", "f([1])"), ("expected", "[1]\n[2]"), ("got", "expected:      nothing")),
    "Section 4, Read",
)
CELL = CellResult("c", "greedy", "generation_loop", 0, 1, "failed", None, MESSAGE)
RECORD = Record("ada", "a", "n", Status.GRADED, 0.0, 1.0, cells=(CELL,))


def test_a_record_comes_back_from_a_journal_with_the_parts_of_its_messages() -> None:
    """Bug: a page that is made again from the journal has other parts than the first one."""
    assert Record.from_plain(json.loads(json.dumps(asdict(RECORD)))) == RECORD


def test_a_journal_that_holds_messages_as_text_is_read_as_before() -> None:
    """Bug: after an update, marks of a term under way cannot be read, or their pages lose a part."""
    plain = asdict(RECORD)
    plain["cells"][0]["message"] = str(MESSAGE)
    assert Record.from_plain(json.loads(json.dumps(plain))) == RECORD
    plain["cells"][0]["message"] = ""
    assert not Record.from_plain(plain).cells[0].message


def test_the_text_of_a_message_has_each_part_on_lines_of_its_own() -> None:
    """Bug: a note that runs on from the section to read, or a label that moves."""
    assert str(replace(MESSAGE, note="It is late.")).splitlines() == [
        "What went wrong,",
        "in two lines.",
        "Smallest case: f([1])",
        "expected:      [1]",
        "[2]",
        "got:           expected:      nothing",
        "Read again:    Section 4, Read",
        "Note:          It is late.",
    ]
