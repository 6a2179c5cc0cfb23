"""A class graded on a Dask cluster: real worker processes, which come, go and may not fit."""

import os
import signal
import socket
import subprocess
import sys
from collections import Counter

import pytest
from tiny_course import HALF, MAX_SCORES

from course.grading.errors import GradingError
from course.grading.records import Status, latest
from course.grading.runs.executors import executor

distributed = pytest.importorskip("distributed")

NAMES = [f"student-{number}" for number in range(6)]


def hand_in(course):
    for name in NAMES:
        course.hand_in(name, "account", course.right["account"] if name != "student-3" else HALF)
        course.hand_in(name, "picks", course.right["picks"])


def expected():
    scores = {(name, "tiny", book): most for name in NAMES for book, most in MAX_SCORES.items()}
    return scores | {("student-3", "tiny", "account"): 1}


def records_in(course):
    return Counter(line.split('"assignment"')[0] for line in course.log.read_text().splitlines())


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, which are processes of their own; a worker that ends is started anew."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def test_a_lost_worker_loses_no_mark(fresh, cluster):
    """Bug: a worker that dies takes its notebooks along, or they come twice, or with other marks."""
    hand_in(fresh)
    with distributed.Client(cluster, set_as_default=False) as client:
        workers = client.run(os.getpid)

        def strike(done, total, what):
            if done == 3:
                os.kill(next(iter(workers.values())), signal.SIGKILL)

        report = fresh.grade(scheduler=cluster.scheduler_address, progress=strike)
    assert {record.key: record.score for record in report.records} == expected()
    assert {record.status for record in report.records} == {Status.GRADED}
    assert len(records_in(fresh)) == len(NAMES)
    assert set(records_in(fresh).values()) == {2}
    assert {key: record.score for key, record in latest(fresh.log).items()} == expected()


def test_a_worker_with_other_checks_is_refused_in_a_sentence(fresh, cluster, monkeypatch):
    """Bug: half of a class is graded with the checks of an older version, which lies on one machine."""
    monkeypatch.setattr("course.grading.runs.setup.checks_sha256", lambda seed: "0" * 64)
    hand_in(fresh)
    with pytest.raises(GradingError, match=r"The worker at tcp://\S+ cannot grade: it has other checks"):
        fresh.grade(scheduler=cluster.scheduler_address)
    assert not latest(fresh.log)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "missing port number"),
        ("foo://127.0.0.1:8786", "unknown address scheme"),
        ("tcp://127.0.0.1:1", "Timed out"),
        ("silent", "did not answer as a scheduler does"),
    ],
)
def test_a_wrong_address_is_a_sentence(address, words, monkeypatch):
    """Bug: a typing error in the address ends in a traceback, or waits for ever."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        # Short only where nothing but the time-out can end it: a busy machine is slow to say what is wrong.
        if address == "tcp://127.0.0.1:1":
            monkeypatch.setattr("course.grading.runs.cluster.CONNECTING", 1.0)
        if address == "silent":
            monkeypatch.setattr("course.grading.runs.cluster.ANSWERING", 1.5)
            address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(GradingError, match=rf"There is no Dask scheduler at {address}: .*{words}"),
            executor(scheduler=address),
        ):
            pass


def test_without_dask_the_way_to_get_it_is_said(monkeypatch):
    """Bug: --scheduler on a plain installation ends in ModuleNotFoundError."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(GradingError, match=r"pip install 'autoregressive-generation\[cluster\]'"),
        executor(scheduler="tcp://127.0.0.1:1"),
    ):
        pass


def test_a_scheduler_that_dies_stops_the_run_and_keeps_what_was_graded(fresh, tmp_path):
    """Bug: the run hangs when the cluster goes down, or what it had graded is gone with it."""
    hand_in(fresh)
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--scheduler-file", str(file), "--port", "0", "--no-dashboard"], **quiet
    )
    worker = subprocess.Popen(
        [*dask, "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny"], **quiet
    )
    try:
        while not file.exists():
            assert scheduler.poll() is None
        with distributed.Client(scheduler_file=str(file), set_as_default=False) as client:
            address = client.scheduler.address

        def strike(done, total, what):
            if done == 2:
                scheduler.kill()

        with pytest.raises(GradingError, match=r"The scheduler at tcp://\S+ is gone.*goes on from there"):
            fresh.grade(scheduler=address, progress=strike)
    finally:
        for process in (worker, scheduler):
            process.terminate()
            process.wait()
    kept = {key: record.score for key, record in latest(fresh.log).items()}
    assert len(kept) >= 2
    assert kept.items() <= expected().items()
