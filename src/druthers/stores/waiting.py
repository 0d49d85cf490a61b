"""Connections to PostgreSQL that never wait without end; needs psycopg."""

import selectors
import time
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

T = TypeVar("T")


class Impatient(psycopg.Connection[tuple[Any, ...]]):
    """A connection that gives up when nothing at all has come for a while.

    The server ends statements that take too long by itself; this is for a server that is frozen, or out of reach
    without anybody saying so.
    """

    patience: float = 10.0

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Carry on an exchange with the server to its end."""
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: PQGen[T]) -> PQGen[T]:
        """Pass on whatever comes; psycopg says "nothing" several times a second while there is none."""
        try:
            wanted = next(gen)
            deadline = time.monotonic() + self.patience
            while True:
                ready = yield wanted
                if ready:
                    deadline = time.monotonic() + self.patience
                elif time.monotonic() > deadline:
                    self.close()
                    raise psycopg.OperationalError(f"no answer for {self.patience:g} seconds")
                wanted = gen.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result

    @property
    def stale(self) -> bool:
        """Tell whether the server has hung up, or said something unasked, since the last answer."""
        if self.closed:
            return True
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno(), selectors.EVENT_READ)
            return bool(selector.select(0))
