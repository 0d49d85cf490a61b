"""Stated-UCB: a normal prior on each user's weights, as words state them, and utilities as evidence."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import implements, kernel
from druthers._matrices import factor, inverse, norms, solve
from druthers.errors import InvalidFeedback
from druthers.policies.arms import never_seen, observe
from druthers.policies.base import Policy
from druthers.policies.choices import add_choice
from druthers.policies.linear import require_not_negative, require_positive
from druthers.policies.questions import best_question
from druthers.policies.steps import NONE_OF_THESE, hear_policy, learn_choice_policy, learn_policy, score_policy
from druthers.types import Floats, Integers, Preference, Question

UNKNOWN_VARIANCE = 1.0 / 3.0  # of a value nobody knows, uniform over its scale
# How far slates go to serve tastes that were not spoken of, once something was said. At 1, five of 722 expectations of
# people in tests were lost, all about the second and third item; at 0.5 none.
SAID_DOUBT = 0.5
UNKNOWN_MEAN = -0.3  # a blank is taken for somewhat worse than a typical value
BLANK = UNKNOWN_MEAN / math.sqrt(UNKNOWN_VARIANCE)  # the same in standard deviations, where something is expected
NOISE_DRAWS = 4.0  # utilities that the guess of their noise is worth
REWARD_VARIANCE = 0.04  # of a report around an item's value, worth one report
GUMBEL = math.sqrt(6.0) / math.pi  # the scale of a Gumbel law of variance one
FIXED_POINTS = 3  # rounds in which the noise of utilities and the weights are fitted to each other


class StatedSettings(NamedTuple):
    """What Stated-UCB is told."""

    width: float
    noise: float
    mood: float


class StatedArms(NamedTuple):
    """What is known of each arm: as `Arms`, and what to expect of it where nothing was observed.

    `expected` and `doubt` (K, D) are mean and variance of a reward, NaN where nothing is expected.
    """

    pulls: Floats
    means: Floats
    expected: Floats
    doubt: Floats


class StatedUsers(NamedTuple):
    """Each user's prior and feedback.

    With x = 2 reward - 1, so that a typical item is 0, `gram` (D + 2, D + 2) sums (x, 1, utility)(x, 1, utility)'.
    `choices` counts choices, and `sites` (D, D + 1) sums their information and pull, of weights in `choice_unit`s.
    """

    feedbacks: Floats
    gram: Floats
    choices: Floats
    sites: Floats
    mean: Floats
    precision: Floats
    statements: Floats


class StatedState(NamedTuple):
    """All that Stated-UCB knows.

    After its two counts, `clock` holds D squared deviations of rewards within arms, and how many of each are free.
    `others` (2, D) has mean and precision of the weights of who has said nothing.
    """

    settings: StatedSettings
    clock: Floats
    arms: StatedArms
    users: StatedUsers
    others: Any = None


class StatedUCB(Policy):
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
    State: ClassVar[Any] = StatedState

    def __init__(
        self,
        *,
        n_objectives: int,
        seed: int = 0,
        exploration: float = 0.0,
        width: float = 0.6,
        noise: float = 0.3,
        mood: float = 0.5,
    ) -> None:
        super().__init__(n_objectives=n_objectives, seed=seed, exploration=exploration)
        require_positive(noise=noise, mood=mood)
        require_not_negative(width=width)
        self.width = width
        self.noise = noise
        self.mood = mood
        self._start()

    def _start(self) -> None:
        super()._start()
        self._state = self._state._replace(clock=np.zeros(2 + 2 * self.n_objectives), others=self._nobody())

    def _nobody(self) -> Floats:
        """Return mean and precision of weights of which nothing is known."""
        users = self._state.users
        return np.stack([users.mean[0], users.precision[0]])

    def _settings(self) -> StatedSettings:
        return StatedSettings(width=float(self.width), noise=float(self.noise), mood=float(self.mood))

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
        weights, spread = (np.asarray(given, dtype=np.float64) for given in (mean, variance))
        shape = (self.n_objectives,)
        if (
            weights.shape != shape
            or spread.shape != shape
            or not np.isfinite(weights).all()
            or not (spread > 0.0).all()
        ):
            raise InvalidFeedback(
                f"stated weights must be {self.n_objectives} finite means and as many variances above 0,"
                f" but got {mean!r} and {variance!r}"
            )
        row = self._user_row(user)
        users = self._state.users
        users.mean[row] = weights
        users.precision[row] = 1.0 / spread
        users.statements[row] += 1.0

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
        rows = [self._arm_row(arm) for arm in arms]
        self._state.arms.expected[rows] = np.asarray(means, dtype=np.float64)
        self._state.arms.doubt[rows] = np.asarray(variances, dtype=np.float64)

    def expectations(self, arms: Iterable[Hashable]) -> tuple[Floats, Floats]:
        """Return what is expected of arms (n, D) where nothing was observed, means and variances; NaN elsewhere."""
        rows = [self._arm_row(arm) for arm in arms]
        known = self._state.arms
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
            others = np.stack([np.asarray(mean, dtype=np.float64), 1.0 / np.asarray(variance, dtype=np.float64)])
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
        gram[:-1, -1] += change * row[:-1]
        gram[-1, :-1] += change * row[:-1]
        gram[-1, -1] = max(gram[-1, -1] + change * (utility + before), 0.0)

    def utility_weight(self, user: Hashable, arm: Hashable) -> float:
        """Return how much a user's utility of an arm counts beside one of an arm of which all is known: 0 to 1."""
        row = self._arm_row(arm)
        user_row, scratch = self._users.rows.get(user, 0), np.empty(self.n_objectives + 2)
        return float(describe(self._state, user_row, row, self._state.arms.means[row], scratch))

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
        require_not_negative(price=price)
        arms = tuple(self.arms if offer is None else offer)
        found = best_question(self, user, arms, stated) if len(arms) > 1 else None
        return found if found is not None and found.value > price else None

    def _posterior(self, row: int) -> tuple[Floats, Floats, float]:
        size = self.n_objectives + 1
        estimate, chol = np.empty(size), np.empty((size, size))
        state = self._state
        variance = posterior(state.users, row, state.settings, state.others, estimate, chol)
        return estimate, chol, float(variance)

    def _doubt(self, row: int) -> float:
        """Return less where something was said: it is meant for every item of a slate, and not for the first alone."""
        return SAID_DOUBT if self._state.users.statements[row] > 0.0 else 1.0

    def _preference(self, row: int) -> Preference:
        estimate, chol, _ = self._posterior(row)
        covariance = np.empty_like(chol)
        inverse(chol, covariance)
        size = self.n_objectives
        return Preference(weights=estimate[:size].copy(), covariance=covariance[:size, :size].copy())

    def _slopes(self, weights: Floats, rows: Integers) -> Floats:
        arms = self._state.arms
        known, means = arms.pulls[rows] > 0.0, arms.means[rows]
        partly = (weights > 0.0) & known.any(axis=1, keepdims=True)
        blank = np.where(partly, UNKNOWN_MEAN, 0.0)
        if not known.all():
            expected, doubt = arms.expected[rows], arms.doubt[rows]
            told = 2.0 * expected - 1.0 + np.where(partly, BLANK * 2.0 * np.sqrt(doubt), 0.0)
            blank = np.where(np.isnan(expected), blank, told)
        return np.where(known, 2.0 * means - 1.0, blank)

    def utility_noise(self, user: Hashable) -> float:
        """Return the standard deviation of a user's utilities around what the weights say, as estimated."""
        return math.sqrt(self._posterior(self._users.rows.get(user, 0))[2])

    def sources(self, user: Hashable) -> Floats:
        """Return how much of each weight (3, D) comes from words, from behavior and from neither."""
        row, size = self._users.rows.get(user, 0), self.n_objectives
        _, chol, variance = self._posterior(row)
        covariance = np.empty_like(chol)
        inverse(chol, covariance)
        users = self._state.users
        behavior = users.gram[row, :-1, :-1] / variance
        behavior[:size, :size] += users.sites[row, :, :size] / choice_unit(self._state.settings) ** 2
        felt = np.einsum("kj,jk->k", covariance, behavior)[:size].clip(0.0, 1.0)
        said = (1.0 - felt) * (users.statements[row] > 0.0)
        return np.stack([said, felt, 1.0 - felt - said])


