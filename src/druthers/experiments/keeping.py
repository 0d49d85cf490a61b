"""Long work in parts: each is kept as soon as it is done, so that what was stopped goes on where it was."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from druthers.drafts import read_arrays, write_arrays
from druthers.engines import Engine, Progress, Watch, make_engine
from druthers.errors import DamagedState, InvalidSetting
from druthers.own import own_parts
from druthers.sources import our_digest

T = TypeVar("T")
R = TypeVar("R")


class Part(NamedTuple):
    """A part of some work."""

    task: Any
    path: Path | None  # where its outcome is kept; nowhere if None
    label: str  # what it is called while one waits


def part_path(folder: str | Path | None, file: str, *key: Any) -> Path | None:
    """Return where in a folder an outcome is kept, by all that decides it: a key, and the code of a source file."""
    if folder is None:
        return None
    whole = hashlib.sha256(repr((our_digest(frozenset([Path(file)])), *key)).encode())
    return Path(folder) / "parts" / f"{whole.hexdigest()[:24]}.npz"


def carry_out(
    stage: str,
    work: Callable[[T], R],
    parts: Sequence[Part],
    *,
    engine: str | Engine = "processes",
    workers: int | None,
    watch: Watch,
    pack: Callable[[R], Mapping[str, Any]] = lambda outcome: {"outcome": outcome},
    unpack: Callable[[T, Mapping[str, Any]], R] = lambda task, kept: kept["outcome"],
    prepare: Callable[[Engine, Sequence[int]], None] = lambda at_work, left: None,
    batches: Callable[[Sequence[int]], list[list[int]]] | None = None,
) -> list[R]:
    """Return the outcome of each part, from the files of earlier runs where these are whole.

    Parts are begun in their order, by so many processes, one for each core by default. `watch` is told how far the
    stage is. An outcome is kept as the arrays that `pack` makes of it; `unpack` raises `InvalidSetting` for what was
    kept but cannot be one. `prepare` is called before anything is carried out; `batches` says what is sent together.
    """
    chosen = make_engine(engine, workers) if isinstance(engine, str) else engine
    kept: dict[int, R] = {}
    for place, part in enumerate(parts):
        try:
            if part.path is not None:
                kept[place] = unpack(part.task, read_arrays(part.path.read_bytes()))
        except (OSError, DamagedState, KeyError, TypeError, InvalidSetting):
            continue  # nothing whole was kept of it
    left = [place for place in range(len(parts)) if place not in kept]
    if not left:
        watch(Progress(stage, len(kept), len(parts)))
    else:
        with chosen as at_work:
            prepare(at_work, left)
            watch(Progress(stage, len(kept), len(parts)))
            sent = [[place] for place in left] if batches is None else batches(left)
            tasks = [[parts[place].task for place in batch] for batch in sent]
            for done, outcomes in at_work.run(partial(_carry_out, work), tasks):
                for place, outcome in zip(sent[done], outcomes, strict=True):
                    part = parts[place]
                    kept[place] = outcome
                    if part.path is not None:
                        write_arrays(part.path, **pack(outcome))
                    watch(Progress(stage, len(kept), len(parts), part.label))
    return [kept[place] for place in range(len(parts))]


def _carry_out(work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    with own_parts():
        return [work(task) for task in tasks]
