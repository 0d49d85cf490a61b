"""What was erased and revoked, noted beside a journal: an older journal that is put back does not bring it back."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from druthers.advisor import events
from druthers.errors import StoreFailure
from druthers.stores import SQLiteStore, Store


class Ledger:
    """A file that outlives its journal, with a line for each erasure and each revoked key.

    It holds no id of anybody: an erased person is the one whose first event had a certain place and mark. That is
    enough to find the same person in an older copy of the same journal, and nobody in any other.

    Parameters
    ----------
    path
        The file, on a disk that is not put back along with the journal; made if it is not there, for its owner alone.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._noted: set[str] = set()
        self._position = 0
        self._lock = Lock()

    def apply(self, store: Store) -> int:
        """Erase and revoke in a journal whatever the ledger holds and the journal has forgotten; returns how much."""
        with self._lock:
            lines = self._read()
        erased = {event.body["first"] for event in store.walk(kind=events.ERASURE)}
        in_force = {id for id, key in keys_of(store).items() if key["revoked"] is None}
        count = 0
        for line in lines:
            if line.get("revoked") in in_force:
                store.append([events.make(events.REVOCATION, {"id": line["revoked"]})])
                in_force.discard(line["revoked"])
                count += 1
            elif "erased" in line and line["erased"] not in erased:
                found = store.read(line["erased"] - 1, limit=1)
                if found and found[0][6:8] == (line["erased"], line["mark"]) and found[0].user is not None:
                    count += store.erase(found[0].user, events.make(events.ERASURE, {}), events.scrub) > 0
        return count

    def follow(self, store: Store) -> None:
        """Note what was erased and revoked in a journal since the last time; it is on the disk when this returns."""
        with self._lock:
            if not self._position:
                self._noted = {json.dumps(line) for line in self._read()}
            last = store.last()
            lines = []
            for notice in store.walk(self._position, kind=events.ERASURE):
                first = notice.body["first"]
                lines += [{"erased": first, "mark": event.mark} for event in store.read(first - 1, limit=1)]
            for revocation in store.walk(self._position, kind=events.REVOCATION):
                lines.append({"revoked": revocation.body["id"]})
            self._write([line for line in map(json.dumps, lines) if line not in self._noted])
            self._position = last

    def _write(self, lines: list[str]) -> None:
        if not lines:
            return
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(file).st_size
                torn = size and os.pread(file, 1, size - 1) != b"\n"  # by a process that died while it wrote
                os.write(file, ("\n" * torn + "".join(f"{line}\n" for line in lines)).encode())
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as problem:
            raise StoreFailure(f"a ledger must be writable, but {self.path}: {problem.strerror}") from None
        self._noted.update(lines)

    def _read(self) -> list[Mapping[str, Any]]:
        try:
            content = self.path.read_text("ascii", "replace")
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StoreFailure(f"a ledger must be readable, but {self.path}: {problem.strerror}") from None
        lines = [_parsed(line) for line in content.splitlines()]
        return [line for line in lines if line is not None]


def _parsed(line: str) -> Mapping[str, Any] | None:
    """Return what a line tells; None for one that was torn."""
    try:
        facts = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(facts, dict) and (isinstance(facts.get("erased"), int) or isinstance(facts.get("revoked"), str))
    return facts if whole else None


def ledger_of(store: Store, path: str = "") -> Ledger | None:
    """Return the ledger of a journal: the one that is named, or the one beside a journal in SQLite."""
    if path:
        return Ledger(path)
    return Ledger(f"{store.path}-ledger") if isinstance(store, SQLiteStore) else None


def keys_of(store: Store) -> dict[str, dict[str, Any]]:
    """Return the API keys of a journal by id, without folding all the rest."""
    keys: dict[str, dict[str, Any]] = {}
    told = [event for kind in (events.KEY, events.REVOCATION) for event in store.walk(kind=kind)]
    for event in sorted(told, key=lambda event: event.position):
        keys = events.keys_after(keys, events.check(event))
    return keys
