"""Runs jobs on a Dask cluster; it needs nothing of this machine but the jobs."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from course.grading.errors import GradingError

if TYPE_CHECKING:
    from course.grading.jobs.job import Grade, Job, Outcome

CONNECTING = 10.0  # seconds until a scheduler that does not answer is given up
ANSWERING = 15.0  # the same, of one that takes the connection and says nothing
_JOINING = 30.0  # seconds until a scheduler without workers is given up


@contextmanager
def cluster(address: str, grade: "Grade") -> Iterator["ClusterPool"]:
    """The workers of the Dask scheduler at an address, as a pool.

    Raises GradingError if there is no scheduler, or it has no worker.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        raise GradingError(
            "--scheduler needs Dask, which is not installed: pip install 'autoregressive-generation[cluster]'"
        ) from None
    client = _connected(distributed.Client, address)
    try:
        try:
            client.wait_for_workers(1, timeout=_JOINING)
        except TimeoutError:
            raise GradingError(
                f"The scheduler at {address} has no workers. Start some where the course is installed: "
                f"dask worker {address}"
            ) from None
        yield ClusterPool(client, address, grade, distributed.scheduler.KilledWorker)
    finally:
        client.close()


class ClusterPool:
    """See `executors.Pool`. Dask itself runs a job again whose worker is lost, a few times."""

    def __init__(self, client: Any, address: str, grade: "Grade", killed: type[Exception]) -> None:
        self.lost: tuple[type[Exception], ...] = (killed,)
        self._client, self._address, self._grade = client, address, grade
        self._executor = client.get_executor(pure=False)

    def width(self) -> int:
        """One job to work at and one to go on with, a thread; workers come and go."""
        with self._sentences():
            threads = sum(self._client.nthreads().values())
            return 2 * max(1, int(threads))

    def submit(self, job: "Job") -> "Future[Outcome]":
        """Start a job."""
        with self._sentences():
            future: Future[Outcome] = self._executor.submit(self._grade, job)
            return future

    def result(self, future: "Future[Outcome]") -> "Outcome":
        """What came of a job. Raises GradingError if the scheduler is gone."""
        try:
            return future.result()
        except CancelledError as error:
            raise self._gone() from error

    def everywhere(self, function: Callable[[], None]) -> None:
        """Call a function on each worker. Raises GradingError, with its address, where it raises."""
        with self._sentences():
            answers = self._client.run(function, on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, Exception):
                what = str(answer) if isinstance(answer, GradingError) else _unexpected(answer)
                raise GradingError(f"The worker at {worker} cannot grade: {what}")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._gone() from error

    def _gone(self) -> GradingError:
        return GradingError(
            f"The scheduler at {self._address} is gone. What has been graded is kept; "
            "the same command goes on from there."
        )


def _connected(make: Callable[..., Any], address: str) -> Any:
    """A client. Made in a thread: Dask waits for ever for what takes a connection and says nothing."""
    made: SimpleQueue[Any] = SimpleQueue()

    def connect() -> None:
        try:
            made.put(make(address, timeout=CONNECTING, set_as_default=False))
        except TimeoutError as error:
            # One of asyncio's own has no words.
            made.put(TimeoutError(str(error) or f"Timed out after {CONNECTING:g} seconds"))
        except Exception as error:
            made.put(error)

    Thread(target=connect, daemon=True).start()
    try:
        client = made.get(timeout=ANSWERING)
    except Empty:
        client = TimeoutError(f"it did not answer as a scheduler does within {ANSWERING:g} seconds")
    if isinstance(client, Exception):
        raise GradingError(
            f"There is no Dask scheduler at {address}: {client}. "
            "An address looks like tcp://192.168.1.5:8786; `dask scheduler` shows its own when it starts."
        ) from client
    return client


def _unexpected(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"{error}. Install the course there, in the same version."
    return f"{type(error).__name__}: {error}"
