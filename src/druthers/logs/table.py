"""A log: a table of decisions in columns, with what was heard before each and what came of it."""

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidLog, require_known
from druthers.types import Floats

# The name of the scalar outcome; objectives must be called otherwise.
UTILITY = "utility"

# What stands for the place of a pick where the user picked none of the offered arms, and where nothing is known of it.
NONE_PICKED, NOT_TOLD = -1, -2

# Chances are written by others too, in fewer digits perhaps.
TOLERANCE = 1e-6

# So many rows are checked at a time.
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Decisions in the order they were made, one row each; made by `from_rows`, `read_log` or `record`.

    Ids are kept once and stand in the columns as whole numbers. What differs in length from row to row is laid end to
    end: the offer of row t is `offers[offer_starts[t] : offer_starts[t + 1]]`. NaN stands for what is not known.
    """

    objectives: tuple[str, ...]  # names of the objectives
    # What the numbers in `users`, `offers` and `policies` stand for.
    user_ids: tuple[Hashable, ...]
    arm_ids: tuple[Hashable, ...]
    policy_names: tuple[str, ...]
    # The round of each decision; decisions of the same round were made before any feedback of it.
    rounds: NDArray[np.int64]
    # When each was made (UTC, microseconds), NaT where not known; None where no time is known.
    times: NDArray[np.datetime64] | None
    users: NDArray[np.int32]  # whom it was for
    offer_starts: NDArray[np.int64]  # the arms that could be chosen
    offers: NDArray[np.int32]
    # The objectives that the user named before, most important first; empty where nothing was said.
    ranking_starts: NDArray[np.int64]
    rankings: NDArray[np.int16]
    places: NDArray[np.int32]  # where in its offer the chosen arm stands
    propensities: Floats  # the chance that the logging policy gave the chosen arm
    rewards: Floats  # what came of it: (n, D) and (n,)
    utilities: Floats
    policies: NDArray[np.int32]  # which policy decided
    # The chance of every offered arm, laid out like `offers`; None where no such chance is known.
    chances: Floats | None = None
    # Where in its offer the arm stands that the user picked: -1 for none of these, -2 where that is not known; None
    # where it is known of no row.
    picks: NDArray[np.int32] | None = None
    # What visits differ in, by name, and how it was in each (n, q): 0 where it was not so; none where no row tells.
    entries: tuple[str, ...] = ()
    contexts: Floats | None = None

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.places)

    def __repr__(self) -> str:
        """Return its sizes in a line."""
        return (
            f"Log({len(self):,} decisions, {len(self.user_ids):,} users, {len(self.arm_ids):,} arms,"
            f" {len(self.objectives)} objectives, policies: {', '.join(self.policy_names)})"
        )

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What a decision may have led to: the utility, then the objectives."""
        return (UTILITY, *self.objectives)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many arms were offered in each row."""
        return np.diff(self.offer_starts)

    @property
    def chosen(self) -> NDArray[np.int64]:
        """Where the chosen arm of each row stands in `offers`."""
        return self.offer_starts[:-1] + self.places

    @property
    def arms(self) -> NDArray[np.int32]:
        """The chosen arm of each row."""
        return self.offers[self.chosen]

    def outcome(self, name: str) -> Floats:
        """Return a column of what came of the decisions: "utility", or an objective by name."""
        if name == UTILITY:
            return self.utilities
        require_known("outcome", self.outcomes, name)
        return self.rewards[:, self.objectives.index(name)]

    def select(self, which: NDArray[Any] | slice) -> "Log":
        """Return some of the rows, in order: a slice, a mask or indices; ids stay as they are."""
        rows = np.arange(len(self))[which]
        offer_starts, offered = _gathered(self.offer_starts, rows)
        ranking_starts, named = _gathered(self.ranking_starts, rows)
        return replace(
            self,
            offer_starts=offer_starts,
            offers=self.offers[offered],
            ranking_starts=ranking_starts,
            rankings=self.rankings[named],
            chances=None if self.chances is None else self.chances[offered],
            **{name: column[rows] for name in (*_BY_ROW, *_PERHAPS) if (column := getattr(self, name)) is not None},
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the decisions as `from_rows` takes them; what is not known is left out."""
        for t in range(len(self)):
            begin, end = self.offer_starts[t : t + 2].tolist()
            ranking = self.rankings[self.ranking_starts[t] : self.ranking_starts[t + 1]].tolist()
            row: dict[str, Any] = {"round": int(self.rounds[t]), "user": self.user_ids[self.users[t]]}
            if self.times is not None and not np.isnat(self.times[t]):
                row["time"] = self.times[t].item()
            row["offer"] = [self.arm_ids[arm] for arm in self.offers[begin:end].tolist()]
            row["ranking"] = [self.objectives[objective] for objective in ranking]
            row["arm"] = row["offer"][self.places[t]]
            row["policy"] = self.policy_names[self.policies[t]]
            for name, value in (("propensity", self.propensities[t]), ("utility", self.utilities[t])):
                if not math.isnan(value):
                    row[name] = float(value)
            told = zip(self.objectives, self.rewards[t].tolist(), strict=True)
            row["reward"] = {name: value for name, value in told if not math.isnan(value)}
            if self.chances is not None and not np.isnan(self.chances[begin:end]).any():
                row["chances"] = self.chances[begin:end].tolist()
            if self.picks is not None and self.picks[t] != NOT_TOLD:
                row["picked"] = None if self.picks[t] == NONE_PICKED else row["offer"][self.picks[t]]
            if self.contexts is not None:
                entries = zip(self.entries, self.contexts[t].tolist(), strict=True)
                row["context"] = {name: told for name, told in entries if told}
            yield row

    def check(self) -> "Log":
        """Return the log itself, or say which law it breaks; a row is counted from 0."""
        for what, names in (("objectives", self.objectives), ("users", self.user_ids), ("arms", self.arm_ids)):
            if len(set(names)) != len(names) or not names:
                raise InvalidLog(f"a log must have {what} with different names, at least one, but got {names!r}")
        if UTILITY in self.objectives:
            raise InvalidLog(f"an objective must not be called {UTILITY!r}, which names the scalar; rename it")
        shapes = {field.name: len(getattr(self, field.name)) for field in fields(self) if field.name in _BY_ROW}
        if len(set(shapes.values())) != 1 or len(self) < 1:
            raise InvalidLog(f"the columns of a log must be equally long, at least one row, but got {shapes}")
        _refuse(self.sizes < 1, "an offer must hold at least one arm", self.sizes)
        _refuse((self.places < 0) | (self.places >= self.sizes), "the chosen arm must be in the offer", "has another")
        _refuse(_repeats(self.offer_starts, self.offers, len(self.arm_ids)), "an offer must not repeat an arm")
        named_twice = _repeats(self.ranking_starts, self.rankings, len(self.objectives))
        _refuse(named_twice, "a ranking must not repeat an objective")
        chance = self.propensities
        _refuse((chance <= 0.0) | (chance > 1.0), "a propensity must be above 0 and at most 1", chance)
        _refuse(np.isinf(self.rewards).any(axis=1), "a reward must be finite, missing entries left out", self.rewards)
        _refuse(np.isinf(self.utilities), "a utility must be finite, or left out", self.utilities)
        if self.chances is not None:
            self._check_chances(self.chances)
        if self.picks is not None:
            if len(self.picks) != len(self):
                raise InvalidLog(f"picks must be given for all {len(self)} rows, but got {len(self.picks)}")
            outside = (self.picks < NOT_TOLD) | (self.picks >= self.sizes)
            _refuse(outside, "the picked arm must be in the offer", "has another")
        if self.contexts is not None:
            shape, n_entries = self.contexts.shape, len(self.entries)
            if shape != (len(self), n_entries):
                raise InvalidLog(f"contexts must have {n_entries} entries in each row, but got {shape}")
            beyond = ~(np.abs(self.contexts) <= 1.0).all(axis=1)
            _refuse(beyond, "a context's numbers must be from -1 to 1", self.contexts)
        return self

    def _check_chances(self, chances: Floats) -> None:
        if len(chances) != len(self.offers):
            raise InvalidLog(f"chances must be given for all {len(self.offers)} offered arms, but got {len(chances)}")
        sums = np.add.reduceat(chances, self.offer_starts[:-1])
        off = np.add.reduceat((chances < 0.0).astype(float), self.offer_starts[:-1])
        _refuse((np.abs(sums - 1.0) > TOLERANCE) | (off > 0), "the chances of an offer must add up to 1", sums)
        apart = np.abs(chances[self.chosen] - self.propensities) > TOLERANCE
        _refuse(apart, "a propensity must be the chance of the chosen arm", self.propensities)