def stated_variance(mean: float, draws: float) -> float:
    """Return the variance of a weight that so many draws of a first choice state."""
    return max(mean * (1.0 - mean) / (draws + 1.4), 0.0025)


@kernel
def choice_unit(settings: StatedSettings) -> float:
    """Return the scale of the Gumbel noise with which items are compared: it has the variance of that of utilities."""
    return float(GUMBEL * settings.noise)


@kernel
def posterior(
    users: StatedUsers, user: int, settings: StatedSettings, others: Floats, estimate: Floats, chol: Floats
) -> float:
    """Write the estimate of weights and mood and the upper factor of their precision; return the noise variance.

    Of who has said nothing, `others` (2, D) are mean and precision of the weights before any feedback.
    """
    size = estimate.shape[0]
    silent = users.statements[user] == 0.0
    gram = users.gram[user]
    guess = settings.noise * settings.noise
    unit = choice_unit(settings)
    variance = guess
    for _ in range(FIXED_POINTS):
        for i in range(size):
            prior, mean = 1.0 / (settings.mood * settings.mood), 0.0
            if i < size - 1 and silent:
                mean, prior = others[0, i], others[1, i]
            elif i < size - 1:
                mean, prior = users.mean[user, i], users.precision[user, i]
            estimate[i] = prior * mean + gram[i, size] / variance
            for j in range(size):
                chol[i, j] = gram[i, j] / variance
            chol[i, i] += prior
        for i in range(size - 1):
            estimate[i] += users.sites[user, i, size - 1] / unit
            for j in range(size - 1):
                chol[i, j] += users.sites[user, i, j] / (unit * unit)
        factor(chol, chol)
        solve(chol, estimate)
        residual = gram[size, size]
        for i in range(size):
            along = 0.0
            for j in range(size):
                along += gram[i, j] * estimate[j]
            residual += estimate[i] * (along - 2.0 * gram[i, size])
        variance = (NOISE_DRAWS * guess + max(residual, 0.0)) / (NOISE_DRAWS + users.feedbacks[user])
    return variance


