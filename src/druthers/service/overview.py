"""What an operator looks at: items as they are known, people, where preferences lie, what was read with doubts."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2

from druthers.advisor import cards, events
from druthers.advisor.fold import Fold
from druthers.policies.stated import StatedUCB
from druthers.policies.statements import REWARD_VARIANCE
from druthers.stores import Event, Store
from druthers.types import Floats, Objective

INTERVAL = 1.6449  # standard deviations of a normal law that hold 90 %
LATEST = 5_000  # events of a kind that are looked back at
MOST_MAPPED = 500
MOST_ITEMS = 5_000  # that are listed: more would keep other requests waiting
UNSURE = 0.7  # confidence below which a reading is one
# Parts of a query of which each says that something was understood.
UNDERSTOOD = ("ranking", "dismissed", "limits", "hopes", "dropped")
MOST_DOUBTED = 50  # people whose queries are looked through for what does not fit
CLUSTERS = 3
TURNS = 50


def latest(store: Store, kind: str) -> list[Event]:
    """Return the latest events of a kind, in their order, going back as far as is needed."""
    last, span = store.last(), LATEST
    while True:
        after = max(0, last - span)
        found = list(store.walk(after, kind=kind))
        if len(found) >= LATEST or not after:
            return found[-LATEST:]
        span *= 4


def item_rows(fold: Fold, decided: Sequence[Event]) -> list[dict[str, Any]]:
    """Return each item with its share of the latest decisions, and what is known of it in each objective's own unit.

    Where nobody has told, what is expected by what else is known stands beside that.
    """
    shown = Counter(item for event in decided for item in event.body.get("items", ()))
    places = shown.total()
    # All items in their order, or as many as may be: those shown most often.
    often = sorted(fold.ids, key=lambda id: -shown[id])[:MOST_ITEMS]
    ids, policy, objectives = sorted(often), fold.policy, fold.catalog.objectives
    means, reports = policy.reward_means(ids), policy.reward_counts(ids)
    blank = np.full(means.shape, np.nan)
    hopes, doubts = policy.expectations(ids) if policy.expects else (blank, blank)
    known = isinstance(policy, StatedUCB)  # which says how far a report is from the truth
    rows = []
    tables = (table.tolist() for table in (means, reports, hopes, doubts))
    for id, mean, count, hope, doubt in zip(ids, *tables, strict=True):
        values, expected = {}, {}
        for k, objective in enumerate(objectives):
            if not math.isnan(mean[k]):
                spread = INTERVAL * math.sqrt(REWARD_VARIANCE / count[k]) if known else None
                values[objective.name] = _interval(objective, mean[k], spread)
            elif not math.isnan(hope[k]):
                expected[objective.name] = _interval(objective, hope[k], INTERVAL * math.sqrt(doubt[k]))
        share = shown[id] / places if places else 0.0
        told = {"id": id, "name": fold.items[id].name, "shown": shown[id], "share": share, "reports": max(count)}
        rows.append({**told, "values": values, "expected": expected})
    return rows


def _interval(objective: Objective, mean: float, spread: float | None) -> dict[str, float | None]:
    """Return a reward and an interval around it in the objective's own unit; no interval without a spread."""
    if spread is None:
        return {"mean": objective.to_value(mean), "low": None, "high": None}
    low, high = sorted(objective.to_value(min(max(mean + side * spread, 0.0), 1.0)) for side in (-1, 1))
    return {"mean": objective.to_value(mean), "low": low, "high": high}


def people_rows(fold: Fold, contains: str, limit: int) -> list[dict[str, Any]]:
    """Return the people in memory whose id holds a text, the latest heard of first."""
    found = [user for user in reversed(fold.people) if contains.lower() in user.lower()][:limit]
    parts = ("queries", "feedbacks", "position")
    return [{"user": user} | {part: getattr(fold.people[user], part) for part in parts} for user in found]


