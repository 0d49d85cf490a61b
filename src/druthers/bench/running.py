"""Playing a benchmark of people: every player on every study and order, kept one by one so that it can resume."""

import hashlib
import inspect
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from druthers import __version__
from druthers._jit import cache_folder
from druthers.bench import ceiling, players
from druthers.bench.players import CEILING, OURS, PLAYERS
from druthers.bench.scoring import Told, arrival, check, compare, positions, score, sheet
from druthers.drafts import write_text
from druthers.engines import Watch, unwatched
from druthers.environments.people import People, read_people
from druthers.errors import require, require_known
from druthers.experiments.keeping import Part, carry_out, part_path
from druthers.types import Floats

# Those that the figures of the field are known for.
STUDIES = ("electricity", "train", "camera", "bank")
ORDERS, FAST_ORDERS, FAST_PEOPLE = 10, 2, 120
FORMAT = 1


class Task(NamedTuple):
    """One player on one study and order of arrival."""

    study: str
    player: str
    order: int
    people: People


class Bench(NamedTuple):
    """What came of a benchmark: people by study, and what players foretold by study and player."""

    people: dict[str, People]
    told: dict[str, dict[str, Told]]
    settings: dict[str, Any]

    def results(self) -> dict[str, Any]:
        """Return the results as they are written to a file."""
        studies = {}
        for name, people in self.people.items():
            told = self.told[name]
            sheets = {one: {**sheet(people, told[one]), **self._against(people, told, one)} for one in told}
            sizes = {"people": len(people), "choices": len(people.picked)}
            studies[name] = {**sizes, "sha256": digest(people), "players": sheets}
        return {"format": FORMAT, "version": __version__, **self.settings, "studies": studies}

    def _against(self, people: People, told: dict[str, Told], player: str) -> dict[str, Any]:
        """Return what ours gains over a player in nats and hits: over all choices, the first one, the first five."""
        if OURS not in told or player == OURS:
            return {}
        place = positions(people)
        parts = {"all": place > 0, "1": place == 1, "1-5": place <= 5}
        gains: dict[str, dict[str, Any]] = {"ours_gains": {}, "ours_hits": {}}
        for key, found in gains.items():
            for name, rows in parts.items():
                by_hits = key == "ours_hits"
                found[name] = compare(people, told[OURS], told[player], rows, by_hits=by_hits)._asdict()
        return gains


def play(task: Task) -> Floats:
    """Let a player play."""
    return PLAYERS[task.player].play(task.people, arrival(task.people, task.order))


def play_bench(
    studies: Sequence[str] = STUDIES,
    folder: str | Path | None = None,
    *,
    orders: int = ORDERS,
    n_people: int | None = None,
    only: Sequence[str] = tuple(PLAYERS),
    workers: int | None = None,
    watch: Watch = unwatched,
) -> Bench:
    """Play the benchmark, or go on with it: finished parts are kept in the folder, and in the end the results.

    Studies are names where data sets are kept, or folders; of each only so many people may play, for a quick look.
    People arrive in so many random orders, the same for every player.
    """
    require_known("player", PLAYERS, *only)
    require(orders >= 1, "orders must be at least 1", orders)
    people = {Path(name).name: read_study(name, n_people) for name in studies}
    tasks = [
        Task(name, player, order, these)
        for name, these in people.items()
        for player in only
        for order in range(orders if PLAYERS[player].by_order else 1)
    ]
    # The longest first, so that cores finish together.
    tasks.sort(key=lambda task: (task.player not in (CEILING, OURS), -task.people.slates.size))
    foretold = _played(tasks, None if folder is None else Path(folder), workers, watch)
    told = {name: {player: score(these, foretold[name, player]) for player in only} for name, these in people.items()}
    bench = Bench(people, told, {"orders": orders, "people_of_each": n_people})
    if folder is not None:
        write_results(bench.results(), folder, "results.json")
    return bench


def foretell_study(name: str, player: str, n_people: int | None = None) -> tuple[People, Floats]:
    """Return the people of a study and what a player foretold of them, from the cache where it is there."""
    people = read_study(name, n_people)
    study = Path(name).name
    return people, _played([Task(study, player, 0, people)], None, 1, unwatched)[study, player][0]


def read_study(name: str, n_people: int | None = None) -> People:
    """Return the people of a study with objectives on one scale; only the first few at wish."""
    people = read_people(name)
    return (people if n_people is None or n_people >= len(people) else people.part(range(n_people))).standardized()


def write_results(results: dict[str, Any], folder: str | Path | None, name: str) -> None:
    """Write results as JSON into a folder, if there is one, whole or not at all."""
    if folder is not None:
        write_text(Path(folder) / name, json.dumps(results, indent=1, sort_keys=True) + "\n")


def digest(people: People) -> str:
    """Return the hash of what was offered and picked."""
    whole = hashlib.sha256(repr((people.slates.shape, people.objectives, people.ids)).encode())
    for part in (np.round(people.slates, 9) + 0.0, people.picked, people.starts):
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()


def _played(
    tasks: Sequence[Task], folder: Path | None, workers: int | None, watch: Watch
) -> dict[tuple[str, str], list[Floats]]:
    """Return what is foretold by study and player, order by order, from files of earlier runs where these are whole."""
    parts = [Part(task, _path(task, folder), f"{task.study} {task.player}") for task in tasks]
    foretold: dict[tuple[str, str], list[Floats]] = defaultdict(list)
    played = carry_out(
        "foretelling",
        play,
        parts,
        workers=workers,
        watch=watch,
        unpack=lambda task, kept: check(task.people, kept["outcome"]),
    )
    for task, told in zip(tasks, played, strict=True):
        foretold[task.study, task.player].append(told)
    return foretold


def _path(task: Task, folder: Path | None) -> Path | None:
    """Return where a task's outcome is kept: what no order changes is kept for all later benchmarks too."""
    cache = cache_folder()
    if not PLAYERS[task.player].by_order and cache is not None:
        folder = cache.parent / "people"
    module = ceiling if task.player == CEILING else players
    return part_path(folder, inspect.getfile(module), digest(task.people), task.player, task.order)
