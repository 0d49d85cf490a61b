"""Running an experiment: every policy on every run, spread over an engine, kept pair by pair so that it can resume."""

import contextlib
import hashlib
import inspect
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from druthers._jit import cache_folder
from druthers.engines import Engine, Progress, Watch, unwatched
from druthers.environments import Environment, Reviews, Tape
from druthers.experiments.keeping import Part, carry_out
from druthers.experiments.plan import Experiment, Row
from druthers.experiments.results import Results
from druthers.own import is_own, own_digest, settings_of
from druthers.policies import Policy, find_policy
from druthers.simulation import Run, simulate, spread_rounds
from druthers.sources import our_digest
from druthers.types import RankingLike

# A game of so many rounds reaches every kernel.
WARM_UP_ROUNDS = 60

# Tasks are handed out in batches of at most so many rounds, a second of work or less.
BATCH_ROUNDS = 10_000


class Task(NamedTuple):
    """One policy on one run; it hears the rankings of the tape, or others where some are given.

    An environment of someone's own is made where the task is carried out: another process may not have its class.
    """

    row: Row
    environment: Environment | None
    seed: int
    run: int
    points: int
    rankings: Sequence[RankingLike] | None = None


class Outcome(NamedTuple):
    """What came of a task, and how long it took."""

    run: Run
    seconds: float


# From a row and a run to what policies hear in it, one ranking for each interaction.
Heard = Callable[[Row, int], Sequence[RankingLike]]


def play(task: Task) -> Outcome:
    """Carry out a task: draw the tape of the run and let a fresh policy play it."""
    kind = _kind(task.row)
    if task.row.own and kind not in _COMPILED_HERE:
        _COMPILED_HERE.add(kind)
        play(_shortened(task))
    start = time.perf_counter()
    environment = task.environment or task.row.make_environment()
    tape = environment.tape(seed=(task.seed, task.run), horizon=task.row.horizon)
    if task.rankings is not None:
        tape = tape.with_rankings(task.rankings)
    policy = fresh_policy(task.row, tape, task.seed, task.run)
    run = simulate(policy, tape, spread_rounds(task.row.horizon, task.points))
    return Outcome(run, time.perf_counter() - start)


def fresh_policy(row: Row, tape: Tape, seed: int, run: int) -> Policy:
    """Return the policy that plays a row on a run; one that knows the truth is told it."""
    truth: dict[str, Any] = {}
    if find_policy(row.policy).knows_truth:
        truth = {"preferences": dict(enumerate(tape.preferences)), "rewards": dict(enumerate(tape.means))}
    own_seed = int(np.random.SeedSequence((seed, run), spawn_key=(4,)).generate_state(1)[0])
    return row.make_policy(tape.means.shape[1], seed=own_seed, **truth)


# Parts of others leave nothing in the cache, so each process compiles them before it takes the time.
_COMPILED_HERE: set[str] = set()


def run_experiment(
    experiment: Experiment,
    folder: str | Path | None = None,
    *,
    engine: str | Engine = "processes",
    workers: int | None = None,
    watch: Watch = unwatched,
    heard: Heard | None = None,
) -> Results:
    """Play an experiment and return its results; with a folder, keep them there and go on from what is there already.

    The engine is "processes", "ray", a Ray address, or one that is already at work. `heard` gives what policies hear
    instead of the rankings on the tape, such as rankings read from texts.

    Examples
    --------
    >>> from druthers.experiments import load_experiment
    >>> small = load_experiment("synthetic").only(["s-ucb"]).with_settings({"runs": 2, "horizon": 50})
    >>> run_experiment(small, workers=1).final_regret("s-ucb").shape
    (2,)
    """
    rows = experiment.rows()
    environments = [row.make_environment() for row in rows]
    parts = []
    for row, environment in zip(rows, environments, strict=True):
        sent = None if is_own(row.environment["name"]) else environment
        for run in range(experiment.runs):
            task = Task(row, sent, experiment.seed, run, experiment.points, heard(row, run) if heard else None)
            path = None if folder is None else Path(folder) / "pairs" / f"{_key(task, environment)}.npz"
            parts.append(Part(task, path, row.label))
    tasks = [part.task for part in parts]
    outcomes = carry_out(
        "playing",
        play,
        parts,
        engine=engine,
        workers=workers,
        watch=watch,
        pack=lambda outcome: {"seconds": outcome.seconds, **outcome.run._asdict()},
        unpack=lambda task, kept: Outcome(Run(*(kept[name] for name in Run._fields)), float(kept["seconds"])),
        prepare=lambda at_work, left: warm_up(at_work, [tasks[place] for place in left], watch),
        batches=partial(_batches, tasks),
    )
    runs: dict[str, list[Run]] = {row.label: [] for row in rows}
    seconds: dict[str, list[float]] = {row.label: [] for row in rows}
    for part, outcome in zip(parts, outcomes, strict=True):
        runs[part.label].append(outcome.run)
        seconds[part.label].append(outcome.seconds)
    sources = {environment.source for environment in environments if isinstance(environment, Reviews)}
    results = Results(experiment, runs, seconds, "; ".join(sorted(sources)) or None, rows=rows)
    if folder is not None:
        results.save(folder)
    return results


