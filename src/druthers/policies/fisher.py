"""Fisher-PQUCB: rankings and utilities, each weighed by the information it carries; nothing to tune per data set."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from druthers._jit import generic, implements, kernel
from druthers._matrices import add_rank_one, inverse, solve_transposed
from druthers.anchors.base import Anchor, hear_anchor, is_power_of_two
from druthers.anchors.likelihood import Likelihood
from druthers.errors import InvalidSetting
from druthers.policies.anytime import NINETY, anytime_radius
from druthers.policies.arms import fill_unknown, never_seen, observe, remember
from druthers.policies.asking import ranking_value
from druthers.policies.belief import FIRST_FIT, NOTHING, believe, fit_unit, utility_variance
from druthers.policies.bonuses import cautious, fisher_scores, guaranteed_scores, reward_variances
from druthers.policies.choices import add_choice, begin_choices, offer_rows
from druthers.policies.features import FeaturePolicy
from druthers.policies.linear import add_distances, require_not_negative, require_positive
from druthers.policies.looking import learn_rewards, looking_scores
from druthers.policies.rewards import FITTED, FeaturedArms
from druthers.policies.soft import Said, soft_site
from druthers.policies.steps import NONE_OF_THESE, hear_policy, learn_choice_policy, learn_policy, score_policy
from druthers.policies.units import SLAB, SPIKE, average_units, tell
from druthers.types import Floats, Integers, Preference, RankingQuestion


class FisherSettings(NamedTuple):
    """What Fisher-PQUCB is told; `pull` is the anchor's own ridge."""

    ridge: float
    pull: float
    width: float
    guarantee: float


class FisherUsers(NamedTuple):
    """Each user's feedback and the memory of the anchor.

    With x = reward/|reward| and y = utility/|reward|, both less where part of the reward is unknown (`fill_unknown`),
    `products` (D + 1, D + 1) sums (x, y)(x, y)', and `root` is its upper factor, started at nearly nothing: its last
    entry is the root of the residual sum of squares. `unit` is how many units of utility one of the Plackett-Luce
    model is worth. `choices` counts choices, and `sites` (D, D + 1) sums their information and their pull, of
    weights in units of the Plackett-Luce model, together with those of soft words, which `softly` has alone.
    """

    feedbacks: Floats
    products: Floats
    root: Floats
    unit: Floats
    choices: Floats
    sites: Floats
    softly: Floats
    anchor: Any


class FisherState(NamedTuple):
    """All that Fisher-PQUCB knows.

    After its two counts, `clock` holds D numbers each of: rewards seen, their mean, their squared deviations from it,
    their squared deviations from the mean of the arm, and how many of the latter are free.
    """

    settings: FisherSettings
    clock: Floats
    arms: FeaturedArms
    users: FisherUsers
    model: Any = None


class DeafState(NamedTuple):
    """The same for a policy that hears no rankings."""

    settings: FisherSettings
    clock: Floats
    arms: FeaturedArms
    users: FisherUsers
    model: Any = None


class CrowdUsers(NamedTuple):
    """As `FisherUsers`; `shared` is what others say of a user's log-unit: mean and deviation, 0 before any look."""

    feedbacks: Floats
    products: Floats
    root: Floats
    unit: Floats
    choices: Floats
    sites: Floats
    softly: Floats
    anchor: Any
    shared: Floats


class CrowdState(NamedTuple):
    """The same with a population: `clock` goes on with what people share (see `policies.crowds`)."""

    settings: FisherSettings
    clock: Floats
    arms: FeaturedArms
    users: CrowdUsers
    model: Any = None


