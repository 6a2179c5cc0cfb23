"""The progress file: nothing in it is ever lost, and no trouble with it stops a notebook."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course.study import store


def test_what_passed_is_still_there_for_another_kernel(kept: Path) -> None:
    """Bug: progress that lives in one kernel, or that is written in a form nobody else can read."""
    store.add("generation_loop/greedy", 2)
    first = store.read().entries
    again = store.add("generation_loop/greedy", 2)
    assert (
        again.entries
        == first
        == {"generation_loop/greedy": store.Entry(2, first["generation_loop/greedy"].when)}
    )
    content = json.loads(kept.read_text())
    assert content["passed"]["generation_loop/greedy"]["points"] == 2
    assert content["passed"]["generation_loop/greedy"]["when"].endswith("+00:00")
    assert set(content) == {"format", "course", "passed"}


def test_reading_leaves_nothing_behind(kept: Path) -> None:
    """Bug: a look at the contents page makes folders in a reader's home."""
    assert store.read() == store.Kept()
    assert not kept.parent.exists()


def test_kernels_that_write_at_once_lose_nothing(kept: Path) -> None:
    """Bug: two notebooks read the file, each adds its own, and the later one wins."""
    code = (
        "import sys; from course.study import store; [store.add(f'{sys.argv[1]}/{n}', 1) for n in range(15)]"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(4)]
    assert [kernel.wait() for kernel in kernels] == [0] * 4
    assert len(store.read().entries) == 60
    assert sorted(path.name for path in kept.parent.iterdir()) == ["progress.json", "progress.lock"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"format": 1}',
        b'{"format": 2, "course": "autoregressive-generation", "passed": {}}',
        b'{"format": 1, "course": "another", "passed": {}}',
        b'{"format": 1, "course": "autoregressive-generation", "passed": []}',
        b'{"format": 1, "course": "autoregressive-generation", "passed": {"a/b": 3}}',
        b'{"format": 1, "course": "autoregressive-generation", "passed": {"a": {"points": "", "when": ""}}}',
        b'{"format": 1, "course": "autoregressive-generation", "passed": {"a/b": {"points": 1, "by": "x"}}}',
        b"[" * 100_000,
    ],
)
def test_a_file_that_is_not_ours_is_moved_aside_whole(kept: Path, content: bytes) -> None:
    """Bug: a broken file stops every check cell, or is overwritten with what was in it."""
    kept.parent.mkdir()
    kept.write_bytes(content)
    found = store.add("generation_loop/greedy", 2)
    assert list(found.entries) == ["generation_loop/greedy"]
    (aside,) = kept.parent.glob("progress-until-*.json")
    assert aside.read_bytes() == content
    assert found.notes == (
        f"The progress file could not be understood; it is kept as {store.shown(aside)}, unchanged.",
    )
    assert store.read() == store.Kept(found.entries)


def test_a_place_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: a read-only home turns a passed check into a traceback."""
    # A file where a folder should be stands in for it: whoever runs the tests as root may write anywhere.
    (tmp_path / "home").write_text("")
    monkeypatch.setenv(store.FOLDER_VARIABLE, str(tmp_path / "home" / "data"))
    found = store.add("generation_loop/greedy", 2)
    assert found.notes[-1] == "Progress could not be kept: not a directory."
    assert str(tmp_path) not in " ".join(found.notes)


def test_a_disk_that_is_full_leaves_the_file_as_it_was(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: a write that fails half-way leaves half a file, or its draft."""
    store.add("generation_loop/greedy", 2)
    before = kept.read_bytes()

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    found = store.add("generation_loop/budget", 1)
    assert found.notes == ("Progress could not be kept: no space left on device.",)
    assert list(found.entries) == ["generation_loop/greedy"]
    assert kept.read_bytes() == before
    assert not list(kept.parent.glob("*.part"))


def test_a_kernel_that_never_lets_go_is_not_waited_for(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: a check cell hangs because another notebook was stopped while it wrote."""
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    kept.parent.mkdir()
    with store._locked(kept):
        found = store.add("generation_loop/greedy", 2)
    assert found.notes == ("Progress could not be kept: another notebook holds the progress file.",)
    assert store.add("generation_loop/greedy", 2).notes == ()


def test_a_kernel_that_was_killed_holds_nothing(kept: Path) -> None:
    """Bug: progress is kept no more after a kernel was killed while it wrote."""
    kept.parent.mkdir()
    code = (
        "import sys, time, pathlib; from course.study import store\n"
        "with store._locked(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(kept)], stdout=subprocess.PIPE) as kernel:
        assert kernel.stdout is not None
        assert kernel.stdout.readline() == b"held\n"
        kernel.kill()
    assert store.add("generation_loop/greedy", 2).notes == ()


def test_moving_aside_twice_in_a_second_keeps_both(kept: Path) -> None:
    """Bug: the second reset overwrites what the first one kept."""
    assert store.move_aside() is None
    moved = []
    for name in ("greedy", "budget"):
        store.add(f"generation_loop/{name}", 1)
        moved.append(store.move_aside())
    greedy, budget = (path.read_text() if path else "" for path in moved)
    assert "greedy" in greedy
    assert "budget" in budget
    assert store.read() == store.Kept()


def test_no_home_folder_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Bug: a notebook that is passed on tells the name of whoever ran it."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert store.shown(tmp_path / "a" / "b.json") == "~/a/b.json"
    assert store.shown(Path("/elsewhere/b.json")) == "/elsewhere/b.json"


def test_without_the_variable_it_is_the_readers_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: progress kept beside the notebooks, where an update of the course or a commit meets it."""
    monkeypatch.delenv(store.FOLDER_VARIABLE)
    assert store.progress_file().parent.name == "autoregressive-generation"
    assert Path.cwd() not in store.progress_file().parents
