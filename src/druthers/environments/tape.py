"""A tape: all the luck of a run, drawn before any policy plays, so that all of them meet the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidSetting, require
from druthers.rankings import as_ranking
from druthers.types import Floats, Integers, RankingLike

if TYPE_CHECKING:
    from druthers.environments.base import Environment

# Interactions drawn at a time, so that any horizon needs the memory of one chunk; part of what a seed means.
CHUNK = 4_096

Seed: TypeAlias = int | tuple[int, ...]


class Chunk(NamedTuple):
    """Some rounds of a tape, one row for each interaction: a round has as many rows in a row as users who interact.

    `offers` (rows, n) lists the arms offered, or has no columns where all arms are; `lengths` is 0 in rows without a
    query. Only one arm is pulled in an interaction, so one row of noise serves whichever it is. `picks` has the place
    in the offer of the arm that the user would pick, whatever was chosen; None where users do not choose. `contexts`
    (rows, q) has what is so in each visit, 1 or 0; None where visits have none.
    """

    users: Integers
    offers: Integers
    orders: NDArray[np.int16]
    lengths: Integers
    corrupted: NDArray[np.bool_]
    reward_noise: Floats
    preference_noise: Floats
    picks: Integers | None = None
    contexts: Floats | None = None


@dataclass(eq=False, repr=False)
class Tape:
    """All the chance of one run: equal for every policy, drawn in chunks from one seed."""

    environment: "Environment"
    seed: Seed
    horizon: int
    means: Floats  # true mean rewards (K, D)
    preferences: Floats  # true mean preferences (N, D)
    permutation: Integers  # of this run, where corruption is by a fixed one
    liars: NDArray[np.bool_]  # which users (N,) corrupt all their queries
    features: Floats | None = None  # what is known about each arm (K, p), NaN where something is not; None for nothing
    shifts: Floats | None = None  # of each user's preference by each entry of a context (N, q, D); None for no contexts
    _said: tuple[NDArray[np.int16], Integers] | None = None  # queries instead of those that are drawn

    def __post_init__(self) -> None:
        require(self.horizon >= 1, "horizon must be at least 1", self.horizon)

    @property
    def users_per_round(self) -> int:
        """How many users interact in each round."""
        return self.environment.users_per_round

    @property
    def tells_utility(self) -> bool:
        """Whether users tell the utility of what was chosen for them."""
        return self.environment.feedback != "choice"

    def wanted(self, chunk: Chunk) -> Floats:
        """Return the true preference (rows, D) in each row of a chunk: that of its user, in its context."""
        preferences: Floats = self.preferences[chunk.users]
        if self.shifts is None or chunk.contexts is None:
            return preferences
        shifts: Floats = np.einsum("rq,rqd->rd", chunk.contexts, self.shifts[chunk.users])
        return preferences + shifts

    def with_rankings(self, rankings: Sequence[RankingLike]) -> "Tape":
        """Return the same tape with other queries, one for each interaction, such as rankings read from text."""
        rows, n_objectives = self.horizon * self.users_per_round, self.means.shape[1]
        require(len(rankings) == rows, f"this tape needs {rows} rankings, one for each interaction", len(rankings))
        orders, lengths = np.zeros((rows, n_objectives), dtype=np.int16), np.zeros(rows, dtype=np.int64)
        for row, ranking in enumerate(rankings):
            checked = as_ranking(ranking, n_objectives)
            orders[row, : len(checked)] = checked
            lengths[row] = len(checked)
        return replace(self, _said=(orders, lengths))

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rounds in order, a few thousand rows at a time."""
        for number in range(-(-self.horizon // self._rounds_per_chunk)):
            yield self.chunk(number)

    def chunk(self, number: int) -> Chunk:
        """Return some rounds by their number among the chunks: always the same, whatever was drawn before."""
        start = number * self._rounds_per_chunk
        rounds = min(self._rounds_per_chunk, self.horizon - start)
        if number < 0 or rounds < 1:
            raise InvalidSetting(f"a chunk must begin before the horizon {self.horizon}, but got number {number!r}")
        chunk = self.environment.draw_chunk(self._chance(1, number), self, rounds)
        offers = self.environment.offers_from(self._chance(5, number), start, rounds)
        if offers is not None:
            chunk = chunk._replace(offers=offers)
        if self.shifts is not None:
            shape = len(chunk.users), self.shifts.shape[1]
            chunk = chunk._replace(contexts=self._chance(6, number).integers(2, size=shape).astype(np.float64))
        if self.environment.feedback != "utility":
            # A stream of their own, so that users pick alike whatever is said, and all else is as if nobody picked.
            chunk = chunk._replace(picks=self.environment.draw_picks(self._chance(4, number), self, chunk))
        if self._said is None:
            return chunk
        rows = slice(start * self.users_per_round, (start + rounds) * self.users_per_round)
        return chunk._replace(orders=self._said[0][rows], lengths=self._said[1][rows])

    def _chance(self, stream: int, number: int) -> np.random.Generator:
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.seed, spawn_key=(stream, number))))

    @property
    def _rounds_per_chunk(self) -> int:
        return max(1, CHUNK // self.users_per_round)
