"""The theory bench: every claim as an experiment with a verdict by a stated test."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from druthers.engines import Processes, Progress, Watch, unwatched
from druthers.errors import require_known
from druthers.theory import corruption, growth, instances, radii
from druthers.theory.claims import FAILS, HOLDS, OPEN, Chart, Claim, Finding, Game, Line
from druthers.theory.games import keep, play
from druthers.types import Floats

# The policy whose kernels take longest to compile, so that it is begun first.
COMPILED_LONGEST = "fisher-pqucb"

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for claim in (
        Claim.of(radii.check_shift),
        Claim.of(instances.check_queries_alone),
        Claim.of(radii.check_rate),
        Claim.of(radii.check_radius),
        Claim.of(radii.check_noise),
        Claim.of(radii.check_radii),
        Claim.of(growth.check_growth, growth.rivals),
        Claim.of(growth.check_gain, growth.rivals),
        Claim.of(corruption.check_corrupted),
        Claim.of(corruption.check_penalty),
        Claim.of(corruption.check_automatic),
        Claim.of(corruption.check_consistency),
        Claim.of(growth.check_corrupted_growth, growth.corrupted_games),
        Claim.of(growth.check_information),
        Claim.of(growth.check_ours, growth.rivals),
        Claim.of(instances.check_hardest, instances.hardest_games),
        Claim.of(instances.check_starving, instances.starving_games),
    )
}


class Checked(NamedTuple):
    """A claim and what came of it."""

    claim: Claim
    finding: Finding


def check(
    names: list[str] | None = None, *, fast: bool = False, workers: int = 2, watch: Watch = unwatched
) -> list[Checked]:
    """Check claims, all of them by default, with fixed seeds; the same call gives the same findings.

    `fast` runs are smaller, under the same rules. `watch` is told of each run of a game and each claim that is done.
    """
    wanted = list(CLAIMS) if names is None else names
    require_known("claim", CLAIMS, *wanted)
    games = list(dict.fromkeys(game for name in wanted for game in CLAIMS[name].games(fast)))
    total = len(wanted) + sum(game.runs for game in games)
    found: dict[str, Finding] = {}
    for done, (name, finding) in enumerate(_parts(games, wanted, fast, workers), start=1):
        if finding is not None:
            found[name] = finding
        watch(Progress("checking", done, total, name))
    return [Checked(CLAIMS[name], found[name]) for name in wanted]


def _parts(games: list[Game], wanted: list[str], fast: bool, workers: int) -> Iterator[tuple[str, Finding | None]]:
    """Yield the name and finding of each claim, and nothing but a sign for each run."""
    of_games = [name for name in wanted if CLAIMS[name].games(fast)]
    runs = [(game, run) for game in games for run in range(game.runs)]
    runs.sort(key=lambda each: (-each[0].horizon, each[1]))
    # One run of each policy goes first: what a process compiles is there for all, so no two compile the same.
    first = {game.policy: (game, run) for game, run in reversed(runs)}
    begun = [first[policy] for policy in sorted(first, key=lambda policy: policy != COMPILED_LONGEST)]
    alone = [(name, fast) for name in wanted if name not in of_games]
    tasks: list[Any] = [*begun, *alone, *(each for each in runs if each not in begun)]
    curves: dict[tuple[Game, int], Floats] = {}
    with Processes(workers) as engine:
        for place, found in engine.run(_carry_out, tasks):
            if isinstance(found, Finding):
                yield tasks[place][0], found
            else:
                curves[tasks[place]] = found
                yield "", None
    for game in games:
        keep(game, np.array([curves[game, run] for run in range(game.runs)]))
    for name in of_games:
        yield name, CLAIMS[name].check(fast)


def _carry_out(task: tuple[Any, Any]) -> Any:
    """Check a claim, which has no games, or play a run of a game."""
    return CLAIMS[task[0]].check(task[1]) if isinstance(task[0], str) else play(*task)


__all__ = ["CLAIMS", "FAILS", "HOLDS", "OPEN", "Chart", "Checked", "Claim", "Finding", "Line", "check"]
