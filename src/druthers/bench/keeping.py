"""Long work in parts: each is kept as soon as it is done, so that what was stopped goes on where it was."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from druthers.drafts import read_arrays, write_arrays
from druthers.engines import Progress, Watch, make_engine
from druthers.errors import DamagedState, InvalidSetting
from druthers.sources import our_digest
from druthers.types import Floats

T = TypeVar("T")
PARTS = "parts"


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
    return Path(folder) / PARTS / f"{whole.hexdigest()[:24]}.npz"


def carry_out(
    stage: str,
    work: Callable[[T], Floats],
    parts: Sequence[Part],
    *,
    workers: int | None,
    watch: Watch,
    check: Callable[[T, Floats], object] = lambda task, outcome: None,
) -> list[Floats]:
    """Return the outcome of each part, from the files of earlier runs where these are whole.

    Parts are begun in their order, by so many processes, one for each core by default. `watch` is told how far
    the stage is; `check` raises `InvalidSetting` for what was kept but cannot be an outcome.
    """
    kept = {place: outcome for place, part in enumerate(parts) if (outcome := _read(part, check)) is not None}
    left = [place for place in range(len(parts)) if place not in kept]
    watch(Progress(stage, len(kept), len(parts)))
    if left:
        with make_engine("processes", workers) as engine:
            for done, outcome in engine.run(work, [parts[place].task for place in left]):
                part = parts[left[done]]
                kept[left[done]] = outcome
                if part.path is not None:
                    write_arrays(part.path, outcome=outcome)
                watch(Progress(stage, len(kept), len(parts), part.label))
    return [kept[place] for place in range(len(parts))]


def _read(part: Part, check: Callable[[Any, Floats], object]) -> Floats | None:
    """Return what was kept of a part, or None where nothing whole was."""
    if part.path is None:
        return None
    try:
        outcome: Floats = read_arrays(part.path.read_bytes())["outcome"]
        check(part.task, outcome)
    except (OSError, DamagedState, KeyError, InvalidSetting):
        return None
    return outcome
