"""Submissions in: what Canvas and Moodle hand out, and what students put into a zip."""

import io
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

import pytest
from nbgrader.utils import parse_utc

from course import keeping
from course.files import ROOT
from course.grading.errors import GradingError
from course.grading.lms import archive, marks
from course.grading.lms.collecting import Outcome, collect
from course.grading.lms.people import People, Person
from course.grading.lms.roster import read_roster
from course.grading.submissions.intake import MAX_BYTES

ASSIGNMENT = "autoregressive-generation"
LOOP, CHAIN = "05-append-then-predict", "06-combine-conditional-predictions"
NOTEBOOKS = {LOOP, CHAIN}
MONDAY = (2026, 3, 2, 10, 0, 0)
TUESDAY = (2026, 3, 3, 10, 0, 0)
BY_HAND = f"move it to {LOOP}.ipynb in a folder called the student's id"


def entry(name, data=b"{}", time=MONDAY, **fields):
    """A file of a zip."""
    info = zipfile.ZipInfo(name, time)
    info.compress_type = zipfile.ZIP_DEFLATED
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def zipped(*entries):
    """A zip of these files, as bytes; a str stands for a small notebook of that name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for each in entries:
            made.writestr(*(entry(each) if isinstance(each, str) else each))
    return out.getvalue()


@pytest.fixture
def take(tmp_path):
    """Collect a zip of these entries; gives what was collected and what was left, as short texts."""
    submitted = tmp_path / "submitted"

    def collect_zip(*entries, data=None, **options):
        source = tmp_path / "submissions.zip"
        source.write_bytes(zipped(*entries) if data is None else data)
        return outcome_of(collect(source, submitted, ASSIGNMENT, NOTEBOOKS, **options))

    collect_zip.submitted = submitted
    return collect_zip


def outcome_of(haul):
    """Each notebook's outcome by student and name, and the reason by file for what was left."""
    taken = {
        (each.student, name): outcome for each in haul.students for name, outcome in each.notebooks.items()
    }
    return taken, {left.shown: left.reason for left in haul.left}


def lying_in(submitted):
    """The notebooks below submitted/, by place."""
    return {path.relative_to(submitted).as_posix() for path in submitted.rglob("*.ipynb")}


def test_canvas_names_are_read(take):
    """Bug: the mark LATE, a name with an underscore, or Canvas's -1 becomes part of the student."""
    taken, left = take(
        f"lovelaceada_12345_678901_{LOOP}.ipynb",
        f"ngben_LATE_12346_678902_{LOOP}-1.ipynb",
        f"o_neillcyd_12347_678903_{CHAIN}.ipynb",
        f"anon_x1Y2z_678904_{LOOP}.ipynb",
        f"LATE_anon_q9_678905_{LOOP}.ipynb",
        "plain_12348_678906_my own_2_name.ipynb",
    )
    assert set(taken) == {
        ("lovelaceada", LOOP),
        ("ngben", LOOP),
        ("o_neillcyd", CHAIN),
        ("anon_x1Y2z", LOOP),
        ("anon_q9", LOOP),
        ("plain", "my own_2_name"),
    }
    assert left == {}
    assert f"ngben/{ASSIGNMENT}/{LOOP}.ipynb" in lying_in(take.submitted)


def test_an_upload_that_a_browser_renamed_is_the_notebook_it_was(take):
    """Bug: a second attempt called "(1)" is another notebook, and the first one gets the mark."""
    taken, left = take(
        f"ada_1_10_{LOOP}.ipynb", f"ada_1_20_{LOOP} (1).ipynb", f"ben_2_10_{LOOP.upper()}.IPYNB"
    )
    assert set(taken) == {("ada", LOOP), ("ben", LOOP)}
    assert list(left) == [f"ada_1_10_{LOOP}.ipynb"]


