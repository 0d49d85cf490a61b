"""Entering the benchmark: play a model of one's own, keep what it foretold, and have it checked and scored.

An entry is one file (.npz): for each study and order of arrival the chances (n, K) that were foretold, in the rows of
the study, and a few words about who foretold them. Scores are never taken from an entry; they are made from its chances
by the code that scores everybody.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from druthers.bench.running import ORDERS, STUDIES, digest, read_study
from druthers.bench.scoring import arrival, check, score, sheet
from druthers.drafts import read_arrays, write_arrays
from druthers.environments.people import Listener, replay
from druthers.errors import DamagedState, InvalidSetting

ABOUT = ("name", "about", "link")


class Entry(NamedTuple):
    """A checked entry."""

    about: dict[str, str]  # its name, what it is, and where more is said of it
    studies: dict[str, dict[str, Any]]  # scores by study


def enter(
    make: Callable[[int], Listener],
    path: str | Path,
    *,
    name: str,
    about: str,
    link: str = "",
    studies: Sequence[str] = STUDIES,
    orders: int = ORDERS,
) -> Path:
    """Let a model of one's own play the benchmark and write its entry; one to the table has all studies and orders.

    `make` returns a fresh listener for a number of objectives, a new one for each study and order. The entry tells what
    it is called, what it is in a sentence, and where to read more.
    """
    arrays: dict[str, Any] = {"about": json.dumps({"name": name, "about": about, "link": link})}
    for study in studies:
        people = read_study(study)
        arrays[f"{study}/sha256"] = digest(people)
        for order in range(orders):
            listener = make(people.slates.shape[2])
            arrays[f"{study}/{order}"] = replay(people, listener, arrival(people, order)).astype(np.float32)
    write_arrays(Path(path), **arrays)
    return Path(path)


def read_entry(path: str | Path) -> Entry:
    """Read an entry, check it against the studies as they are here, and score it."""
    try:
        arrays = read_arrays(Path(path).read_bytes())
        about = json.loads(str(arrays.pop("about")))
    except (OSError, DamagedState, ValueError, KeyError) as error:
        raise InvalidSetting(
            f"an entry must be a file that druthers.bench.enter wrote, with `about` in it, but {path}: {error}"
        ) from None
    if not isinstance(about, dict) or {name: type(text) for name, text in about.items()} != dict.fromkeys(ABOUT, str):
        raise InvalidSetting(f"`about` must be texts for {', '.join(ABOUT)}, but {path} has {about!r}")
    studies: dict[str, dict[str, Any]] = {}
    for study in dict.fromkeys(name.partition("/")[0] for name in arrays):
        people = read_study(study)
        told = str(arrays.get(f"{study}/sha256", "none"))
        if told != digest(people):
            raise InvalidSetting(
                f"an entry must be about the study as it is here, hash {digest(people)[:16]}..., but {path} has"
                f" {told[:16]} for {study}; bring it anew with: druthers data people {study}"
            )
        keys = [name.partition("/")[2] for name in arrays if name.startswith(f"{study}/")]
        numbers = sorted(int(key) for key in keys if key.isdecimal())
        if numbers != list(range(len(numbers))) or not numbers:
            raise InvalidSetting(f"orders must be numbered from 0 without gaps, but {path} has {numbers} for {study}")
        chances = [check(people, arrays[f"{study}/{number}"]) for number in numbers]
        studies[study] = sheet(people, score(people, chances))
    return Entry(about, studies)


def add_entry(entry: Entry, results: dict[str, Any]) -> dict[str, Any]:
    """Return results with an entry's scores beside those of the players."""
    for study in entry.studies.keys() & results["studies"].keys():
        results["studies"][study]["players"][entry.about["name"]] = {**entry.studies[study], **entry.about}
    return results
