"""What every environment is: a truth, and a tape on which all the chance of a run is drawn before anyone plays."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import kernel
from druthers.environments.tape import Chunk, Seed, Tape
from druthers.errors import require, require_known
from druthers.own import Part, settings
from druthers.sampling import Adversary, sample_rankings
from druthers.types import Floats, Integers

# Chances of picks drawn at a time, of which there are as many as offered arms.
PICKS_BLOCK = 1 << 18

Feedback: TypeAlias = Literal["utility", "choice", "both"]
Permutation: TypeAlias = Literal["fresh", "fixed", "reversed", "adaptive"] | ArrayLike | Adversary


def distinct(rng: np.random.Generator, rows: int, n: int, size: int) -> Integers:
    """Draw, for each row, `size` different numbers below n in random order."""
    if size == 1:
        return rng.integers(n, size=(rows, 1))
    drawn = np.empty((rows, size), dtype=np.int64)
    deal(rng.random((rows, size)), np.arange(n), drawn)
    return drawn


@kernel
def deal(chances: Floats, cards: Integers, drawn: Integers) -> None:
    """Deal a hand from all the cards for each row, each card drawn by a chance below 1: Fisher and Yates.

    The cards are not put back in order between hands; any order is as good to draw from.
    """
    for row in range(drawn.shape[0]):
        for k in range(drawn.shape[1]):
            other = k + int(chances[row, k] * (cards.shape[0] - k))
            card = cards[other]
            cards[other] = cards[k]
            cards[k] = card
            drawn[row, k] = card


@kernel
def felt_utility(preference: Floats, noise: Floats, reward: Floats) -> float:
    """Return the inner product of the instantaneous preference and the reward, summed in order."""
    utility = 0.0
    for k in range(preference.shape[0]):
        utility += (preference[k] + noise[k]) * reward[k]
    return utility


@kernel
def expected_utility(preference: Floats, mean: Floats) -> float:
    """Return the inner product of the true preference and the true mean reward, summed in order."""
    utility = 0.0
    for k in range(preference.shape[0]):
        utility += preference[k] * mean[k]
    return utility


@kernel
def favorites(
    users: Integers, offers: Integers, preferences: Floats, means: Floats, chances: Floats, picks: Integers
) -> None:
    """Write the place of the arm whose expected utility and chance (rows, n) are most; no offers stand for all arms."""
    for t in range(picks.shape[0]):
        best = -np.inf
        for j in range(chances.shape[1]):
            arm = offers[t, j] if offers.shape[1] > 0 else j
            value = expected_utility(preferences[users[t]], means[arm]) + chances[t, j]
            if value > best:
                best = value
                picks[t] = j


def upside_down(preferences: Floats) -> Integers:
    """Return, for each preference (N, D), the permutation that gives the best objective the worst one's weight."""
    order = np.argsort(preferences, axis=1, kind="stable")
    permutation = np.empty_like(order)
    np.put_along_axis(permutation, order, order[:, ::-1], axis=1)
    return permutation


def _chance(seed: Seed, stream: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream,)))


class Contrarian:
    """An adaptive adversary: it listens, and lets what was named first most often be wanted least.

    It knows no preference, only the rankings so far (of the chunk of the tape that is being drawn).
    """

    def __init__(self, n_objectives: int) -> None:
        self._places = np.zeros(n_objectives)
        self._heard = 0

    def __call__(self, row: int, past: list[Integers]) -> Integers:
        """Return the permutation that turns the popularity of the objectives upside down."""
        for ranking in past[self._heard :]:
            self._places[ranking] += np.arange(len(ranking), 0, -1)
        self._heard = len(past)
        turned: Integers = upside_down(self._places[None])[0]
        return turned


# Ways to corrupt that need to know the run: from the tape and the preference of each row to what sample_rankings takes.
NAMED_PERMUTATIONS: dict[str, Callable[[Tape, Floats], Integers | Adversary]] = {
    "fixed": lambda tape, preferences: tape.permutation,
    "reversed": lambda tape, preferences: upside_down(preferences),
    "adaptive": lambda tape, preferences: Contrarian(preferences.shape[1]),
}