def test_two_people_of_one_name_are_told_apart_across_archives(tmp_path):
    """Bug: the namesake's file comes in the next archive, and replaces the student's as a later upload."""

    def outcome(people, number: int, day: int, **options):
        source = tmp_path / f"{number}-{day}.zip"
        with zipfile.ZipFile(source, "w") as archive:
            entry = zipfile.ZipInfo(f"leekim_{number}_{day}_{LOOP}.ipynb", (2026, 10, day, 9, 0, 0))
            archive.writestr(entry, f"{number} {day}")
        return outcome_of(collect(source, tmp_path / "submitted", ASSIGNMENT, NOTEBOOKS, people, **options))

    for people in (None, People([Person("leekim", first_name="Kim", last_name="Lee")])):
        shutil.rmtree(tmp_path / "submitted", ignore_errors=True)
        (tmp_path / ".senders.jsonl").unlink(missing_ok=True)
        outcome(people, 12349, 1)
        taken, left = outcome(people, 12350, 2)
        assert taken == {}
        assert "came with 12349 in an earlier archive" in next(iter(left.values()))
        assert outcome(people, 12349, 3) == ({("leekim", LOOP): Outcome.REPLACED}, {})
        assert outcome(people, 12350, 4, numbers="ignore") == ({("leekim", LOOP): Outcome.REPLACED}, {})


def test_canvas_says_late(tmp_path):
    """Bug: that Canvas calls a submission late is lost with the name."""
    source = tmp_path / "submissions.zip"
    source.write_bytes(zipped(f"ada_LATE_1_2_{LOOP}.ipynb", f"ben_3_4_{LOOP}.ipynb"))
    haul = collect(source, tmp_path / "submitted", ASSIGNMENT, NOTEBOOKS)
    assert {each.student: each.late for each in haul.students} == {"ada": True, "ben": False}


def test_moodle_names_are_read(take):
    """Bug: one of Moodle's two ways to hand out files, or its hidden names, is not understood."""
    taken, left = take(
        f"Ada Lovelace_12345_assignsubmission_file/{LOOP}.ipynb",
        f"Ben Ng_12346_assignsubmission_file_/work/{CHAIN}.ipynb",
        f"Zoë Ångström_12347_assignsubmission_file_{LOOP}.ipynb",
        f"Participant_12348_assignsubmission_file/{LOOP}.ipynb",
        f"Participant_12349_assignsubmission_file/{LOOP}.ipynb",
        "Ada Lovelace_12345_assignsubmission_onlinetext/onlinetext.html",
    )
    assert set(taken) == {
        ("Ada Lovelace", LOOP),
        ("Ben Ng", CHAIN),
        ("Zoë Ångström", LOOP),
        ("Participant 12348", LOOP),
        ("Participant 12349", LOOP),
    }
    assert left == {
        "Ada Lovelace_12345_assignsubmission_onlinetext/onlinetext.html": "it is no notebook",
    }


@pytest.mark.parametrize("top", ["", "all of them/"])
def test_a_tree_of_folders_is_read(take, top):
    """Bug: a folder that all others lie in is taken for a student, or a student's own for the assignment."""
    taken, left = take(f"{top}ada/{LOOP}.ipynb", f"{top}ben/{ASSIGNMENT}/{LOOP}.ipynb", f"{top}ben/notes.txt")
    assert set(taken) == {("ada", LOOP), ("ben", LOOP)}
    assert left == {f"{top}ben/notes.txt": "it is no notebook"}


def test_a_notebook_whose_place_says_nothing_is_left_and_named(take):
    """Bug: a notebook that matches nobody disappears without a word, or under a made-up student."""
    taken, left = take(f"ada/{LOOP}.ipynb", f"{LOOP}.ipynb", f"ben/old/draft/{LOOP}.ipynb")
    assert set(taken) == {("ada", LOOP)}
    assert set(left) == {f"{LOOP}.ipynb", f"ben/old/draft/{LOOP}.ipynb"}
    assert all("does not say whose it is" in reason for reason in left.values())


