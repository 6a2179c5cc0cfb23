"""Seconds to grade a notebook, beside plain `nbgrader autograde` on the same files.

    python -m benchmarks.grading                     the ratio, and what a second worker brings
    python -m benchmarks.grading --memory 500        memory over so many notebooks

Both graders run from their command lines. What each needs to start is left out: a small class and a larger
one are graded, and the difference in time is divided by the difference in notebooks. The two graders take
turns; figures are medians over the rounds.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import psutil

from benchmarks.classes import ASSIGNMENT, hand_in
from course.building import refresh_masters
from course.building.outputs import MASTERS
from course.files import ROOT
from course.processors import ONE_THREAD

_BIN = Path(sys.executable).parent
_PLAIN = """
c = get_config()
c.CourseDirectory.course_id = "plain"
"""


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--students", type=int, nargs=2, default=(1, 4), metavar=("SMALL", "LARGE"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, metavar="NOTEBOOKS")
    options = parser.parse_args()
    refresh_masters(ROOT)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    if options.memory:
        report_memory(options.memory)
    else:
        report_speed(*options.students, options.rounds)


def report_speed(small: int, large: int, rounds: int) -> None:
    """Marginal seconds a notebook of nbgrader, and of `course grade` on one worker and on two."""
    graders = {"nbgrader autograde": 0, "course grade, 1 worker": 1, "course grade, 2 workers": 2}
    seconds: dict[str, list[float]] = {name: [] for name in graders}
    for _ in range(rounds):
        for name, workers in graders.items():
            (few, less), (many, more) = (_time(students, workers) for students in (small, large))
            seconds[name].append((more - less) / (many - few))
    print("| | seconds a notebook | of nbgrader's |\n|---|---|---|")
    plain = median(seconds["nbgrader autograde"])
    for name, found in seconds.items():
        spread = f"{min(found):.2f} to {max(found):.2f}"
        print(f"| {name} | {median(found):.2f} ({spread}) | 1 / {plain / median(found):.1f} |")


def _time(students: int, workers: int) -> tuple[int, float]:
    """Notebooks of a class, and the seconds to grade it; without workers, by plain nbgrader."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notebooks = hand_in(folder, students)
        if workers:
            command = [str(_BIN / "course"), "grade", name, "--workers", str(workers)]
        else:
            shutil.copytree(ROOT / MASTERS, folder / "source")
            (folder / "nbgrader_config.py").write_text(_PLAIN)
            _run([str(_BIN / "nbgrader"), "generate_assignment", ASSIGNMENT], folder)
            command = [str(_BIN / "nbgrader"), "autograde", ASSIGNMENT]
        start = time.perf_counter()
        _run(command, folder)
        return notebooks, time.perf_counter() - start


def _run(command: list[str], folder: Path) -> None:
    path = f"{_BIN}:{os.environ['PATH']}"
    subprocess.run(
        command, cwd=folder, env=os.environ | ONE_THREAD | {"PATH": path}, check=True, capture_output=True
    )


def report_memory(notebooks: int) -> None:
    """The largest memory of a worker with its sandbox, by hundreds of notebooks."""
    with tempfile.TemporaryDirectory() as name:
        students = -(-notebooks // 10)
        total = hand_in(Path(name), students)
        command = [str(_BIN / "course"), "grade", name, "--workers", "2"]
        process = subprocess.Popen(
            command, env=os.environ | ONE_THREAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        largest: dict[int, dict[str, float]] = {}
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, Path(name), largest, done))
        watcher.start()
        code = process.wait()
        done.set()
        watcher.join()
        print(f"{total} notebooks, two workers, exit code {code}; MB (proportional set size) at most:\n")
        print("| notebooks | main process | a worker with its sandbox |\n|---|---|---|")
        for hundred, found in sorted(largest.items()):
            print(
                f"| {100 * hundred} to {100 * hundred + 99} | {found['main']:.0f} | {found['worker']:.0f} |"
            )


def _watch(pid: int, folder: Path, largest: dict[int, dict[str, float]], done: threading.Event) -> None:
    log = folder / "grading.jsonl"
    main = psutil.Process(pid)
    while not done.wait(1.0):
        graded = log.read_bytes().count(b"\n") if log.exists() else 0
        found = largest.setdefault(graded // 100, {"main": 0.0, "worker": 0.0})
        try:
            found["main"] = max(found["main"], _megabytes([main]))
            for child in main.children():
                found["worker"] = max(found["worker"], _megabytes([child, *child.children(recursive=True)]))
        except psutil.Error:  # it has ended since
            continue


def _megabytes(processes: list[psutil.Process]) -> float:
    total = 0
    for process in processes:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 2**20


if __name__ == "__main__":
    main()
