"""Jobs in several processes: each outcome comes once, whatever happens to a process or to the run."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Thread

import jobs
import pytest
from tiny_course import MAX_SCORES

from course.files import ROOT
from course.grading.errors import GradingError
from course.grading.records import latest
from course.grading.runs.executors import LostError, executor

HERE = Path(__file__).parent


def until(condition):
    """Wait for something that another process does; the test's own time limit is the runner's."""
    while not (found := condition()):
        time.sleep(0.01)
    return found


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def results(workers, todo, grade):
    """Outcomes by student, each in a list of all that came."""
    found = {}
    with executor(workers=workers, grade=grade) as run:
        for job, outcome in run(todo):
            found.setdefault(job.student, []).append(outcome)
    return found


def test_each_outcome_comes_once_from_another_process():
    """Bug: a job is run twice or dropped, or student code is run in the process that writes the gradebook."""
    names = [f"student-{number}" for number in range(30)]
    found = results(2, map(jobs.Job, names), jobs.echo)
    assert sorted(found) == sorted(names)
    assert {len(outcomes) for outcomes in found.values()} == {1}
    processes = {outcome.process for (outcome,) in found.values()}
    assert len(processes) <= 2
    assert os.getpid() not in processes


def test_memory_stays_flat_over_a_large_class():
    """Bug: all submissions of a class are in memory, or in the queue, at once."""
    taken = 0

    def todo():
        nonlocal taken
        for number in range(50):
            taken += 1
            yield jobs.Job(f"student-{number}")

    with executor(workers=2, grade=jobs.echo) as run:
        for done, _ in enumerate(run(todo())):
            assert taken - done <= 4


def test_an_error_is_given_with_its_job():
    """Bug: an error in one job ends the run, or is taken for another job's."""
    found = results(2, map(jobs.Job, ["lucky", "unlucky", "also-lucky"]), jobs.raises)
    (error,) = found.pop("unlucky")
    assert (type(error), str(error)) == (ValueError, "no luck")
    assert {type(outcome).__name__ for (outcome,) in found.values()} == {"Outcome"}


def test_what_holds_for_all_jobs_stops_the_run():
    """Bug: a class of five hundred gets five hundred failures because the versions do not fit."""
    with pytest.raises(GradingError, match="other checks"):
        results(2, map(jobs.Job, "abcdefgh"), jobs.refuses)


def test_a_job_that_takes_its_process_down_is_the_only_one_that_fails(tmp_path):
    """Bug: one job that eats all memory fails those beside it, those behind it, or the run."""
    names = ["a", "b", "always", "c", "once", "d", "e", "f"]
    found = results(2, [jobs.Job(name, tmp_path) for name in names], jobs.kills)
    assert {name: len(outcomes) for name, outcomes in found.items()} == dict.fromkeys(names, 1)
    (error,) = found.pop("always")
    assert isinstance(error, LostError)
    assert {type(outcome).__name__ for (outcome,) in found.values()} == {"Outcome"}
    assert (tmp_path / "always").read_text().count("started") in (2, 3)


def test_a_process_killed_from_outside_costs_nothing(tmp_path):
    """Bug: the system ends a process for want of memory, and its notebook, or all, are lost."""
    names = [f"student-{number}" for number in range(6)]

    def strike():
        first, _ = until(lambda: len(found := list(tmp_path.iterdir())) >= 2 and found)
        os.kill(int(first.name.split("-")[-1]), signal.SIGKILL)
        (tmp_path / "go").touch()

    thread = Thread(target=strike)
    thread.start()
    found = results(2, [jobs.Job(name, tmp_path) for name in names], jobs.waits)
    thread.join()
    assert {name: len(outcomes) for name, outcomes in found.items()} == dict.fromkeys(names, 1)
    assert {type(outcome).__name__ for (outcome,) in found.values()} == {"Outcome"}


def test_leaving_early_ends_the_processes(tmp_path):
    """Bug: whoever stops a run waits for what is under way, or its processes go on without it."""

    def stop():
        until(lambda: len(list(tmp_path.iterdir())) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=stop)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        results(2, [jobs.Job(name, tmp_path) for name in "abcd"], jobs.waits)
    thread.join()
    assert not [path for path in tmp_path.iterdir() if is_alive(int(path.name.split("-")[-1]))]


_RUN = """
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, {here!r})
import jobs

import course.commands.grade
import course.grading.runs.run
from course.cli import main

course.commands.grade.ROOT = Path({root!r})
course.grading.runs.run.executor = partial(course.grading.runs.run.executor, grade=jobs.counted)
sys.exit(main(["grade", {root!r}, "--workers", "2"]))
"""


def test_a_run_that_is_stopped_or_killed_goes_on_where_it_was(fresh, tmp_path, one_process):
    """Bug: a run that ends half way grades everything again, loses marks, or leaves its processes behind."""
    names = [f"student-{number}" for number in range(8)]
    for name in names:
        fresh.hand_in(name, "account", fresh.right["account"])
        fresh.hand_in(name, "picks", fresh.right["picks"])
    total, counts = 2 * len(names), tmp_path / "counts"
    script = _RUN.format(here=str(HERE), root=str(fresh.root))
    environment = os.environ | {"GRADED_JOBS": str(counts), "PYTHONPATH": str(ROOT)}

    def begin_and_send(number, lines):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        command = [sys.executable, "-c", script]
        with subprocess.Popen(command, env=environment, start_new_session=True, **pipes) as run:
            until(lambda: len(latest(fresh.log)) >= lines or run.poll() is not None)
            os.killpg(run.pid, number)
            said = run.communicate()
        return run.returncode, said, set(latest(fresh.log))

    code, (_, complaint), first = begin_and_send(signal.SIGINT, 3)
    assert code == 130
    assert complaint == "Stopped. What has been graded is kept; the same command goes on from there.\n"
    code, _, second = begin_and_send(signal.SIGKILL, len(first) + 3)
    assert code == -signal.SIGKILL
    assert first < second
    assert len(second) < total
    processes = {int(line.split()[-1]) for line in counts.read_text().splitlines()}
    until(lambda: not any(map(is_alive, processes)))

    assert fresh.grade().graded_now == total - len(second)
    scores = {record.key: record.score for record in latest(fresh.log).values()}
    assert scores == {(name, "tiny", book): most for name in names for book, most in MAX_SCORES.items()}
    lines = fresh.log.read_text().splitlines()
    readable = [line for line in lines if line.endswith("}")]
    assert len(readable) == total
    assert {json.loads(line)["status"] for line in readable} == {"graded"}
    starts = Counter(tuple(line.split()[:2]) for line in counts.read_text().splitlines())
    assert {starts[student, book] for student, _, book in first} == {1}
    # Of the second run, what was under way when it ended is graded again: at most two a process.
    assert sum(starts.values()) <= len(second) + 2 * 2 * 2