def test_a_zip_in_the_zip_is_opened_once(take):
    """Bug: a student who handed in a zip has handed in nothing; or zips in zips are opened without end."""
    inner = zipped(
        f"work/{LOOP}.ipynb", f"__MACOSX/work/._{LOOP}.ipynb", f".ipynb_checkpoints/{LOOP}-c.ipynb"
    )
    deep = zipped(entry("inner.zip", zipped(f"{LOOP}.ipynb")))
    taken, left = take(
        entry("lovelaceada_1_2_homework.zip", inner),
        entry("Ben Ng_3_assignsubmission_file/my work.zip", inner),
        entry("cyd/all.zip", inner),
        entry("dov_5_6_deep.zip", deep),
        entry("eve_7_8_broken.zip", inner[:-40]),
    )
    assert set(taken) == {("lovelaceada", LOOP), ("Ben Ng", LOOP), ("cyd", LOOP)}
    assert left == {
        "dov_5_6_deep.zip: inner.zip": "it is a zip in a zip in a zip",
        "eve_7_8_broken.zip": "it is not a whole zip",
    }


def test_the_last_upload_counts(take):
    """Bug: of two uploads the one that the zip lists first, or last, is graded, and not the later one."""
    taken, left = take(
        entry(f"ada_1_900_{LOOP}.ipynb", b"second"),
        entry(f"ada_1_800_{LOOP}-1.ipynb", b"first", TUESDAY),
        entry(f"Ben_2_assignsubmission_file/{LOOP}-2.ipynb", b"second", TUESDAY),
        entry(f"Ben_2_assignsubmission_file/{LOOP}.ipynb", b"first", MONDAY),
    )
    assert set(taken) == {("ada", LOOP), ("Ben", LOOP)}
    for student in ("ada", "Ben"):
        assert (take.submitted / student / ASSIGNMENT / f"{LOOP}.ipynb").read_bytes() == b"second"
    assert sorted(left) == [f"Ben_2_assignsubmission_file/{LOOP}.ipynb", f"ada_1_800_{LOOP}-1.ipynb"]
    assert all("an earlier upload" in reason for reason in left.values())


def test_two_that_cannot_be_told_apart_are_both_left(take):
    """Bug: a student's draft is graded because it comes later in the alphabet."""
    taken, left = take(
        entry("ada/hw.zip", zipped(entry(f"a/{LOOP}.ipynb", b"1"), entry(f"b/{LOOP}.ipynb", b"2"))),
        entry("ben/hw.zip", zipped(entry(f"a/{LOOP}.ipynb", b"1"), entry(f"b/{LOOP}.ipynb", b"1"))),
    )
    assert set(taken) == {("ben", LOOP)}
    assert len([shown for shown, reason in left.items() if "none says that it is newer" in reason]) == 2


def test_a_list_of_students_says_who_is_who(take, tmp_path):
    """Bug: a student is matched by one of two clues that disagree, or a stranger gets a folder."""
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "id,first_name,last_name,email,lms_user_id\n"
        "s1,Ada,Lovelace,ada@school.edu,12345\n"
        "s2,Ben,Ng,ben@school.edu,\n"
        "s3,Zoë,Ångström,zoe@school.edu,\n"
        "s4,Kim,Lee,,\ns5,Kim,Lee,,\n",
        encoding="utf-8",
    )
    taken, left = take(
        f"lovelaceada_12345_1_{LOOP}.ipynb",
        f"somebodyelse_12345_5_{LOOP}.ipynb",
        f"ngben_777_2_{LOOP}.ipynb",
        f"Zoë Ångström_8_assignsubmission_file/{LOOP}.ipynb",
        f"leekim_9_3_{LOOP}.ipynb",
        f"stranger_10_4_{LOOP}.ipynb",
        people=read_roster(roster),
    )
    assert set(taken) == {("s1", LOOP), ("s2", LOOP), ("s3", LOOP)}
    assert left == {
        f"somebodyelse_12345_5_{LOOP}.ipynb": "somebodyelse (12345) is not certain: the name somebodyelse is "
        "nobody's while s1's is Ada Lovelace, the number 12345 is s1's; correct row 2 of roster.csv, "
        f"or {BY_HAND}",
        f"leekim_9_3_{LOOP}.ipynb": "leekim (9) could be s4, s5: the name leekim is s4's and s5's; "
        f"{BY_HAND}",
        f"stranger_10_4_{LOOP}.ipynb": "stranger (10) is not in the list of students",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,email\nAda,a@b\n", "has no column id"),
        ("id,email\n,a@b\n", "row 2: the student has no id"),
        ("id,email\ns1,a@b\ns1,c@d\n", "row 3: there is already a student with the id s1"),
    ],
)
def test_a_list_of_students_that_is_none_is_refused(tmp_path, text, words):
    """Bug: a list with another header matches nobody, and every submission is left without a hint."""
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(GradingError, match=words):
        read_roster(tmp_path / "roster.csv")