class FisherPQUCB(FeaturePolicy):
    """Rankings, utilities and choices weighed by their information, with noise scales learned on the way.

    Use it unless you must have the paper's own algorithm: it needs no horizon and no constants per data set. With G
    and h the sums of rr'/|r|^2 and gr/|r|^2 over a user's utilities g, H the information of the anchor, s_p^2 the
    estimated variance of a utility per |r|^2 and s_r^2 that of rewards, M = G/s_p^2 + H + prior, the estimate is
    c = M^-1 (h/s_p^2 + (H + prior) anchor), and the score of an arm <c, mean> + width sqrt(mean'M^-1 mean
    + sum c^2 s_r^2/N), utility and one standard deviation of it, or more where an arm was seen less than others or
    a preference is known less well along its mean (`growth`). Arms never seen come first.

    Parameters
    ----------
    ridge
        Precision of a normal prior on the differences between weights, in the units of the Plackett-Luce model. The
        level of the weights, which no ranking tells, has none to speak of.
    width
        How many standard deviations to be optimistic, for rewards and preferences alike.
    anchor
        What to make of the rankings; `Likelihood(ridge=ridge)` by default. `Mixture()` where some may be corrupted.
    level
        What an arm with reward 1 in every objective is worth to anyone, as good as one utility tells; 0 if that is
        not known. Rankings say nothing about it, so this is what a user's weights add up to until feedback comes.
    unit
        How many units of utility one of the Plackett-Luce model is worth, until a user's feedback tells.
    guarantee
        Whether bonuses are as wide as the proof of a sublinear regret needs (docs/theory.md) instead of one standard
        deviation. The unit must then be known: it stays as given.
    population
        Whether people have something in common: the law of their weights and units is then learned from all of them,
        and whoever is new is met with it. Users are no longer apart, but exchangeable.

    Notes
    -----
    The score takes the unit of a user's utilities to be one number. What `preference` returns is averaged over units by
    their evidence, so that its covariance is honest where the unit is not known: see docs/belief.md for how often its
    intervals hold the truth.

    Examples
    --------
    >>> policy = FisherPQUCB(n_objectives=2)
    >>> policy.hear("ada", (1, 0))
    >>> decision = policy.choose("ada", offer=["inn", "spa"])
    >>> policy.learn("ada", decision.arm, reward=[0.2, 0.9], utility=0.8)
    >>> bool(np.argmax(policy.preference("ada").weights) == 1)
    True
    """

    name = "fisher-pqucb"
    hears = True
    learns_preference = True
    learns_choices = True
    State: ClassVar[Any] = FisherState

    def __init__(
        self,
        *,
        n_objectives: int,
        seed: int = 0,
        exploration: float = 0.0,
        ridge: float = 0.5,
        width: float = 1.0,
        anchor: Anchor | None = None,
        level: float = 0.0,
        unit: float = 1.0,
        guarantee: bool = False,
        population: bool = False,
    ) -> None:
        super().__init__(n_objectives=n_objectives, seed=seed, exploration=exploration)
        require_positive(ridge=ridge, unit=unit)
        require_not_negative(width=width, level=level)
        self.ridge = ridge
        self.width = width
        self.level = level
        self.unit = unit
        if guarantee and population:
            raise InvalidSetting("a guarantee holds for people apart, but got population=True beside guarantee=True")
        self.guarantee = guarantee
        self.population = population
        self.anchor = Likelihood(ridge=ridge) if anchor is None else anchor
        self._start()

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return what rewards and utilities of at most 1 say about the level of weights and their unit."""
        return {"level": 1.0, "unit": 1.0 / n_objectives}

    def _start(self) -> None:
        super()._start()
        clock = np.zeros(2 + 5 * self.n_objectives)
        if self.population:
            from druthers.policies.crowds import begin_shared, shared_size

            shared = np.empty(shared_size(self.n_objectives))
            begin_shared(shared, self.n_objectives, float(self.ridge))
            self._state = CrowdState(*self._state)
            clock = np.concatenate([clock, shared])
        self._state = self._state._replace(clock=clock)

    def _settings(self) -> FisherSettings:
        return FisherSettings(
            ridge=float(self.ridge),
            pull=float(getattr(self.anchor, "ridge", 0.0)),
            width=float(self.width),
            guarantee=float(self.guarantee),
        )

    def _fresh_users(self, n_users: int) -> Any:
        size = self.n_objectives + 1
        root = np.sqrt(NOTHING) * np.eye(size)
        root[-1, -1] = 1e-100  # no residual yet, and no zero to divide by
        products = np.zeros((size, size))
        if self.level > 0.0:
            first = np.full(size, 1.0)
            first[-1] = self.level
            first /= np.sqrt(self.n_objectives)
            products += np.outer(first, first)
            add_rank_one(root, first)
        users = FisherUsers(
            feedbacks=np.full(n_users, float(self.level > 0.0)),
            products=np.repeat(products[None], n_users, axis=0),
            root=np.repeat(root[None], n_users, axis=0),
            unit=np.full(n_users, float(self.unit)),
            choices=np.zeros(n_users),
            sites=np.zeros((n_users, self.n_objectives, size)),
            softly=np.zeros((n_users, self.n_objectives, size)),
            anchor=self.anchor.rows(n_users, self.n_objectives),
        )
        return CrowdUsers(*users, shared=np.zeros((n_users, 2))) if self.population else users

    def hear_softly(self, user: Hashable, said: Said, *, weight: float = 1.0) -> None:
        """Take in words that are not one list, as a weighted, partial Plackett-Luce law.

        Parameters
        ----------
        user
            Who said it.
        said
            Sets of objectives, the most important first, each in no order of its own: `[0, (2, 3)]` is "0 above all,
            then 2 and 3". Or a mapping of objectives to how likely each is the first choice, as a reading with
            confidences has them.
        weight
            How many rankings it counts for: less than 1 where a reading is unsure.

        Examples
        --------
        >>> policy = FisherPQUCB(n_objectives=4)
        >>> policy.hear_softly("ada", [(1, 2)])
        >>> weights = policy.preference("ada").weights
        >>> bool(abs(weights[1] - weights[2]) < 1e-6 and weights[1] > weights[0] + 0.2)
        True
        """
        require_positive(weight=weight)
        row = self._users.rows.get(user, 0)
        believed, unit = self._preference_at_unit(row), float(self._state.users.unit[row])
        precision: Floats = unit**2 * np.linalg.inv(believed.covariance).astype(np.float64)
        information, pull = soft_site(said, weight, believed.weights / unit, precision)
        if not self.hears:
            return
        row = self._user_row(user)  # may replace the state, so it comes first
        for sums in (self._state.users.sites[row], self._state.users.softly[row]):
            sums[:, :-1] += information
            sums[:, -1] += pull

    def unhear(self, user: Hashable) -> None:
        """Forget what a user said, softly too, and keep what the user felt; for a user never seen, nothing happens."""
        row = self._users.rows.get(user)
        if row is not None:
            self._state.users.sites[row] -= self._state.users.softly[row]
        super().unhear(user)
        self._look_again()

    def forget_user(self, user: Hashable) -> None:
        """Forget everything about a user, in what people have in common too; what was learned about arms stays."""
        super().forget_user(user)
        self._look_again()

    def _look_again(self) -> None:
        """Make what people share anew from those who are left."""
        if self.population:
            from druthers.policies.crowds import look_at_people

            look_at_people(self._state)

    def ask(
        self, user: Hashable, *, price: float | None = None, budget: int | None = None, length: int | None = None
    ) -> RankingQuestion | None:
        """Return a ranking worth asking for, or None where acting now is better.

        Parameters
        ----------
        user
            Who would be asked.
        price
            What a question costs: it is worth asking if the next decision is expected to be better by more than this
            much utility. Without a price nothing is asked.
        budget
            How many rankings a user may be asked for at most, counting those heard so far.
        length
            How many objectives to rank; all by default.

        Examples
        --------
        >>> policy = FisherPQUCB(n_objectives=2)
        >>> policy.learn("ben", "inn", reward=[1.0, 0.2])
        >>> policy.learn("ben", "spa", reward=[0.2, 1.0])
        >>> question = policy.ask("ada", price=0.01)
        >>> question.length
        2
        >>> policy.ask("ada", price=100.0) is None
        True
        """
        if price is None or not self.hears:
            return None
        require_not_negative(price=price)
        size, row = self.n_objectives, self._users.rows.get(user, 0)
        places = size if length is None else length
        if not 1 <= places <= size:
            raise InvalidSetting(f"length must be from 1 to {size}, the number of objectives, but got {length!r}")
        users, arms = self._state.users, self._state.arms
        if budget is not None and users.anchor.queries[row] >= budget:
            return None
        known = [arm for arm in self._arms.rows.values() if np.any(arms.pulls[arm] > 0.0)]
        value = ranking_value(self._preference_at_unit(row), float(users.unit[row]), arms.means[known], places)
        return RankingQuestion(user, -1, places, value) if value > price else None

    def _revise(self, user: int, arm: int, reward: Floats, utility: float, before: float) -> None:
        users, filled = self._state.users, np.empty(self.n_objectives)
        square, spoilt = remember(self._state.arms, arm, reward, filled)
        if square > 0.0:
            scale = 1.0 / math.sqrt(square + spoilt)
            replace_utility(users.products[user], users.root[user], scale * filled, scale * utility, scale * before)
            self._refit(user)

    def _refit(self, user: int) -> None:
        """Fit what is fitted after a utility."""
        if not self.population:  # there the next look does
            fit_after_utility(self._state, user)

    def _preference(self, row: int) -> Preference:
        weights, covariance = np.empty(self.n_objectives), np.empty((self.n_objectives, self.n_objectives))
        if state_belief(self._state, row, weights, covariance):
            return Preference(weights=weights, covariance=covariance)
        return self._preference_at_unit(row)

    def _preference_at_unit(self, row: int) -> Preference:
        """Return what the score is made of."""
        size = self.n_objectives
        weights, root, covariance = np.empty(size), np.empty((size, size)), np.empty((size, size))
        believe_user(self._state, row, weights, root)
        inverse(root, covariance)
        return Preference(weights=weights, covariance=covariance)

    def _anytime_preference(self, row: int) -> Preference:
        users, believed = self._state.users, self._preference_at_unit(row)
        radius = anytime_radius(
            believed.weights,
            believed.covariance,
            users.anchor.estimate[row],
            users.anchor.information[row],
            float(users.anchor.total_length[row]),
            ridge=float(self.ridge),
            unit=float(users.unit[row]),
        )
        return Preference(weights=believed.weights, covariance=(radius / NINETY) ** 2 * believed.covariance)

    def sources(self, user: Hashable) -> Floats:
        """Return how much of each weight (3, D) comes from words, from behavior and from neither.

        With M the sum of an information of words, one of behavior and a prior, the diagonals of M^-1 times each sum
        to one. What cancels out between objectives may leave a part slightly negative; it then counts as nothing.

        Examples
        --------
        >>> FisherPQUCB(n_objectives=2).sources("ada")
        array([[0., 0.],
               [0., 0.],
               [1., 1.]])
        """
        row, size = self._users.rows.get(user, 0), self.n_objectives
        covariance = self._preference_at_unit(row).covariance
        products = self._state.users.products
        felt = (products[row] - products[0])[:size, :size] / self._utility_variance(row)
        felt += self._state.users.sites[row][:, :size] / self._state.users.unit[row] ** 2
        shares = np.zeros((3, size))
        shares[0] = np.maximum(np.einsum("kj,jk->k", covariance, self._told(row)), 0.0)
        shares[1] = np.maximum(np.einsum("kj,jk->k", covariance, felt), 0.0)
        shares[2] = np.maximum(1.0 - shares[0] - shares[1], 0.0)
        shares /= shares.sum(axis=0)
        return shares

    def _told(self, row: int) -> Floats:
        """Return the information (D, D) that words carry, in units of utility."""
        users = self._state.users
        told: Floats = users.anchor.information[row] / users.unit[row] ** 2
        return told

    def _utility_variance(self, row: int) -> float:
        return float(taken_variance(self._state.settings, self._state.users, row))

    def _distances(self, truths: Floats) -> tuple[float, float]:
        rows = np.array([self._users.rows[user] for user in range(len(truths))])
        return mean_misses(self._state, rows, truths)

    def _reward_variances(self) -> tuple[Floats, Floats]:
        variances = np.empty((2, self.n_objectives))
        reward_variances(self._state.clock, variances)
        return variances[0], variances[1]

    def _overall_mean(self) -> Floats:
        means: Floats = self._state.clock[2 + self.n_objectives : 2 + 2 * self.n_objectives]
        return means

    def noise(self, user: Hashable) -> tuple[float, Floats]:
        """Return the noise as estimated: variance of a utility per |reward|^2 for this user, of rewards (D,) for all.

        Examples
        --------
        >>> FisherPQUCB(n_objectives=2).noise("ada")
        (1.0, array([0., 0.]))
        """
        return self._utility_variance(self._users.rows.get(user, 0)), self._reward_variances()[0]


class FisherUCB(FisherPQUCB):
    """Fisher-PQUCB that hears nothing: what is learned from feedback alone, with the same prior and the same bonuses.

    The yardstick for how much rankings are worth, and for how much wrong ones may cost.
    Its parameters are those of `FisherPQUCB`, without the anchor.
    """

    name = "fisher-ucb"
    hears = False
    State: ClassVar[Any] = DeafState

    def __init__(
        self,
        *,
        n_objectives: int,
        seed: int = 0,
        exploration: float = 0.0,
        ridge: float = 0.5,
        width: float = 1.0,
    ) -> None:
        super().__init__(n_objectives=n_objectives, seed=seed, exploration=exploration, ridge=ridge, width=width)

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: it has neither level nor unit."""
        return {}


