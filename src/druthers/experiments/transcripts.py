"""What was said in a conversation, kept batch by batch: lines of JSON that people can read and programs resume from."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from druthers.errors import InvalidExperiment

REMEDY = "delete its folder, and all is said again"

Key = tuple[int, tuple[int, ...], bool]


class Message(NamedTuple):
    """What a user means to say."""

    number: int  # which query of its run it is, counted from 0
    ranking: tuple[int, ...]  # objectives by index, most important first
    vague: bool  # whether the user keeps it to themselves
    corrupted: bool  # whether the ranking was permuted

    @property
    def key(self) -> Key:
        """What decides the text: the same message may occur in several settings of an experiment."""
        return self.number, self.ranking, self.vague


class Line(NamedTuple):
    """A message, the text that it became, and how that was read."""

    message: Message
    text: str
    ranking: tuple[int, ...]
    dismissed: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class Transcript:
    """A folder with the texts of each run, `run-1.jsonl` and so on, and what each batch of them took, `batches.jsonl`.

    A batch counts once it is recorded there: texts behind the last record are cut off, so whatever happens, at most one
    batch is lost and none is kept by half. The files use the names of objectives.
    """

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self._names = tuple(names)
        self._lines: dict[int, dict[Key, Line]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._record = folder / "batches.jsonl"
        if self._record.exists():  # without a last line that was not finished
            _cut(self._record, self._record.read_bytes().rfind(b"\n") + 1)
        self.batches: list[dict[str, Any]] = list(_read(self._record))

    def of(self, run: int) -> dict[Key, Line]:
        """Return what was said in a run, by message."""
        if run not in self._lines:
            path = self._path(run)
            end = max((batch["end"] for batch in self.batches if batch["run"] == run + 1), default=0)
            if (path.stat().st_size if path.exists() else 0) < end:
                raise InvalidExperiment(f"texts must be as long as their record says, but {path} is shorter; {REMEDY}")
            _cut(path, end)
            rows = list(_read(path))
            try:
                lines = [self._line(row) for row in rows]
            except (KeyError, TypeError, ValueError) as error:
                law = "texts must be as they were written"
                raise InvalidExperiment(f"{law}, but {path}: {error!r}; {REMEDY}") from None
            self._lines[run] = {line.message.key: line for line in lines}
        return self._lines[run]

    def add(self, run: int, lines: Iterable[Line], took: dict[str, Any]) -> None:
        """Keep a batch of a run, and what it took."""
        known, batch = self.of(run), list(lines)
        end = _append(self._path(run), [self._plain(line) for line in batch])
        record = {"run": run + 1, "texts": len(batch), "end": end, **took}
        _append(self._record, [record])
        self.batches.append(record)
        known.update((line.message.key, line) for line in batch)

    def _path(self, run: int) -> Path:
        return self.folder / f"run-{run + 1}.jsonl"

    def _plain(self, line: Line) -> dict[str, Any]:
        number, ranking, vague, corrupted = line.message
        return {
            "number": number + 1,
            "meant": self._called(ranking),
            "corrupted": corrupted,
            "vague": vague,
            "text": line.text,
            "read": self._called(line.ranking),
            "dismissed": self._called(line.dismissed),
            **({"notes": list(line.notes)} if line.notes else {}),
        }

    def _line(self, row: dict[str, Any]) -> Line:
        meant, read, dismissed = (
            tuple(self._names.index(name) for name in row[part]) for part in ("meant", "read", "dismissed")
        )
        message = Message(row["number"] - 1, meant, row["vague"], row["corrupted"])
        return Line(message, row["text"], read, dismissed, tuple(row.get("notes", ())))

    def _called(self, ranking: Sequence[int]) -> list[str]:
        return [self._names[index] for index in ranking]


def _append(path: Path, rows: Sequence[dict[str, Any]]) -> int:
    """Add lines to a file, on the disk before this returns; return how long the file is now."""
    with path.open("ab") as file:
        file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace"))
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _read(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InvalidExperiment(
                f"texts must be lines of JSON as they were written, but {path} has others; {REMEDY}"
            )
        yield row


def _cut(path: Path, length: int) -> None:
    if path.exists() and path.stat().st_size > length:
        os.truncate(path, length)
