"""What to expect of items where nobody has told: learned from all others, by the columns of the catalog.

The model is that of `policies.rewards`, fitted to what the policy knows of items. It is fitted at moments that the
journal alone decides, from what is known then and nothing else, so that all who fold a journal expect the same.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from druthers.catalogs import Item
from druthers.catalogs.features import Feature, feature_table, find_features
from druthers.language.models.descriptions import WIDTH, encode_descriptions, is_prose
from druthers.limits import Columns
from druthers.policies import Policy
from druthers.policies.rewards import (
    ERROR,
    LEAST_ARMS,
    FeaturedArms,
    RewardModel,
    fit_rewards,
    fresh_arms,
    fresh_model,
    predict_arms,
)
from druthers.policies.rows import flatten, unflatten
from druthers.types import Floats, Objective

# Variance of a reward from 0 to 1 of which nothing is known: columns far from all others may not tell less than that.
KNOWING_NOTHING = 1.0 / 12.0
# Bounds on what a fit costs: items, evenly spread over all in the order of their ids, features, and passes. With as
# many items at a time the policy is told what to expect, event by event, so that none takes long.
MOST_ITEMS = 2048
MOST_FEATURES = 40
PASSES = 2
# A fit comes when there is so much more news of items: while items come, and once people come.
GROWTH, GROWTH_WHEN_ASKED = 1.5, 1.1
FIRST = 8
# Ratings behind a value that is no mean of ratings: it is what it is.
EXACT = 1e6
# Columns that a prediction is said to come from: the largest parts, if no less than this share of the largest one.
MOST_TOLD, WORTH_TELLING = 2, 0.25
# What descriptions are called where a prediction comes from them.
DESCRIPTION = "description"
# Numbers are alike within so many standard deviations.
ALIKE = 0.5


class Grounds(NamedTuple):
    """Where a prediction comes from."""

    columns: tuple[str, ...]  # the details that move it most
    alike: int  # how many items of which the objective is known have the same in these details, or nearly so


class Part(NamedTuple):
    """By how much a column moves an objective."""

    column: str  # A detail, and the entry that it has or not
    # Of the reward, from 0 at the bad end to 1 at the good: by a standard deviation more, or by having the entry.
    change: float


class Predictor:
    """What the columns of a catalog say about its objectives, for a policy that `expects`.

    Parameters
    ----------
    policy
        Who knows what items are like, and is told what to expect of them.
    objectives
        What matters.
    """

    def __init__(self, policy: Policy, objectives: Sequence[Objective]) -> None:
        self._policy = policy
        self._names = tuple(objective.name for objective in objectives)
        self._features: tuple[Feature, ...] = ()
        self._prose = ""  # the column that holds sentences, if one does: descriptions, or a detail
        self._read: dict[str, tuple[str, Floats]] = {}  # by item, its sentences and what they say
        self._model: RewardModel | None = None
        self._noise: Floats = np.zeros(policy.n_objectives)
        self._news = 0  # items and reports so far
        self._fitted = 0  # and at the last fit
        self._known: set[str] = set()  # items of which all is known, and the policy told that nothing is expected
        self._told: str | None = None  # up to which id the policy was told what that fit expects; None for all

    @property
    def believed(self) -> list[bool]:
        """Whether columns surely tell something, for each objective: wrong, over all times, with a chance of 5 %."""
        size = self._policy.n_objectives
        return [False] * size if self._model is None else (self._model.share > 1.0 - ERROR / size).tolist()

    def note(self, items: Mapping[str, Item], item: str, *, changed: bool = False) -> None:
        """Take in that an item was reported on; or that it came, or changed."""
        if changed:
            self._known.discard(item)
        if self._policy.expects:
            self._news += 1
            self._fit_again(items, GROWTH)
            if item not in self._known and any(self.believed):
                self._tell(items, [item])

    def settle(self, items: Mapping[str, Item]) -> bool:
        """Take in that somebody came; tells whether the policy was told anything."""
        return self._policy.expects and self._fit_again(items, GROWTH_WHEN_ASKED)

    def _fit_again(self, items: Mapping[str, Item], growth: float) -> bool:
        """Fit where there is news enough, and tell the next items what follows from the last fit, if any are left."""
        if self._news >= max(FIRST, growth * self._fitted):
            self._fitted = self._news
            self._fit(items)
            self._told = ""
        if self._told is None:
            return False
        ids = sorted(items)
        first = bisect_right(ids, self._told)
        # Without a model there is nothing to work out: nobody keeps what one before it expected.
        last = len(ids) if self._model is None else first + MOST_ITEMS
        some = ids[first:last]
        self._tell(items, some)
        self._told = some[-1] if last < len(ids) else None
        return True

    def _fit(self, items: Mapping[str, Item]) -> None:
        self._model = None
        self._read = {id: read for id, read in self._read.items() if id in items}
        ids = sorted(items)
        ids = ids[:: max(-(-len(ids) // MOST_ITEMS), 1)]  # of none too
        counts = self._policy.reward_counts(ids)
        if (counts > 0.0).any(axis=1).sum() < LEAST_ARMS:
            return
        sample = [items[id] for id in ids]
        self._features = find_features(sample, MOST_FEATURES)
        self._prose = _find_prose(sample)
        if not self._features and not self._prose:
            return
        arms = self._arms(ids, sample, counts)
        known = arms.pulls > 0.0
        n_known = np.maximum(known.sum(axis=0), 1)
        off = np.where(known, arms.means - (arms.means * known).sum(axis=0) / n_known, 0.0)
        self._noise = self._policy.reward_noise()
        model = fresh_model(self._policy.n_objectives, self._n_features)
        for _ in range(PASSES):
            fit_rewards(model, arms, self._noise, (off * off).sum(axis=0) / n_known, False)
        if all(np.isfinite(part).all() for part in model):
            self._model = model

    @property
    def _n_features(self) -> int:
        return len(self._features) + (WIDTH if self._prose else 0)

    def _table(self, items: Sequence[Item]) -> Floats:
        """Return the features of items (n, p): columns first, then what sentences say, each read once."""
        table = feature_table(items, self._features)
        if not self._prose:
            return table
        said = [_sentences(item, self._prose) for item in items]
        new = [
            row
            for row, item in enumerate(items)
            if self._read.get(item.id, ("", None))[0] != said[row] or not said[row]
        ]
        for row, numbers in zip(new, encode_descriptions([said[row] for row in new]), strict=True):
            self._read[items[row].id] = said[row], numbers
        return np.hstack([table, np.array([self._read[item.id][1] for item in items]).reshape(len(items), WIDTH)])

    def _arms(self, ids: Sequence[str], items: Sequence[Item], counts: Floats) -> FeaturedArms:
        """Return what is known of items, after a row for none."""
        arms = fresh_arms(1 + len(ids), self._policy.n_objectives, self._n_features)
        arms.features[1:] = self._table(items)
        arms.pulls[1:] = counts
        arms.means[1:] = np.nan_to_num(self._policy.reward_means(ids))
        once = np.flatnonzero((counts == 1.0).any(axis=1)).tolist()
        for row in once:
            values, rated = items[row].values, items[row].counts
            exact = [name in values and name not in rated for name in self._names]
            arms.pulls[1 + row] = np.where(exact & (counts[row] == 1.0), EXACT, counts[row])
        return arms

    def _tell(self, items: Mapping[str, Item], ids: Sequence[str]) -> None:
        """Tell the policy what to expect of items, where columns are believed and nothing was observed."""
        counts = self._policy.reward_counts(ids)
        means, variances = np.full((2, *counts.shape), np.nan)
        blank = (counts == 0.0) & self.believed
        rows = np.flatnonzero(blank.any(axis=1)).tolist()
        if rows and self._model is not None:
            some = [ids[row] for row in rows]
            arms = self._arms(some, [items[id] for id in some], counts[rows])
            found = np.empty((2, 1 + len(rows), counts.shape[1]))
            predict_arms(self._model, arms, self._noise, found[0], found[1])
            means[rows] = np.where(blank[rows], found[0, 1:].clip(0.0, 1.0), np.nan)
            variances[rows] = np.where(blank[rows], found[1, 1:].clip(max=KNOWING_NOTHING), np.nan)
        self._policy.expect(ids, means, variances)
        self._known.update(ids[row] for row in np.flatnonzero((counts > 0.0).all(axis=1)).tolist())

    def parts(self, objective: str) -> tuple[Part, ...]:
        """Return by how much each column moves an objective, the largest change first; none if columns tell nothing."""
        k = self._names.index(objective)
        if self._model is None or not self.believed[k]:
            return ()
        slopes, scales = self._model.slopes[:, k], self._model.scales
        found = [
            Part(feature.name, float(slope if feature.entry is None else slope * scale))
            for feature, slope, scale in zip(self._features, slopes, scales, strict=False)
        ]
        if self._prose:
            found.append(Part(self._prose, float(np.linalg.norm(slopes[len(self._features) :]))))
        return tuple(sorted(found, key=lambda part: -abs(part.change)))

    def grounds(self, item: Item, objective: str, columns: Columns) -> Grounds:
        """Return where the prediction of an item's value comes from, among items as their columns have them."""
        if self._model is None:
            return Grounds((), 0)
        features = self._table([item])[0]
        standard = np.nan_to_num((features - self._model.origin) * self._model.scales)
        parts = standard * self._model.slopes[:, self._names.index(objective)]
        strongest: dict[str, int] = {}
        total: dict[str, float] = {}
        for i, feature in enumerate(self._features):
            detail = feature.detail
            total[detail] = total.get(detail, 0.0) + float(parts[i])
            if abs(parts[i]) > abs(parts[strongest.get(detail, i)]) or detail not in strongest:
                strongest[detail] = i
        if self._prose:
            total[self._prose] = float(parts[len(self._features) :].sum())
        told = sorted((detail for detail in total if total[detail]), key=lambda detail: -abs(total[detail]))[:MOST_TOLD]
        told = [detail for detail in told if abs(total[detail]) >= WORTH_TELLING * abs(total[told[0]])]
        known = ~np.isnan(columns.numbers(objective))
        while told:
            limits = {detail: self._limit(item, strongest[detail]) for detail in told if detail in strongest}
            alike = int((columns.allowed(limits) & known).sum()) if limits else 0
            if alike or len(told) == 1:
                return Grounds(tuple(told), alike)
            told.pop()
        return Grounds((), 0)

    def _limit(self, item: Item, place: int) -> Any:
        """Return the limit that items like this one in a feature are within."""
        feature = self._features[place]
        told = item.details[feature.detail]
        if isinstance(told, tuple):
            return feature.entry if feature.of(item) else {"not": feature.entry}
        if isinstance(told, bool) or not isinstance(told, int | float) or self._model is None:
            return told
        near = ALIKE / float(self._model.scales[place]) if self._model.scales[place] else 0.0
        return {"min": told - near, "max": told + near}

    def compile(self) -> None:
        """Have machine code ready, with a policy that may forget what it knows."""
        few = {f"{k}": Item(f"{k}", details={"size": k % 2}) for k in range(2 * LEAST_ARMS)}
        self._policy.add_arms(few)
        for k, item in enumerate(list(few)[LEAST_ARMS:] if self._policy.expects else ()):
            self._policy.learn(item, item, [0.1 * k] * len(self._names))
            self._news += FIRST
            self.settle(few)
        if self._model is not None:
            self._model.share[:] = 1.0
            self._tell(few, list(few))

    def state(self) -> dict[str, Any]:
        """Return all of it as arrays and plain values."""
        plain: dict[str, Any] = {"features": self._features, "prose": self._prose, "told": self._told}
        plain |= {"news": self._news, "fitted": self._fitted}
        model = {} if self._model is None else flatten("predictor", self._model)
        return {"predictor": json.dumps(plain), "predictor_noise": self._noise, **model}

    def restore(self, state: dict[str, Any]) -> None:
        """Know what the one knew that gave this state; its parts are taken out of it."""
        plain = json.loads(state.pop("predictor"))
        self._features = tuple(Feature(*feature) for feature in plain["features"])
        self._news, self._fitted = plain["news"], plain["fitted"]
        self._prose, self._told = plain["prose"], plain["told"]
        self._noise = state.pop("predictor_noise")
        self._model = None
        self._known.clear()
        if "predictor.center" in state:
            self._model = unflatten("predictor", fresh_model(len(self._names), self._n_features), state)


def _sentences(item: Item, column: str) -> str:
    """Return what an item has in the column of sentences."""
    return (
        item.description if column == DESCRIPTION and column not in item.details else str(item.details.get(column, ""))
    )


def _find_prose(items: Sequence[Item]) -> str:
    """Return the column that holds sentences: descriptions, or else the first such detail; empty where none does."""
    details = dict.fromkeys(key for item in items for key, told in item.details.items() if isinstance(told, str))
    for column in dict.fromkeys([DESCRIPTION, *details]):
        told = [text for item in items if (text := _sentences(item, column))]
        if 2 * len(told) > len(items) and is_prose(told):
            return column
    return ""
