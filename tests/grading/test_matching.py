"""Whose a submission or a row of a worksheet is: what identifies it has to agree."""

import os
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter

import pytest

from course.commands import collect as command
from course.files import ROOT
from course.grading.export import canvas, moodle
from course.grading.export.totals import Total
from course.grading.lms.collecting import collect
from course.grading.lms.people import People, Person
from course.grading.lms.roster import read_roster
from course.grading.lms.sheet import Sheet
from course.grading.lms.spelling import folded, squeezed, whole

ASSIGNMENT = "autoregressive-generation"
LOOP = "05-append-then-predict"
ROSTER = """\
id,first_name,last_name,email,lms_user_id
s1,Ada,Lovelace,ada@school.edu,101
s2,Ben,Ng,ben@school.edu,102
s3,Hans,Weiß,hans@school.edu,
s4,Kim,Lee,kim@school.edu,104
s5,Kim,Lee,kimlee@school.edu,105
s6,,,,106
"""


@pytest.fixture
def take(tmp_path):
    """Collect empty notebooks of these names; gives whose each one is, and the reasons for the others."""

    def collect_zip(*names, roster=ROSTER, numbers=None):
        source = tmp_path / "submissions.zip"
        (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
        with zipfile.ZipFile(source, "w") as made:
            for name in names:
                made.writestr(name, "{}")
        people = read_roster(tmp_path / "roster.csv")
        haul = collect(source, tmp_path / "submitted", ASSIGNMENT, {LOOP}, people, numbers=numbers)
        taken = {each.found.shown: each.student for each, _ in haul.taken}
        return taken, {left.shown: left.reason for left in haul.left}

    return collect_zip


def moodle_file(name, number):
    """A notebook in a folder as Moodle names it."""
    return f"{name}_{number}_assignsubmission_file/{LOOP}.ipynb"


def test_swapped_numbers_in_moodles_archive_swap_no_files(take):
    """Bug: a folder's number is another student's lms_user_id, and it wins over the name."""
    ada, ben = moodle_file("Ada Lovelace", 102), moodle_file("Ben Ng", 101)
    taken, left = take(ada, ben)
    assert taken == {}
    assert left[ada] == (
        "Ada Lovelace (102) is not certain: the name Ada Lovelace is s1's, the number 102 is s2's; correct "
        "rows 2 and 3 of roster.csv, or rename its folder to the student's id, or use --numbers ignore if "
        "such numbers are not the users' own"
    )
    assert "the name Ben Ng is s2's, the number 101 is s1's" in left[ben]
    taken, left = take(ada, ben, numbers="ignore")
    assert (taken, left) == ({ada: "s1", ben: "s2"}, {})


def test_moodles_numbers_are_nobodys_unless_somebody_says_so(take):
    """Bug: the number of a submission is taken for a user's; or hidden names cannot be collected at all."""
    named, strange = moodle_file("Ada Lovelace", 7), moodle_file("Grace", 106)
    hidden, unknown = moodle_file("Participant", 102), moodle_file("Participant", 9)
    taken, left = take(named, strange, hidden, unknown)
    assert taken == {named: "s1"}
    assert "use --numbers users" in left[strange]
    assert "the number 102 is s2's, and this number need not be a user's" in left[hidden]
    assert left[unknown] == "Participant 9 is not in the list of students"
    taken, left = take(named, strange, hidden, numbers="users")
    assert taken == {strange: "s6", hidden: "s2"}
    assert "the number 7 is nobody's while s1's is 101" in left[named]


def test_the_file_of_a_team_is_not_one_members(take):
    """Bug: in a team assignment the file has the team's name, and the member with that number gets it."""
    team, group = moodle_file("Team 1", 101), moodle_file("Group A-Ada Lovelace", 17)
    by_canvas = f"team1_101_1_{LOOP}.ipynb"
    taken, left = take(team, group, by_canvas)
    assert taken == {}
    assert "the name Team 1 is nobody's while s1's is Ada Lovelace" in left[team]
    assert "it looks like Ada Lovelace (s1)" in left[group]
    assert "the name team1 is nobody's while s1's is Ada Lovelace" in left[by_canvas]


def test_a_typing_error_in_the_roster_costs_nobody_their_file(take):
    """Bug: with a wrong number in the roster, a file goes to the student who has that number there."""
    typed = ROSTER.replace("ng,ben", "Ng,ben").replace(",102\n", ",101\n")
    ada, ben = f"lovelaceada_101_1_{LOOP}.ipynb", f"ngben_102_2_{LOOP}.ipynb"
    taken, left = take(ada, ben, roster=typed)
    assert taken == {ada: "s1"}
    assert "the name ngben is s2's, the number 102 is nobody's while s2's is 101" in left[ben]
    assert "correct row 3 of roster.csv" in left[ben]


def test_names_that_two_students_share_are_told_apart_by_number_alone(take):
    """Bug: of two students with the same name the first gets both files, or neither gets any."""
    first, second, third = (f"leekim_{number}_{number}_{LOOP}.ipynb" for number in (104, 105, 9))
    by_moodle, by_accident = moodle_file("Kim Lee", 9), moodle_file("Kim Lee", 104)
    taken, left = take(first, second, third, by_moodle, by_accident)
    assert taken == {first: "s4", second: "s5"}
    assert "the name leekim is s4's and s5's" in left[third]
    assert "could be s4, s5" in left[by_moodle]
    assert "could be s4, s5" in left[by_accident]  # a number that need not be a user's does not choose
    assert take(by_accident, numbers="users")[0] == {by_accident: "s4"}


def test_one_number_with_two_names_is_left_where_the_roster_does_not_know_it(take):
    """Bug: two names with the same number of Canvas's are one user, and two students are given work."""
    known, guest = f"lovelaceada_101_1_{LOOP}.ipynb", f"guest_101_2_{LOOP}.ipynb"
    unknown = [f"weißhans_9_3_{LOOP}.ipynb", f"nobody_9_4_{LOOP}.ipynb"]
    nameless = [f"{name}_106_{upload}_{LOOP}.ipynb" for upload, name in enumerate(("grace", "alan"))]
    taken, left = take(known, guest, *unknown, *nameless)
    assert taken == {known: "s1"}
    assert "the number 9 comes with the names nobody, weißhans" in left[unknown[0]]
    assert all("the number 106 comes with the names alan, grace" in left[name] for name in nameless)


def test_a_folder_of_an_id_goes_before_what_a_student_calls_a_file(take):
    """Bug: a file's own name looks like one of Canvas's, and sends it to the user with that number."""
    taken, left = take(f"s6/my_101_2_{LOOP}.ipynb", f"Ben Ng_5_assignsubmission_file_my_106_2_{LOOP}.ipynb")
    assert set(taken.values()) == {"s2"}
    assert "the folder s6 is s6's" in left[f"s6/my_101_2_{LOOP}.ipynb"]


def test_what_only_looks_alike_is_told_and_never_taken(take):
    """Bug: Weiss gets the file of Weiß, or An Na that of Anna; or nobody says how near it was."""
    roster = ROSTER + "s7,Anna,Li,,\ns8,Işık,Ay,,\n"
    files = {
        moodle_file("Hans Weiss", 1): "Hans Weiß (s3)",
        moodle_file("An Na Li", 2): "Anna Li (s7)",
        moodle_file("Isik Ay", 3): "Işık Ay (s8)",
        f"hans/{LOOP}.ipynb": "Hans Weiß (s3)",  # the part of the address before the @
    }
    taken, left = take(*files, roster=roster)
    assert taken == {}
    for name, like in files.items():
        assert f"it looks like {like}: if it is" in left[name]


@pytest.mark.parametrize(
    ("one", "other"), [("राम शर्मा", "रम शर्मा"), ("สมชาย ใจดี", "สมชาย ใจดิ"), ("ใจดี", "ใจดู"), ("דָּן", "דִּן")]
)
def test_names_that_differ_by_a_vowel_sign_are_two_names(take, one, other):
    """Bug: marks are dropped, so a guest's file becomes that of a student whose vowels are others."""
    first, _, last = one.partition(" ")
    roster = f"id,first_name,last_name\ns1,{first},{last}\n"
    guest = other.replace(" ", "")
    taken, left = take(
        moodle_file(other, 1), f"{guest}_2_3_{LOOP}.ipynb", f"{other}/{LOOP}.ipynb", roster=roster
    )
    assert taken == {}
    assert all("is not in the list of students" in reason for reason in left.values())
    composed = moodle_file(unicodedata.normalize("NFD", one), 4)
    assert take(composed, roster=roster)[0] == {composed: "s1"}


def test_no_mark_of_any_script_is_dropped():
    """Bug: a class of combining characters is forgotten, and the names in one script are merged."""
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"]
    assert len(marks) > 2000
    for form in (folded, whole, squeezed):
        assert not [mark for mark in marks if form(f"क{mark}ख") == form("कख")]
        assert len({form("ß"), form("ss"), form("ẞs")}) == 3
        assert len({form("ı"), form("i"), form("i\u0307")}) == 3
        assert form("İ") == form("i\u0307")
        assert form("ẞ") == form("ß")


def test_the_ways_to_write_a_name_are_the_same_person(take):
    """Bug: a comma, an apostrophe that Moodle leaves out, case or white space makes a student a stranger."""
    roster = "id,first_name,last_name\ns1,Zoë Marie,O'Neill_Lee\n"
    names = [
        "Zoë Marie ONeill Lee",
        "O'Neill Lee, Zoë Marie",
        "ONEILL LEE  ZOË MARIE",
        unicodedata.normalize("NFD", "Zoë Marie ONeill Lee"),
    ]
    for number, name in enumerate(names):
        file = moodle_file(name, number)
        assert take(file, roster=roster)[0] == {file: "s1"}, name


def test_zip_collect_swaps_no_files_either(tmp_path):
    """Bug: `nbgrader zip_collect` believes the numbers in Moodle's archive, and says nothing."""
    released = tmp_path / "release" / ASSIGNMENT / f"{LOOP}.ipynb"
    released.parent.mkdir(parents=True)
    released.write_text("{}")
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    (tmp_path / "roster.csv").write_text(ROSTER.replace(",106", ",101"), encoding="utf-8")
    archives = tmp_path / "downloaded" / ASSIGNMENT / "archive"
    archives.mkdir(parents=True)
    with zipfile.ZipFile(archives / "moodle.zip", "w") as made:
        for name in (
            moodle_file("Ada Lovelace", 102),
            moodle_file("Ben Ng", 101),
            moodle_file("Hans Weiß", 9),
        ):
            made.writestr(name, "{}")
    call = [sys.executable, "-m", "nbgrader", "zip_collect", ASSIGNMENT]
    trait = f"--LmsCollector.students={tmp_path / 'roster.csv'}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([*call, trait], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "submitted").iterdir()] == ["s3"]
    assert "the name Ada Lovelace is s1's, the number 102 is s2's" in done.stderr
    assert "s1 and s6 have the same number, 101; correct rows 2 and 7 of roster.csv." in done.stderr
    done = subprocess.run(
        [*call, trait, "--LmsCollector.numbers=ignore", "--force"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "submitted").iterdir()} == {"s1", "s2", "s3"}


def totals():
    """A class of three with different scores, and two with the same name."""
    people = [
        Person("ada", "Ada", "Lovelace", "ada@school.edu", "101"),
        Person("ben", "Ben", "Ng", "ben@school.edu", "102"),
        Person("cyd", email="cyd@school.edu"),
        Person("kim", "Kim", "Lee", "kim@school.edu", "104"),
        Person("lee", "Kim", "Lee", "lee@school.edu"),
        Person("deeeve"),  # was collected without a list, from a Canvas file of Dee, Eve
    ]
    return [Total(each, "loops", float(n), 9.0, Counter()) for n, each in enumerate(people, start=1)]


def worksheet(*rows, numbers=None):
    """The grades that Moodle's worksheet gets for rows of number, name and address, and the remarks."""
    header = ["Identifier", "Full name", "Email address", "Grade"]
    sheet = Sheet([header, *([f"Participant {number}", name, email, ""] for number, name, email in rows)])
    filled = moodle.filled_in(sheet, totals(), numbers)
    return [row[3] for row in sheet.rows[1:]], filled.remarks


def canvas_grades(*rows, numbers=None):
    """The same for Canvas's gradebook, for rows of name, ID, SIS User ID and SIS Login ID."""
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "loops"]
    sheet = Sheet([header, *([*row, "A", ""] for row in rows)])
    filled = canvas.filled_in(sheet, totals(), [], numbers)
    return [row[5] for row in sheet.rows[1:]], filled.remarks


