"""The page for a student: what it tells, what it keeps to itself, and that nothing on it is active."""

import json
import re
from html import unescape

import pytest
from page_examples import (
    CANARY,
    LOOP,
    MISCONCEPTIONS,
    RELEASE,
    assert_inert,
    cell,
    graded_loop,
    look_at,
    loop_record,
    notebook,
    output,
    record,
)

from course.building.outputs import MASTERS, refresh_masters
from course.files import ROOT
from course.grading.feedback import cells as cells_module
from course.grading.feedback import feedback_page
from course.grading.masters import read_master
from course.grading.records import CellResult, Finding, Status
from course.grading.standing import ManualMarks

WRONG = sorted(MISCONCEPTIONS.glob("generation_loop/*.py"))
FIRST = WRONG[0]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ESSAY = CellResult("essay", "essay", None, None, 3, "manual")


def text_of(page: bytes) -> str:
    """What a page says, without its markup."""
    body = re.sub(r"</?(span|code|strong)\b[^>]*>", "", page.decode().partition("<body>")[2])
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


def page_of(*cells, unchanged=None, manual=None, **fields) -> bytes:
    """A page for a notebook of these cells, with one check that passed."""
    results = (CellResult("test", "greedy", "generation_loop", 2, 2, "passed"),)
    given = {"cells": results, "score": 2.0, "max_score": 2.0} | fields
    return feedback_page(record(**given), notebook(*cells), manual, unchanged)


@pytest.fixture(scope="module")
def page() -> bytes:
    """The page of a solution with one slip."""
    return feedback_page(loop_record(FIRST), graded_loop(FIRST))


def test_nothing_of_a_test_cell_is_shown(page):
    """Bug: the hidden tests, or a traceback through them, stand on every student's page."""
    assert CANARY.encode() in graded_loop(FIRST)
    assert CANARY not in page.decode()
    assert "HIDDEN TESTS" not in page.decode()
    assert "SteadyModel" not in page.decode()


def test_a_hidden_part_of_another_cell_is_not_shown():
    """Bug: the mark scheme of a task that a person grades is shown to those who are graded by it."""
    scheme = f"Explain why.\n### BEGIN MARK SCHEME\n{CANARY}\n### END MARK SCHEME\nIn a sentence."
    shown = text_of(page_of(cell(scheme, kind="markdown", task=True, grade_id="essay", points=3)))
    assert "Explain why." in shown
    assert "In a sentence." in shown
    assert CANARY not in shown


def test_what_grading_thinks_of_the_student_is_not_shown():
    """Bug: a student reads that they are suspected, or an id of the catalogue that means nothing to them."""
    assert {result.misconception for result in loop_record(FIRST).cells} >= {"G1"}
    shown = text_of(feedback_page(loop_record(FIRST), notebook()))
    assert "patches numpy.testing" not in shown
    assert not re.search(r"\b[GSCB]\d+\b", shown)


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_a_failure_is_told_in_full(file):
    """Bug: a part of an authored message, the expected result say, gets lost on the way to the page."""
    found = loop_record(file)
    shown = text_of(feedback_page(found, notebook()))
    for result in found.cells:
        if result.status == "passed":
            continue
        message = result.message
        said = [message.in_a_line.replace("`", ""), *(text for _, text in message.case), message.section]
        for part in said:
            assert re.sub(r"\W", "", part) in re.sub(r"\W", "", shown)
    passed = sum(result.status == "passed" for result in found.cells)
    assert shown.count("✓ Passed") == passed
    assert shown.count("✗ Not passed") + shown.count("! Error") == len(found.cells) - passed


def test_checks_are_named_in_words(page):
    """Bug: a card says `end_token` where the student knows the check by the first line of its cell."""
    shown = text_of(page)
    assert "The end token ends the run, and is returned with it" in shown
    assert "end_token" not in shown
    assert "Question 4" in shown


def test_what_to_read_comes_once_in_the_order_of_the_course():
    """Bug: a section is listed once a check that failed, or in the order of the failures."""
    message = "Wrong.\nexpected:      1\ngot:           2\nRead again:    Section {}"
    sections = ("10, A cache", "4, Read", "10, A cache")
    results = tuple(
        CellResult(f"c{i}", f"c{i}", "x", 0, 1, "failed", None, message.format(section))
        for i, section in enumerate(sections)
    )
    shown = text_of(feedback_page(record(cells=results, score=0.0, max_score=3.0), notebook()))
    upper = shown.partition("Read next")[2].partition("Points")[0]
    assert " ".join(upper.split()) == "Section 4, Read Section 10, A cache"


