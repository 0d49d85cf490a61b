"""A tape: all the luck of a run, drawn before any policy plays, so that all of them meet the same."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidSetting
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


class Tape:
    """All the chance of one run: equal for every policy, drawn in chunks from one seed.

    Parameters
    ----------
    environment
        Where it was drawn.
    seed
        The seed of the run.
    horizon
        Number of rounds.
    means
        True mean rewards (K, D).
    preferences
        True mean preferences (N, D).
    permutation
        The permutation of this run, where corruption is by a fixed one.
    liars
        Which users (N,) corrupt all their queries.
    features
        What is known about each arm (K, p), NaN where something is not; None where arms have no features.
    shifts
        By how much each entry of a context shifts the preference of each user (N, q, D); None where visits have none.
    """

    def __init__(
        self,
        environment: Environment,
        seed: Seed,
        horizon: int,
        means: Floats,
        preferences: Floats,
        permutation: Integers,
        liars: NDArray[np.bool_],
        features: Floats | None = None,
        shifts: Floats | None = None,
    ) -> None:
        if horizon < 1:
            raise InvalidSetting(f"horizon must be at least 1, but got {horizon!r}")
        self.environment = environment
        self.seed = seed
        self.horizon = horizon
        self.means = means
        self.preferences = preferences
        self.permutation = permutation
        self.liars = liars
        self.features = features
        self.shifts = shifts
        self._said: tuple[NDArray[np.int16], Integers] | None = None

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

    def with_rankings(self, rankings: Sequence[RankingLike]) -> Tape:
        """Return the same tape with other queries, one for each interaction, such as rankings read from text."""
        rows, n_objectives = self.horizon * self.users_per_round, self.means.shape[1]
        if len(rankings) != rows:
            raise InvalidSetting(f"this tape needs {rows} rankings, one for each interaction, but got {len(rankings)}")
        orders, lengths = np.zeros((rows, n_objectives), dtype=np.int16), np.zeros(rows, dtype=np.int64)
        for row, ranking in enumerate(rankings):
            checked = as_ranking(ranking, n_objectives)
            orders[row, : len(checked)] = checked
            lengths[row] = len(checked)
        tape = copy.copy(self)
        tape._said = orders, lengths
        return tape

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
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.seed, spawn_key=(1, number))))
        chunk = self.environment.draw_chunk(rng, self, rounds)
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.seed, spawn_key=(5, number))))
        offers = self.environment.offers_from(rng, start, rounds)
        if offers is not None:
            chunk = chunk._replace(offers=offers)
        if self.shifts is not None:
            rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.seed, spawn_key=(6, number))))
            shape = len(chunk.users), self.shifts.shape[1]
            chunk = chunk._replace(contexts=rng.integers(2, size=shape).astype(np.float64))
        if self.environment.feedback != "utility":
            # A stream of their own, so that users pick alike whatever is said, and all else is as if nobody picked.
            rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(self.seed, spawn_key=(4, number))))
            chunk = chunk._replace(picks=self.environment.draw_picks(rng, self, chunk))
        if self._said is None:
            return chunk
        rows = slice(start * self.users_per_round, (start + rounds) * self.users_per_round)
        return chunk._replace(orders=self._said[0][rows], lengths=self._said[1][rows])

    @property
    def _rounds_per_chunk(self) -> int:
        return max(1, CHUNK // self.users_per_round)