def test_two_students_never_share_a_folder(take):
    """Bug: two people of the same name overwrite each other's work, or do on a disk that ignores case."""
    (take.submitted / "Dov").mkdir(parents=True)
    taken, left = take(
        f"ngben_1_2_{LOOP}.ipynb",
        f"ngben_3_4_{CHAIN}.ipynb",
        f"CYD/{LOOP}.ipynb",
        f"cyd/{LOOP}.ipynb",
        f"dov/{LOOP}.ipynb",
    )
    assert taken == {}
    assert "ngben (1), ngben (3) would all be ngben" in left[f"ngben_1_2_{LOOP}.ipynb"]
    assert "CYD, cyd would all be" in left[f"cyd/{LOOP}.ipynb"]
    assert left[f"dov/{LOOP}.ipynb"] == "its student would be dov, and there is a folder Dov already"
    assert lying_in(take.submitted) == set()


def test_a_later_download_replaces_only_what_changed(take):
    """Bug: collecting again overwrites a newer notebook, or marks that stand are graded again."""
    first = [entry(f"ada_1_10_{LOOP}.ipynb", b"first", TUESDAY), entry(f"ben_2_11_{LOOP}.ipynb", b"ben")]
    assert set(take(*first)[0].values()) == {Outcome.NEW}
    assert set(take(*first)[0].values()) == {Outcome.SAME}
    taken, left = take(entry(f"ada_1_9_{LOOP}.ipynb", b"older", MONDAY))
    path = take.submitted / "ada" / ASSIGNMENT / f"{LOOP}.ipynb"
    assert taken == {("ada", LOOP): Outcome.KEPT}
    assert path.read_bytes() == b"first"
    assert "2026-03-02 10:00 UTC" in left[f"ada_1_9_{LOOP}.ipynb"]
    assert "which was kept" in left[f"ada_1_9_{LOOP}.ipynb"]
    taken, left = take(entry(f"ada_1_12_{LOOP}.ipynb", b"newer", (2026, 3, 4, 0, 0, 0)))
    assert (taken, left) == ({("ada", LOOP): Outcome.REPLACED}, {})
    assert path.read_bytes() == b"newer"


def test_a_file_put_there_by_hand_is_not_overwritten_without_saying(take):
    """Bug: a notebook that the instructor mended in submitted/ is overwritten by the next collect."""
    path = take.submitted / "ada" / ASSIGNMENT / f"{LOOP}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mended")
    taken, left = take(entry(f"ada/{LOOP}.ipynb", b"broken"))
    assert path.read_bytes() == b"mended"
    assert taken == {("ada", LOOP): Outcome.KEPT}
    assert len(left) == 1


