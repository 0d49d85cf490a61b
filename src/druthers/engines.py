"""Where tasks are carried out: in processes of this machine, or on a Ray cluster. The results are the same."""

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from druthers.errors import EngineFailure, UnknownName, needs

T = TypeVar("T")
R = TypeVar("R")

# A forked process has everything imported already; elsewhere than on Linux forking is not safe.
START_METHOD = "fork" if sys.platform == "linux" else "spawn"

PR_SET_PDEATHSIG = 1  # of linux/prctl.h

# How often work is given out again after a process died, before giving up: it may be the work that kills it.
LOST_WORKERS_ALLOWED = 3


class Progress(NamedTuple):
    """How far a stage of some work is, in parts that are done, and what was done last, if it has a name."""

    stage: str
    done: int
    total: int
    label: str = ""


Watch: TypeAlias = Callable[[Progress], None]


def unwatched(progress: Progress) -> None:
    """Let work go on that nobody watches."""


class Engine(Protocol):
    """Something that carries out tasks, in any order."""

    def __enter__(self) -> "Engine": ...

    def __exit__(self, *error: Any) -> None: ...

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of each task with its result, as they come in; raise what a task raised."""


class Processes:
    """Some processes of this machine, one for each core by default; a single one works in this very process.

    One that dies is replaced and its task done again.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self._started: list[BaseProcess] = []

    def __enter__(self) -> "Processes":
        self._start()
        return self

    def _start(self) -> None:
        if self.workers > 1:
            context = _Noting(multiprocessing.get_context(START_METHOD), self._started)
            self._pool = ProcessPoolExecutor(self.workers, cast("Any", context), _follow_the_parent)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            if kind is not None:  # what is half done is not waited for
                for process in self._started:
                    if process.is_alive():
                        process.terminate()
            self._pool.shutdown(cancel_futures=True)

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of each task with its result, as they come in."""
        if self._pool is None:
            for place, task in enumerate(tasks):
                yield place, function(task)
            return
        left, lost = dict(enumerate(tasks)), 0
        while left:
            futures: dict[Future[R], int] = {}
            try:
                futures = {self._pool.submit(function, task): place for place, task in left.items()}
                waiting = set(futures)
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        result = future.result()
                        del left[futures[future]]
                        yield futures[future], result
            except BrokenProcessPool:
                lost += 1
                if lost > LOST_WORKERS_ALLOWED:
                    raise EngineFailure(
                        f"a process must live until its task is done, but {lost} died, perhaps for want of memory;"
                        " try fewer workers"
                    ) from None
                self._pool.shutdown()
                self._start()


class _Noting:
    """A context of multiprocessing that notes the processes it starts, so that those of others are left alone."""

    def __init__(self, context: Any, started: list[BaseProcess]) -> None:
        self._context = context
        self._started = started

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def Process(self, *arguments: Any, **options: Any) -> BaseProcess:  # noqa: N802 - as multiprocessing calls it
        process: BaseProcess = self._context.Process(*arguments, **options)
        self._started.append(process)
        return process


def _follow_the_parent() -> None:
    """Leave interrupts to the parent, and end with it even if it is killed: a compiled game hears of nothing else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Ray:
    """A Ray cluster: the one at an address, or a small one started here.

    Its machines need druthers of the same version. Ray itself does a task again whose worker is lost.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._ray = needs("ray", "ray")
        self._address = address
        self._workers = workers

    def __enter__(self) -> "Ray":
        size = {} if self._address else {"num_cpus": self._workers, "include_dashboard": False}
        try:
            self._ray.init(self._address, log_to_driver=False, logging_level="ERROR", **size)
        except (ConnectionError, TimeoutError, ValueError) as error:
            raise EngineFailure(f"a Ray cluster must answer at {self._address}, but: {error}") from None
        return self

    def __exit__(self, *error: Any) -> None:
        self._ray.shutdown()

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Yield the place of each task with its result, as they come in."""
        remote = self._ray.remote(max_retries=LOST_WORKERS_ALLOWED)(function)
        waiting = {remote.remote(task): place for place, task in enumerate(tasks)}
        while waiting:
            (ready,), _ = self._ray.wait(list(waiting), num_returns=1)
            try:
                result = self._ray.get(ready)
            except self._ray.exceptions.RayTaskError as error:
                raise error.cause from None
            yield waiting.pop(ready), result


def make_engine(name: str = "processes", workers: int | None = None) -> Engine:
    """Return an engine by name: "processes", "ray", or a Ray cluster's address such as ray://host:10001."""
    if name == "processes":
        return Processes(workers)
    if name == "ray":
        return Ray(workers=workers)
    if name.startswith("ray://"):
        return Ray(name)
    raise UnknownName.of("engine", name, ("processes", "ray", "ray://HOST:PORT"))