@kernel
def taken_variance(settings: Any, users: Any, user: int) -> float:
    """Return the variance that a user's utilities are taken to have: as estimated, or above it for a guarantee."""
    anchor = users.anchor.estimate[user]
    variance = utility_variance(users.products[user], users.root[user], users.feedbacks[user], anchor)
    return cautious(variance) if settings.guarantee > 0.0 else variance


@generic
def believe_user(state: Any, user: int, estimate: Floats, root: Floats) -> float:
    """Write the estimate of a user's weights and the upper factor of its information; return `taken_variance`."""
    users, settings = state.users, state.settings
    anchor = users.anchor.estimate[user]
    information = users.anchor.information[user]
    variance = taken_variance(settings, users, user)
    unit, ridge, pull, sites = users.unit[user], settings.ridge, settings.pull, users.sites[user]
    believe(users.products[user], variance, anchor, information, unit, ridge, pull, sites, estimate, root)
    return variance


@generic
def state_belief(state: Any, user: int, estimate: Floats, covariance: Floats) -> bool:
    """Write mean and covariance of a user's weights, averaged over units; False where there is nothing to average.

    Without utilities the unit is a convention, and for a guarantee it is known.
    """
    users, settings = state.users, state.settings
    if settings.guarantee > 0.0 or not users.feedbacks[user] > users.feedbacks[0]:
        return False
    size = estimate.shape[0]
    told = np.empty((size, size + 1))
    anchor, products, feedbacks = users.anchor.estimate[user], users.products[user], users.feedbacks[user]
    tell(anchor, users.anchor.information[user], settings.ridge, settings.pull, users.sites[user], told)
    variance = utility_variance(products, users.root[user], feedbacks, anchor)
    dimensions = size if users.choices[user] > 0.0 else size - 1.0
    found, _ = average_units(
        products, told, feedbacks, variance, dimensions, users.unit[0], SPIKE, SLAB, estimate, covariance
    )
    return not np.isnan(found)