def test_the_time_of_handing_in_is_written_as_nbgrader_reads_it(take):
    """Bug: a late penalty from a time in another zone, or from that of the instructor's download."""
    stamped = b"UT" + (5).to_bytes(2, "little") + b"\x01" + (1_772_449_000).to_bytes(4, "little")
    take(
        entry(f"ada/{LOOP}.ipynb", time=MONDAY),
        entry(f"ada/{CHAIN}.ipynb", time=TUESDAY),
        entry(f"ben/{LOOP}.ipynb", time=MONDAY, extra=stamped),
        entry(f"cyd/{LOOP}.ipynb", time=(1980, 1, 1, 0, 0, 0)),
        entry(f"dov_1_2_{LOOP}.ipynb", time=MONDAY),
    )

    def stamp(student):
        return parse_utc((take.submitted / student / ASSIGNMENT / "timestamp.txt").read_text())

    assert stamp("ada") == datetime(*TUESDAY)
    assert stamp("ben") == datetime.fromtimestamp(1_772_449_000, UTC).replace(tzinfo=None)
    for student in ("cyd", "dov"):  # no time at all; Canvas's is that of the download
        assert not (take.submitted / student / ASSIGNMENT / "timestamp.txt").exists()
    take(entry(f"eve_3_4_{LOOP}.ipynb", time=MONDAY), timestamps=True)
    assert stamp("eve") == datetime(*MONDAY)


def test_names_without_the_utf_8_mark_are_read(take):
    """Bug: a name with an accent from a Mac's zip becomes another student's, in strange letters."""
    data = zipped(f"Zoë_1_assignsubmission_file/{LOOP}.ipynb")
    marked = (0x800).to_bytes(2, "little")
    assert marked in data
    unmarked = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        start = made.start_dir
    unmarked[6:8] = unmarked[start + 8 : start + 10] = b"\0\0"
    taken, _ = take(data=bytes(unmarked))
    assert set(taken) == {("Zoë", LOOP)}


def test_a_zip_cannot_reach_out_of_submitted(take, tmp_path):
    """Bug: a name with .. in a student's zip, or a link, writes or reads a file elsewhere."""
    link = entry(f"ada_1_2_{CHAIN}.ipynb", b"/etc/passwd", external_attr=(stat.S_IFLNK | 0o777) << 16)
    inner = zipped(f"../../../escaped/{LOOP}.ipynb", f"/tmp/{LOOP}.ipynb", f"C:\\up\\{LOOP}.ipynb")
    taken, left = take(
        link,
        entry("ben_3_4_hw.zip", inner),
        f"../{LOOP}.ipynb",
        f"..._5_assignsubmission_file/{LOOP}.ipynb",
        f"a/../../b/{LOOP}.ipynb",
    )
    assert taken == {}
    assert len(left) == 7
    assert left[f"ada_1_2_{CHAIN}.ipynb"] == "it is a link; links are not followed"
    assert left[f"..._5_assignsubmission_file/{LOOP}.ipynb"] == "'...' cannot be the name of a folder"
    assert sum("leads out of the zip" in reason for reason in left.values()) == 5
    assert {path.name for path in tmp_path.iterdir()} <= {"submissions.zip", "submitted"}


def test_links_in_a_folder_are_not_followed(tmp_path):
    """Bug: a link among the submissions brings the gradebook, or another student's work, into submitted/."""
    source, secret = tmp_path / "source", tmp_path / "secret.ipynb"
    (source / "ada").mkdir(parents=True)
    secret.write_text("secret")
    (source / "ada" / f"{LOOP}.ipynb").symlink_to(secret)
    (source / "ben").symlink_to(tmp_path)
    os.mkfifo(source / "ada" / f"{CHAIN}.ipynb")
    taken, left = outcome_of(collect(source, tmp_path / "submitted", ASSIGNMENT, NOTEBOOKS))
    assert taken == {}
    assert left == {
        f"ada/{LOOP}.ipynb": "it is a link; links are not followed",
        f"ada/{CHAIN}.ipynb": "it is not an ordinary file",
        "ben": "it is a link; links are not followed",
    }


