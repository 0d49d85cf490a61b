"""What every environment is: a truth, and a tape on which all the chance of a run is drawn before anyone plays."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from druthers.errors import InvalidSetting
from druthers.rankings import Adversary, sample_rankings
from druthers.types import Floats, Integers

# Rounds drawn at a time, so that any horizon needs the memory of one chunk; part of what a seed means.
CHUNK = 4_096


class Chunk(NamedTuple):
    """Some rounds of a tape, one row each.

    `offers` (rounds, n) lists the arms offered, or has no columns where all arms are; `lengths` is 0 in rounds without
    a query. Only one arm is pulled in a round, so one row of noise serves whichever it is.
    """

    users: Integers
    offers: Integers
    orders: NDArray[np.int16]
    lengths: Integers
    corrupted: NDArray[np.bool_]
    reward_noise: Floats
    preference_noise: Floats


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
    """

    def __init__(self, environment: Environment, seed: int, horizon: int, means: Floats, preferences: Floats) -> None:
        if horizon < 1:
            raise InvalidSetting(f"horizon must be at least 1, but got {horizon!r}")
        self.environment = environment
        self.seed = seed
        self.horizon = horizon
        self.means = means
        self.preferences = preferences

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rounds in order, a few thousand at a time."""
        for number, start in enumerate(range(0, self.horizon, CHUNK)):
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1, number)))
            yield self.environment.draw_chunk(rng, self.means, self.preferences, min(CHUNK, self.horizon - start))


def upside_down(preferences: Floats) -> Integers:
    """Return, for each preference (N, D), the permutation that gives the best objective the worst one's weight."""
    order = np.argsort(preferences, axis=1, kind="stable")
    permutation = np.empty_like(order)
    np.put_along_axis(permutation, order, order[:, ::-1], axis=1)
    return permutation


class Environment(ABC):
    """Users with hidden preferences, arms with hidden rewards, and what is said and felt round by round.

    The constructor's arguments, keyword only, are its settings. A subclass says how the truth of a run is drawn.

    Parameters
    ----------
    offered
        How many arms, drawn afresh, are offered each round; all of them by default.
    reward_noise
        Variance of a reward around its mean, per objective.
    preference_noise
        Variance of a user's instantaneous preference around its mean, per objective.
    length
        How many objectives a query ranks: all by default, a number, or "random" for 1 to D with equal chance.
    query_rate
        Chance that a round brings a query at all.
    corruption
        Chance that a query is drawn from a permuted preference (section 6.1).
    permutation
        "fresh" for a new permutation each time, "reversed" for the user's own order turned upside down, an array for
        one fixed permutation, or an adaptive adversary (see `sample_rankings`).
    """

    name: ClassVar[str]

    def __init__(
        self,
        *,
        offered: int | None = None,
        reward_noise: float = 0.5,
        preference_noise: float = 0.5,
        length: int | Literal["random"] | None = None,
        query_rate: float = 1.0,
        corruption: float = 0.0,
        permutation: Literal["fresh", "reversed"] | ArrayLike | Adversary = "fresh",
    ) -> None:
        for name, value in (("reward_noise", reward_noise), ("preference_noise", preference_noise)):
            if not 0.0 <= value < np.inf:
                raise InvalidSetting(f"{name} is a variance and must not be negative, but got {value!r}")
        for name, value in (("query_rate", query_rate), ("corruption", corruption)):
            if not 0.0 <= value <= 1.0:
                raise InvalidSetting(f"{name} must lie between 0 and 1, but got {value!r}")
        self.offered = offered
        self.reward_noise = reward_noise
        self.preference_noise = preference_noise
        self.length = length
        self.query_rate = query_rate
        self.corruption = corruption
        self.permutation = permutation

    @abstractmethod
    def draw_truth(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean rewards (K, D) and mean preferences (N, D)."""

    def tape(self, *, seed: int, horizon: int) -> Tape:
        """Draw the truth of a run and the tape of its rounds."""
        means, preferences = self.draw_truth(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,))))
        if self.offered is not None and not 1 <= self.offered <= len(means):
            raise InvalidSetting(f"offered must lie between 1 and {len(means)} arms, but got {self.offered!r}")
        return Tape(self, seed, horizon, means, preferences)

    def draw_chunk(self, rng: np.random.Generator, means: Floats, preferences: Floats, rounds: int) -> Chunk:
        """Draw some rounds."""
        n_arms, n_objectives = means.shape
        users = rng.integers(len(preferences), size=rounds)
        if self.offered is None:
            offers = np.empty((rounds, 0), dtype=np.int64)
        else:
            # Only the places offered are shuffled, in some rows of arms at a time; a row once shuffled serves again.
            n_rows = min(rounds, 1 + 10**6 // n_arms)
            rows, shuffled = np.arange(n_rows), np.tile(np.arange(n_arms), (n_rows, 1))
            offers = np.empty((rounds, self.offered), dtype=np.int64)
            for start in range(0, rounds, n_rows):
                for place in range(self.offered):
                    other = rng.integers(place, n_arms, size=n_rows)
                    picked = shuffled[rows, other]
                    shuffled[rows, other] = shuffled[:, place]
                    shuffled[:, place] = picked
                offers[start : start + n_rows] = shuffled[: rounds - start, : self.offered]
        lengths = self._lengths(rng, rounds, n_objectives)
        permutation = self.permutation
        if isinstance(permutation, str) and permutation == "reversed":
            permutation = upside_down(preferences)[users]
        sample = sample_rankings(
            preferences[users], length=lengths, rng=rng, corruption=self.corruption, permutation=permutation
        )
        shape = (rounds, n_objectives)
        return Chunk(
            users=users,
            offers=offers,
            orders=sample.orders.astype(np.int16),
            lengths=sample.lengths,
            corrupted=sample.corrupted,
            reward_noise=np.sqrt(self.reward_noise) * rng.standard_normal(shape),
            preference_noise=np.sqrt(self.preference_noise) * rng.standard_normal(shape),
        )

    def _lengths(self, rng: np.random.Generator, rounds: int, n_objectives: int) -> Integers:
        if self.length is None:
            lengths = np.full(rounds, n_objectives)
        elif isinstance(self.length, str):
            lengths = rng.integers(1, n_objectives + 1, size=rounds)
        else:
            lengths = np.full(rounds, self.length)
        return np.where(rng.random(rounds) < self.query_rate, lengths, 0)

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        """Return the call that makes this environment."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"
