"""Journals as files of text: to back them up, to look at them, to move them to another store."""

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import IO, Any

from druthers.drafts import replaced
from druthers.errors import InvalidEvent, StoreFailure
from druthers.stores import open_store
from druthers.stores.base import Event, Store
from druthers.stores.rows import encode, old_mark

FORMAT = "druthers-journal"
VERSION = 2
BATCH = 500
PARTS = ("position", "kind", "at", "user", "about", "key", "mark", "checksum", "body")
# Before the second version, events had no marks and no checksums.
OLD_PARTS = tuple(part for part in PARTS if part not in ("mark", "checksum"))


def export_events(store: Store, path: str | os.PathLike[str]) -> int:
    """Write the events of a journal to a file and return how many.

    A line of JSON for each event, after one that tells the format and how many follow; compressed if the name ends in
    .gz. Others may write meanwhile: the file holds the events up to the last one at the start. It is there whole, or
    not at all, and only its owner may read it. Marks and checksums go along, so that damage stays visible. Snapshots
    are not in it; they are folded anew.
    """
    count, after = store.last(), 0
    try:
        with replaced(path, mode=0o600) as draft, _open(draft, "wt", zipped=Path(path).suffix == ".gz") as file:
            file.write(_line({"format": FORMAT, "version": VERSION, "count": count}))
            while after < count:
                events = store.read(after, limit=min(BATCH, count - after))
                file.writelines(_line({part: getattr(event, part) for part in PARTS}) for event in events)
                after = events[-1].position
    except OSError as problem:
        raise StoreFailure(f"a journal must be in a file that can be written, but {path}: {problem.strerror}") from None
    return count


def import_events(path: str | os.PathLike[str], store: Store | str) -> int:
    """Fill an empty journal with the events of a file and return how many.

    The whole file is looked at before the first event is appended, and before a store that is given by its address is
    opened, which makes one that is not there: so a file with a mistake changes nothing and leaves nothing. Events go
    in by batches, each whole or not at all; if the journal fails on the way, the same import carries on where it
    stopped: a journal that holds the beginning of the file counts as empty. Nobody else may write meanwhile.
    """
    count, keys = 0, set()
    for event in _events(path):
        encode([event])
        count += 1
        if event.key is not None and event.key in keys:
            raise InvalidEvent(f"a key must be there once, but line {count + 1} of {path} has {event.key!r} again")
        keys.add(event.key)
    with open_store(store) if isinstance(store, str) else nullcontext(store) as journal:
        rest = islice(_events(path), _check_beginning(path, journal), None)
        while events := list(islice(rest, BATCH)):
            if journal.append(events) != [event.position for event in events]:
                raise StoreFailure(
                    "an import must be alone in its journal, but somebody else writes; start with a new one"
                )
    return count


def _check_beginning(path: str | os.PathLike[str], store: Store) -> int:
    """Return how many events of a file are in a journal already; refuse a journal that holds others."""
    done, last, events = 0, store.last(), _events(path)
    while done < last:
        found = store.read(done, limit=BATCH)
        if not found or found != list(islice(events, len(found))):
            raise StoreFailure(
                f"an import must go into an empty journal, but {store!r} holds {last} events that are not the"
                " beginning of the file; give a new journal"
            )
        done = found[-1].position
    return done


def _events(path: str | os.PathLike[str]) -> Iterator[Event]:
    """Yield the events of a file, each looked at."""
    with _open(Path(path), "rt", zipped=Path(path).suffix == ".gz") as file:
        version, count = _header(path, file.readline())
        parts, number = PARTS if version > 1 else OLD_PARTS, 0
        for number, line in enumerate(file, 1):
            facts = _parse(path, number + 1, line)
            if set(facts) != set(parts) or facts["position"] != number or not isinstance(facts["at"], float):
                raise InvalidEvent(
                    f"an event must have {', '.join(parts)}, with positions from 1 on,"
                    f" but line {number + 1} of {path} has not"
                )
            yield Event(**{"mark": old_mark(number, facts["at"]), **facts})
    if number != count:
        raise InvalidEvent(f"a journal must be whole, but {path} holds {number} of {count} events; export it again")


def _header(path: str | os.PathLike[str], line: str) -> tuple[int, int]:
    facts = _parse(path, 1, line)
    if facts.get("format") != FORMAT or type(facts.get("count")) is not int:
        raise InvalidEvent(f'a journal must begin with {{"format": "{FORMAT}", ...}}, but {path} does not')
    if facts.get("version") not in range(1, VERSION + 1):
        raise InvalidEvent(
            f"an exported journal must be of version 1 to {VERSION}, but {path} is of version {facts.get('version')!r};"
            " upgrade druthers"
        )
    return facts["version"], facts["count"]


def _parse(path: str | os.PathLike[str], number: int, line: str) -> dict[str, Any]:
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise InvalidEvent(f"every line of a journal must be an object in JSON, but line {number} of {path} is not")
    return facts


def _line(facts: dict[str, Any]) -> str:
    return f"{json.dumps(facts, allow_nan=False, separators=(',', ':'))}\n"


@contextmanager
def _open(path: Path, mode: str, *, zipped: bool) -> Iterator[IO[str]]:
    """Open a file of text, compressed or not; what is wrong with it is told by name."""
    try:
        with gzip.open(path, mode, encoding="ascii") if zipped else path.open(mode, encoding="ascii") as file:
            yield file  # type: ignore[misc]
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as problem:
        raise InvalidEvent(f"a journal must be whole, in ASCII, but {path}: {problem}") from None
    except OSError as problem:
        raise StoreFailure(f"a journal must be in a file that can be opened, but {path}: {problem.strerror}") from None
