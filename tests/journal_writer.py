"""Append to journals until killed: for each line of the input a process of its own, which notes what was acknowledged.

Processes are forked here because importing the package, and the driver, takes longer than most of them live.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import signal
import sys

from druthers.errors import StoreFailure
from druthers.stores import Event, Store, open_store

PARTS = 3


def batch(name: str, number: int) -> list[Event]:
    """Return events that are written together."""
    return [
        Event("note", {"number": number, "part": part}, number / 7, user=name, key=f"{name}-{number}-{part}")
        for part in range(PARTS)
    ]


def append(store: Store, events: list[Event]) -> list[int]:
    """Append, as often as it takes where others keep a busy machine's journal locked."""
    while True:
        with contextlib.suppress(StoreFailure):
            return store.append(events)


def write(url: str, name: str, notes: str) -> None:
    """Append and note each acknowledgment, as long as the process lives."""
    with open(notes, "ab", buffering=0) as file, open_store(url) as store:
        for number in itertools.count():
            positions = append(store, batch(name, number))
            file.write(f"{json.dumps([name, number, positions])}\n".encode())


if __name__ == "__main__":
    importlib.import_module("druthers.stores.waiting")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                write(*json.loads(line))
            finally:
                os._exit(1)
        print(child, flush=True)