@kernel
def mean_misses(state: Any, rows: Integers, truths: Floats) -> tuple[float, float]:
    """Return the mean distance of estimates and truths (n, D), Euclidean and in the norm of M."""
    n_users, size = truths.shape
    estimate = np.empty(size)
    root = np.empty((size, size))
    total = np.zeros(2)
    for user in range(n_users):
        believe_user(state, rows[user], estimate, root)
        add_distances(root, estimate, truths[user], total)
    return total[0] / n_users, total[1] / n_users


@implements(score_policy, FisherState)
@kernel
def score_fisher(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    """Write what each offered arm is worth with its bonuses, as is believed of the user."""
    users = state.users
    settings = state.settings
    size = users.sites.shape[1]
    estimate = np.empty(size)
    root = np.empty((size, size))
    variance = believe_user(state, user, estimate, root)
    arms, clock, width, feedbacks = state.arms, state.clock, settings.width, users.feedbacks[user]
    if settings.guarantee > 0.0:
        ridge = settings.ridge / (users.unit[user] * users.unit[user])
        guaranteed_scores(arms, clock, offer, root, estimate, width, ridge, feedbacks, out)
    elif state.model.counts[FITTED] > 0.0:
        looking_scores(state.model, arms, clock, offer, root, estimate, width, feedbacks, variance, out)
    else:
        fisher_scores(arms, clock, offer, root, estimate, width, feedbacks, variance, out)
    return 1


@implements(hear_policy, FisherState)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    hear_anchor(state.users.anchor, user, ranking)


@kernel
def take_in(
    arms: Any, clock: Floats, arm: int, reward: Floats, utility: float, products: Floats, root: Floats
) -> float:
    """Learn about rewards, their noise and the user's preference; return how many utilities entered, 1 or 0."""
    size = reward.shape[0]
    for k in range(size):
        value = reward[k]
        if np.isnan(value):
            continue
        clock[2 + k] += 1.0
        step = value - clock[2 + size + k]
        clock[2 + size + k] += step / clock[2 + k]
        clock[2 + 2 * size + k] += step * (value - clock[2 + size + k])
        pulls = arms.pulls[arm, k]
        if pulls > 0.0:
            off = value - arms.means[arm, k]
            clock[2 + 3 * size + k] += off * off * pulls / (pulls + 1.0)
            clock[2 + 4 * size + k] += 1.0
    row = np.empty(size + 1)
    whole = observe(arms, clock, arm, reward, row)
    if np.isnan(utility):
        return 0.0
    spoilt = 0.0 if whole else fill_unknown(arms, arm, row)
    square = 0.0
    for k in range(size):
        square += row[k] * row[k]
    if not square > 0.0:
        return 0.0
    row[size] = utility
    scale = 1.0 / np.sqrt(square + spoilt)
    for k in range(size + 1):
        row[k] *= scale
    for k in range(size + 1):
        for j in range(size + 1):
            products[k, j] += row[k] * row[j]
    add_rank_one(root, row)
    return 1.0


@kernel
def replace_utility(products: Floats, root: Floats, x: Floats, y: float, before: float) -> None:
    """Turn a row (x, before) of the sums into (x, y): only the last column of the factor moves, by the w of R'w = x.

    What is then left of the sum of y^2 is the residual.
    """
    size = x.shape[0]
    upper = np.empty((size, size))
    moved = np.empty(size)
    for k in range(size):
        moved[k] = x[k]
        for j in range(size):
            upper[k, j] = root[k, j]
    solve_transposed(upper, moved)
    change = y - before
    residual = float(root[size, size] * root[size, size]) + change * (y + before)
    for k in range(size):
        products[k, size] += change * x[k]
        products[size, k] += change * x[k]
        residual -= change * moved[k] * (2.0 * root[k, size] + change * moved[k])
        root[k, size] += change * moved[k]
    products[size, size] = max(float(products[size, size]) + change * (y + before), 0.0)
    root[size, size] = np.sqrt(max(residual, 1e-200))


@kernel
def fit_after_utility(state: Any, user: int) -> None:
    """Fit the unit after 8, 16, 32, ... utilities of a user; for a guarantee it must be the right one already."""
    users = state.users
    count = int(users.feedbacks[user])
    if state.settings.guarantee > 0.0:
        return
    if count >= FIRST_FIT and is_power_of_two(count) and users.anchor.queries[user] > 0:
        products, anchor = users.products[user], users.anchor.estimate[user]
        variance = utility_variance(products, users.root[user], users.feedbacks[user], anchor)
        information = users.anchor.information[user]
        ridge, pull, sites, usual = state.settings.ridge, state.settings.pull, users.sites[user], users.unit[0]
        users.unit[user] = fit_unit(products, variance, anchor, information, ridge, pull, sites, usual, 0.0)


@implements(learn_policy, FisherState)
@kernel
def _learn(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    if take_in_feedback(state, user, arm, reward, utility):
        fit_after_utility(state, user)


@kernel
def take_in_feedback(state: Any, user: int, arm: int, reward: Floats, utility: float) -> bool:
    """Learn what feedback says of the arm, of all arms and of the user; tell whether a utility entered."""
    users = state.users
    new = never_seen(state.arms, arm)
    added = take_in(state.arms, state.clock, arm, reward, utility, users.products[user], users.root[user])
    learn_rewards(state.model, state.arms, state.clock, arm, new)
    users.feedbacks[user] += added
    return bool(added > 0.0)


@implements(learn_choice_policy, FisherState)
@kernel
def _learn_choice(state: Any, user: int, offer: Integers, place: int) -> None:
    size = state.users.sites.shape[1]
    estimate = np.empty(size)
    root = np.empty((size, size))
    begin_choices(state.users, user, state.settings.ridge)
    believe_user(state, user, estimate, root)
    take_in_choice(state, user, offer, place, estimate, root)


@kernel
def take_in_choice(state: Any, user: int, offer: Integers, place: int, estimate: Floats, root: Floats) -> None:
    """Add the site of a choice, against what is believed of the user, by estimate and upper factor."""
    users = state.users
    size = estimate.shape[0]
    n_rows = offer.shape[0] + (place == NONE_OF_THESE)
    rows = np.empty((n_rows, size))
    spreads = np.empty((n_rows, size))
    variances = np.empty((2, size))
    reward_variances(state.clock, variances)
    offer_rows(state.arms, state.clock[2 + size : 2 + 2 * size], variances, offer, rows, spreads)
    picked = offer.shape[0] if place == NONE_OF_THESE else place
    add_choice(rows, spreads, picked, estimate, root, users.unit[user], users.sites[user])
    users.choices[user] += 1.0


implements(score_policy, DeafState)(score_fisher)
implements(learn_policy, DeafState)(_learn)
implements(learn_choice_policy, DeafState)(_learn_choice)