@settings
class Environment(Part):
    """Users with hidden preferences, arms with hidden rewards, and what is said and felt round by round.

    The constructor's arguments, keyword only, are its settings. A subclass says how the truth of a run is drawn; as a
    dataclass it has these settings beside its own.
    """

    # How many different users interact in each round, as in Algorithm 1: all of them speak and choose before any
    # feedback is learned. One, as in the paper's experiments, by default.
    users_per_round: int = 1
    offered: int | None = None  # how many arms, drawn afresh, are offered each round; all of them by default
    # In how many cities the arms are, about as many in each; a round then offers arms of one city only, drawn at
    # random. One, so that all arms may be offered together, by default.
    cities: int = 1
    reward_noise: float = 0.5  # variance of a reward around its mean, per objective
    preference_noise: float = 0.5  # variance of a user's instantaneous preference around its mean, per objective
    # How many objectives a query ranks: all by default, a number, or "random" for 1 to D with equal chance.
    length: int | Literal["random"] | None = None
    query_rate: float = 1.0  # chance that a round brings a query at all
    # Chance that a query is too vague to tell anything, ε⁺ in the paper: on the tape it has the length 0.
    vagueness: float = 0.0
    corruption: float = 0.0  # chance that a query is drawn from a permuted preference (section 6.1)
    # "fresh" for a new permutation each time, "fixed" for one that is drawn once in a run, "reversed" for the user's
    # own order turned upside down, "adaptive" for one that turns what was said so far upside down; or an array for
    # a permutation of your own, or an adversary of your own (see `sample_rankings`).
    permutation: Permutation = "fresh"
    liars: float = 0.0  # share of the users, drawn for each run, whose queries are all corrupted
    # What users tell beside the reward: the "utility" of the arm that was chosen for them, a "choice", which of the
    # offered arms they would have picked, or "both".
    feedback: Feedback = "utility"
    choice_noise: float = 1.0  # scale of the Gumbel noise in the utilities by which users pick, a conditional logit

    def __post_init__(self) -> None:
        require_known("feedback", get_args(Feedback), self.feedback)
        for name, what in (("choice_noise", "scale"), ("reward_noise", "variance"), ("preference_noise", "variance")):
            value = getattr(self, name)
            require(0.0 <= value < np.inf, f"{name} is a {what} and must not be negative", value)
        self._require_shares("query_rate", "vagueness", "corruption", "liars")
        fits = not isinstance(self.length, str) or self.length == "random"
        require(fits, 'length must be a whole number, "random" or None', self.length)
        if isinstance(self.permutation, str):
            require_known("permutation", ("fresh", *NAMED_PERMUTATIONS), self.permutation)

    def _require_shares(self, *names: str) -> None:
        for name in names:
            require(0.0 <= getattr(self, name) <= 1.0, f"{name} must lie between 0 and 1", getattr(self, name))

    @abstractmethod
    def draw_truth(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean rewards (K, D) and mean preferences (N, D)."""

    def draw_features(self, rng: np.random.Generator) -> Floats | None:
        """Return the features of arms (K, p), from the same chance as their truth; None where they have none."""
        return None

    def draw_shifts(self, rng: np.random.Generator, preferences: Floats) -> Floats | None:
        """Return by how much contexts shift the preferences of users (N, q, D); None where visits have no context."""
        return None

    def offers_from(self, rng: np.random.Generator, start: int, rounds: int) -> Integers | None:
        """Return what is offered (rows, n) in rounds from `start` on, where that depends on them; else None."""
        return None

    def tape(self, *, seed: Seed, horizon: int) -> Tape:
        """Draw the truth of a run and the tape of its rounds."""
        means, preferences = self.draw_truth(_chance(seed, 0))
        require(1 <= self.cities <= len(means), f"cities must lie between 1 and {len(means)} arms", self.cities)
        in_a_city = len(means) // self.cities
        law = f"offered must lie between 1 and {in_a_city} {'arms' if self.cities == 1 else 'arms of a city'}"
        require(self.offered is None or 1 <= self.offered <= in_a_city, law, self.offered)
        law = f"users_per_round must lie between 1 and {len(preferences)} users"
        require(1 <= self.users_per_round <= len(preferences), law, self.users_per_round)
        law = f'length must lie between 1 and {means.shape[1]} objectives or be "random"'
        require(isinstance(self.length, str | None) or 1 <= self.length <= means.shape[1], law, self.length)
        permutation = _chance(seed, 2).permutation(means.shape[1])
        order = _chance(seed, 3).permutation(len(preferences))
        liars = order < round(self.liars * len(preferences))
        features = self.draw_features(_chance(seed, 0))
        shifts = self.draw_shifts(_chance(seed, 6), preferences)
        return Tape(self, seed, horizon, means, preferences, permutation, liars, features, shifts)

    def draw_chunk(self, rng: np.random.Generator, tape: Tape, rounds: int) -> Chunk:
        """Draw some rounds."""
        n_arms, n_objectives = tape.means.shape
        rows = rounds * self.users_per_round
        users = distinct(rng, rounds, len(tape.preferences), self.users_per_round).ravel()
        preferences = tape.preferences[users]
        offers = self._offers(rng, rows, n_arms)
        lengths = self._lengths(rng, rows, n_objectives)
        reward_noise, preference_noise = rng.standard_normal((2, rows, n_objectives))
        reward_noise *= np.sqrt(self.reward_noise)
        preference_noise *= np.sqrt(self.preference_noise)
        permutation: Any = self.permutation
        if isinstance(permutation, str) and permutation in NAMED_PERMUTATIONS:
            permutation = NAMED_PERMUTATIONS[permutation](tape, preferences)
        # Last, since more is drawn where queries are corrupted: all the rest of a seed's chance is the same.
        corruption = np.where(tape.liars[users], 1.0, self.corruption)
        sample = sample_rankings(preferences, length=lengths, rng=rng, corruption=corruption, permutation=permutation)
        return Chunk(
            users=users,
            offers=offers,
            orders=sample.orders.astype(np.int16),
            lengths=sample.lengths,
            corrupted=sample.corrupted,
            reward_noise=reward_noise,
            preference_noise=preference_noise,
        )

    def draw_picks(self, rng: np.random.Generator, tape: Tape, chunk: Chunk) -> Integers:
        """Draw which of the offered arms each user would pick."""
        n_rows, n_offered = len(chunk.users), chunk.offers.shape[1] or len(tape.means)
        picks, wanted = np.empty(n_rows, dtype=np.int64), tape.wanted(chunk)
        most = max(1, PICKS_BLOCK // n_offered)
        for first in range(0, n_rows, most):
            rows = slice(first, min(first + most, n_rows))
            chances = rng.gumbel(scale=self.choice_noise, size=(rows.stop - first, n_offered))
            visits = np.arange(rows.stop - first)
            favorites(visits, chunk.offers[rows], wanted[rows], tape.means, chances, picks[rows])
        return picks

    def _offers(self, rng: np.random.Generator, rows: int, n_arms: int) -> Integers:
        """Draw the arms that are offered in each row; none listed stands for all."""
        if self.cities == 1:
            return distinct(rng, rows, n_arms, self.offered) if self.offered else np.empty((rows, 0), dtype=np.int64)
        # Arm i is in city i modulo their number. Where some have an arm more, one of theirs is left out.
        least, more = divmod(n_arms, self.cities)
        cities = rng.integers(self.cities, size=rows)
        places = np.empty((rows, self.offered or least), dtype=np.int64)
        for size, mine in ((least, cities >= more), (least + 1, cities < more)):
            places[mine] = distinct(rng, int(mine.sum()), size, places.shape[1])
        return places * self.cities + cities[:, None]

    def _lengths(self, rng: np.random.Generator, rows: int, n_objectives: int) -> Integers:
        if self.length is None:
            lengths = np.full(rows, n_objectives)
        elif isinstance(self.length, str):
            lengths = rng.integers(1, n_objectives + 1, size=rows)
        else:
            lengths = np.full(rows, self.length)
        return np.where(rng.random(rows) < self.query_rate * (1.0 - self.vagueness), lengths, 0)