def test_a_link_in_submitted_is_not_written_through(take, tmp_path):
    """Bug: a student's folder that is a link makes collecting overwrite files elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    take.submitted.mkdir()
    (take.submitted / "ada").symlink_to(elsewhere)
    taken, left = take(f"ada/{LOOP}.ipynb")
    assert (taken, list(elsewhere.iterdir())) == ({}, [])
    assert "links are not followed" in left[f"ada/{LOOP}.ipynb"]


def test_what_would_be_huge_is_not_unpacked(take, monkeypatch):
    """Bug: a few kilobytes in a student's zip fill the instructor's memory or disk."""
    monkeypatch.setattr(archive, "MAX_TOTAL", 3 * MAX_BYTES)
    zeros = bytes(MAX_BYTES)
    taken, left = take(
        entry(f"ada_1_2_{LOOP}.ipynb", zeros),
        entry(f"ben_3_4_{LOOP}.ipynb", zeros + b"1", compress_type=zipfile.ZIP_STORED),
        entry("cyd_5_6_hw.zip", zipped(entry(f"{LOOP}.ipynb", zeros))),
        entry(f"dov_7_8_{LOOP}.ipynb", b"{}"),
    )
    assert set(taken) == {("dov", LOOP)}
    assert "more than 200 times its size" in left[f"ada_1_2_{LOOP}.ipynb"]
    assert "up to 20 MB are read" in left[f"ben_3_4_{LOOP}.ipynb"]
    assert "more than 200 times its size" in left[f"cyd_5_6_hw.zip: {LOOP}.ipynb"]


def test_a_zip_that_lies_about_sizes_is_not_believed(take):
    """Bug: the size that a zip states is checked, and another one is unpacked."""
    data = bytearray(zipped(entry(f"ada_1_2_{LOOP}.ipynb", bytes(MAX_BYTES * 2))))
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        start = made.start_dir
    data[start + 24 : start + 28] = (50).to_bytes(4, "little")
    taken, left = take(data=bytes(data))
    assert taken == {}
    assert "cannot be unpacked" in left[f"ada_1_2_{LOOP}.ipynb"]


def test_too_many_files_are_not_looked_at(take, monkeypatch):
    """Bug: a zip of a million entries keeps collecting busy for hours."""
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    taken, left = take(*[f"student{number}_{number}_{number}_{LOOP}.ipynb" for number in range(9)])
    assert len(taken) == 3
    (reason,) = left.values()
    assert "more than 3 files" in reason


def test_a_bad_entry_costs_no_other(take):
    """Bug: one encrypted or damaged file ends the collecting for the class."""
    data = bytearray(zipped(entry(f"ada_1_2_{LOOP}.ipynb", b"x" * 99), f"ben_3_4_{LOOP}.ipynb"))
    data[0:4] = b"????"  # the first entry's own header
    taken, left = take(data=bytes(data))
    assert set(taken) == {("ben", LOOP)}
    assert "cannot be unpacked" in left[f"ada_1_2_{LOOP}.ipynb"]
    data = bytearray(zipped(f"ada_1_2_{LOOP}.ipynb"))
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        start = made.start_dir
    data[6], data[start + 8] = 1, 1
    assert take(data=bytes(data))[1] == {f"ada_1_2_{LOOP}.ipynb": "it is encrypted"}


@pytest.mark.parametrize("data", [b"", b"no zip at all", zipped("a/b.ipynb")[:-30]])
def test_a_source_that_is_no_zip_gets_a_sentence(take, data):
    """Bug: a download that was cut off ends in a traceback."""
    with pytest.raises(GradingError, match="is no folder, and no whole zip"):
        take(data=data)
    with pytest.raises(GradingError, match="cannot be opened"):
        collect(take.submitted / "none.zip", take.submitted, ASSIGNMENT, NOTEBOOKS)


def test_a_dry_run_says_the_same_and_writes_nothing(take):
    """Bug: --dry-run makes folders, or says something else than what then happens."""
    entries = [f"ada_1_2_{LOOP}.ipynb", f"{LOOP}.ipynb"]
    told = take(*entries, dry_run=True)
    assert not take.submitted.exists()
    assert told == take(*entries)


def test_a_run_that_is_killed_leaves_no_half_file_and_can_be_repeated(take, monkeypatch):
    """Bug: a notebook cut off in the middle lies in submitted/ and is graded as the student's."""
    written = []

    def dies(path, data):
        if path.name == f"{CHAIN}.ipynb":
            raise KeyboardInterrupt
        written.append(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    entries = [f"ada/{LOOP}.ipynb", f"ada/{CHAIN}.ipynb"]
    with monkeypatch.context() as patch:
        patch.setattr(keeping, "write_atomically", dies)
        with pytest.raises(KeyboardInterrupt):
            take(*entries)
    assert lying_in(take.submitted) == {f"ada/{ASSIGNMENT}/{LOOP}.ipynb"}
    taken, left = take(*entries)
    assert taken == {("ada", LOOP): Outcome.SAME, ("ada", CHAIN): Outcome.NEW}
    assert left == {}
    assert (take.submitted / "ada" / ASSIGNMENT / "timestamp.txt").exists()


def test_the_platforms_number_of_one_is_not_anothers_id():
    """Bug: student 12345 of the university gets what the platform's user 12345 handed in."""
    people = People([Person("12345"), Person("s1", lms_user_id="12345")])
    assert people.whose(marks.number("12345", None, of_users=True)).person.id == "s1"
    assert people.whose([marks.account("SIS User ID", "12345")]).person.id == "12345"


def test_zip_collect_takes_the_same_as_course_collect(tmp_path):
    """Bug: `nbgrader zip_collect` finds other students, or stops at the second upload of a notebook."""
    root = tmp_path / "course"
    for notebook in NOTEBOOKS:
        path = root / "release" / ASSIGNMENT / f"{notebook}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    line = '\nc.ZipCollectApp.collector_plugin = "course.grading.lms.plugin.LmsCollector"\n'
    (root / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text() + line)
    downloads = root / "downloaded" / ASSIGNMENT / "archive"
    downloads.mkdir(parents=True)
    (downloads / "submissions.zip").write_bytes(
        zipped(
            entry(f"ada_1_20_{LOOP}.ipynb", b"second"),
            entry(f"ada_1_10_{LOOP}-1.ipynb", b"first", TUESDAY),
            f"ngben_LATE_3_4_{CHAIN}.ipynb",
            entry("zoë_5_6_my work.zip", zipped(f"work/{LOOP}.ipynb")),
        )
    )
    (downloads / "more.zip").write_bytes(zipped(f"Cyd Li_7_assignsubmission_file/{LOOP}.ipynb"))
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "zip_collect", ASSIGNMENT],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    haul = collect(downloads, tmp_path / "submitted", ASSIGNMENT, NOTEBOOKS)
    assert not haul.left or all("earlier upload" in left.reason for left in haul.left)
    places = lying_in(root / "submitted")
    assert places == lying_in(tmp_path / "submitted")
    assert len(places) == 4
    for place in places:
        assert (root / "submitted" / place).read_bytes() == (tmp_path / "submitted" / place).read_bytes()


def test_the_command_lists_what_it_did(tmp_path, capsys):
    """Bug: a file that was left is not on the screen, or a name that was not given has no sentence."""
    from course.commands.collect import run

    source = tmp_path / "submissions.zip"
    source.write_bytes(zipped(f"ada_LATE_1_2_{LOOP}.ipynb", "notes.txt"))
    options = {"source": source, "into": tmp_path, "assignment": None, "students": None, "numbers": None}
    flags = {"timestamps": False, "dry_run": False}
    assert run(type("Options", (), options | flags)()) == 0
    out = capsys.readouterr().out
    assert f"ada (the platform says late): new: {LOOP}" in out
    assert "  notes.txt: it is no notebook." in out
    assert lying_in(tmp_path / "submitted") == {f"ada/{ASSIGNMENT}/{LOOP}.ipynb"}
    assert run(type("Options", (), options | flags | {"assignment": "other"})()) == 1
    assert "There is no assignment other" in capsys.readouterr().err