def test_a_failure_is_not_a_zero_and_shows_no_solution():
    """Bug: a failed notebook reads as a zero, or its page shows the master that stands in for it."""
    solution = cell(f"answer = '{CANARY}'", solution=True, grade_id="answer")
    frame = notebook(cell("# It failed", kind="markdown"), solution)
    failed = record(status=Status.FAILED, score=None, problem="The file is empty.\nIt has 0 bytes.")
    shown = feedback_page(failed, frame)
    assert CANARY not in shown.decode()
    text = text_of(shown)
    assert "The file is empty. It has 0 bytes." in text
    assert "This is not a zero" in text
    assert "0 of" not in text
    assert f"{LOOP}.ipynb and hand it in again" in text


def test_a_failure_that_a_person_marked_shows_their_points():
    """Bug: points given by hand to a notebook that could not be graded stay invisible to its student."""
    frame = notebook(
        cell("# Check: it doubles (2 points)\nassert double(1) == 2", grade=True, grade_id="once", points=2),
        cell(f"answer = '{CANARY}'", solution=True, grade_id="answer"),
    )
    failed = record(status=Status.FAILED, score=None, max_score=2.0, problem="The file is empty.")
    shown = feedback_page(failed, frame, ManualMarks({"once": 1.5}, {}, {"answer": "As a mail."}, 0.0))
    text = text_of(shown)
    assert "1.5 of 2 points" in text
    assert "It doubles" in text
    assert "As a mail." in text
    assert "not a zero" not in text
    assert CANARY not in shown.decode()


def test_marks_by_hand_count():
    """Bug: the page adds up the checks' points where a person gave others, or forgets the penalty."""
    found = loop_record(FIRST)
    manual = ManualMarks({"generation-loop-greedy": 1.0}, {"generation-loop-budget": 0.5}, {}, penalty=2.0)
    text = text_of(feedback_page(found, graded_loop(FIRST), manual))
    assert f"{found.score + 1 + 0.5 - 2:g} of 11 points" in text
    assert "2 points were taken off because the notebook was handed in late" in text
    assert "Points given by your instructor · 1 of 2 points" in text
    assert "1 of 1 point, and 0.5 extra" in text


def test_a_penalty_does_not_take_more_than_there_is():
    """Bug: a late notebook without points has fewer than none."""
    results = (CellResult("test", "greedy", "generation_loop", 0, 2, "failed", None, "Wrong."),)
    found = record(cells=results, score=0.0, max_score=2.0)
    assert "0 of 2 points" in text_of(feedback_page(found, notebook(), ManualMarks(penalty=1.0)))


