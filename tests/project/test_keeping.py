"""Writing where somebody else may have written."""

from pathlib import Path

import pytest

from course.keeping import NOTES, SET_ASIDE, Keeper, move_aside, what_is_wrong_with_target


def written(folder: Path, name: str, data: bytes) -> list[str]:
    """Write one file as a command does, and say what it told."""
    with Keeper(folder) as keeper:
        keeper.write(folder / name, data)
        return keeper.told()


def set_aside(folder: Path) -> dict[str, bytes]:
    home = folder / SET_ASIDE
    return {
        "/".join(path.relative_to(home).parts[1:]): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file()
    }


def test_our_own_file_is_replaced_and_a_changed_one_set_aside(tmp_path):
    """Bug: a mark that an instructor noted in grades.csv is written over by the next export."""
    assert written(tmp_path, "grades.csv", b"1") == written(tmp_path, "grades.csv", b"2") == []
    (tmp_path / "grades.csv").write_bytes(b"2 and a note")
    told = written(tmp_path, "grades.csv", b"3")
    assert (tmp_path / "grades.csv").read_bytes() == b"3"
    assert set_aside(tmp_path) == {"grades.csv": b"2 and a note"}
    assert "grades.csv -> set-aside/" in told[1]


def test_a_file_in_the_place_of_a_folder_and_a_folder_in_that_of_a_file(tmp_path):
    """Bug: something of the wrong kind in the way ends a build half done."""
    (tmp_path / "feedback").write_bytes(b"a file")
    (tmp_path / "report.html").mkdir()
    (tmp_path / "report.html" / "notes.txt").write_bytes(b"notes")
    written(tmp_path, "feedback/ada/page.html", b"page")
    written(tmp_path, "report.html", b"report")
    assert set_aside(tmp_path) == {"feedback": b"a file", "report.html/notes.txt": b"notes"}


def test_links_are_set_aside_and_not_followed(tmp_path):
    """Bug: a link in the place of a page makes grading write over a file elsewhere."""
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (tmp_path / "page.html").symlink_to(tmp_path / "elsewhere")
    written(tmp_path, "page.html", b"page")
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"
    assert not (tmp_path / "page.html").is_symlink()


def test_a_run_that_is_killed_before_it_writes_leaves_the_old_file_ours(tmp_path, monkeypatch):
    """Bug: after a power cut, what the course itself had written is taken for somebody's."""
    written(tmp_path, "page.html", b"1")

    def dies(path: Path, data: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("course.keeping.write_atomically", dies)
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path, "page.html", b"2")
    monkeypatch.undo()
    with (tmp_path / NOTES).open("ab") as notes:
        notes.write(b'\n["page.html", "cut o')
    assert written(tmp_path, "page.html", b"3") == []
    assert set_aside(tmp_path) == {}


def test_what_was_made_before_is_not_forgotten_and_what_is_gone_is_no_error(tmp_path):
    """Bug: taking back a page deletes an instructor's, or fails because there is none."""
    with Keeper(tmp_path) as keeper:
        keeper.write(tmp_path / "ours.html", b"1")
        keeper.remove(tmp_path / "ours.html")
        keeper.remove(tmp_path / "ours.html")
        (tmp_path / "theirs.html").write_bytes(b"theirs")
        keeper.remove(tmp_path / "theirs.html")
    assert not (tmp_path / "ours.html").exists()
    assert set_aside(tmp_path) == {"theirs.html": b"theirs"}


def test_a_file_elsewhere_is_kept_beside_itself(tmp_path):
    """Bug: `--to` on a roster outside of the class's folder writes over it."""
    folder, roster = tmp_path / "class", tmp_path / "roster.csv"
    folder.mkdir()
    roster.write_bytes(b"who is who")
    with Keeper(folder) as keeper:
        keeper.write(roster, b"marks")
    (kept,) = tmp_path.glob("roster (kept *).csv")
    assert (kept.read_bytes(), roster.read_bytes()) == (b"who is who", b"marks")


def test_a_folder_is_moved_aside_whole(tmp_path):
    """Bug: nbgrader's --force deletes what was collected before."""
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    assert move_aside(tmp_path / "submitted" / "ada", tmp_path) is None
    (tmp_path / "submitted" / "ada" / "loop.ipynb").write_bytes(b"loop")
    kept = move_aside(tmp_path / "submitted" / "ada", tmp_path)
    assert kept is not None
    assert set_aside(tmp_path) == {"submitted/ada/loop.ipynb": b"loop"}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("folder", "it is a folder. Name a file"),
        ("gradebook.db", "is there already and is no .csv file"),
        ("gradebook.db/x.csv", "is a file, "),
        ("grades.csv", ""),
        ("new/grades.csv", ""),
    ],
)
def test_a_target_that_cannot_be_meant_is_refused(tmp_path, target, said):
    """Bug: `course export --to gradebook.db` puts a table where the marks are kept."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "gradebook.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "grades.csv").write_bytes(b"1")
    found = what_is_wrong_with_target(tmp_path / target, ".csv")
    assert found == "" if not said else said in found
