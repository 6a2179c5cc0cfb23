"""Properties of matching, over rosters with gaps and mistakes and archives as Canvas and Moodle write them.

The oracle never compares spellings: each text is made from a known name and carries it along. So it knows
which texts are the same name, whatever way they are written.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from course.grading.export import canvas, moodle
from course.grading.export.totals import Total
from course.grading.lms.archive import Found
from course.grading.lms.people import People, Person
from course.grading.lms.sheet import Sheet
from course.grading.lms.sorting import sort_out

ASSIGNMENT, LOOP = "autoregressive-generation", "05-append-then-predict"
# First and last names, composed; each differs from the next by what careless matching overlooks.
NAMES = [
    ("Ada", "Lovelace"), ("Ada", "Ng"), ("Ben", "Ng"), ("An Na", "Li"), ("Anna", "Li"),
    ("Hans", "Weiß"), ("Hans", "Weiss"), ("Işık", "Ay"), ("Isik", "Ay"), ("Zoë", "Ång"), ("Zoe", "Ang"),
    ("Ngọc", "Nguyễn"), ("Ngoc", "Nguyễn"), ("Ngọc", "Nguyen"),
    ("राम", "शर्मा"), ("रम", "शर्मा"), ("रमा", "शर्मा"), ("สมชาย", "ใจดี"), ("สมชาย", "ใจดิ"), ("สมชาย", "ใจดู"),
    ("דָּן", "כהן"), ("דִּן", "כהן"), ("عَلي", "حسن"), ("عُلي", "حسن"), ("علي", "حسن"),
    ("Ⅻ", "Roy"), ("XII", "Roy"),
]  # fmt: skip
NAMES = [tuple(unicodedata.normalize("NFC", part) for part in name) for name in NAMES]
quick = settings(deadline=None, derandomize=True, max_examples=150)


def whole_forms(first, last):
    """The spellings of a name with its white space."""
    return {f"{first} {last}".strip(), f"{last} {first}".strip()} - {""}


def squeezed_forms(first, last):
    """The spellings of a name in Canvas's files, in which An Na and Anna are the same."""
    return {spelling.replace(" ", "").lower() for spelling in whole_forms(first, last)}


def in_other_case(text):
    """A text in capitals, as far as a letter has one that leads back to it alone."""
    return "".join(
        each.upper() if len(each.upper()) == 1 and each.upper().lower() == each else each for each in text
    )


STYLES = st.sampled_from(
    [
        str,
        in_other_case,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: in_other_case(unicodedata.normalize("NFD", text)),
        lambda text: text.replace(" ", "  "),
    ]
)


@dataclass(frozen=True)
class Handed:
    """A file or a row, and what was written into it before it was put in another style.

    name : first and last name, or a team's; None where the platform hides it.
    squeezed : whether the name is written without white space.
    number_is_users : whether the number proves something.
    """

    name: tuple[str, str] | None
    number: str
    email: str = ""
    login: str = ""
    path: str = ""
    squeezed: bool = False
    number_is_users: bool = False


def whose(handed, roster):
    """The id of the one student whom something fits and nothing contradicts; None if there is no such."""
    fitting, stopped = [], set()
    forms = squeezed_forms if handed.squeezed else whole_forms
    written = forms(*handed.name) if handed.name else set()

    def named(person):
        return bool(written & forms(person.first_name, person.last_name))

    def has_login(person):
        return bool(handed.login) and handed.login in (person.id, person.email)

    for person in roster:
        others = [each for each in roster if each is not person]
        supports = contradicts = False
        if handed.name:
            supports |= named(person)
            known = person.first_name or person.last_name
            contradicts |= not named(person) and (bool(known) or any(map(named, others)))
        for text, kind, counts in (
            (handed.number, "lms_user_id", handed.number_is_users),
            (handed.email, "email", True),
        ):
            if text:
                fits = getattr(person, kind) == text
                elsewhere = not fits and any(getattr(each, kind) == text for each in others)
                if not counts:  # it can stop a file, and help nobody to one
                    stopped |= {person.id} if elsewhere else set()
                    continue
                supports |= fits
                contradicts |= elsewhere or (not fits and bool(getattr(person, kind)))
        if handed.login:
            supports |= has_login(person)
            contradicts |= not has_login(person) and (
                any(map(has_login, others)) or ("@" in handed.login and bool(person.email))
            )
        if supports and not contradicts:
            fitting.append(person.id)
    return fitting[0] if len(fitting) == 1 and fitting[0] not in stopped else None


