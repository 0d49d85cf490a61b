"""A journal as a log of decisions, and what another policy would have chosen in them."""

from collections.abc import Hashable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from druthers.advisor import decisions, events
from druthers.advisor.editions import Editions
from druthers.advisor.fold import Fold
from druthers.advisor.operations import Operations
from druthers.advisor.serving import make_served
from druthers.catalogs import Item
from druthers.errors import InvalidLog, InvalidSetting
from druthers.limits import Columns
from druthers.logs import Log, from_rows
from druthers.logs.rows import all_chances
from druthers.policies import Policy
from druthers.stores import Event, Store
from druthers.types import Floats


class Place(NamedTuple):
    """A place of a slate: what was left to choose from, and the row of the log."""

    user: str
    offer: list[str]
    row: dict[str, Any]


def to_log(store: Store) -> Log:
    """Return the decisions of a journal with what was said before and felt after them.

    Each place of a slate is a row: it was chosen from what the places before it left, and all rows of a slate are one
    round. Of several utilities of an item the last one stands. The ranking is what the user said last between the
    decision before and this one. Decisions for people who were erased are left out.
    """
    return _as_log(store, [place for slate in _slates(store) for place in slate])


def chances_of(
    store: Store, policy: str, settings: Mapping[str, Any] | None = None, *, learn: float = 0.5
) -> tuple[Log, Floats]:
    """Return the last decisions of a journal, and with which chance a policy would have chosen each offered item.

    The policy is served the journal as the service serves it, from its first event on: before each decision it knows
    what the service knew, the catalog, words, corrections and feedback up to there, and chooses within the same limits.
    What it chooses depends on the past only, so weighted outcomes are worth on average what its choices are; a policy
    that stood still would be judged as worse than the one that made the journal and learned on.

    Parameters
    ----------
    store
        The journal.
    policy, settings
        The policy and its settings; `exploration` is that of the last decision by this policy, unless given.
    learn
        Share of the decisions that it only learns from; it is judged on those after them, and learns on.

    Returns
    -------
    The log from there on, and the chances, laid out like `log.offers`.
    """
    if not 0.0 <= learn < 1.0:
        raise InvalidSetting(f"learn is a share and must be at least 0 and below 1, but got {learn!r}")
    slates = list(_slates(store))
    judged = slates[int(learn * len(slates)) :]
    if not judged:
        raise InvalidLog("a log must hold at least one decision, but the journal has none")
    known: dict[str, Any] = {"exploration": 0.0}
    for event in store.walk(kind=events.DECISION):
        if event.body.get("policy") == policy:
            known["exploration"] = event.body["exploration"]
    editions = _editions(store)
    fold = Fold(editions, make_served(policy, editions.catalog, {**known, **(settings or {})}))
    operations = Operations(fold, store, _Silent())  # type: ignore[arg-type]
    waiting, chances = {slate[0].row["round"]: slate for slate in judged}, []
    for event in map(events.check, store.walk()):
        slate = waiting.get(event.position, [])
        with fold.within(event.body):
            for number, place in enumerate(slate):
                shift = operations.choosing.shift(place.user, fold.people.get(place.user))
                chances.append(_next_chances(fold.policy, slate, number, shift))
        fold.apply(event)
    return _as_log(store, [place for slate in judged for place in slate]), np.concatenate(chances)


def _next_chances(policy: Policy, slate: list[Place], number: int, shift: Mapping[Hashable, float]) -> Floats:
    """Return the chance of each item that was left at a place of a slate, after the same places before it."""
    place = slate[number]
    if policy.noise_per_arm:
        return all_chances(policy, policy.choose(place.user, place.offer, shift=shift))
    whole, before = slate[0].offer, [one.row["arm"] for one in slate[:number]]
    chances = policy.slate_chances(place.user, whole, before, len(slate), shift=shift)
    return chances[[row for row, item in enumerate(whole) if item not in before]]


class _Silent:
    """A parser for journals, whose texts have been read."""

    name = "none"


def _editions(store: Store) -> Editions:
    editions = Editions.of(store)
    if editions is None:
        raise InvalidLog("a log must hold at least one decision, but the journal is empty")
    return editions


def _as_log(store: Store, places: list[Place]) -> Log:
    if not places:
        raise InvalidLog("a log must hold at least one decision, but the journal has none")
    catalog = _editions(store).catalog
    rows = []
    for place in places:
        reward = catalog.to_rewards(place.row["reward"]).tolist() if place.row["reward"] else None
        rows.append({**place.row, "user": place.user, "offer": place.offer, "reward": reward})
    return from_rows(rows, objectives=[objective.name for objective in catalog.objectives])


def _slates(store: Store) -> Iterator[list[Place]]:
    """Yield the slates of people who were not erased, with all that came of them.

    What could be chosen is as it was then; what was said and felt is read by the objectives of today.
    """
    items: dict[str, Event] = {}
    columns: Columns | None = None  # as long as no item changes, and no objective
    editions = _editions(store)
    then = editions.until(0)
    made: dict[str, list[Place]] = {}
    said: dict[str, list[str]] = {}
    for event in map(events.check, store.walk()):
        if event.kind in (events.MIGRATION, events.ITEM, events.RETIREMENT):
            columns = None
            if event.kind == events.ITEM:
                items[event.body["item"]["id"]] = event
            elif event.kind == events.RETIREMENT:
                items.pop(event.body["item"], None)
            else:
                then = editions.until(event.position)
        elif event.user is None:
            continue
        elif event.kind in (events.QUERY, events.CORRECTION):
            said[event.user] = editions.today(event).body["ranking"]
        elif event.kind == events.DECISION:
            if columns is None:
                columns = Columns({id: Item(**then.today(item).body["item"]) for id, item in items.items()})
            made[str(event.about)] = list(_places(then.today(event), columns, said.pop(event.user, [])))
        elif event.kind == events.FEEDBACK:
            for place in made.get(str(event.about), ()):
                if place.row["arm"] == event.body["item"]:
                    place.row["reward"].update(editions.today(event).body["rewards"])
                    if event.body["utility"] is not None:
                        place.row["utility"] = event.body["utility"]
    yield from made.values()


def _places(event: Event, columns: Columns, ranking: list[str]) -> Iterator[Place]:
    """Yield the places of a slate."""
    body = event.body
    offer = columns.eligible(body.get("limits", {}))
    if body["offer"] is not None:
        allowed = set(offer)
        offer = [item for item in body["offer"] if item in allowed]
    if body.get("without"):
        offer = [item for item in offer if item not in body["without"]]
    bests = body.get("best", [None] * len(body["items"]))
    for one, best in zip(decisions.suggestions(event), bests, strict=True):
        row = {
            "round": event.position,
            "time": datetime.fromtimestamp(event.at, UTC).replace(tzinfo=None),
            "arm": one.item,
            "propensity": one.propensity,
            "ranking": ranking,
            "policy": body.get("policy", "served"),
            "reward": {},
            "utility": None,
            "context": body.get("context", {}),
        }
        if one.propensity is not None and (one.propensity == 1.0 or "best" in body):
            row["chances"] = _chances(offer, one.item, best, one.propensity)
        yield Place(str(event.user), list(offer), row)
        offer, ranking = [item for item in offer if item != one.item], []


def _chances(offer: list[str], chosen: str, best: str | None, propensity: float) -> list[float]:
    """Return the chance of each offered item, of which all but the best one have the same."""
    others = max(len(offer) - 1, 1)
    least = propensity if best is not None else (1.0 - propensity) / others
    top = chosen if best is None else best
    return [1.0 - (len(offer) - 1) * least if item == top else least for item in offer]
