"""Several processes that serve at one address: started together, watched, and started again when one dies."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from socket import socket
from typing import TypeAlias

from druthers.errors import DruthersError, InvalidSetting, StoreFailure
from druthers.service.logs import NAME

# What a process does: serve at an address, and tell through a line that it is ready, or why it cannot be.
Work: TypeAlias = Callable[[socket, Connection], None]

LOOK_SECONDS = 0.5
# Seconds until a process that died is started again; twice as many each time until it is ready.
LEAST_PAUSE, MOST_PAUSE = 0.5, 30.0

_log = logging.getLogger(NAME)
# Processes share nothing with their parent but what they are given: threads and databases do not survive a fork.
_context = multiprocessing.get_context("spawn")


def run_workers(count: int, work: Work, address: socket) -> None:
    """Keep so many processes at work until told to stop.

    One that ends before it was ever ready would end so again: all are stopped then, and its reason is raised. One that
    was ready before is started again.
    """
    stopping = threading.Event()
    before = {number: signal.signal(number, lambda *_: stopping.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    workers: list[Worker] = []
    try:
        workers += [Worker(work, address) for _ in range(count)]
        while not stopping.is_set():
            for worker in workers:
                worker.look()
            living = [worker.process.sentinel for worker in workers if worker.process.is_alive()]
            wait(living, LOOK_SECONDS) if living else stopping.wait(LOOK_SECONDS)
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
        for number, handler in before.items():
            signal.signal(number, handler)


class Worker:
    """The place of one process, which may die and be followed by another."""

    def __init__(self, work: Work, address: socket) -> None:
        self.work = work
        self.address = address
        self.was_ready = False
        self.pause = LEAST_PAUSE
        self._start()

    def _start(self) -> None:
        self.line, far = _context.Pipe()
        self.process = _context.Process(target=self.work, args=(self.address, far))
        self.process.start()
        far.close()
        self.problem: DruthersError | None = None
        self.again_at: float | None = None

    def look(self) -> None:
        """Note what the process told; if it is dead, have another one follow, or say why there can be none."""
        alive = self.process.is_alive()  # before its last words are read
        self._listen()
        if alive:
            return
        code = self.process.exitcode
        problem = self.problem or StoreFailure(
            f"a worker must stay until it is stopped, but one ended with code {code}; see its log"
        )
        if not self.was_ready:
            raise problem
        if code == 0:  # it asked for this: it has to start over
            self._start()
        elif self.again_at is None:
            _log.error("%s; it is started again in %g s", problem, self.pause)
            self.again_at = time.monotonic() + self.pause
            self.pause = min(2.0 * self.pause, MOST_PAUSE)
        elif time.monotonic() >= self.again_at:
            self._start()

    def _listen(self) -> None:
        try:
            while self.line.poll():
                self.problem = self.line.recv()
                if self.problem is None:
                    self.was_ready, self.pause = True, LEAST_PAUSE
        except (EOFError, OSError):
            pass  # it is gone, or about to be


def tell_ready(line: Connection) -> None:
    """Tell the parent that this process serves, and end with the parent from now on."""
    line.send(None)
    threading.Thread(target=_end_with_parent, args=(line,), daemon=True).start()


def tell_problem(line: Connection, problem: DruthersError) -> None:
    """Tell the parent why this process cannot serve."""
    kind = InvalidSetting if isinstance(problem, ValueError | KeyError) else StoreFailure
    line.send(kind(str(problem) or type(problem).__name__))


def _end_with_parent(line: Connection) -> None:
    try:
        line.recv()  # nothing ever comes
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
