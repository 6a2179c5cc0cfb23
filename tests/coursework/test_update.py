"""Bringing a folder of notebooks up to date, as self-learners and as students do it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from test_merge import ASKED, DEMO, DRAW, LAST, LOOP, TITLE, notebook, sources

from coursework import folder as folders
from coursework.folder import EARLIER, FolderError, bring_back, start_afresh, update
from coursework.origin import parse, to_bytes
from coursework.update import main

NAME = "05-append-then-predict.ipynb"
OLD = {
    NAME: notebook(TITLE, DEMO, ASKED, DRAW, LOOP, LAST),
    "06-sums.ipynb": notebook(TITLE, DEMO, name="06-sums"),
}
NEW = {
    NAME: notebook(TITLE, LAST, DEMO, ASKED, DRAW, LOOP),
    "06-sums.ipynb": notebook(TITLE, LAST, name="06-sums"),
}
SOLVED = "def generate():\n    return 1"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A reader's folder in which one notebook was worked on, with a file of the reader's own."""
    folder = tmp_path / "my notebooks"
    update(folder, OLD)
    solve(folder / NAME, SOLVED)
    (folder / "notes.ipynb").write_bytes(to_bytes(OLD[NAME]))
    return folder


def solve(path: Path, text: str) -> None:
    worked = parse(path.read_bytes())
    next(cell for cell in worked.cells if cell.id == "loop").source = text
    path.write_bytes(to_bytes(worked))


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_same_course_changes_nothing(mine):
    """Bug: each start of JupyterLab writes a reader's notebooks anew, or keeps another copy of them."""
    before = files(mine)
    report = update(mine, OLD)
    assert str(report) == ""
    assert files(mine) == before


def test_a_changed_course_keeps_answer_earlier_file_and_what_it_does_not_know(mine):
    """Bug: an update overwrites a solution, keeps no copy, or tidies up files of the reader's own."""
    before = files(mine)
    report = update(mine, NEW)
    after = files(mine)
    assert sources(parse(after[NAME]))[1:] == [
        LAST["source"], DEMO["source"], ASKED["source"], DRAW["source"], SOLVED,
    ]  # fmt: skip
    (kept,) = (name for name in after if name.startswith(EARLIER))
    assert after[kept] == before[NAME]
    assert kept in str(report)
    assert "1 answer is in the new notebook" in str(report)
    assert after["notes.ipynb"] == before["notes.ipynb"]
    assert sources(parse(after["06-sums.ipynb"])) == [TITLE["source"], LAST["source"]]
    assert str(update(mine, NEW)) == ""


def test_a_notebook_starts_afresh_and_comes_back_as_often_as_wanted(mine):
    """Bug: starting again can't be taken back, or taking it back loses what was written since."""
    worked = (mine / NAME).read_bytes()
    said = start_afresh(mine, OLD, "5")
    assert "--back 05-append-then-predict" in said
    assert (mine / NAME).read_bytes() == to_bytes(OLD[NAME])
    solve(mine / NAME, "def generate():\n    return 2")
    second = (mine / NAME).read_bytes()
    bring_back(mine, OLD, NAME)
    assert (mine / NAME).read_bytes() == worked
    bring_back(mine, OLD, "05-append-then-predict")
    assert (mine / NAME).read_bytes() == second
    with pytest.raises(FolderError, match="no notebook 44; it has 05-append-then-predict, 06-sums"):
        start_afresh(mine, OLD, "44")
    with pytest.raises(FolderError, match=r"Nothing of 06-sums\.ipynb is kept"):
        bring_back(mine, OLD, "6")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"cells": [', "not a whole notebook"),
        (b"", "not a whole notebook"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b'{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}', "markers of an unfinished merge"),
    ],
)
def test_what_cannot_be_read_is_left_as_it_is_and_named(mine, data, why):
    """Bug: a notebook that was cut off is replaced, or ends the update of all others."""
    (mine / NAME).write_bytes(data)
    report = update(mine, NEW)
    assert (mine / NAME).read_bytes() == data
    assert why in str(report)
    assert "--fresh 05-append-then-predict" in str(report)
    assert report.renewed == ["06-sums.ipynb"]


def test_links_and_folders_in_the_place_of_a_notebook_are_left_alone(mine, tmp_path):
    """Bug: a reader's link to a notebook elsewhere is written through, or replaced."""
    elsewhere = tmp_path / "elsewhere.ipynb"
    (mine / NAME).rename(elsewhere)
    (mine / NAME).symlink_to(elsewhere)
    (mine / "06-sums.ipynb").unlink()
    (mine / "06-sums.ipynb").mkdir()
    before = elsewhere.read_bytes()
    report = update(mine, NEW)
    assert elsewhere.read_bytes() == before
    assert (mine / NAME).is_symlink()
    assert len(report.lines) == 2


def test_a_copy_of_another_notebook_under_a_courses_name_is_left_alone(mine):
    """Bug: a reader copies section 6 over section 5, and the next update replaces the copy."""
    (mine / NAME).write_bytes((mine / "06-sums.ipynb").read_bytes())
    before = (mine / NAME).read_bytes()
    report = update(mine, NEW)
    assert (mine / NAME).read_bytes() == before
    assert f"{NAME} was left alone: it is a copy of the course's 06-sums." in str(report)


