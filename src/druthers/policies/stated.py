"""Stated-UCB: a normal prior on each user's weights, as words state them, and utilities as evidence."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import bound
from druthers._matrices import inverse
from druthers.errors import InvalidFeedback, InvalidSetting
from druthers.own import settings
from druthers.policies.belief import Posterior
from druthers.policies.choosing import as_number, as_numbers
from druthers.policies.contexts import ContextPolicy
from druthers.policies.questions import best_question
from druthers.policies.shifts import add_within
from druthers.policies.statements import (
    REWARD_VARIANCE,
    StatedArms,
    StatedState,
    StatedUsers,
    believe_here,
    choice_unit,
    describe,
    stated_variance,
    values_of,
)
from druthers.types import Floats, Integers, Preference, Question

# How far slates go to serve tastes that were not spoken of, once something was said. At 1, five of 722 expectations of
# people in tests were lost, all about the second and third item; at 0.5 none.
SAID_DOUBT = 0.5


@settings
class StatedUCB(ContextPolicy, told="width noise mood"):
    """A user's weights are what words state, until behavior tells better.

    A utility is modelled as <c, 2 reward - 1> + mood + noise, with a normal prior on the weights c that `hear_weights`
    sets for each user, a normal prior on the mood (how kindly somebody rates), and a noise variance fitted to the
    residuals. Who picks an item compares what the offered ones are worth, each with the noise of a utility. The score
    of an arm is its expected utility and `width` standard deviations of it. Of an arm that nobody reported on one can
    be told what to `expect`; else it counts as typical, or as somewhat worse where only a part is unknown. It is the
    advisor's policy; rewards are to lie between 0 and 1, 1/2 being typical, as the scales of a catalog make them.

    Parameters
    ----------
    width
        How many standard deviations to be optimistic.
    noise
        Standard deviation of a utility around what the weights say, before any is seen.
    mood
        Standard deviation of the mood over users.

    Examples
    --------
    >>> policy = StatedUCB(n_objectives=2)
    >>> policy.add_arms(["inn", "spa"])
    >>> policy.hear_weights("ada", [0.9, 0.1], [0.05, 0.05])
    >>> policy.learn("eve", "inn", [0.2, 0.9]), policy.learn("eve", "spa", [0.8, 0.1])
    (None, None)
    >>> policy.choose("ada", offer=["inn", "spa"]).arm
    'spa'
    """

    name = "stated-ucb"
    hears = True
    learns_preference = True
    learns_choices = True
    hears_weights = True
    expects = True
    meets = True
    values_answers = True
    moods = 1
    State: ClassVar[Any] = StatedState

    width: float = 0.6
    noise: float = 0.3
    mood: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(positive="noise mood", not_negative="width")
        self._start()

    def _start(self) -> None:
        super()._start()
        self._state = self._state._replace(clock=np.zeros(2 + 2 * self.n_objectives), others=self._nobody())

    def _nobody(self) -> Floats:
        """Return mean and precision of weights of which nothing is known."""
        users = self._state.users
        return np.stack([users.mean[0], users.precision[0]])

    def _fresh_arms(self, n_arms: int) -> StatedArms:
        shape = (n_arms, self.n_objectives)
        return StatedArms(
            pulls=np.zeros(shape), means=np.zeros(shape), expected=np.full(shape, np.nan), doubt=np.full(shape, np.nan)
        )

    def _fresh_users(self, n_users: int) -> StatedUsers:
        size = self.n_objectives
        mean = np.full((n_users, size), 1.0 / size)
        return StatedUsers(
            feedbacks=np.zeros(n_users),
            gram=np.zeros((n_users, size + 2, size + 2)),
            choices=np.zeros(n_users),
            sites=np.zeros((n_users, size, size + 1)),
            mean=mean,
            precision=np.full((n_users, size), 1.0 / stated_variance(1.0 / size, 0.0)),
            statements=np.zeros(n_users),
        )

    def hear_weights(self, user: Hashable, mean: ArrayLike, variance: ArrayLike) -> None:
        """Take in what a user's words say about weights, in place of all that was said before.

        Parameters
        ----------
        user
            Who said it.
        mean, variance
            Of each weight (D,).
        """
        weights, spread = self._as_law("stated weights", mean, variance)
        row = self._user_row(user)
        users = self._state.users
        users.mean[row] = weights
        users.precision[row] = 1.0 / spread
        users.statements[row] += 1.0

    def _as_law(self, what: str, mean: ArrayLike, variance: ArrayLike) -> tuple[Floats, Floats]:
        """Return means and variances of weights."""
        weights, spread = as_numbers(mean), as_numbers(variance)
        shaped = weights.shape == spread.shape == (self.n_objectives,)
        if not shaped or not np.isfinite(weights).all() or not (spread > 0.0).all():
            raise InvalidFeedback(
                f"{what} must be {self.n_objectives} finite means and as many variances above 0,"
                f" but got {mean!r} and {variance!r}"
            )
        return weights, spread

    def expect(self, arms: Iterable[Hashable], means: ArrayLike, variances: ArrayLike) -> None:
        """Take in what to expect of arms where nothing was observed, in place of what was expected before.

        Parameters
        ----------
        arms
            Known arms.
        means, variances
            Of each reward (n, D), NaN where there is nothing to expect. What was observed counts for more.

        Examples
        --------
        >>> policy = StatedUCB(n_objectives=2, width=0.0)
        >>> policy.add_arms(["inn", "spa"])
        >>> policy.expect(["spa"], [[0.8, float("nan")]], [[0.01, float("nan")]])
        >>> policy.choose("ada").arm
        'spa'
        """
        rows, expected, doubt = self._known_rows(arms), as_numbers(means), as_numbers(variances)
        shape = (len(rows), self.n_objectives)
        if not expected.shape == doubt.shape == shape or np.isinf(expected).any() or (doubt < 0.0).any():
            raise InvalidFeedback(
                f"what is expected must be finite means {shape} and as many variances, NaN where there is"
                f" nothing to expect, but got {means!r} and {variances!r}"
            )
        self._state.arms.expected[rows] = expected
        self._state.arms.doubt[rows] = doubt

    def expectations(self, arms: Iterable[Hashable]) -> tuple[Floats, Floats]:
        """Return what is expected of arms (n, D) where nothing was observed, means and variances; NaN elsewhere."""
        rows, known = self._known_rows(arms), self._state.arms
        observed = known.pulls[rows] > 0.0
        return np.where(observed, np.nan, known.expected[rows]), np.where(observed, np.nan, known.doubt[rows])

    def meet(self, mean: ArrayLike | None, variance: ArrayLike | None) -> None:
        """Take in mean and variance (D,) of the weights of users who have said nothing; None for as at first.

        Whatever was learned of anybody stays as it is: only what is believed and chosen for such users changes.

        Examples
        --------
        >>> policy = StatedUCB(n_objectives=2)
        >>> policy.meet([0.8, 0.2], [0.1, 0.1])
        >>> policy.preference("ada").weights
        array([0.8, 0.2])
        """
        others = self._nobody()
        if mean is not None and variance is not None:
            weights, spread = self._as_law("weights of newcomers", mean, variance)
            others = np.stack([weights, 1.0 / spread])
        self._state.others[:] = others

    def reward_noise(self) -> Floats:
        """Return the variance (D,) of a report around an item's value."""
        size, clock = self.n_objectives, self._state.clock
        noise: Floats = (REWARD_VARIANCE + clock[2 : 2 + size]) / (1.0 + clock[2 + size :])
        return noise

    def _revise(self, user: int, arm: int, reward: Floats, utility: float, before: float) -> None:
        row = np.empty(self.n_objectives + 2)
        weight = describe(self._state, user, arm, np.where(np.isnan(reward), self._state.arms.means[arm], reward), row)
        gram, change = self._state.users.gram[user], weight * (utility - before)
        block = np.zeros_like(gram)
        block[:-1, -1] = block[-1, :-1] = change * row[:-1]
        block[-1, -1] = change * (utility + before)
        gram += block
        gram[-1, -1] = max(gram[-1, -1], 0.0)
        add_within(self._here(user, learns=True).visit, block, False)

    def utility_weight(self, user: Hashable, arm: Hashable) -> float:
        """Return how much a user's utility of an arm counts beside one of an arm of which all is known: 0 to 1."""
        row = self._arm_row(arm)
        given = self._state, self._row_of(user), row, self._state.arms.means[row], np.empty(self.n_objectives + 2)
        return float(self._step(describe, *given)(*given))

    def ask(
        self,
        user: Hashable,
        *,
        price: float | None = None,
        offer: Iterable[Hashable] | None = None,
        stated: Sequence[tuple[Floats, Floats]] | None = None,
    ) -> Question | None:
        """Return the question most worth asking, or None where acting now is better.

        It is a `RankingQuestion` (what matters most?) or a `ChoiceQuestion` (this or that?).

        Parameters
        ----------
        user
            Who would be asked.
        price
            What a question costs: it is worth asking if the next decision is expected to be better by more than this
            much utility. Without a price nothing is asked.
        offer
            The known arms that may be chosen; all by default.
        stated
            Mean and variance of the weights after each objective was named first; by default as `hear` has them.

        Examples
        --------
        >>> policy = StatedUCB(n_objectives=2)
        >>> policy.learn("ben", "inn", reward=[1.0, 0.2])
        >>> policy.learn("ben", "spa", reward=[0.2, 1.0])
        >>> policy.ask("ada", price=0.01).named
        (0, 1)
        >>> policy.hear("ada", (0,))
        >>> policy.ask("ada", price=0.5) is None
        True
        """
        if price is None:
            return None
        if not as_number(price, "a price") >= 0:
            raise InvalidSetting(f"price must not be negative, but got {price!r}")
        arms = tuple(self.arms if offer is None else offer)
        found = best_question(self, user, arms, stated) if len(arms) > 1 else None
        return found if found is not None and found.value > price else None

    def _posterior(self, row: int) -> Posterior:
        return self._posterior_in(self._here(row), row)

    def _posterior_in(self, here: Any, row: int) -> Posterior:
        believed: Posterior = self._step(believe_here, here, 0, here.others)(here, row, here.others)
        return believed

    def _doubt(self, row: int) -> float:
        """Return less where something was said: it is meant for every item of a slate, and not for the first alone."""
        return SAID_DOUBT if self._state.users.statements[row] > 0.0 else 1.0

    def _preference(self, row: int) -> Preference:
        estimate, chol, _ = self._posterior(row)
        covariance = np.empty_like(chol)
        self._inverse(chol, covariance)
        size = self.n_objectives
        return Preference(weights=estimate[:size].copy(), covariance=covariance[:size, :size].copy())

    @cached_property
    def _inverse(self) -> Callable[..., None]:
        return bound(inverse, np.empty((1, 1)), np.empty((1, 1)))

    @cached_property
    def _values(self) -> Callable[..., Floats]:
        return bound(values_of, self._state.arms, np.empty(0), np.empty(0, dtype=np.int64))

    def _slopes(self, weights: Floats, rows: Integers) -> Floats:
        return self._values(self._state.arms, weights, rows)

    def utility_noise(self, user: Hashable) -> float:
        """Return the standard deviation of a user's utilities around what the weights say, as estimated."""
        return math.sqrt(self._posterior(self._row_of(user)).variance)

    def sources(self, user: Hashable) -> Floats:
        """Return how much of each weight (3, D) comes from words, from behavior and from neither."""
        row, size = self._row_of(user), self.n_objectives
        _, chol, variance = self._posterior(row)
        covariance = np.empty_like(chol)
        self._inverse(chol, covariance)
        users = self._state.users
        behavior = users.gram[row, :-1, :-1] / variance
        behavior[:size, :size] += users.sites[row, :, :size] / choice_unit(self._state.settings) ** 2
        felt = np.einsum("kj,jk->k", covariance, behavior)[:size].clip(0.0, 1.0)
        said = (1.0 - felt) * (users.statements[row] > 0.0)
        return np.stack([said, felt, 1.0 - felt - said])
