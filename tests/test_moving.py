"""Journals move between stores by way of files, and nothing changes on the way."""

from __future__ import annotations

import gzip
import itertools
import json
import threading

import pytest

from druthers.errors import InvalidEvent, StoreFailure
from druthers.stores import STORES, Event, MemoryStore, open_store
from druthers.stores.moving import PARTS, export_events, import_events
from druthers.testing.stores import BODY

BATCH = 20
COUNT = 2 * BATCH + 7


@pytest.fixture(autouse=True)
def batches(monkeypatch):
    monkeypatch.setattr("druthers.stores.moving.BATCH", BATCH)


@pytest.fixture(scope="module")
def full():
    store = MemoryStore()
    store.append(
        [
            Event(
                "note",
                {**BODY, "number": number},
                number / 7,
                f"ü{number % 5}",
                None,
                f"k{number}" if number % 2 else None,
            )
            for number in range(COUNT)
        ]
    )
    return store


def everything(store):
    return store.read(limit=10**6)


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_journal_comes_back_as_it_was(name, ending, full, tmp_path, request):
    urls = {"memory": "memory:", "sqlite": f"sqlite:{tmp_path}/new.db"}
    url = urls.get(name) or request.getfixturevalue("postgres").fresh()
    files = [tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"]
    assert export_events(full, files[0]) == COUNT
    with open_store(url) as store:
        assert import_events(files[0], store) == COUNT
        assert everything(store) == everything(full)
        assert export_events(store, files[1]) == COUNT
    texts = [gzip.decompress(file.read_bytes()) if ending.endswith("gz") else file.read_bytes() for file in files]
    assert texts[0] == texts[1]
    lines = [json.loads(line) for line in texts[0].splitlines()]
    assert lines[0] == {"format": "druthers-journal", "version": 2, "count": COUNT}
    assert all(tuple(line) == PARTS for line in lines[1:])
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_an_export_is_a_beginning_while_others_write(tmp_path):
    with open_store(str(tmp_path / "journal.db")) as store:
        store.append([Event("note", {"number": 0}, 0.0)])
        over = threading.Event()

        def write():
            for number in itertools.count(1):
                store.append([Event("note", {"number": number}, float(number))])
                if over.is_set():
                    return

        writer = threading.Thread(target=write)
        writer.start()
        try:
            counts = []
            while len(counts) < 20 or counts[0] == counts[-1]:  # until something was written meanwhile
                counts.append(export_events(store, tmp_path / f"{len(counts)}.jsonl"))
        finally:
            over.set()
            writer.join()
        for number, count in enumerate(counts):
            copy = MemoryStore()
            assert import_events(tmp_path / f"{number}.jsonl", copy) == count
            assert everything(copy) == store.read(limit=count)


class Weak(MemoryStore):
    """A store that fails after some appends."""

    strength = 1

    def append(self, events, *, together=False):
        if not self.strength:
            raise StoreFailure("weak")
        self.strength -= 1
        return super().append(events, together=together)


def test_an_import_that_failed_carries_on(full, tmp_path):
    path, store = tmp_path / "journal.jsonl", Weak()
    export_events(full, path)
    with pytest.raises(StoreFailure, match="weak"):
        import_events(path, store)
    assert store.last() == BATCH
    store.strength = 9
    assert import_events(path, store) == import_events(path, store) == COUNT
    assert everything(store) == everything(full)


def test_an_import_goes_into_an_empty_journal(full, tmp_path):
    path, store = tmp_path / "journal.jsonl", MemoryStore()
    export_events(full, path)
    store.append([Event("note", {}, 1.0)])
    with pytest.raises(StoreFailure, match=r"must go into an empty journal, but MemoryStore.* holds 1 events"):
        import_events(path, store)
    assert store.last() == 1
    more = MemoryStore()
    more.append([*everything(full), Event("note", {}, 1.0)])
    with pytest.raises(StoreFailure, match="empty journal"):
        import_events(path, more)


def spoiled(lines):
    """Yield what can be wrong with a file, with the words that tell it."""
    event = json.loads(lines[1])
    yield lines[:-1], "holds 8 of 9 events; export it again"
    yield [*lines, lines[-1]], "positions from 1 on, but line 11"
    yield [lines[0], lines[2], lines[1], *lines[3:]], "positions from 1 on, but line 2"
    yield lines[1:], "must begin with"
    yield [], "line 1 of"
    yield [lines[0].replace('"version":2', '"version":3'), *lines[1:]], "is of version 3; upgrade druthers"
    yield [lines[0].replace('"version":2', '"version":1'), *lines[1:]], "line 2 of"
    yield [*lines[:4], lines[4][:20], *lines[5:]], "line 5 of"
    yield [*lines[:4], "[" * 5000, *lines[5:]], "line 5 of"
    yield [*lines[:2], lines[2].replace('"key":"b"', '"key":"a"'), *lines[3:]], "line 3 of .* has 'a' again"
    for part, value in (("user", "\0"), ("at", "noon"), ("at", float("nan")), ("body", [1]), ("kind", None)):
        yield [lines[0], json.dumps({**event, part: value}), *lines[2:]], "must"
    yield [lines[0], json.dumps({**event, "more": 1}), *lines[2:]], "line 2 of"
    yield [lines[0].replace("f", "\xff"), *lines[1:]], "in ASCII"


def test_a_spoiled_file_changes_nothing(tmp_path):
    source, path = MemoryStore(), tmp_path / "journal.jsonl"
    source.append([Event("note", {}, 1.0, key=key) for key in "abcdefghi"])
    export_events(source, path)
    lines = path.read_text().splitlines()
    for wrong, message in spoiled(lines):
        path.write_bytes("\n".join(wrong).encode("latin-1"))
        store = MemoryStore()
        with pytest.raises(InvalidEvent, match=message):
            import_events(path, store)
        assert store.last() == 0
    zipped = tmp_path / "journal.jsonl.gz"
    export_events(source, zipped)
    for content in (zipped.read_bytes()[:-9], b"plain text"):
        zipped.write_bytes(content)
        with pytest.raises(InvalidEvent, match="must be whole"):
            import_events(zipped, MemoryStore())


def test_files_that_cannot_be_reached_are_told(full, tmp_path):
    with pytest.raises(StoreFailure, match=r"can be written, but .*: No such file"):
        export_events(full, tmp_path / "nowhere" / "journal.jsonl")
    with pytest.raises(StoreFailure, match=r"can be opened, but .*: No such file"):
        import_events(tmp_path / "nowhere.jsonl", MemoryStore())
    assert list(tmp_path.iterdir()) == []