def test_comments_stand_where_they_belong():
    """Bug: what a person wrote on a cell is lost, stands twice, or far from what it is about."""
    manual = ManualMarks(
        comments={"work": "On the work.", "test": "On the test.", "gone": "On neither.", "e": " "}
    )
    solution = cell("def generate(): ...", solution=True, grade_id="work")
    text = text_of(page_of(solution, cell("own = 1"), manual=manual, unchanged=frozenset()))
    for comment in ("On the work.", "On the test.", "On neither."):
        assert text.count(comment) == 1
    assert text.count("Comment by your instructor") == 3
    order = ["On neither.", "Greedy", "On the test.", "def generate(): ...", "On the work.", "own = 1"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_what_waits_for_a_person_is_said():
    """Bug: the points so far read like the final mark."""
    results = (CellResult("test", "greedy", "generation_loop", 2, 2, "passed"), ESSAY)
    waiting = record(status=Status.NEEDS_PERSON, cells=results, score=2.0, max_score=5.0)
    text = text_of(feedback_page(waiting, notebook()))
    assert "2 of 5 points so far" in text
    assert "This is not your final mark. A person still has to look at: Essay." in text
    assert "– of 3 points" in text
    marked = text_of(feedback_page(waiting, notebook(), ManualMarks({"essay": 2.5})))
    assert "4.5 of 5 points" in marked
    assert "final mark" not in marked
    assert "so far" not in marked


def test_repairs_are_told_kindly(page):
    """Bug: what was put right, left alone or did not run is in the log, and its student never reads it."""
    text = text_of(page)
    assert "had been edited and was put back" in text
    assert "data.csv came with the notebook and was not used" in text
    assert "Cell 12 raised NameError" in text


@pytest.mark.parametrize(
    "markdown",
    [
        HOSTILE,
        '<style>* {display: none}</style><div style="position:fixed;background:url(http://x.org/a)">x</div>',
        "![x](http://x.org/a.png) ![x](https://x.org/a.png) ![y](//x.org/a.png) ![z](data:text/html,x)",
        "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [z](data:text/html;base64,PHNjcmlwdD4=)",
        "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg><iframe src=//x.org></iframe>",
        "<details open ontoggle=alert(1)>x</details><form action=//x.org><input name=a></form>",
        "<base href=//x.org><link rel=stylesheet href=//x.org/a.css><meta http-equiv=refresh content=0>",
        "<math><mtext></p><style><!--</style><img title='--><img src=x onerror=alert(1)>'>",
        "```html\n<script>alert(1)</script>\n```\n<a href='data:image/png;base64,AAAA'>x</a>",
    ],
)
def test_nothing_of_a_students_notebook_is_active(markdown):
    """Bug: what a student wrote or displayed runs where the page is opened, or fetches a file."""
    shown = page_of(
        cell(markdown, kind="markdown", solution=True, grade_id="essay"),
        cell(markdown, kind="markdown"),
        cell("x = 1", output(text_html=markdown, text_plain=markdown), solution=True, grade_id="work"),
        cell("x = 2", {"output_type": "stream", "name": "stdout", "text": markdown}),
        cell(
            markdown, {"output_type": "error", "ename": markdown, "evalue": markdown, "traceback": [markdown]}
        ),
        cell("x = 3", output(image_png='x" onerror="alert(1)', text_plain=markdown)),
        unchanged=frozenset(),
    )
    assert_inert(shown)
    assert b"default-src 'none'" in shown


def test_headings_of_a_notebook_are_none_of_the_page():
    """Bug: a heading with a style opens as a heading and ends as a paragraph, among the page's own."""
    markup = "<h2 style='color: red'>B</h2><h3>C</h3>"
    shown = page_of(cell(f"# A\n\n{markup}", output(text_html=markup), solution=True, grade_id="w"))
    prose = page_of(cell(f"# A\n\n{markup}", kind="markdown", solution=True, grade_id="w"))
    for page in (shown.decode(), prose.decode()):
        assert '<p style="color:red">B</p><p>C</p>' in page


def test_what_others_wrote_is_escaped():
    """Bug: a name, a message, a reason, a finding or a comment is taken for markup."""
    results = (CellResult("c", HOSTILE, "x", 0, 1, "failed", None, f"{HOSTILE}\ngot:           {HOSTILE}"),)
    found = record(HOSTILE, notebook=HOSTILE, cells=results, score=0.0, findings=(Finding("note", HOSTILE),))
    title = cell(f"# 5. {HOSTILE}", kind="markdown")
    test = cell(f"# Check: {HOSTILE}", grade=True, grade_id="c", points=1)
    manual = ManualMarks(comments={"c": HOSTILE, "gone": HOSTILE})
    shown = feedback_page(found, notebook(title, test), manual)
    assert_inert(shown)
    assert "alert(1)" in text_of(shown)
    failed = record(HOSTILE, status=Status.FAILED, score=None, problem=HOSTILE)
    assert_inert(feedback_page(failed, notebook()))


def test_the_students_own_cells_are_told_from_the_courses():
    """Bug: the student's work is hidden among a hundred lines that they were given."""
    refresh_masters(ROOT)
    master = (ROOT / MASTERS / "autoregressive-generation" / f"{LOOP}.ipynb").read_bytes()
    shown = feedback_page(
        loop_record(FIRST), graded_loop(FIRST), None, read_master(master, "a", LOOP).handed_out
    ).decode()
    folded = "".join(re.findall(r"<details>.*?</details>", shown, re.DOTALL))
    unfolded = re.sub(r"<details>.*?</details>", "", shown, flags=re.DOTALL)
    assert "shares_after" in text_of(b"<body>" + folded.encode())
    assert "shares_after" not in text_of(unfolded.encode())
    assert "print([generate(model, [0], 3)])" in text_of(unfolded.encode())
    assert "def generate(" in text_of(unfolded.encode())
    assert "The decoder is small" not in shown


def test_a_changed_cell_of_the_course_is_the_students_own():
    """Bug: an experiment in a cell of the course is folded away as the course's."""
    unchanged = frozenset({"x = 1"})
    shown = page_of(cell("x = 1"), cell("x = 2"), unchanged=unchanged).decode()
    assert len(re.findall("Your own cell", shown)) == 1
    assert "1 cell of the course, unchanged" in shown


def test_long_outputs_are_cut_with_a_word():
    """Bug: a loop that prints fills the page, or what was cut is gone without a word."""
    printed = "".join(f"line {i}\n" for i in range(100_000))
    shown = page_of(cell("x", {"output_type": "stream", "name": "stdout", "text": printed}, solution=True))
    text = text_of(shown)
    assert "line 59 " in text
    assert "line 61 " not in text
    assert "The output goes on for" in text
    assert len(shown) < 30_000


def test_a_page_has_an_end(monkeypatch):
    """Bug: a notebook of many large pictures becomes a page that no browser opens."""
    monkeypatch.setattr(cells_module, "MOST_ON_PAGE", 3_000)
    pictures = [output(image_png="A" * 1_000, text_plain="picture") for _ in range(9)]
    shown = page_of(*(cell(f"x = {i}", one, solution=True) for i, one in enumerate(pictures)))
    assert len(re.findall("<img", shown.decode())) == 2
    assert "left out: the page is full" in text_of(shown)


def test_markup_that_nests_without_end_is_shown_as_its_text():
    """Bug: cleaning 20,000 nested elements takes the grading run a quarter of a minute."""
    deep = "<div>" * 20_000
    shown = page_of(cell("x", output(text_html=deep, text_plain="the deep one"), solution=True, grade_id="w"))
    assert "the deep one" in text_of(shown)
    assert b"<div><div>" not in shown


def test_pictures_keep_their_alternatives():
    """Bug: a picture comes without the words that stand for it."""
    shown = output(image_png=PNG, text_html=f"<img src='data:image/png;base64,{PNG}'>", text_plain="a plot")
    shown["metadata"] = {"image/png": {"alt": "Bars, the first is highest."}}
    found = page_of(cell("x", shown, solution=True, grade_id="w")).decode()
    assert f'<img src="data:image/png;base64,{PNG}" alt="Bars, the first is highest.">' in found


def test_a_terminals_codes_are_taken_out():
    """Bug: a traceback stands on the page with its colour codes, a progress bar with every step it made."""
    error = {
        "output_type": "error",
        "ename": "E",
        "evalue": "e",
        "traceback": ["\x1b[31mE\x1b[0m: wrong\x00"],
    }
    bar = {"output_type": "stream", "name": "stderr", "text": "10 %\r20 %\r100 %\n"}
    text = text_of(page_of(cell("x", error, bar, solution=True, grade_id="w")))
    assert "E: wrong\N{REPLACEMENT CHARACTER}" in text
    assert "100 %" in text
    assert "20 %" not in text


def test_a_page_is_the_same_each_time():
    """Bug: a page differs though nothing changed, so that everything looks new after each run."""
    again = [feedback_page(loop_record(FIRST), graded_loop(FIRST)) for _ in range(2)]
    assert again[0] == again[1]


def test_sources_may_be_lists_of_lines():
    """Bug: a notebook as Jupyter writes it, each source a list of lines, has an empty page."""
    whole = json.loads(notebook(cell("# 5. A title", kind="markdown"), cell("x = 1\ny = 2", solution=True)))
    for one in whole["cells"]:
        one["source"] = one["source"].splitlines(keepends=True)
    text = text_of(feedback_page(loop_record(FIRST), json.dumps(whole).encode()))
    assert "5. A title" in text
    assert "y = 2" in text


@pytest.mark.parametrize("kind", ["graded", "failed"])
def test_nobody_is_kept_out(kind, browser, tmp_path):
    """Bug: a screen reader, a dark theme or a telephone makes a page that cannot be read."""
    found = loop_record(FIRST, cells=(*loop_record(FIRST).cells, ESSAY), status=Status.NEEDS_PERSON)
    failed = record(status=Status.FAILED, score=None, problem="The file is empty.")
    manual = ManualMarks(
        {"generation-loop-budget": 0.5}, {}, {"generation-loop": "Nice.", "gone": "See me."}, 1.0
    )
    unchanged = read_master((RELEASE / f"{LOOP}.ipynb").read_bytes(), "a", LOOP).handed_out
    pages = {
        "graded": feedback_page(found, graded_loop(FIRST), manual, unchanged),
        "failed": feedback_page(failed, notebook()),
    }
    assert look_at(browser, pages[kind], tmp_path) == []
