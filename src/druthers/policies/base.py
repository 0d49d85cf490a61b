"""What every policy is: the public steps, checked once here, around a few kernels on arrays."""

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import bound
from druthers.errors import InvalidFeedback, InvalidOffer, NoPreference, UnknownArm, require
from druthers.policies.arms import LARGEST, fault, remember
from druthers.policies.books import require_id
from druthers.policies.choosing import NOTHING, SILENCE, Chooser, as_number, as_numbers, as_offer, require_distinct
from druthers.policies.steps import (
    NONE_OF_THESE,
    answer_policy,
    ask_policy,
    hear_policy,
    learn_choice_policy,
    learn_policy,
)
from druthers.rankings import as_ranking
from druthers.types import Floats, Preference, Question, RankingLike


class Policy(Chooser):
    """A policy hears what users want, chooses arms for them and learns from what they felt.

    A subclass names in `told=` what its kernels read of its settings, which gives it a class `State` of its own, says
    how fresh rows look, and brings the kernels `score_policy` and `learn_policy` (and `hear_policy`) for that class.
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

    hears: ClassVar[bool] = False
    asks: ClassVar[bool] = False
    learns_choices: ClassVar[bool] = False
    learns_features: ClassVar[bool] = False
    learns_contexts: bool = False
    expects: ClassVar[bool] = False
    meets: ClassVar[bool] = False
    values_answers: ClassVar[bool] = False
    hears_weights: ClassVar[bool] = False
    knows_truth: ClassVar[bool] = False
    population: bool = False  # whether users have something in common; else they are apart

    def _learn(self, here: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
        self._step(learn_policy, here, 0, 0, SILENCE, 0.0)(here, user, arm, reward, utility)

    @functools.cached_property
    def _fault(self) -> Callable[..., int]:
        return bound(fault, SILENCE)

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings for a service, where they are not the usual ones: rewards and utilities are at most 1."""
        return {}

    def hear(self, user: Hashable, ranking: RankingLike) -> None:
        """Take in a query: the objectives that matter to the user, most important first; empty says nothing."""
        checked = as_ranking(ranking, self.n_objectives)
        if self.hears and len(checked):
            row = self._user_row(user)  # may replace the state, so it comes first
            self._step(hear_policy, self._state, 0, NOTHING)(self._state, row, checked)

    def utility_noise(self, user: Hashable) -> float:
        """Return the standard deviation of a user's utilities around what the policy expects."""
        return 0.3

    def hear_weights(self, user: Hashable, mean: ArrayLike, variance: ArrayLike) -> None:
        """Take in what a user's words say about weights; only for policies with `hears_weights`."""
        raise self._cannot("hear weights", "stated-ucb")

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
        try:
            arm_row, user_row = self._arms.rows.get(arm), self._users.rows.get(user)
        except TypeError:
            arm_row, user_row = self._arms.find(arm), self._users.find(user)  # says which it is
        if arm_row is None and arm in self._retired:
            raise UnknownArm(
                f"feedback must not be about an arm that has retired, but {arm!r} has; offer or add it to begin anew"
            )
        if reward is None and utility is None:
            raise InvalidFeedback("feedback must hold a reward, a utility or both, but got neither")
        vector = self._as_reward(reward)
        value = math.nan if utility is None else as_number(utility, "a utility")
        if user_row is None:
            require_id(user)
        if arm_row is None:
            arm_row = self._new_arm(arm)
        if user_row is None:
            user_row = self._new_user(user)  # may replace the state, as a new arm does, so it comes first
        self._learn(self._here(user_row, learns=utility is not None), user_row, arm_row, vector, value)

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
        self._users.ids([user])
        ids = as_offer(offer)
        require_distinct(ids)
        if picked is not None and (picked not in ids or len(ids) < 2):
            raise InvalidOffer(f"a pick must be one of two or more offered arms, but got {picked!r} of {ids!r}")
        for arm in ids:
            if arm in self._retired:
                raise UnknownArm(
                    f"a choice must not be among arms that have retired, but {arm!r} has; leave it out of the offer"
                )
        ids, rows = self._offered(ids, 1)
        user_row = self._user_row(user)  # may replace the state, as a new arm does, so it comes first
        place = NONE_OF_THESE if picked is None else ids.index(picked)
        here = self._here(user_row, learns=True)
        self._step(learn_choice_policy, here, 0, NOTHING, 0)(here, user_row, rows, place)

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
        if before is None:
            known.pulls[row] += np.where(np.isnan(vector), 0.0, weights - 1.0)
        else:
            pulls, sums = known.pulls[row].copy(), known.pulls[row] * known.means[row]
            for sign, (given, times) in ((-1.0, before), (1.0, (vector, weights))):
                there = ~np.isnan(given)
                pulls[there] += sign * times[there]
                sums[there] += sign * times[there] * given[there]
            left = pulls > 0.0
            known.pulls[row] = np.where(left, pulls, 0.0)
            known.means[row] = np.divide(sums, pulls, out=np.zeros_like(sums), where=left)
        self._expect(row)

    def _expect(self, row: int | None) -> None:
        """Work out what to expect of an arm whose features or rewards have changed."""

    def _as_counts(self, counts: ArrayLike | None) -> Floats:
        if counts is None:
            return np.ones(self.n_objectives)
        vector = as_numbers(counts)
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
        here = self._here(user, learns=True)
        self._learn(here, user, arm, np.full(self.n_objectives, math.nan), utility)

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
        objective = int(ask_policy(self._state, self._row_of(user)))
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
        row = self._row_with_taste(user)
        return self._anytime_preference(row) if anytime else self._preference(row)

    def interval(self, user: Hashable, *, share: float = 0.9) -> Floats:
        """Return between which values (2, D) each of a user's weights lies with this chance, as `preference` believes.

        The Fisher policies, whose belief is long to one side where the unit of utilities is not known, have quantiles
        of it; all others so many standard deviations on both sides.
        """
        fits = 0.0 < as_number(share, "the share of an interval") < 1.0
        require(fits, "the share of an interval must lie between 0 and 1", share)
        return self._interval(self._row_with_taste(user), share)

    def _row_with_taste(self, user: Hashable) -> int:
        if not self.learns_preference:
            raise NoPreference(f"{self.name} does not learn preferences; choose a policy that does, such as mo-pqucb")
        return self._row_of(user)

    def _interval(self, row: int, share: float) -> Floats:
        believed = self._preference(row)
        spread = NormalDist().inv_cdf(0.5 + 0.5 * share) * np.sqrt(np.diag(believed.covariance))
        return np.stack([believed.weights - spread, believed.weights + spread])

    def _anytime_preference(self, row: int) -> Preference:
        raise NoPreference(
            f"intervals for all times need a policy that knows them, such as fisher-pqucb, but got {self.name}"
        )

    def sources(self, user: Hashable) -> Floats | None:
        """Return how much of each weight (3, D) comes from words, from behavior and from neither; None if unknown.

        Each column sums to one.
        """
        return None

    def reward_means(self, arms: Iterable[Hashable]) -> Floats:
        """Return the mean reward (n, D) of known arms; NaN where nothing was observed."""
        rows, known = self._known_rows(arms), self._state.arms
        return np.where(known.pulls[rows] > 0.0, known.means[rows], math.nan)

    def reward_counts(self, arms: Iterable[Hashable]) -> Floats:
        """Return how often each objective (n, D) of known arms was observed."""
        counts: Floats = self._state.arms.pulls[self._known_rows(arms)]
        return counts

    def expect(self, arms: Iterable[Hashable], means: ArrayLike, variances: ArrayLike) -> None:
        """Take in what to expect of arms where nothing was observed; only for policies with `expects`."""
        raise self._cannot("can be told what to expect of arms", "stated-ucb")

    def expectations(self, arms: Iterable[Hashable]) -> tuple[Floats, Floats]:
        """Return what is expected of arms where nothing was observed, means and variances; only with `expects`."""
        raise self._cannot("can be told what to expect of arms", "stated-ucb")

    def meet(self, mean: ArrayLike | None, variance: ArrayLike | None) -> None:
        """Take in how users who have said nothing are to be met; only for policies with `meets`."""
        raise self._cannot("can be told how to meet newcomers", "stated-ucb")

    def reward_noise(self) -> Floats:
        """Return the variance (D,) of a reward around the mean of its arm; only for policies with `expects`."""
        raise self._cannot("say how far rewards are from their means", "stated-ucb")

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
            raise InvalidFeedback(
                f"a reward must be finite and within {LARGEST:g}, NaN standing for what is missing, but got {reward!r}"
            )
        if wrong == 2 and not silence:
            raise InvalidFeedback(f"a reward must tell at least one objective (else leave it out), but got {reward!r}")
        return vector
