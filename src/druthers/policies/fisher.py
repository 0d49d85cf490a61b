"""Fisher-PQUCB: rankings and utilities, each weighed by the information it carries; nothing to tune per data set."""

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from druthers._matrices import inverse
from druthers.anchors import Anchor, Likelihood, require_anchor
from druthers.errors import InvalidSetting, require
from druthers.own import settings
from druthers.policies.anytime import NINETY, anytime_radius
from druthers.policies.asking import ranking_value
from druthers.policies.belief import Posterior
from druthers.policies.choosing import as_number
from druthers.policies.contexts import ContextPolicy
from druthers.policies.crowds import CrowdUsers, look_at_people, with_people
from druthers.policies.features import FeaturePolicy
from druthers.policies.feedback import (
    UTILITY,
    FisherState,
    FisherUsers,
    believe_here,
    believe_user,
    believe_words,
    fresh_users,
    mean_misses,
    revise_utility,
    settle,
    state_belief,
    unit_of,
)
from druthers.policies.intervals import Normals, normals_of, normals_of_people
from druthers.policies.memory import WHOLE
from druthers.policies.soft import Said, soft_site
from druthers.types import Context, Floats, Preference, RankingQuestion


@settings
class FisherPQUCB(FeaturePolicy, ContextPolicy, told="ridge pull width guarantee"):
    """Rankings, utilities and choices weighed by their information, with noise scales learned on the way.

    Use it unless you must have the paper's own algorithm: it needs no horizon and no constants per data set. With G
    and h the sums of rr'/|r|^2 and gr/|r|^2 over a user's utilities g, H the information of the anchor, s_p^2 the
    estimated variance of a utility per |r|^2 and S the covariance of rewards within an arm, M = G/s_p^2 + H + prior,
    the estimate is c = M^-1 (h/s_p^2 + (H + prior) anchor), and the score of an arm <c, mean> + width sqrt(mean'M^-1
    mean + c'Sc/N), utility and one standard deviation of it, or more where an arm was seen less than others or a
    preference is known less well along its mean (`growth`). Arms never seen come first.

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
    Users: ClassVar[Any] = FisherUsers

    ridge: float = 0.5
    width: float = 1.0
    anchor: Anchor | None = None
    level: float = 0.0
    unit: float = 1.0
    guarantee: bool = False
    population: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(positive="ridge unit", not_negative="width level")
        if self.guarantee and self.population:
            raise InvalidSetting("a guarantee holds for people apart, but got population=True beside guarantee=True")
        self.learns_contexts = not (self.guarantee or self.population)
        require_anchor(self.anchor)
        if self.anchor is None:
            self.anchor = Likelihood(ridge=self.ridge)
        self._start()

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return what rewards and utilities of at most 1 say about the level of weights and their unit."""
        return {"level": 1.0, "unit": 1.0 / n_objectives}

    def _start(self) -> None:
        super()._start()
        if self.population:
            self._state = with_people(self._state)

    @contextmanager
    def in_context(self, context: Context | None) -> Iterator[None]:
        """Choose, learn and believe in the context of a visit; see `Chooser.in_context`."""
        if context and not self.learns_contexts:
            raise InvalidSetting("contexts are for users apart and without a guarantee, but this policy has either")
        with super().in_context(context):
            yield

    def _derived(self) -> dict[str, float]:
        return {"pull": getattr(self.anchor, "ridge", 0.0)}  # the anchor's own ridge

    def _fresh_users(self, n_users: int) -> Any:
        assert self.anchor is not None  # there is one by default
        anchor = self.anchor.rows(n_users, self.n_objectives)
        users = fresh_users(n_users, self.n_objectives, float(self.level), float(self.unit), anchor)
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
        require(as_number(weight, "a weight") > 0, "weight must be positive", weight)
        row = self._row_of(user)
        weights, covariance = np.empty(self.n_objectives), np.empty((self.n_objectives, self.n_objectives))
        believe_words(self._here(row), row, weights, covariance)
        information, pull = soft_site(said, weight, weights, np.linalg.inv(covariance).astype(np.float64))
        if not self.hears:
            return
        row = self._user_row(user)  # may replace the state, so it comes first
        for sums in (self._state.users.sites[row], self._state.users.softly[row]):
            sums[:, :-1] += information
            sums[:, -1] += pull
        self._state.users.kept.due[row] = 0.0

    def unhear(self, user: Hashable) -> None:
        """Forget what a user said, softly too, and keep what the user felt; for a user never seen, nothing happens."""
        row = self._users.find(user)
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
        require(as_number(price, "a price") >= 0, "price must not be negative", price)
        size, row = self.n_objectives, self._row_of(user)
        places = size if length is None else length
        require(
            isinstance(places, WHOLE) and 1 <= places <= size,
            f"length must be from 1 to {size}, the number of objectives",
            length,
        )
        users, arms = self._state.users, self._state.arms
        if budget is not None and users.anchor.queries[row] >= budget:
            return None
        known = [arm for arm in self._arms.rows.values() if np.any(arms.pulls[arm] > 0.0)]
        value = ranking_value(self._preference_at_unit(row), unit_of(self._state, row), arms.means[known], places)
        return RankingQuestion(user, -1, places, value) if value > price else None

    def _revise(self, user: int, arm: int, reward: Floats, utility: float, before: float) -> None:
        here = self._here(user, learns=True)
        if revise_utility(here, user, arm, reward, utility, before) and not self.population:
            settle(self._state, user, UTILITY)  # with a population the next look does

    def _preference(self, row: int) -> Preference:
        weights, covariance = np.empty(self.n_objectives), np.empty((self.n_objectives, self.n_objectives))
        if not self._shifts_of(row).any() and state_belief(self._state, row, False, weights, covariance):
            return Preference(weights=weights, covariance=covariance)
        return self._preference_at_unit(row)

    def _interval(self, row: int, share: float) -> Floats:
        users = self._state.users
        averaged = users.feedbacks[row] > users.feedbacks[0] and not self.guarantee and not self._shifts_of(row).any()
        try:
            return self._normals(row).interval(share) if averaged else super()._interval(row, share)
        except np.linalg.LinAlgError:  # an anchor of someone's own may bring an information that is none
            return super()._interval(row, share)

    def _normals(self, row: int) -> Normals:
        return normals_of_people(self._state, row) if self.population else normals_of(self._state, row)

    def _posterior_in(self, here: Any, row: int) -> Posterior:
        return believe_here(here, row)

    def _preference_at_unit(self, row: int) -> Preference:
        """Return what the score is made of."""
        believed = believe_here(self._here(row), row)
        covariance = np.empty_like(believed.root)
        inverse(believed.root, covariance)
        return Preference(weights=believed.estimate, covariance=covariance)

    def _anytime_preference(self, row: int) -> Preference:
        users, believed = self._state.users, self._preference_at_unit(row)
        radius = anytime_radius(
            believed.weights,
            believed.covariance,
            users.anchor.estimate[row],
            users.anchor.information[row],
            float(users.anchor.total_length[row]),
            ridge=float(self.ridge),
            unit=unit_of(self._state, row),
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
        row, size = self._row_of(user), self.n_objectives
        covariance = self._preference_at_unit(row).covariance
        products = self._state.users.products
        felt = (products[row] - products[0])[:size, :size] / believe_user(self._state, row).variance
        felt += self._state.users.sites[row][:, :size] / unit_of(self._state, row) ** 2
        shares = np.zeros((3, size))
        shares[0] = np.maximum(np.einsum("kj,jk->k", covariance, self._told(row)), 0.0)
        shares[1] = np.maximum(np.einsum("kj,jk->k", covariance, felt), 0.0)
        shares[2] = np.maximum(1.0 - shares[0] - shares[1], 0.0)
        shares /= shares.sum(axis=0)
        return shares

    def _told(self, row: int) -> Floats:
        """Return the information (D, D) that words carry, in units of utility."""
        users = self._state.users
        told: Floats = users.anchor.information[row] / unit_of(self._state, row) ** 2
        return told

    def _distances(self, truths: Floats) -> tuple[float, float]:
        rows = np.array([self._users.rows[user] for user in range(len(truths))])
        return mean_misses(self._state, rows, truths)

    def noise(self, user: Hashable) -> tuple[float, Floats]:
        """Return the noise as estimated: variance of a utility per |reward|^2 for this user, of rewards (D,) for all.

        Examples
        --------
        >>> FisherPQUCB(n_objectives=2).noise("ada")
        (1.0, array([0., 0.]))
        """
        return believe_user(self._state, self._row_of(user)).variance, self._reward_variances()[0]


@settings
class FisherUCB(FisherPQUCB):
    """Fisher-PQUCB that hears nothing: what is learned from feedback alone, with the same prior and the same bonuses.

    The yardstick for how much rankings are worth, and for how much wrong ones may cost.
    Its parameters are those of `FisherPQUCB`, without the anchor.
    """

    name = "fisher-ucb"
    hears = False

    anchor: Anchor | None = field(init=False, default=None)
    level: float = field(init=False, default=0.0)
    unit: float = field(init=False, default=1.0)
    guarantee: bool = field(init=False, default=False)
    population: bool = field(init=False, default=False)

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: it has neither level nor unit."""
        return {}
