"""Policies that expect something of arms by their features: the steps around the reward model."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from druthers.errors import InvalidSetting, UnknownArm
from druthers.policies.base import Policy
from druthers.policies.looking import FIRST_ARMS
from druthers.policies.regression import TINY, standard, weigh_arms
from druthers.policies.rewards import (
    FITTED,
    SEEN,
    RewardModel,
    believes,
    expect_arm,
    fresh_arms,
    fresh_model,
    recall_arm,
    update,
)
from druthers.policies.rows import flatten, unflatten, wholeness_of
from druthers.policies.totals import clock_size, reward_variances, totals_of, with_together
from druthers.types import Floats, Integers

# Squares of so many features count too; of more, their cost would grow too far.
MOST_SQUARED = 32


class Prediction(NamedTuple):
    """What is believed of an arm's mean rewards (D,), one entry for each objective."""

    mean: Floats  # mean and standard deviation
    deviation: Floats
    share: Floats  # how likely it is that features tell anything about the objective
    parts: Floats  # how much each feature (p, D) moves the mean away from that of an average arm


class FeaturePolicy(Policy):
    """A policy that learns what features say about rewards. Its state has a `model`, None until one can matter."""

    learns_features = True
    varies = True

    def _start(self) -> None:
        super()._start()
        self._state = self._state._replace(clock=np.zeros(clock_size(self.n_objectives)))

    @property
    def n_features(self) -> int:
        """How many features arms have: as many as came with the first of them."""
        return 0 if self._model is None else len(self._model.origin)

    @property
    def _model(self) -> RewardModel | None:
        model: RewardModel | None = self._state.model if hasattr(self, "_state") else None
        return model

    def _is_fitted(self) -> bool:
        return self._model is not None and bool(self._model.counts[FITTED])

    def _fresh_arms(self, n_arms: int) -> Any:
        if self._model is None:
            return super()._fresh_arms(n_arms)
        return fresh_arms(n_arms, self.n_objectives, self.n_features)

    def _begin_model(self, n_features: int) -> None:
        """Make room for what features say, and for what many arms of which some are never seen have in common."""
        arms = self._state.arms
        columns = 2 * n_features if n_features <= MOST_SQUARED else n_features
        self._state = self._state._replace(model=fresh_model(self.n_objectives, n_features, columns))
        grown = self._fresh_arms(len(arms.pulls))._replace(pulls=arms.pulls, means=arms.means)
        self._state = self._state._replace(arms=grown)
        self._state.model.counts[SEEN] = float((arms.pulls > 0.0).any(axis=1).sum())

    def _new_arm(self, arm: Hashable) -> int:
        row = super()._new_arm(arm)
        if self._model is None and len(self._arms) > FIRST_ARMS:
            self._begin_model(0)
        return row

    def add_arms(
        self, arms: Iterable[Hashable], features: ArrayLike | Mapping[Hashable, ArrayLike] | None = None
    ) -> None:
        """Make arms known, with what there is to know about them; those already known keep what was learned.

        Parameters
        ----------
        arms
            Any hashable ids.
        features
            Numbers (n, p), one row for each arm, or a row by id; NaN where one is unknown. Their scales do not matter.

        Examples
        --------
        >>> from druthers import FisherPQUCB
        >>> policy = FisherPQUCB(n_objectives=2)
        >>> policy.add_arms(["inn", "spa"], features=[[120.0, 1.0], [80.0, float("nan")]])
        >>> policy.n_features
        2
        """
        ids = self._arms.ids(arms)
        told: tuple[Hashable, ...] = ids
        rows: Any = features
        if isinstance(features, Mapping):
            told = tuple([arm for arm in ids if arm in features])
            rows = [features[arm] for arm in told] or None
        table = None if rows is None else self._as_features(rows, len(told))
        super().add_arms(ids)
        if table is not None:
            self._set_features([self._arms.rows[arm] for arm in told], table)

    def describe(self, arm: Hashable, features: ArrayLike) -> None:
        """Say or correct what is known about an arm: p numbers, NaN where one is unknown.

        Examples
        --------
        >>> from druthers import FisherPQUCB
        >>> policy = FisherPQUCB(n_objectives=2)
        >>> policy.add_arms(["inn"])
        >>> policy.describe("inn", [120.0, 1.0, float("nan")])
        """
        if arm not in self._arms:
            raise UnknownArm(f"an arm must be known to be described, but {arm!r} is not; add it with its features")
        self._set_features([self._arms.rows[arm]], self._as_features([features], 1))

    def predict(self, arm: Hashable) -> Prediction:
        """Return what is believed of a known arm's mean rewards, whether it was ever seen or not.

        Examples
        --------
        >>> from druthers import FisherPQUCB
        >>> policy = FisherPQUCB(n_objectives=1)
        >>> policy.add_arms(range(40), features=[[k] for k in range(40)])
        >>> for k in range(0, 40, 2):
        ...     policy.learn("ada", k, reward=[0.1 * k])
        >>> policy.predict(31).mean.round(1)
        array([3.])
        """
        row = self._arm_row(arm)
        mean, variance = self._believed(row, self._leverage(row))
        if self._model is None:
            return Prediction(mean, np.sqrt(variance), np.zeros_like(mean), np.zeros((0, len(mean))))
        model, features = self._model, self._state.arms.features[row]
        x = np.empty(len(model.slopes))
        standard(features, model.origin, model.scales, x)
        parts = x[:, None] * model.slopes
        if len(parts) > len(features):
            parts = parts[: len(features)] + parts[len(features) :]
        return Prediction(mean, np.sqrt(variance), model.share.copy(), parts)

    def _leverage(self, row: int) -> Floats | None:
        """Return how unsure it is what to expect of an arm, in units of the spread; None without a fit to features.

        Objectives that share a regression share weights too, which are right for their average. So the variance of a
        regression is that of what was observed under these weights, and not the spread, which scores take for it: an
        objective that seems to have little spread would else seem to be told without noise.
        """
        if not (self.n_features and self._is_fitted()):
            return None
        model, arms = self._state.model, self._state.arms
        rows = np.flatnonzero(arms.pulls.any(axis=1))
        pulls, within, spread = arms.pulls[rows], self._reward_variances()[0], np.diag(model.spread) + TINY
        weights, scales = np.empty(len(rows)), np.ones(self.n_objectives)
        for k, first in enumerate(model.lead.astype(int).tolist()):
            total = weigh_arms(pulls, model.spread, within, model.lead, first, weights)
            seen = pulls[:, k] > 0.0
            if total > 0.0:
                noisy = 1.0 + within[k] / spread[k] / pulls[seen, k]
                scales[k] = weights[seen] ** 2 @ noisy / total
        gaps = np.isnan(arms.features[row])
        unknown = np.tile(gaps, len(model.slopes) // len(gaps)) @ model.slopes**2 / spread
        leverage: Floats = np.sqrt(scales * np.maximum(arms.leverage[row] ** 2 - unknown, 0.0) + unknown)
        return leverage

    def _believed(self, row: int, leverage: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and variance of an arm's mean rewards, as scores have them unless a leverage is given."""
        model, arms = self._state.model, self._state.arms
        within, overall = self._reward_variances()
        if not self._is_fitted():
            known = arms.pulls[row] > 0.0
            mean = np.where(known, arms.means[row], totals_of(self._state.clock, self.n_objectives).means)
            return mean, np.where(known, within / np.maximum(arms.pulls[row], 1.0), overall)
        if self.n_features == 0:
            expected, leverage = model.center, np.sqrt(model.level)
        else:
            expected, leverage = arms.expected[row], arms.leverage[row] if leverage is None else leverage
        prior = model.spread * (1.0 + np.outer(leverage, leverage))
        mean, covariance = np.empty(self.n_objectives), np.empty((self.n_objectives, self.n_objectives))
        update(prior, expected, arms.pulls[row], arms.means[row], within, mean, covariance)
        return mean, np.maximum(np.diag(covariance), 0.0)

    def _reward_variances(self) -> Floats:
        """Return the variances (2, D) of a reward around its arm's mean, and of all rewards."""
        return reward_variances(totals_of(self._state.clock, self.n_objectives))

    def retire_arm(self, arm: Hashable) -> None:
        """Forget an arm; if it is ever offered or added again, it is new. Feedback that comes late is refused."""
        row = self._arms.find(arm)
        seen = row is not None and self._state.arms.pulls[row].any()
        super().retire_arm(arm)
        if self._model is not None:
            self._model.counts[SEEN] -= float(seen)
        self._expect(row)

    def state(self, *, users: bool = True) -> dict[str, Any]:
        """Return all this policy knows, its chance included, as arrays and plain values; without users on request."""
        known = super().state(users=users)
        return known if self._model is None else {**known, **flatten("model", self._model)}

    def restore(self, state: dict[str, Any]) -> None:
        """Know what the policy knew that gave this state, and nothing else; settings and chance stay one's own."""
        before = self._state
        try:
            with wholeness_of(self.name):
                model = None
                if any(key.startswith("model.") for key in state):
                    fresh = fresh_model(self.n_objectives, *map(len, (state["model.origin"], state["model.slopes"])))
                    parts = (state[f"model.{part}"] for part in ("center", "level", "spread"))
                    plain = np.vstack([*parts])[: len(fresh.plain)]  # for states of before there was any
                    model = unflatten("model", fresh, {"model.plain": plain, **state})
                self._state = before._replace(model=model)
                whole = {**state, "clock": with_together(state["clock"], before.clock.shape[0], self.n_objectives)}
            super().restore(whole)
        except BaseException:
            self._state = before
            raise

    def _slopes(self, weights: Floats, rows: Integers) -> Floats:
        if not self._is_fitted():
            return super()._slopes(weights, rows)
        arms, known = self._state.arms, self._state.arms.pulls[rows] > 0.0
        expected = self._state.model.center if self.n_features == 0 else arms.expected[rows]
        slopes: Floats = np.where(known, arms.means[rows], expected)
        if believes(self._state.model.share):
            slopes = np.where(known.any(axis=1, keepdims=True), arms.believed[rows], expected)
        return slopes

    def _as_features(self, features: Any, n_arms: int) -> Floats:
        """Check features (n, p) and make room for them where they are the first."""
        try:
            table = np.asarray(features, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise InvalidSetting(f"features must be numbers, as many for each arm, but got {features!r}") from problem
        if table.ndim != 2 or len(table) != n_arms or table.shape[1] == 0 or np.isinf(table).any():
            raise InvalidSetting(
                f"features must be finite numbers, NaN standing for what is unknown, in {n_arms} rows of one or more,"
                f" but got an array of shape {table.shape}"
            )
        if self.n_features == 0:
            self._begin_model(table.shape[1])
        elif table.shape[1] != self.n_features:
            raise InvalidSetting(
                f"arms of this policy have {self.n_features} features each, but got {table.shape[1]};"
                " give NaN for what is unknown"
            )
        return table

    def _set_features(self, rows: list[int], table: Floats) -> None:
        self._state.arms.features[rows] = table
        for row in rows:
            self._expect(row)

    def _expect(self, row: int | None) -> None:
        if row is not None and self.n_features and self._is_fitted():
            expect_arm(self._state.model, self._state.arms, row)
            if self._state.arms.pulls[row].any():
                recall_arm(self._state.model.spread, self._state.arms, row, self._reward_variances()[0])