@implements(score_policy, StatedState)
@kernel
def _score(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    arms, clock, size = state.arms, state.clock, state.users.mean.shape[1]
    estimate = np.empty(size + 1)
    chol = np.empty((size + 1, size + 1))
    posterior(state.users, user, state.settings, state.others, estimate, chol)
    columns = np.zeros((size + 1, offer.shape[0]))
    share = clock[0] / max(clock[1], 1.0)  # reports of the average arm
    for j in range(offer.shape[0]):
        arm = offer[j]
        utility = 0.0
        square = 0.0
        new = never_seen(arms, arm)
        for k in range(size):
            pulls = arms.pulls[arm, k]
            weight = estimate[k] * estimate[k]
            if pulls > 0.0:
                value = 2.0 * arms.means[arm, k] - 1.0
                spread = 4.0 * (REWARD_VARIANCE + clock[2 + k]) / (1.0 + clock[2 + size + k]) / pulls
                square += weight * spread * max(1.0, np.log(max(share / pulls, 1.0)))
            elif not np.isnan(arms.expected[arm, k]):
                value = 2.0 * arms.expected[arm, k] - 1.0
                if new:
                    square += weight * 4.0 * arms.doubt[arm, k] * max(1.0, np.log(max(share, 1.0)))
                elif estimate[k] > 0.0:
                    value += BLANK * 2.0 * np.sqrt(arms.doubt[arm, k])
            elif new:  # like any other on average, and worth finding out, but not before what was asked for
                value = 0.0
                square += weight * UNKNOWN_VARIANCE * max(1.0, np.log(max(share, 1.0)))
            else:
                value = UNKNOWN_MEAN if estimate[k] > 0.0 else 0.0
            columns[k, j] = value
            utility += estimate[k] * value
        out[0, j] = utility + estimate[size]
        out[1, j] = square
    norms(chol, columns, out[2])
    for j in range(offer.shape[0]):
        of_preference = out[2, j] * out[2, j]
        deviation = np.sqrt(out[1, j] + of_preference)
        part = state.settings.width / deviation if deviation > 0.0 else 0.0
        out[1, j] = part * out[1, j]
        out[2, j] = part * of_preference
        out[3, j] = out[0, j] + out[1, j] + out[2, j]
    return 1


@implements(hear_policy, StatedState)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    """Average what each ranking would state alone: half of what is left goes to the next place, and so on."""
    users, size = state.users, state.users.mean.shape[1]
    before = users.statements[user]
    left = 1.0
    stated = np.full(size, 0.1 / size)
    for place in range(ranking.shape[0]):
        stated[ranking[place]] += 0.9 * (0.5 * left if place < ranking.shape[0] - 1 else left)
        left *= 0.5
    for k in range(size):
        mean = (users.mean[user, k] * before + stated[k]) / (before + 1.0)
        users.mean[user, k] = mean
        users.precision[user, k] = 1.0 / max(mean * (1.0 - mean) / (before + 2.4), 0.0025)
    users.statements[user] = before + 1.0


@implements(learn_policy, StatedState)
@kernel
def _learn(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    arms, clock, users, size = state.arms, state.clock, state.users, reward.shape[0]
    for k in range(size):
        pulls = arms.pulls[arm, k]
        if not np.isnan(reward[k]) and pulls > 0.0:
            off = reward[k] - arms.means[arm, k]
            clock[2 + k] += off * off * pulls / (pulls + 1.0)
            clock[2 + size + k] += 1.0
    filled = np.empty(size)
    observe(arms, clock, arm, reward, filled)
    if np.isnan(utility):
        return
    row = np.empty(size + 2)
    weight = describe(state, user, arm, filled, row)
    row[size + 1] = utility
    for i in range(size + 2):
        for j in range(size + 2):
            users.gram[user, i, j] += weight * row[i] * row[j]
    users.feedbacks[user] += weight


@implements(learn_choice_policy, StatedState)
@kernel
def _learn_choice(state: Any, user: int, offer: Integers, place: int) -> None:
    """Compare the picked item with the others, or a typical one, which is 0, with all of them.

    People see the values that are known of an item, so these are off by no more than reports of it differ.
    """
    arms, clock, users, size = state.arms, state.clock, state.users, state.users.mean.shape[1]
    n_rows = offer.shape[0] + (place == NONE_OF_THESE)
    rows = np.zeros((n_rows, size))
    spreads = np.zeros((n_rows, size))
    for j in range(offer.shape[0]):
        for k in range(size):
            pulls = arms.pulls[offer[j], k]
            if pulls > 0.0:
                rows[j, k] = 2.0 * arms.means[offer[j], k] - 1.0
                spreads[j, k] = 4.0 * clock[2 + k] / (1.0 + clock[2 + size + k]) / pulls
            else:
                spreads[j, k] = UNKNOWN_VARIANCE
    estimate = np.empty(size + 1)
    chol = np.empty((size + 1, size + 1))
    nobody = np.empty((2, size))  # what is learned of somebody must not depend on others
    for k in range(size):
        nobody[0, k], nobody[1, k] = users.mean[user, k], users.precision[user, k]
    posterior(users, user, state.settings, nobody, estimate, chol)
    picked = offer.shape[0] if place == NONE_OF_THESE else place
    add_choice(rows, spreads, picked, estimate, chol, choice_unit(state.settings), users.sites[user])
    users.choices[user] += 1.0


@kernel
def describe(state: Any, user: int, arm: int, reward: Floats, row: Floats) -> float:
    """Write an arm as (x, 1) into `row`, 0 where nobody knows a value; return how much a utility of it counts.

    What unknown values would add is noise, in units of the noise of a utility before any is seen.
    """
    users, size = state.users, reward.shape[0]
    blank = 0.0
    for k in range(size):
        if state.arms.pulls[arm, k] > 0.0:
            row[k] = 2.0 * reward[k] - 1.0
        else:
            row[k] = 0.0
            mean = users.mean[user, k]
            blank += UNKNOWN_VARIANCE * (mean * mean + 1.0 / users.precision[user, k])
    row[size] = 1.0
    guess = state.settings.noise * state.settings.noise
    return float(guess / (guess + blank))