@st.composite
def classes(draw, mistakes=True, unique=False):
    """The true students of a class, and its roster: with gaps, same names, and mistakes in numbers."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=unique))
    truth = [
        Person(f"s{n}", first, last, f"m{n}@school.edu", str(100 + n))
        for n, (first, last) in enumerate(names)
    ]
    roster = []
    for person in truth:
        for gap in draw(st.sets(st.sampled_from(["name", "email", "number"]), max_size=2)):
            blank = {"name": ("first_name", "last_name"), "email": ("email",), "number": ("lms_user_id",)}[
                gap
            ]
            person = replace(person, **dict.fromkeys(blank, ""))
        roster.append(person)
    mistake = draw(st.sampled_from(["none", "swapped", "twice"])) if mistakes and len(roster) > 1 else "none"
    if mistake != "none":
        one, other, *rest = draw(st.permutations(roster))
        swapped = replace(one, lms_user_id=other.lms_user_id)
        second = replace(other, lms_user_id=one.lms_user_id) if mistake == "swapped" else other
        roster = [swapped, second, *rest]
    return truth, roster


def spelled(draw, name):
    """A name as a platform may show it."""
    first, last = name
    style = draw(STYLES)
    return style(draw(st.sampled_from([f"{first} {last}", f"{last} {first}", f"{last}, {first}"])))


def canvas_path(draw, name, number, upload):
    """A file of Canvas's, late or not, from a student or from a team."""
    squeezed = draw(STYLES)(draw(st.sampled_from(sorted(squeezed_forms(*name))))).replace(" ", "")
    late = draw(st.sampled_from(["", "LATE_"]))
    return f"{squeezed}_{late}{number}_{upload}_{LOOP}.ipynb"


def moodle_path(draw, name, number):
    """A file of Moodle's, with a folder or without."""
    text = spelled(draw, name) if name else "Participant"
    return f"{text}_{number}_assignsubmission_file{draw(st.sampled_from(['/', '_']))}{LOOP}.ipynb"


@st.composite
def archives(draw, truth):
    """What a platform hands out for these students, for a team, and for guests with anybody's number."""
    platform = draw(st.sampled_from(["canvas", "moodle"]))
    numbers_said = draw(st.sampled_from([None, "users", "ignore"]))
    guests = st.builds(
        Handed, st.sampled_from([*NAMES, ("Team", "1")]), st.sampled_from([str(n) for n in range(98, 108)])
    )
    students = [Handed((person.first_name, person.last_name), person.lms_user_id) for person in truth]
    files = []
    for upload, each in enumerate([*students, *draw(st.lists(guests, max_size=3))], start=1):
        if platform == "canvas":
            path = canvas_path(draw, each.name, each.number, upload)
            if draw(st.integers(0, 9)) == 0:
                each = replace(each, name=None, number="")
                path = f"anon_x{upload}_{upload}_{LOOP}.ipynb"
        else:
            if draw(st.integers(0, 2)) == 0:  # a number of the submission's, which is somebody's by accident
                each = replace(each, number=str(draw(st.integers(98, 108))))
            if draw(st.integers(0, 4)) == 0:
                each = replace(each, name=None)
            path = moodle_path(draw, each.name, each.number)
        users = numbers_said == "users" or (platform == "canvas" and numbers_said is None)
        files.append(
            replace(
                each,
                path=path,
                squeezed=platform == "canvas",
                number_is_users=users,
                number="" if numbers_said == "ignore" else each.number,
            )
        )
    return list({each.path: each for each in files}.values()), numbers_said


def found(path):
    """A file at this place."""
    return Found((tuple(path.split("/")),), path, read=path.encode)


@quick
@given(data=st.data())
def test_no_file_goes_to_a_student_whom_something_contradicts(data):
    """Bug: of two things that disagree one wins, or a name is taken for another, and the file goes astray."""
    truth, roster = data.draw(classes())
    files, numbers = data.draw(archives(truth))
    handed_in, left = sort_out(
        [found(each.path) for each in files], ASSIGNMENT, {LOOP}, People(roster), numbers=numbers
    )
    by_path = {each.path: each for each in files}
    for each in handed_in:
        assert each.student == whose(by_path[each.found.shown], roster), each.found.shown
    assert {each.found.shown for each in handed_in} | {each.shown for each in left} == set(by_path)
    for each in left:
        assert each.reason


