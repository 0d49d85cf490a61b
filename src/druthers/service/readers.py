"""Readers: threads that read what users say and do nothing else, so that a slow parser keeps nobody else waiting."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from druthers.errors import ReadingFailure

T = TypeVar("T")


class Readers:
    """Threads for a parser.

    A text that is not read in time is given up. Its thread goes on, since a thread cannot be stopped, and the next text
    waits for another one; no thread keeps the process from ending.

    Its time includes the wait for a thread.
    """

    def __init__(self, threads: int, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name="reader", daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    async def read(self, question: Callable[[], T]) -> T:
        """Return what reading a text gives, or raise `ReadingFailure`."""
        future: Future[T] = Future()
        self._waiting.put((question, future))
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise ReadingFailure(
                f"a sentence must be read within {self.seconds:g} s, but this one was not, and is not heard;"
                " try again in a moment, or send a ranking, which needs no reading"
            ) from None

    def close(self) -> None:
        """Let the threads end as soon as they have nothing to read."""
        for _ in self._threads:
            self._waiting.put(None)

    def _work(self) -> None:
        while (asked := self._waiting.get()) is not None:
            question, future = asked
            if not future.set_running_or_notify_cancel():  # nobody waits any more
                continue
            try:
                future.set_result(question())
            except Exception as problem:
                future.set_exception(problem)