def test_a_worksheets_row_that_contradicts_itself_gets_no_mark():
    """Bug: the number in a row is another student's, and the row gets that student's mark."""
    grades, remarks = worksheet(
        (102, "Ada Lovelace", "ada@school.edu"),
        (7, "Ben Ng", "ada@school.edu"),
        (8, "Cyd", "cyd@school.edu"),
        (104, "Kim Lee", ""),
        (9, "Kim Lee", "lee@school.edu"),
    )
    assert grades == ["", "", "3", "", "5"]
    assert "Kim Lee could be several students of the gradebook: kim, lee. The row was left alone." in remarks
    assert remarks[0] == (
        "Ada Lovelace is not certain: the name Ada Lovelace is ada's, the e-mail ada@school.edu is ada's, "
        "the number 102 is ben's; correct whichever is wrong, the row or the gradebook's student, or use "
        "--numbers ignore if such numbers are not the users' own. The row was left alone."
    )
    assert remarks[1].startswith(
        "Ben Ng is not certain: the name Ben Ng is ben's, the e-mail ada@school.edu is"
    )
    assert worksheet((102, "Ada Lovelace", ""), numbers="ignore")[0] == ["1"]


def test_in_moodles_worksheet_a_number_alone_is_nobodys():
    """Bug: a worksheet without names is filled in by numbers that are those of the submissions."""
    grades, remarks = worksheet((101, "", ""))
    assert grades == [""]
    assert "use --numbers users. The row was left alone." in remarks[0]
    assert worksheet((101, "", ""), numbers="users")[0] == ["1"]