@quick
@given(data=st.data())
def test_what_agrees_is_collected_in_full(data):
    """Bug: a file is left although nothing contradicts and something points to its student."""
    truth, roster = data.draw(classes(mistakes=False, unique=True))
    platform = data.draw(st.sampled_from(["canvas", "moodle", "tree"]))
    squeezed = Counter(form for each in truth for form in squeezed_forms(each.first_name, each.last_name))
    expected = {}
    for upload, (person, row) in enumerate(zip(truth, roster, strict=True), start=1):
        name = person.first_name, person.last_name
        if platform == "canvas":
            # A squeezed name that another has too is told apart by the number, if the roster has both.
            alone = all(squeezed[form] == 1 for form in squeezed_forms(*name))
            if sum([alone, bool(row.first_name), bool(row.lms_user_id)]) < 2:
                continue
            path = canvas_path(data.draw, name, person.lms_user_id, upload)
        elif platform == "moodle":
            if not row.first_name:
                continue
            path = moodle_path(data.draw, name, 7000 + upload)
        else:
            texts = [person.id, *filter(None, [row.email, row.first_name and spelled(data.draw, name)])]
            path = f"{data.draw(st.sampled_from(texts))}/{LOOP}.ipynb"
        expected[path] = person.id
    handed_in, left = sort_out(map(found, expected), ASSIGNMENT, {LOOP}, People(roster))
    assert not left
    assert {each.found.shown: each.student for each in handed_in} == expected


@st.composite
def rows(draw, truth, canvas_rows):
    """Rows of a platform's sheet, in which some cells are another student's, a guest's or empty."""
    made = []
    for person in draw(st.permutations([*truth, Person("g", "Ada", "Guest", "guest@else.edu", "990")])):
        sources = [person, person, person, draw(st.sampled_from(truth))]
        name, number, email, login = (draw(st.sampled_from([*sources, None])) for _ in range(4))
        made.append(
            Handed(
                (name.first_name, name.last_name) if name else None,
                number.lms_user_id if number else "",
                email.email if email and not canvas_rows else "",
                draw(st.sampled_from([login.id, login.email, "nobodys"])) if login else "",
                number_is_users=canvas_rows,
            )
        )
    return made


def check_grades(grades, remarks, handed, roster):
    """Each row has the mark of the one whose it is and of nobody else, and every other row is named."""
    claims = Counter(whose(each, roster) for each in handed)
    scores = {person.id: str(score) for score, person in enumerate(roster, start=1)}
    for grade, each in zip(grades, handed, strict=True):
        person = whose(each, roster)
        assert grade == (scores[person] if person and claims[person] == 1 else ""), each
    assert sum("left alone" in remark for remark in remarks) == grades.count("")


def totals_of(roster):
    """A total for each student, each with another score."""
    return [
        Total(person, "loops", float(score), 9.0, Counter()) for score, person in enumerate(roster, start=1)
    ]


@quick
@given(data=st.data())
def test_no_mark_goes_into_moodles_row_of_another(data):
    """Bug: a row whose name, address or login contradicts its number gets the mark of one of them."""
    truth, roster = data.draw(classes())
    handed = data.draw(rows(truth, canvas_rows=False))
    header = ["Identifier", "Full name", "Email address", "Username", "Grade"]
    cells = [
        [
            f"Participant {each.number}",
            spelled(data.draw, each.name) if each.name else "",
            each.email,
            each.login,
        ]
        for each in handed
    ]
    sheet = Sheet([header, *([*row, ""] for row in cells)])
    filled = moodle.filled_in(sheet, totals_of(roster))
    check_grades([row[4] for row in sheet.rows[1:]], filled.remarks, handed, roster)


@quick
@given(data=st.data())
def test_no_mark_goes_into_canvas_row_of_another(data):
    """Bug: the first column of Canvas's that leads anywhere decides, whatever the others say."""
    truth, roster = data.draw(classes())
    handed = [each for each in data.draw(rows(truth, canvas_rows=True)) if each.name]
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "loops"]
    cells = [[spelled(data.draw, each.name), each.number, "", each.login, "A", ""] for each in handed]
    sheet = Sheet([header, *cells])
    filled = canvas.filled_in(sheet, totals_of(roster), [])
    check_grades([row[5] for row in sheet.rows[1:]], filled.remarks, handed, roster)