def test_an_update_that_is_killed_leaves_the_old_notebook_or_the_new_one(mine, monkeypatch):
    """Bug: power fails while a notebook is written, and neither the old nor the new one is there."""
    before = (mine / NAME).read_bytes()
    write, calls = folders.write_atomically, []

    def dies(path: Path, data: bytes) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(folders, "write_atomically", dies)
    with pytest.raises(KeyboardInterrupt):
        update(mine, NEW)
    assert (mine / NAME).read_bytes() == before
    monkeypatch.setattr(folders, "write_atomically", write)
    update(mine, NEW)
    assert SOLVED in sources(parse((mine / NAME).read_bytes()))


@pytest.fixture
def correction(tmp_path: Path) -> Path:
    """The zip that students get when the course was corrected."""
    path = tmp_path / "autoregressive-generation-9.9.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, new in NEW.items():
            archive.writestr(f"autoregressive-generation/autoregressive-generation/{name}", to_bytes(new))
        archive.writestr("autoregressive-generation/decoder_lib-9.9-py3-none-any.whl", b"a wheel")
    return path


def test_a_student_sets_the_answers_into_the_notebooks_of_a_new_zip(mine, correction, capsys):
    """Bug: a correction in the middle of a term means that students start again, or copy by hand."""
    assert main([str(correction), str(mine.parent)]) == 0
    said = capsys.readouterr().out
    assert f"{NAME}: the course has changed, and 1 answer is in the new notebook." in said
    assert "come with decoder_lib 9.9" in said or "decoder-lib" not in said
    assert SOLVED in sources(parse((mine / NAME).read_bytes()))
    assert main([str(correction), str(mine)]) == 0
    assert "Everything is up to date." in capsys.readouterr().out
    assert main([str(correction), str(mine), "--fresh", "5"]) == 0
    assert main([str(correction), str(mine), "--back", "5"]) == 0
    assert SOLVED in sources(parse((mine / NAME).read_bytes()))


def test_a_hub_offers_a_folder_with_the_corrected_notebooks(mine, tmp_path):
    """Bug: where there is no zip, a correction reaches nobody."""
    released = tmp_path / "outbound" / "autoregressive-generation"
    update(released, NEW)
    command = [sys.executable, "-m", "coursework.update", str(released)]
    done = subprocess.run(command, cwd=mine, capture_output=True, text=True, env=os.environ, check=True)
    assert "1 answer is in the new notebook" in done.stdout
    assert SOLVED in sources(parse((mine / NAME).read_bytes()))


def test_what_is_no_new_version_is_refused_in_a_sentence(mine, tmp_path, capsys):
    """Bug: somebody else's solved notebook is taken for the course's, or a wrong file ends in a traceback."""
    others = tmp_path / "others"
    update(others, {NAME: NEW[NAME]})
    solve(others / NAME, "stolen = 1")
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 cut off")
    before = files(mine)
    for new, said in [
        (others, "holds no notebook as the course made it"),
        (broken, "no whole zip"),
        (tmp_path / "nowhere", "No such file"),
    ]:
        assert main([str(new), str(mine)]) == 1
        assert said in capsys.readouterr().err
    empty = tmp_path / "empty"
    empty.mkdir()
    update(tmp_path / "new", NEW)
    assert main([str(tmp_path / "new"), str(empty)]) == 1
    assert "has none of the notebooks that are new: 05-append-then-predict.ipynb" in capsys.readouterr().err
    assert files(mine) == before


def test_a_full_disk_takes_nothing_away(mine, monkeypatch):
    """Bug: a fresh start on a full disk moves the notebook away, and then can't write another."""
    before = files(mine)

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        start_afresh(mine, OLD, "5")
    assert "No space left on device" in str(update(mine, NEW))
    monkeypatch.undo()
    assert files(mine) == before


def test_what_is_in_the_way_of_earlier_versions_is_named(mine):
    """Bug: a file called earlier-versions ends an update with a traceback, or without its name."""
    (mine / EARLIER).write_text("mine")
    assert f"{mine / EARLIER}: File exists" in str(update(mine, NEW))
    assert (mine / EARLIER).read_text() == "mine"
    assert SOLVED in sources(parse((mine / NAME).read_bytes()))


def test_a_folder_in_the_place_of_a_notebook_comes_back_too(mine):
    """Bug: --fresh promises that --back brings back whatever there was, and --back finds files alone."""
    (mine / "06-sums.ipynb").unlink()
    (mine / "06-sums.ipynb").mkdir()
    start_afresh(mine, OLD, "6")
    bring_back(mine, OLD, "6")
    assert (mine / "06-sums.ipynb").is_dir()


def test_a_notebook_that_left_the_course_is_told_of_and_stays(mine):
    """Bug: a section is dropped, and its reader never learns that it will not be corrected any more."""
    before = (mine / "06-sums.ipynb").read_bytes()
    report = update(mine, {NAME: NEW[NAME]})
    assert "06-sums.ipynb is no longer part of the course; yours stays as it is." in str(report)
    assert (mine / "06-sums.ipynb").read_bytes() == before