def test_a_row_of_canvas_that_contradicts_itself_gets_no_mark():
    """Bug: Canvas's row gets the mark of whomever the first of its columns leads to."""
    grades, remarks = canvas_grades(
        ("Lovelace, Ada", "102", "", "ada"),
        ("Ng, Ben", "102", "", "ben@elsewhere.edu"),
        ("Lee, Kim", "9", "77", "LEE@school.edu"),
        ("Dee, Eve", "11", "", "eve.dee"),
        ("Somebody", "104", "", ""),
    )
    assert grades == ["", "", "5", "6", ""]
    assert (
        "the name Lovelace, Ada is ada's, the number 102 is ben's, the SIS Login ID ada is ada's"
        in remarks[0]
    )
    assert "the SIS Login ID ben@elsewhere.edu is nobody's while ben's is ben@school.edu" in remarks[1]
    assert "the name Somebody is nobody's while kim's is Kim Lee" in remarks[2]
    assert canvas_grades(("Lovelace, Ada", "102", "", "ada"), numbers="ignore")[0] == ["1"]


def test_a_number_that_is_nobodys_id_fits_the_user_with_that_number():
    """Bug: a school that uses its own numbers as lms_user_id finds nobody by SIS User ID."""
    people = People([Person("12345"), Person("s1", lms_user_id="12345")])
    assert people.remarks() == []
    assert canvas_grades(("Lovelace, Ada", "", "101", ""))[0] == ["1"]
    assert canvas_grades(("Lovelace, Ada", "", "102", ""))[0] == [""]