def preference_map(fold: Fold) -> dict[str, Any]:
    """Return where the preferences of the latest people lie: on their two main axes, in clusters.

    Axes are the principal components of the weights; each is named by the objectives that it sets against each other.
    """
    names = [objective.name for objective in fold.catalog.objectives]
    users = [user for user, person in reversed(fold.people.items()) if person.queries or person.feedbacks][:MOST_MAPPED]
    if not fold.policy.learns_preference or len(users) < 2:
        return {"points": [], "axes": [], "clusters": []}
    weights = np.array([fold.policy.preference(user).weights for user in users])
    centered = weights - weights.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    axes = axes[:2] * np.where(np.abs(axes[:2]).max(axis=1) == axes[:2].max(axis=1), 1.0, -1.0)[:, None]
    places = centered @ axes.T
    groups = _clusters(weights)
    return {
        "points": [
            {"user": user, "x": float(place[0]), "y": float(place[1]) if len(axes) > 1 else 0.0, "cluster": int(group)}
            for user, place, group in zip(users, places, groups, strict=True)
        ],
        "axes": [{"more": names[int(axis.argmax())], "less": names[int(axis.argmin())]} for axis in axes],
        "clusters": [
            {
                "users": int((groups == group).sum()),
                "weights": dict(zip(names, weights[groups == group].mean(axis=0).tolist(), strict=True)),
            }
            for group in range(int(groups.max()) + 1)
        ],
    }


def _clusters(weights: Floats) -> Any:
    """Return the cluster of each row: k-means, started from rows that lie far apart."""
    centers = weights[[int(np.linalg.norm(weights - weights.mean(axis=0), axis=1).argmax())]]
    distinct = len(np.unique(weights.round(9), axis=0))
    while len(centers) < min(CLUSTERS, distinct):
        gaps = np.linalg.norm(weights[:, None] - centers, axis=2).min(axis=1)
        centers = np.concatenate([centers, weights[[int(gaps.argmax())]]])
    groups = kmeans2(weights, centers, TURNS, minit="matrix")[1]
    return np.unique(groups, return_inverse=True)[1]


def marks_of(fold: Fold, marked: Sequence[Event]) -> dict[int, dict[str, Any]]:
    """Return the last mark of each reading, by its position: whether it is right, and how it should be read."""
    marks: dict[int, dict[str, Any]] = {}
    for event in map(fold.editions.today, marked):
        marks.pop(event.body["position"], None)
        if "ranking" in event.body:
            marks[event.body["position"]] = {part: event.body[part] for part in ("right", "ranking", "dismissed")}
    return marks


def sentences(fold: Fold, store: Store) -> list[dict[str, Any]]:
    """Return the readings that were marked, as sentences with their right readings; those of the erased are gone."""
    names = [objective.name for objective in fold.catalog.objectives]
    found = []
    for position, mark in marks_of(fold, latest(store, events.MARK)).items():
        event = said_at(store, position)
        if event is not None:
            told = {"query": event.body["text"], "domain": fold.catalog.name, "objectives": names}
            found.append({**told, "gold": mark["ranking"], "low": mark["dismissed"], "tags": ["from the service"]})
    return found


def said_at(store: Store, position: int) -> Event | None:
    """Return the query at a position, if there is one with a text that was not erased."""
    found = store.read(position - 1, limit=1)
    fits = found and found[0].position == position and found[0].kind == events.QUERY and "text" in found[0].body
    return found[0] if fits else None


def _is_unsure(body: Mapping[str, Any]) -> bool:
    """Tell whether nothing was understood of a text, or wishes that are uncertain; of limits the text is told back."""
    wishes = body.get("ranking") or body.get("dismissed")
    return not any(map(body.get, UNDERSTOOD)) or bool(wishes and body.get("confidence", 1.0) < UNSURE)


def doubtful(fold: Fold, said: Sequence[Event], marked: Sequence[Event]) -> dict[str, Any]:
    """Return the latest readings that were unsure with their marks, and queries that do not fit what else was said."""
    marks = marks_of(fold, marked)
    spoken = [fold.editions.today(event) for event in said if event.user is not None]
    unsure = [event for event in spoken if "text" in event.body and _is_unsure(event.body)]
    by_user: dict[str, list[Event]] = {}
    for event in spoken:
        by_user.setdefault(str(event.user), []).append(event)
    talkative = [user for user, past in by_user.items() if len(past) > 2][-MOST_DOUBTED:]
    found = ((user, one) for user in talkative for one in cards.suspect(fold.catalog, by_user[user]))
    suspicious = [{"user": user, **dataclasses.asdict(one)} for user, one in found]
    return {
        "readings": [
            {
                "position": event.position,
                "at": event.at,
                "user": event.user,
                "text": event.body["text"],
                "ranking": event.body["ranking"],
                "dismissed": event.body.get("dismissed", []),
                "confidence": event.body.get("confidence"),
                "mark": marks.get(event.position or 0),
            }
            for event in reversed(unsure[-200:])
        ],
        "suspicious": sorted(suspicious, key=lambda one: -one["doubt"]),
    }