def warm_up(engine: Engine, tasks: Sequence[Task], watch: Watch) -> None:
    """Compile what the tasks need and is not yet compiled, by a short game of each kind of policy."""
    games, folder = {}, cache_folder()
    # A mark says that a kind of policy was compiled by the code as it is now.
    marks = {_kind(task.row): f"{_kind(task.row)}-{_code()[:16]}.compiled" for task in tasks}
    for task in tasks:
        kind = _kind(task.row)
        if not task.row.own and (folder is None or not (folder / marks[kind]).exists()):
            games[kind] = _shortened(task)
    if not games:
        return
    order = sorted(games, key=lambda kind: _haste(games[kind].row))
    watch(Progress("compiling", 0, len(games)))
    for done, (place, _) in enumerate(engine.run(play, [games[kind] for kind in order]), start=1):
        if folder is not None:
            with contextlib.suppress(OSError):  # caches may be deleted at any time; the mark only saves time
                (folder / marks[order[place]]).touch()
        watch(Progress("compiling", done, len(games), order[place]))


def _haste(row: Row) -> bool:
    """Return what to sort rows by: those with an anchor take longest and come first, so that cores finish together."""
    return "anchor" not in settings_of(find_policy(row.policy))


def _batches(tasks: Sequence[Task], places: Sequence[int]) -> list[list[int]]:
    """Put short tasks of a row together: a process then loads the machine code of few policies."""
    batches: list[list[int]] = []
    rounds = BATCH_ROUNDS
    for place in sorted(places, key=lambda place: _haste(tasks[place].row)):
        row = tasks[place].row
        if rounds + row.horizon > BATCH_ROUNDS or row is not tasks[batches[-1][-1]].row:
            batches.append([])
            rounds = 0
        batches[-1].append(place)
        rounds += row.horizon
    return batches


def _kind(row: Row) -> str:
    """Return a name that two rows share if they run the same machine code."""
    anchor = row.params.get("anchor", "")
    name = anchor.get("name", "") if isinstance(anchor, dict) else anchor
    return f"{row.policy} {name}".strip()


def _shortened(task: Task) -> Task:
    row = Row(**{**task.row.__dict__, "horizon": min(task.row.horizon, WARM_UP_ROUNDS)})
    return task._replace(row=row, rankings=None)


def _key(task: Task, environment: Environment) -> str:
    """Return a name for all that decides a task's outcome: settings, chance, and the code itself."""
    settings = {
        name: value if isinstance(value, str | int | float | None) else repr(value)
        for name, value in environment.params.items()
    }
    if isinstance(environment, Reviews):
        settings = {**settings, "data": environment.source}
    content = [
        _code(),
        type(environment).__name__,
        settings,
        task.row.policy,
        [own_digest(name) for name in task.row.own],
        task.row.params,
        task.row.horizon,
        task.seed,
        task.run,
        task.points,
        *([] if task.rankings is None else [[list(ranking) for ranking in task.rankings]]),
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=repr).encode()).hexdigest()[:24]


def _code() -> str:
    """Return a digest of the code of ours that plays."""
    return our_digest(frozenset([Path(inspect.getfile(simulate))]))