_BY_ROW = ("rounds", "users", "places", "propensities", "rewards", "utilities", "policies")
_PERHAPS = ("times", "picks", "contexts")  # by row too, where known


def _gathered(starts: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of some rows' parts when laid end to end, and where their entries stood."""
    sizes = np.diff(starts)[rows]
    ends = np.cumsum(sizes)
    shifts = np.repeat(starts[:-1][rows] - (ends - sizes), sizes)
    return np.concatenate([[0], ends]), np.arange(len(shifts)) + shifts


def _repeats(starts: NDArray[np.int64], values: NDArray[Any], n_values: int) -> NDArray[np.bool_]:
    """Tell for each row whether a value occurs in it twice; some rows at a time, which bounds the memory it takes."""
    found = np.zeros(len(starts) - 1, dtype=bool)
    for first in range(0, len(found), BLOCK):
        edges = starts[first : first + BLOCK + 1]
        rows = np.repeat(np.arange(first, first + len(edges) - 1), np.diff(edges))
        keys = np.sort(rows * n_values + values[edges[0] : edges[-1]])
        found[keys[1:][keys[1:] == keys[:-1]] // n_values] = True
    return found


def _refuse(broken: Any, law: str, fact: NDArray[Any] | str = "does") -> None:
    if broken.any():
        row = int(broken.argmax())
        told = fact if isinstance(fact, str) else f"has {fact[row].tolist()!r}"
        more = int(broken.sum()) - 1
        others = f" (and {more:,} more)" if more else ""
        raise InvalidLog(f"{law}, but row {row} {told}{others}")
