"""What every policy is: the public steps, checked once here, around a few kernels on arrays."""

from __future__ import annotations

import functools
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import bound
from druthers.errors import (
    DamagedState,
    InvalidFeedback,
    InvalidOffer,
    InvalidSetting,
    NoPreference,
    UnknownArm,
    UnknownUser,
)
from druthers.policies.arms import Arms, NoUsers, fault, remember
from druthers.policies.books import Books
from druthers.policies.rows import (
    STATE_VERSION,
    arrays,
    check_version,
    flatten,
    grown,
    lively,
    overwrite,
    plain,
    same_kind,
    unflatten,
    wholeness_of,
)
from druthers.policies.slates import SHORTLIST, Floor, Slate, by_score, tastes, worths
from druthers.policies.steps import (
    NONE_OF_THESE,
    answer_policy,
    ask_policy,
    hear_policy,
    learn_choice_policy,
    learn_policy,
    score_policy,
)
from druthers.rankings import as_ranking
from druthers.types import Decision, Floats, Integers, Preference, Question, RankingLike

P = TypeVar("P", bound="Policy")


class Policy(ABC):
    """A policy hears what users want, chooses arms for them and learns from what they felt.

    A subclass sets `State`, a NamedTuple with the fields `settings`, `clock`, `arms` and `users`, says how fresh rows
    and settings look, and brings the kernels `score_policy` and `learn_policy` (and `hear_policy`) for that class.
    Its constructor's arguments, keyword only, are its hyper-parameters and are kept under the same names.

    Parameters
    ----------
    n_objectives
        Number of objectives D.
    seed
        Seed of the policy's own chance.
    exploration
        Chance of a uniformly random arm at each place of a slate. Off by default; a small value gives every arm a
        known, non-zero propensity, without which logged decisions cannot be used to evaluate other policies.
    """

    name: ClassVar[str]
    hears: ClassVar[bool] = False
    asks: ClassVar[bool] = False
    learns_preference: ClassVar[bool] = False
    learns_choices: ClassVar[bool] = False
    learns_features: ClassVar[bool] = False
    expects: ClassVar[bool] = False
    meets: ClassVar[bool] = False
    hears_weights: ClassVar[bool] = False
    knows_truth: ClassVar[bool] = False
    population: bool = False  # whether users have something in common; else they are apart
    # What of a user's memory comes from feedback; all the rest comes from words.
    felt: ClassVar[tuple[str, ...]] = ("feedbacks", "products", "response", "root", "gram", "choices", "sites")
    noise_per_arm: int = 0
    State: ClassVar[type[Any]]

    def __init__(self, *, n_objectives: int, seed: int = 0, exploration: float = 0.0) -> None:
        if not isinstance(n_objectives, _WHOLE) or n_objectives < 1:
            raise InvalidSetting(f"n_objectives must be a whole number of at least 1, but got {n_objectives!r}")
        if not 0.0 <= exploration <= 1.0:
            raise InvalidSetting(f"exploration must lie between 0 and 1, but got {exploration!r}")
        self.n_objectives = int(n_objectives)
        self.seed = seed
        self.exploration = exploration
        self.reseed(seed)
        self._users = Books()
        self._arms = Books()
        self._retired: dict[Hashable, None] = {}  # late feedback must not bring them back; a dict, for its order

    def _start(self) -> None:
        """Make the first, empty state; the last line of every constructor. Row 0 is for those never seen."""
        self._state: Any = self.State(
            settings=self._settings(),
            clock=np.zeros(2),
            arms=self._fresh_arms(8),
            users=self._fresh_users(2),
        )

    # Machine code is bound on first use: an episode compiled as a whole needs none of these entries.
    @functools.cached_property
    def _score(self) -> Callable[..., int]:
        return bound(score_policy, self._state, 0, _NOTHING, _SILENCE, np.empty((4, 0)))

    @functools.cached_property
    def _learn(self) -> Callable[..., None]:
        return bound(learn_policy, self._state, 0, 0, _SILENCE, 0.0)

    @functools.cached_property
    def _learn_choice(self) -> Callable[..., None]:
        return bound(learn_choice_policy, self._state, 0, _NOTHING, 0)

    @functools.cached_property
    def _hear(self) -> Callable[..., None]:
        return bound(hear_policy, self._state, 0, _NOTHING)

    @functools.cached_property
    def _fault(self) -> Callable[..., int]:
        return bound(fault, _SILENCE)

    @abstractmethod
    def _settings(self) -> Any:
        """Return the hyper-parameters as the kernels read them: a NamedTuple of floats."""

    def _fresh_arms(self, n_arms: int) -> Any:
        """Return rows for arms never seen."""
        shape = (n_arms, self.n_objectives)
        return Arms(pulls=np.zeros(shape), means=np.zeros(shape))

    def _fresh_users(self, n_users: int) -> Any:
        """Return rows for users never seen."""
        return NoUsers(feedbacks=np.zeros(n_users))

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings for a service, where they are not the usual ones: rewards and utilities are at most 1."""
        return {}

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        """Return the call that makes this policy."""
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"

    @property
    def users(self) -> tuple[Hashable, ...]:
        """The users who said or felt anything."""
        return tuple(self._users.rows)

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The arms that may be chosen, in order of first sight."""
        return tuple(self._arms.rows)

    def add_arms(
        self, arms: Iterable[Hashable], features: ArrayLike | Mapping[Hashable, ArrayLike] | None = None
    ) -> None:
        """Make arms known; those already known stay as they are. Features are for policies with `learns_features`."""
        if features is not None:
            raise InvalidSetting(
                f"only policies that learn from features can take them, but {self.name} does not;"
                " leave them out, or choose one that does, such as fisher-pqucb"
            )
        for arm in arms:
            if arm not in self._arms:
                self._new_arm(arm)

    def add_users(self, users: Iterable[Hashable]) -> None:
        """Make room for users; those already known stay as they are."""
        for user in users:
            self._user_row(user)

    def retire_arm(self, arm: Hashable) -> None:
        """Forget an arm; if it is ever offered or added again, it is new. Feedback that comes late is refused."""
        if arm not in self._arms:
            raise UnknownArm(f"an arm must be known to retire, but {arm!r} is not")
        self._retired[arm] = None
        overwrite(self._state.arms, self._arms.remove(arm))
        self._state.clock[1] = len(self._arms)

    def forget_user(self, user: Hashable) -> None:
        """Forget everything about a user; what was learned about arms stays."""
        if user not in self._users:
            raise UnknownUser(f"a user must be known to be forgotten, but {user!r} is not")
        overwrite(self._state.users, self._users.remove(user))

    def unhear(self, user: Hashable) -> None:
        """Forget what a user said and keep what the user felt; for a user never seen, nothing happens."""
        row = self._users.rows.get(user)
        if row is not None:
            overwrite(self._state.users, row, keep=self.felt)

    def export_user(self, user: Hashable) -> bytes:
        """Return all that is known of a user, for a policy with the same settings to take in."""
        row = self._users.rows.get(user)
        if row is None:
            raise UnknownUser(f"a user must be known to be exported, but {user!r} is not")
        return b"".join(array[row].tobytes() for _, array in arrays(self._state.users))

    def import_user(self, user: Hashable, known: bytes) -> None:
        """Take in what another policy with the same settings exported; what was known of the user is replaced."""
        sizes = [array[0].nbytes for _, array in arrays(self._state.users)]
        if len(known) != sum(sizes):
            raise DamagedState(f"an exported user of this policy must have {sum(sizes)} bytes, but got {len(known)}")
        row = self._user_row(user)
        start = 0
        for (_, array), size in zip(arrays(self._state.users), sizes, strict=True):
            array[row] = np.frombuffer(known[start : start + size], array.dtype).reshape(array[0].shape)
            start += size

    def hear(self, user: Hashable, ranking: RankingLike) -> None:
        """Take in a query: the objectives that matter to the user, most important first; empty says nothing."""
        checked = as_ranking(ranking, self.n_objectives)
        if self.hears and len(checked):
            row = self._user_row(user)  # may replace the state, so it comes first
            self._hear(self._state, row, checked)

    def utility_noise(self, user: Hashable) -> float:
        """Return the standard deviation of a user's utilities around what the policy expects."""
        return 0.3

    def hear_weights(self, user: Hashable, mean: ArrayLike, variance: ArrayLike) -> None:
        """Take in what a user's words say about weights; only for policies with `hears_weights`."""
        raise NotImplementedError(f"{self.name} hears rankings only")

    def utilities(self, user: Hashable, arms: Iterable[Hashable]) -> Floats:
        """Return the estimated utility of known arms for a user, without any bonus."""
        rows = np.array([self._arms.rows[arm] for arm in arms], dtype=np.int64)
        out = np.empty((4, len(rows)))
        noise = np.zeros(len(rows) * self.noise_per_arm)
        self._score(self._state, self._users.rows.get(user, 0), rows, noise, out)
        utilities: Floats = out[0]
        return utilities

    def choose(
        self,
        user: Hashable,
        offer: Iterable[Hashable] | None = None,
        size: int = 1,
        *,
        shift: Mapping[Hashable, float] | None = None,
    ) -> Decision:
        """Choose a slate of arms for a user, best first; nothing is learned by choosing.

        Parameters
        ----------
        user
            Any hashable id, known or not.
        offer
            The arms that may be chosen; all known arms by default. Arms never seen before become known. Equal scores
            go to the arm that is offered first.
        size
            How many arms to choose.
        shift
            By how much single arms are better or worse for this user than the policy can know.
        """
        ids, rows = self._offered(offer, size)
        out, n_equal = self._scored(user, ids, rows, shift)
        if size == 1 and not self.exploration:
            place = int(out[3].argmax())
            return Decision(user, (ids[place],), ids, out, (place,), (1.0 / n_equal if n_equal else math.nan,))
        places, propensities = self._slate(out[3], size, n_equal)
        return Decision(user, tuple([ids[place] for place in places]), ids, out, places, propensities)

    def _scored(
        self, user: Hashable, ids: tuple[Hashable, ...], rows: Integers, shift: Mapping[Hashable, float] | None
    ) -> tuple[Floats, int]:
        """Return the reasons of everything offered, and among how many of the best the choice is random."""
        n_offered = len(ids)
        out = np.empty((4, n_offered))
        noise = self._noise.standard_normal(n_offered * self.noise_per_arm) if self.noise_per_arm else _SILENCE
        n_equal = self._score(self._state, self._users.rows.get(user, 0), rows, noise, out)
        for arm, by in (shift or {}).items():
            out[:, rows == self._arms.rows.get(arm, -1)] += [[by], [0.0], [0.0], [by]]
        return out, n_equal

    def _slate(self, scores: Floats, size: int, n_equal: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the places of a slate, exploring now and then, with the chance of each place given those before."""
        floor = self.exploration
        coins = self._coins.random(2 * size).tolist() if floor else [1.0] * (2 * size)
        left = (-scores).argsort(kind="stable").tolist()
        places, propensities = [], []
        for k in range(size):
            rank = int(coins[2 * k + 1] * len(left)) if coins[2 * k] < floor else 0
            if n_equal == 0 or (n_equal > 1 and k > 0 and floor):
                own = math.nan
            elif n_equal - k > 1:  # the first of what is left stand in random order
                own = 1.0 / (n_equal - k) if rank < n_equal - k else 0.0
            else:
                own = float(rank == 0)
            propensities.append((1.0 - floor) * own + floor / len(left))
            places.append(left.pop(rank))
        return tuple(places), tuple(propensities)

    def choose_slate(
        self,
        user: Hashable,
        offer: Iterable[Hashable] | None = None,
        size: int = 3,
        *,
        shift: Mapping[Hashable, float] | None = None,
        floors: Sequence[Floor] = (),
    ) -> Decision:
        """Choose a slate of which the best arm counts: the first by score, the others for what they add to it.

        Where what the user wants is unsure, arms that are right for different tastes stand side by side; where it is
        sure, or where the policy learns no preferences, they are the best by score.

        Parameters
        ----------
        user, offer, size, shift
            As `choose` has them.
        floors
            Shares of slates that groups of arms get at least, for which the last place is used; together at most 1.

        Examples
        --------
        >>> from druthers import StatedUCB
        >>> policy = StatedUCB(n_objectives=2)
        >>> for arm, reward in {"inn": [0.9, 0.2], "pub": [0.8, 0.2], "spa": [0.2, 0.85]}.items():
        ...     policy.learn("shop", arm, reward)
        >>> policy.choose("ada", size=2).arms, policy.choose_slate("ada", size=2).arms
        (('inn', 'spa'), ('inn', 'spa'))
        """
        ids, rows = self._offered(offer, size)
        slate, out, n_equal = self._slate_of(user, ids, rows, size, shift, floors)
        if slate is None:
            places, propensities = self._slate(out[3], size, n_equal)
            return Decision(user, tuple([ids[place] for place in places]), ids, out, places, propensities)
        coins = self._coins.random(3 * size).tolist() if self.exploration or floors else [1.0] * (3 * size)
        places, propensities, best = slate.draw(coins)
        chosen = tuple([ids[place] for place in places])
        return Decision(user, chosen, ids, out, places, propensities, None if floors else best)

    def slate_chances(
        self,
        user: Hashable,
        offer: Iterable[Hashable],
        before: Sequence[Hashable] = (),
        size: int = 3,
        *,
        shift: Mapping[Hashable, float] | None = None,
        floors: Sequence[Floor] = (),
    ) -> Floats:
        """Return with which chance each offered arm stands next in a slate, after the ones before; NaN if unknown."""
        ids, rows = self._offered(offer, size)
        slate, _, _ = self._slate_of(user, ids, rows, size, shift, floors)
        if slate is None:
            return np.full(len(ids), math.nan)
        place = {arm: k for k, arm in enumerate(ids)}
        return slate.chances(tuple([place[arm] for arm in before]))

    def _slate_of(
        self,
        user: Hashable,
        ids: tuple[Hashable, ...],
        rows: Integers,
        size: int,
        shift: Mapping[Hashable, float] | None,
        floors: Sequence[Floor],
    ) -> tuple[Slate | None, Floats, int]:
        """Return a slate to draw, None where chance is the policy's own, with all scores and how many are equal."""
        if not all(0.0 <= floor.share <= 1.0 for floor in floors) or sum(floor.share for floor in floors) > 1.0:
            shares = [floor.share for floor in floors]
            raise InvalidOffer(f"shares of groups must lie between 0 and 1 and sum to at most 1, but got {shares}")
        out, n_equal = self._scored(user, ids, rows, shift)
        if n_equal != 1:
            if floors:
                raise InvalidOffer(
                    f"shares of groups need a policy whose choice is certain, but {self.name} draws its own"
                )
            return None, out, n_equal
        shortlist = by_score(out[3], max(SHORTLIST, 2 * size))
        values = np.empty((len(shortlist), 0))
        if self.learns_preference and size > 1:
            row = self._users.rows.get(user, 0)
            believed = self._preference(row)
            apart = tastes(believed.weights, self._doubt(row) ** 2 * believed.covariance) - believed.weights
            base = (out[0] + out[1])[shortlist]
            values = worths(base, self._slopes(believed.weights, rows[shortlist]), np.ascontiguousarray(apart.T))
        members = [
            (np.isin(rows, [self._arms.rows.get(arm, -1) for arm in floor.arms]), floor.share) for floor in floors
        ]
        unseen = [place for place in shortlist[:size].tolist() if not self._state.arms.pulls[rows[place]].any()]
        return Slate(out[3], shortlist, values, size, self.exploration, members, unseen), out, n_equal

    def _doubt(self, row: int) -> float:
        """Return how far slates go to serve other tastes than the likeliest one, in what is believed possible."""
        return 1.0

    def _slopes(self, weights: Floats, rows: Integers) -> Floats:
        """Return by how much the utility of arms (n, D) rises with each weight; the mean of all where it is unknown."""
        known, means = self._state.arms.pulls[rows] > 0.0, self._state.arms.means[rows]
        counts = known.sum(axis=0)
        typical = np.divide((means * known).sum(axis=0), counts, out=np.zeros(self.n_objectives), where=counts > 0)
        slopes: Floats = np.where(known, means, typical)
        return slopes

    def learn(
        self, user: Hashable, arm: Hashable, reward: ArrayLike | None = None, utility: float | None = None
    ) -> None:
        """Take in what came of an arm, whenever it comes and in any order.

        Parameters
        ----------
        user, arm
            Whom it was for and what was chosen. An arm never seen before becomes known; a retired one is refused.
        reward
            One number per objective, NaN where it is missing; None if nothing was observed.
        utility
            How good it was for the user as a whole; None if unknown. With a reward that is missing or has gaps, the
            arm's means stand in; where there are none yet, those of all arms do, and the utility counts for less.
        """
        if arm in self._retired:
            raise UnknownArm(
                f"feedback must not be about an arm that has retired, but {arm!r} has; offer or add it to begin anew"
            )
        if reward is None and utility is None:
            raise InvalidFeedback("feedback must hold a reward, a utility or both, but got neither")
        vector = self._as_reward(reward)
        value = math.nan if utility is None else as_number(utility, "a utility")
        arm_row = self._arms.rows.get(arm)
        if arm_row is None:
            arm_row = self._new_arm(arm)
        user_row = self._user_row(user)  # may replace the state, as a new arm does, so it comes first
        self._learn(self._state, user_row, arm_row, vector, value)

    def learn_choice(self, user: Hashable, picked: Hashable | None, offer: Iterable[Hashable]) -> None:
        """Take in which of some arms a user picked, whenever it comes and in any order.

        Parameters
        ----------
        user
            Who picked.
        picked
            One of the offered arms, or None for none of these: then the average arm is taken to be liked better.
        offer
            What the user could pick from: two arms or more, or one for None. "A rather than B" is an offer of these
            two. Arms never seen before become known; a retired one is refused.

        Examples
        --------
        >>> from druthers import FisherPQUCB
        >>> policy = FisherPQUCB(n_objectives=2)
        >>> policy.learn("eve", "inn", reward=[0.9, 0.2])
        >>> policy.learn("eve", "spa", reward=[0.1, 0.8])
        >>> policy.learn_choice("ada", "spa", ["inn", "spa"])
        >>> policy.choose("ada", ["inn", "spa"]).arm
        'spa'
        """
        if not self.learns_choices:
            raise InvalidFeedback(
                f"only policies that learn from choices can take one, but {self.name} does not;"
                " tell it utilities, or choose one that does, such as fisher-pqucb"
            )
        ids = tuple(offer)
        _require_distinct(ids)
        if picked is not None and (picked not in ids or len(ids) < 2):
            raise InvalidOffer(f"a pick must be one of two or more offered arms, but got {picked!r} of {ids!r}")
        for arm in ids:
            if arm in self._retired:
                raise UnknownArm(
                    f"a choice must not be among arms that have retired, but {arm!r} has; leave it out of the offer"
                )
        ids, rows = self._offered(ids, 1)
        user_row = self._user_row(user)  # may replace the state, as a new arm does, so it comes first
        self._learn_choice(self._state, user_row, rows, NONE_OF_THESE if picked is None else ids.index(picked))

    def give(
        self,
        user: Hashable,
        arm: Hashable,
        reward: ArrayLike,
        counts: ArrayLike | None = None,
        *,
        instead: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        """Take in what an arm is given to be like, by a catalog: the mean of so many observations at once.

        What was observed of the arm stays beside it, and each counts by its number.

        Parameters
        ----------
        user, arm
            In whose name, and which arm.
        reward
            One number per objective, NaN where nothing is given.
        counts
            How many observations each number is the mean of; 1 by default.
        instead
            The reward and counts that were given before, which count no longer.

        Examples
        --------
        >>> from druthers import FisherPQUCB
        >>> policy = FisherPQUCB(n_objectives=2)
        >>> policy.give("shop", "inn", [0.8, 0.5], [99, 1])
        >>> policy.learn("ada", "inn", [0.3, 0.9])
        >>> policy.reward_means(["inn"]).round(3)
        array([[0.795, 0.7  ]])
        >>> policy.give("shop", "inn", [0.8, 0.1], [99, 1], instead=([0.8, 0.5], [99, 1]))
        >>> policy.reward_means(["inn"]).round(3)
        array([[0.795, 0.5  ]])
        """
        vector, weights = self._as_reward(reward, silence=instead is not None), self._as_counts(counts)
        before = None if instead is None else (self._as_reward(instead[0], silence=True), self._as_counts(instead[1]))
        if before is None:
            self.learn(user, arm, vector)
            known, row = self._state.arms, self._arm_row(arm)
            known.pulls[row] += np.where(np.isnan(vector), 0.0, weights - 1.0)
            return
        known, row = self._state.arms, self._arm_row(arm)
        pulls, sums = known.pulls[row].copy(), known.pulls[row] * known.means[row]
        for sign, (given, times) in ((-1.0, before), (1.0, (vector, weights))):
            there = ~np.isnan(given)
            pulls[there] += sign * times[there]
            sums[there] += sign * times[there] * given[there]
        left = pulls > 0.0
        known.pulls[row] = np.where(left, pulls, 0.0)
        known.means[row] = np.divide(sums, pulls, out=np.zeros_like(sums), where=left)

    def _as_counts(self, counts: ArrayLike | None) -> Floats:
        if counts is None:
            return np.ones(self.n_objectives)
        vector = np.asarray(counts, dtype=np.float64)
        if vector.shape != (self.n_objectives,) or not ((vector > 0.0) & (vector < np.inf)).all():
            raise InvalidFeedback(f"counts must be {self.n_objectives} finite numbers above 0, but got {counts!r}")
        return vector

    def revise(
        self, user: Hashable, arm: Hashable, utility: float, *, before: float, reward: ArrayLike | None = None
    ) -> None:
        """Take back a utility that was learned, and take in another instead, as if it alone had been told.

        It is the same to rounding where the means of the arm are still what they were; else the difference counts at
        the arm as it is known now. Units and trust that a policy fits now and then follow at the next fit.

        Parameters
        ----------
        user, arm
            Whom it was for and what was chosen.
        utility
            What holds now.
        before
            The utility that was learned.
        reward
            The reward that was learned together with it, if one was.
        """
        arm_row = self._arm_row(arm)
        vector = self._as_reward(reward)
        value, taken_back = as_number(utility, "a utility"), as_number(before, "a utility")
        if self.learns_preference:
            self._revise(self._user_row(user), arm_row, vector, value, taken_back)

    def _revise(self, user: int, arm: int, reward: Floats, utility: float, before: float) -> None:
        """Replace a utility; a policy without a body of its own learns the new one beside the old."""
        self._learn(self._state, user, arm, np.full(self.n_objectives, math.nan), utility)

    def utility_weight(self, user: Hashable, arm: Hashable) -> float:
        """Return how much a user's utility of an arm counts beside one of an arm of which all is known: 0 to 1.

        Examples
        --------
        >>> from druthers import FisherPQUCB
        >>> policy = FisherPQUCB(n_objectives=2)
        >>> policy.add_arms(["inn", "spa"])
        >>> policy.learn("ada", "inn", reward=[0.8, 0.6])
        >>> policy.learn("ada", "spa", reward=[0.8, float("nan")])
        >>> [round(policy.utility_weight("ada", arm), 2) for arm in ("inn", "spa")]
        [1.0, 0.2]
        """
        nothing = np.full(self.n_objectives, math.nan)
        square, spoilt = remember(self._state.arms, self._arm_row(arm), nothing, nothing.copy())
        return square / (square + spoilt) if square > 0.0 else 0.0

    def ask(self, user: Hashable) -> Question | None:
        """Return a question this policy would like the user to answer now, if any."""
        if not self.asks:
            return None
        objective = int(ask_policy(self._state, self._users.rows.get(user, 0)))
        return None if objective < 0 else Question(user=user, objective=objective)

    def answer(self, user: Hashable, question: Question, value: float) -> None:
        """Take in the answer to a question: 1 for yes, 0 for no, or anything between."""
        if not self.asks:
            raise InvalidFeedback(f"only policies that ask can take answers, but {self.name} never asks")
        number = as_number(value, "an answer")
        if not 0.0 <= number <= 1.0:
            raise InvalidFeedback(f"an answer must lie between 0 (no) and 1 (yes), but got {value!r}")
        if not isinstance(question, Question) or question.user != user:
            raise InvalidFeedback(f"an answer must be to a question this user was asked, but got {question!r}")
        if not 0 <= question.objective < self.n_objectives:
            raise InvalidFeedback(f"a question must be about objective 0 to {self.n_objectives - 1}, got {question!r}")
        row = self._user_row(user)  # may replace the state, so it comes first
        answer_policy(self._state, row, question.objective, number)

    def preference(self, user: Hashable, *, anytime: bool = False) -> Preference:
        """Return what the policy believes the user wants; for a user never seen, what it believes of anyone.

        With `anytime` the covariance is so much wider that intervals of 90 %, 1.645 standard deviations, hold the truth
        in all objectives and at all times at once with that chance: look as often as you like. Only `fisher-pqucb` and
        `fisher-ucb` know such intervals; they are infinite until there is enough to go by.
        """
        if not self.learns_preference:
            raise NoPreference(f"{self.name} does not learn preferences; choose a policy that does, such as mo-pqucb")
        row = self._users.rows.get(user, 0)
        return self._anytime_preference(row) if anytime else self._preference(row)

    def _anytime_preference(self, row: int) -> Preference:
        raise NoPreference(
            f"intervals for all times need a policy that knows them, such as fisher-pqucb, but got {self.name}"
        )

    def _preference(self, row: int) -> Preference:
        raise NotImplementedError

    def sources(self, user: Hashable) -> Floats | None:
        """Return how much of each weight (3, D) comes from words, from behavior and from neither; None if unknown.

        Each column sums to one.
        """
        return None

    def reward_means(self, arms: Iterable[Hashable]) -> Floats:
        """Return the mean reward (n, D) of known arms; NaN where nothing was observed."""
        rows = [self._arms.rows[arm] for arm in arms]
        known = self._state.arms
        return np.where(known.pulls[rows] > 0.0, known.means[rows], math.nan)

    def reward_counts(self, arms: Iterable[Hashable]) -> Floats:
        """Return how often each objective (n, D) of known arms was observed."""
        counts: Floats = self._state.arms.pulls[[self._arms.rows[arm] for arm in arms]]
        return counts

    def expect(self, arms: Iterable[Hashable], means: ArrayLike, variances: ArrayLike) -> None:
        """Take in what to expect of arms where nothing was observed; only for policies with `expects`."""
        raise NotImplementedError(f"{self.name} expects nothing by itself")

    def expectations(self, arms: Iterable[Hashable]) -> tuple[Floats, Floats]:
        """Return what is expected of arms where nothing was observed, means and variances; only with `expects`."""
        raise NotImplementedError(f"{self.name} expects nothing by itself")

    def meet(self, mean: ArrayLike | None, variance: ArrayLike | None) -> None:
        """Take in how users who have said nothing are to be met; only for policies with `meets`."""
        raise NotImplementedError(f"{self.name} meets everybody alike")

    def reward_noise(self) -> Floats:
        """Return the variance (D,) of a reward around the mean of its arm; only for policies with `expects`."""
        raise NotImplementedError(f"{self.name} does not say how far rewards are from their means")

    def reseed(self, seed: int | None = None) -> None:
        """Start the policy's own chance anew: from a seed, or from the machine's own chance."""
        # Two streams, so that each is consumed at a rate that does not depend on the other.
        noise, coins = np.random.SeedSequence(seed).spawn(2)
        self._noise = np.random.Generator(np.random.PCG64(noise))
        self._coins = np.random.Generator(np.random.PCG64(coins))

    def _distances(self, truths: Floats) -> tuple[float, float]:
        """Return how far the estimates of users 0, 1, ... are from the truth (n, D), on average.

        Euclidean, and in the norm of V, the inverse of the covariance; NaN where no preference is learned. For the lab.
        """
        if not self.learns_preference:
            return math.nan, math.nan
        total = np.zeros(2)
        for user, truth in enumerate(truths):
            believed = self._preference(self._users.rows[user])
            miss = believed.weights - truth
            total += math.sqrt(miss @ miss), math.sqrt(max(miss @ np.linalg.pinv(believed.covariance) @ miss, 0.0))
        return total[0] / len(truths), total[1] / len(truths)

    def state(self, *, users: bool = True) -> dict[str, Any]:
        """Return all this policy knows, its chance included, as arrays and plain values; without users on request."""
        known = self._users if users else Books()
        return {
            "version": STATE_VERSION,
            "policy": self.name,
            "params": {key: plain(value) for key, value in self.params.items()},
            "users": known.state(),
            "arms": self._arms.state(),
            "retired": list(self._retired),
            "noise": self._noise.bit_generator.state,
            "coins": self._coins.bit_generator.state,
            "clock": self._state.clock.copy(),
            **flatten("user", self._state.users, known.n_rows),
            **flatten("arm", self._state.arms, self._arms.n_rows),
        }

    @classmethod
    def from_state(cls: type[P], state: dict[str, Any]) -> P:
        """Return a policy that continues exactly where the one that gave this state stood.

        Called on `Policy` itself, it finds the class by the name in the state.
        """
        check_version(state)
        if cls is Policy:
            from druthers.policies import find_policy

            return find_policy(state["policy"]).from_state(state)  # type: ignore[return-value]
        if state["policy"] != cls.name:
            raise DamagedState(f"a state of {cls.name} is needed, but got one of {state['policy']!r}")
        policy = cls(**{name: lively(value) for name, value in state["params"].items()})
        policy.restore(state)
        with wholeness_of(cls.name):
            policy._noise.bit_generator.state = state["noise"]
            policy._coins.bit_generator.state = state["coins"]
        return policy

    def restore(self, state: dict[str, Any]) -> None:
        """Know what the policy knew that gave this state, and nothing else; settings and chance stay one's own."""
        check_version(state)
        if state["policy"] != self.name:
            raise DamagedState(f"a state of {self.name} is needed, but got one of {state['policy']!r}")
        with wholeness_of(self.name):
            known_users, known_arms = Books.from_state(state["users"]), Books.from_state(state["arms"])
            users = unflatten("user", self._fresh_users(known_users.n_rows), state)
            arms = unflatten("arm", self._fresh_arms(known_arms.n_rows), state)
            clock = same_kind("clock", state["clock"], self._state.clock)
            retired = dict.fromkeys(state.get("retired", ()))
        self._users, self._arms, self._retired = known_users, known_arms, retired
        self._state = self._state._replace(clock=clock, users=users, arms=arms)

    def _offered(self, offer: Iterable[Hashable] | None, size: int) -> tuple[tuple[Hashable, ...], Integers]:
        """Check an offer and the size of a slate from it, make new arms known, and return ids and rows."""
        ids = self._arms.listing()[0] if offer is None else tuple(offer)
        if not ids:
            known = "no arm is known; offer some or add them" if offer is None else "got none"
            raise InvalidOffer(f"an offer must hold at least one arm, but {known}")
        if not isinstance(size, _WHOLE) or not 1 <= size <= len(ids):
            raise InvalidOffer(f"a slate must hold 1 to {len(ids)} of the offered arms, but got size {size!r}")
        if offer is None:
            return self._arms.listing()
        _require_distinct(ids)
        find = self._arms.rows.__getitem__
        try:
            return ids, np.fromiter(map(find, ids), np.int64, len(ids))
        except KeyError:
            self.add_arms(ids)
            return ids, np.fromiter(map(find, ids), np.int64, len(ids))

    def _new_arm(self, arm: Hashable) -> int:
        self._retired.pop(arm, None)
        row = self._arms.add(arm)
        if row >= len(self._state.arms.pulls):
            self._state = self._state._replace(arms=grown(self._state.arms, self._fresh_arms(row)))
        self._state.clock[1] = len(self._arms)
        return row

    def _arm_row(self, arm: Hashable) -> int:
        row = self._arms.rows.get(arm)
        if row is None:
            raise UnknownArm(
                f"feedback must be about a known arm, but {arm!r} was never offered or added, or has retired"
            )
        return row

    def _user_row(self, user: Hashable) -> int:
        row = self._users.rows.get(user)
        return self._new_user(user) if row is None else row

    def _new_user(self, user: Hashable) -> int:
        row = self._users.add(user)
        if row >= len(self._state.users.feedbacks):
            self._state = self._state._replace(users=grown(self._state.users, self._fresh_users(row)))
        return row

    def _as_reward(self, reward: ArrayLike | None, *, silence: bool = False) -> Floats:
        if reward is None:
            return np.full(self.n_objectives, math.nan)
        try:
            vector = np.ascontiguousarray(reward, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InvalidFeedback(f"a reward must hold numbers, but got {reward!r}") from problem
        if vector.shape != (self.n_objectives,):
            raise InvalidFeedback(
                f"a reward must hold one number for each of {self.n_objectives} objectives, but got {reward!r}"
            )
        wrong = self._fault(vector)
        if wrong == 1:
            raise InvalidFeedback(f"a reward must be finite, NaN standing for what is missing, but got {reward!r}")
        if wrong == 2 and not silence:
            raise InvalidFeedback(f"a reward must tell at least one objective (else leave it out), but got {reward!r}")
        return vector


_SILENCE = np.empty(0)
_NOTHING = np.empty(0, dtype=np.int64)
_WHOLE = (int, np.integer)


def _require_distinct(ids: tuple[Hashable, ...]) -> None:
    try:
        if len(set(ids)) != len(ids):
            raise InvalidOffer(f"an offer must not repeat an arm, but got {ids!r}")
    except TypeError as problem:
        raise InvalidOffer(f"an arm must be hashable, but got the offer {ids!r}") from problem


def as_number(value: Any, what: str) -> float:
    """Return a finite number, or say that `what` must be one."""
    try:
        number = float(value)
    except (TypeError, ValueError) as problem:
        raise InvalidFeedback(f"{what} must be a finite number, but got {value!r}") from problem
    if not math.isfinite(number):
        raise InvalidFeedback(f"{what} must be a finite number, but got {value!r}")
    return number
