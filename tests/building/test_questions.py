"""The questions' file, and what the build and the quiz make of it."""

import re
from pathlib import Path

import pytest
import yaml

from course.building import MasterError
from course.building.masters import read_masters
from course.building.questions import as_markdown
from course.building.versions import for_self_study, for_students
from course.files import ROOT
from course.questions import FILE, QuestionError, find_question, load_questions

QUESTIONS = load_questions()
ENTRIES = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SECTION = """\
# 2. A section

+++

{{question: picks-for-a-reply}}
"""


def write(folder: Path, entries: object, section: str = SECTION) -> Path:
    (folder / "source" / "tiny").mkdir(parents=True)
    (folder / "source" / "questions.yaml").write_text(yaml.safe_dump(entries))
    (folder / "source" / "tiny" / "02-a-section.md").write_text(section)
    return folder


def entry(name: str, **changes: object) -> dict[str, object]:
    found = next(entry for entry in ENTRIES if entry["id"] == name)
    return {key: value for key, value in (found | changes).items() if value is not None}


def test_there_are_nine_of_both_kinds_and_every_wrong_answer_is_explained() -> None:
    """Bug: a distractor that is only wrong, and teaches nothing."""
    assert [question.number for question in QUESTIONS] == list(range(1, 10))
    assert {question.kind for question in QUESTIONS} == {"choice", "numeric"}
    for question in QUESTIONS:
        explained = [option.why for option in question.options] or [slip.why for slip in question.slips]
        assert len(explained) >= 3
        assert len(set(explained)) == len(explained)


def test_the_place_of_the_right_option_gives_nothing_away() -> None:
    """Bug: the right answer always stands first, as its author wrote it."""
    assert len({question.letter for question in QUESTIONS if question.kind == "choice"}) >= 3


def test_students_files_hold_the_question_and_not_its_answer() -> None:
    """Bug: an answer, or the explanation of one, can be read in a file that students get."""
    released = [for_students(master) for master in read_masters(ROOT)]
    text = "\n".join(cell.source for notebook in released for cell in notebook.cells)
    for question in QUESTIONS:
        assert as_markdown(question) in text
        name = "answer_" + question.id.replace("-", "_")
        assert re.findall(rf"^{name} = .*$", text, flags=re.MULTILINE) == [f"{name} = None"]
        for why in [question.why, *(part.why for part in (*question.options, *question.slips))]:
            assert not why or why.strip() not in text
    assert "require_answer" not in text
    assert "NO STUB" not in text


def test_self_study_has_the_quiz_and_no_graded_cells() -> None:
    """Bug: a self-learner meets an answer cell that nobody will grade."""
    studied = [for_self_study(master) for master in read_masters(ROOT)]
    text = "\n".join(cell.source for notebook in studied for cell in notebook.cells)
    assert re.findall(r'^quiz\("(.+)"\)$', text, flags=re.MULTILINE) == [q.id for q in QUESTIONS]
    assert "require_answer" not in text


@pytest.mark.parametrize(
    ("entries", "section", "message"),
    [
        ([entry("picks-for-a-reply", answer=None)], SECTION, "`answer` is missing"),
        ([entry("picks-for-a-reply", answer="40")], SECTION, "the answer is '40'; it must be a number"),
        ([entry("picks-for-a-reply", hint="x")], SECTION, "`hint` is unknown"),
        ([entry("picks-for-a-reply", kind="essay")], SECTION, "kind `choice` or `numeric`"),
        ([entry("picks-for-a-reply")] * 2, SECTION, "the id is used more than once"),
        ([entry("one-draw", options=[])], SECTION, "0 options are correct; exactly one must be"),
        ({"id": 1}, SECTION, "must be a list of questions"),
        ([entry("picks-for-a-reply")], "# 2. Nothing\n", "belongs once into section 02; it is in no section"),
        ([entry("picks-for-a-reply", section=3)], SECTION, "belongs once into section 03"),
        ([], SECTION, "there is no question 'picks-for-a-reply'"),
        ([entry("picks-for-a-reply")], SECTION.replace("+++", ""), "a question needs a cell of its own"),
    ],
)
def test_a_mistake_in_the_file_is_a_sentence(tmp_path, entries, section, message) -> None:
    """Bug: a slip in the questions' file ends in a traceback, or in a question that nobody can answer."""
    with pytest.raises(MasterError, match=re.escape(message)):
        read_masters(write(tmp_path, entries, section))


def test_an_unknown_question_names_those_there_are() -> None:
    """Bug: a check cell with a misspelt id fails without saying what it could be."""
    with pytest.raises(KeyError, match="one-draw"):
        find_question("one-drop")
    assert issubclass(QuestionError, Exception)