def test_a_dry_run_shows_what_points_to_whom_within_a_hundred_columns(tmp_path, capsys):
    """Bug: before it counts nobody can see why a file is whose; or in a pipe lines are cut or run over."""
    (tmp_path / "roster.csv").write_text(ROSTER.replace(",106", ",101"), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as made:
        made.writestr(moodle_file("Ada Lovelace", 102), "{}")
        made.writestr(f"ngben_102_1_{LOOP}.ipynb", "{}")
        made.writestr("[b]notes[/b]\x1b.txt", "")
    options = {"source": tmp_path / "submissions.zip", "into": tmp_path, "assignment": None}
    options |= {"students": tmp_path / "roster.csv", "numbers": None, "timestamps": False, "dry_run": True}
    assert command.run(type("Options", (), options)()) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "s1 and s6 have the same number, 101; correct rows 2 and 7 of roster.csv."
    assert max(map(len, lines)) == 100
    text = " ".join(out.replace("│", " ").split())
    for words in (
        "name ngben: s2",
        "number 102: s2",
        f"s2 / {LOOP}: new",
        "[b]notes[/b]\\x1b.txt",
    ):
        assert words in text
    assert "left: Ada Lovelace (102) is not" in text
    assert lines[-1] == "Nothing was written."
    assert not (tmp_path / "submitted").exists()
