"""Puts the questions into a section: graded answer cells for students, an instant quiz for self-study."""

import re
from string import Template
from typing import Any

from course.building.master import Master
from course.building.nodes import code_cell, markdown_cell
from course.questions import Question

MARKER = re.compile(r"^\{\{question: ([a-z0-9-]+)\}\}$")

_ANSWER = Template("""\
# Your answer to question $number: put $what in place of None, then run this cell and the next.
$name = None
### BEGIN SOLUTION
### NO STUB
$name = $right
### END SOLUTION""")
_LETTER_CHECK = Template("""\
# Check: question $number (1 point)
is_letter = isinstance($name, str) and $name.strip().upper() in $letters
assert is_letter, f"your answer is {$name!r}; it must be one of the letters $listed in quotes, like 'A'"
""")
_NUMBER_CHECK = Template("""\
# Check: question $number (1 point)
import numbers

is_number = isinstance($name, numbers.Real) and not isinstance($name, bool)
assert is_number, f"your answer is {$name!r}; it must be a number without quotes, like 12"
""")
_HIDDEN = Template("""\
### BEGIN HIDDEN TESTS
from course.checks import require_answer

require_answer("$id", $name)
### END HIDDEN TESTS""")
_QUIZ = Template("""\
from course.study import quiz

quiz("$id")""")


def expand(cells: list[Any], questions: dict[str, Question]) -> list[Any]:
    """The cells, with each `{{question: id}}` replaced by the cells of that question."""
    expanded = []
    for cell in cells:
        found = MARKER.match(cell.source.strip())
        expanded += _cells_of(questions[found[1]]) if found else [cell]
    return expanded


def problems_with(masters: list[Master], questions: dict[str, Question]) -> list[str]:
    """A sentence for each question that is asked nowhere, twice, in another section, or does not exist."""
    problems = []
    places: dict[str, list[str]] = {name: [] for name in questions}
    for master in masters:
        for cell in master.notebook.cells:
            file = f"source/{master.assignment}/{master.name}.md"
            found = MARKER.match(cell.source.strip())
            if not found and "{{question:" in cell.source:
                problems.append(f"{file}: a question needs a cell of its own, with +++ before and after it")
            if found:
                if found[1] not in questions:
                    problems.append(f"{file}: there is no question {found[1]!r} in questions.yaml")
                else:
                    places[found[1]].append(master.name)
    for name, sections in places.items():
        wanted = f"{questions[name].section:02}"
        if len(sections) != 1 or not sections[0].startswith(wanted):
            where = ", ".join(sections) or "no section"
            problems.append(f"questions.yaml: {name} belongs once into section {wanted}; it is in {where}")
    return problems


def _cells_of(question: Question) -> list[Any]:
    names = {
        "id": question.id,
        "number": str(question.number),
        "name": "answer_" + question.id.replace("-", "_"),
        "letters": str(list(question.lettered)),
        "listed": ", ".join(question.lettered),
    }
    if question.kind == "choice":
        fields, check = {"what": "the letter, in quotes,", "right": f'"{question.letter}"'}, _LETTER_CHECK
    else:
        fields, check = {"what": "a number", "right": f"{question.answer:g}"}, _NUMBER_CHECK
    answer_id, check_id = f"question-{question.id}", f"question-{question.id}-check"
    return [
        markdown_cell(as_markdown(question), f"{answer_id}-text", {"tags": ["release-only"]}),
        code_cell(
            _ANSWER.substitute(names, **fields),
            answer_id,
            {"nbgrader": {"grade_id": answer_id, "solution": True}, "tags": ["release-only"]},
        ),
        code_cell(
            check.substitute(names) + _HIDDEN.substitute(names),
            check_id,
            {
                "nbgrader": {"grade_id": check_id, "grade": True, "locked": True, "points": 1},
                "tags": ["release-only"],
            },
        ),
        markdown_cell(f"**Question {question.number}**", f"{answer_id}-quiz-head", _SELF_STUDY),
        code_cell(_QUIZ.substitute(names), f"{answer_id}-quiz", _SELF_STUDY),
    ]


_SELF_STUDY = {"tags": ["self-study-only"]}


def as_markdown(question: Question) -> str:
    """The question as students read it: its text, and a lettered list or the unit asked for."""
    lines = [f"**Question {question.number}.** {question.text}"]
    if question.kind == "choice":
        lines += [f"- **{letter}.** {option.text.strip()}" for letter, option in question.lettered.items()]
        return lines[0] + "\n\n" + "\n".join(lines[1:])
    return lines[0] + (f"\n\nAnswer in {question.unit}." if question.unit else "")
