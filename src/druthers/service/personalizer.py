"""The surface of Azure Personalizer: what its published clients send is understood, and answered as they expect.

    contextFeatures   who it is about (`user` or `userId`) and what they say (`text` or `ranking`); the rest is not used
    actions           items; with `ranking_adds_items` those that the catalog lacks are added, with the values that
                      their features name
    reward            a utility; and, where nothing is known of the item, how good it is
    deferActivation   a reward counts once the event is activated

docs/personalizer.md tells the whole of it.
"""

import asyncio
import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from fastapi import Path, Request
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.responses import Response

from druthers.advisor import Recommendation, outcomes
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, UnknownArm
from druthers.service.desk import Desk
from druthers.service.guards import Json, Routes, link, takes, visit_of
from druthers.service.problems import Problem
from druthers.service.schemas import ID, Finite
from druthers.service.settings import Settings

EVERYONE = "everyone"  # the user of a request that names none
LONGEST = 256
ADDED = {"from": "personalizer"}

_PLAIN = re.compile(ID.replace("~", ""))
_ODD = re.compile(rb"[^A-Za-z0-9._:@+=-]")

ActionId = Annotated[str, Field(min_length=1, max_length=LONGEST)]
EventId = Annotated[str, Field(min_length=1, max_length=LONGEST, pattern="^[^/]+$")]
EventPath = Annotated[str, Path(min_length=1, max_length=LONGEST, description="The id of a rank event.")]
Features = Annotated[list[dict[str, Any]], Field(description="Objects with features, or with groups of them.")]


class Open(BaseModel):
    """A body that may hold more than is used, as clients of other versions send it."""

    model_config = ConfigDict(extra="ignore", strict=True)


class RankableAction(Open):
    """Something that may be chosen."""

    id: ActionId
    features: Features | None = None


class RewardRequest(Open):
    """How good the chosen action was."""

    value: Annotated[Finite, Field(ge=-1, le=1, description="1 is the best.")]


class RankedAction(BaseModel):
    """An action, and the chance that it had of being the chosen one; null where that is not known."""

    id: str
    probability: float | None


class RankResponse(BaseModel):
    """What was chosen."""

    ranking: list[RankedAction] = Field(description="Best first; excluded actions keep their places.")
    eventId: str = Field(description="What a reward refers to.")  # noqa: N815
    rewardActionId: str = Field(description="The chosen action: show it, and reward it.")  # noqa: N815


def make_personalizer(desk: Desk, settings: Settings) -> Routes:
    """Return the three routes that clients of Personalizer call."""
    routes = Routes("/personalizer/v1.0", tags=["personalizer"])
    operations = desk.operations

    @routes.post(
        "/rank",
        role="decide",
        problems=[404, 409],
        status_code=201,
        response_model=RankResponse,
        responses={201: {"links": _LINKS}},
    )
    @takes(_rank_request(settings.max_offer))
    async def rank(request: Request, body: Any) -> Response:
        """Choose one of some actions, and rank the others behind it."""
        names = {as_id(action.id): action.id for action in body.actions}
        if len(names) != len(body.actions):
            raise Contradiction("no two actions may have the same id, but some have; send each once")
        user, query = _who_says_what(body.contextFeatures or [], desk.fold.catalog, settings)
        excluded = set(body.excludedActions or ())
        offer = {id: one for id, one in zip(names, body.actions, strict=True) if one.id not in excluded}
        if not offer:
            raise Contradiction("an action must be left to choose, but all of them are excluded; exclude fewer")
        visit = visit_of(request)
        visit.gate.charge(visit.caller, await _add_missing(desk, settings, offer))
        event = None if body.eventId is None else as_id(body.eventId)
        made: Recommendation = await desk.run(
            operations.recommend(user, offer=list(offer), text=query, id=event, deferred=body.deferActivation or False)
        )
        desk.count(made.heard, made)
        ranking = _ranked(desk, made, list(offer), list(names))
        return Json(
            {
                "ranking": [{"id": names[item], "probability": chance} for item, chance in ranking],
                "eventId": body.eventId or made.id,
                "rewardActionId": names[made.items[0].item],
            },
            201,
        )

    @routes.post("/events/{eventId}/reward", role="decide", problems=[404], status_code=204, response_class=Response)
    async def reward(eventId: EventPath, body: RewardRequest) -> None:  # noqa: N803
        """Tell how good the chosen action was; the first reward counts, and further ones change nothing."""
        new = await desk.run(outcomes.reward(operations, as_id(eventId), body.value))
        desk.metrics.learned("new" if new else "repeated")

    @routes.post("/events/{eventId}/activate", role="decide", problems=[404], status_code=204, response_class=Response)
    async def activate(eventId: EventPath) -> None:  # noqa: N803
        """Tell that a deferred event was shown after all: from now on its reward counts."""
        if await desk.run(outcomes.activate(operations, as_id(eventId))):
            desk.metrics.learned("new")

    return routes


def _rank_request(max_offer: int) -> type[BaseModel]:
    actions: Any = Annotated[list[RankableAction], Field(min_length=1, max_length=max_offer)]
    excluded: Any = Annotated[list[ActionId], Field(max_length=max_offer)]
    event: Any = Annotated[EventId | None, Field(description="Makes repeating the request safe.")]
    model: type[BaseModel] = create_model(
        "RankRequest",
        __base__=Open,
        contextFeatures=(Features | None, None),
        actions=(actions, ...),
        excludedActions=(excluded | None, None),
        eventId=(event, None),
        deferActivation=(bool | None, False),
    )
    return model


def as_id(text: str) -> str:
    """Return an id that our own routes take for any text, and for no two the same.

    What is escaped never holds two marks in a row, but where it starts with one; three in a row begin a hash.

    Examples
    --------
    >>> [as_id(text) for text in ("pasta", "ice cream", "a~b")]
    ['pasta', 'a~ice~20cream', 'a~a~7Eb']
    """
    if _PLAIN.fullmatch(text):
        return text
    escaped = "a~" + _ODD.sub(lambda odd: f"~{odd[0][0]:02X}".encode(), text.encode()).decode()
    return escaped if len(escaped) <= 200 else f"a~~~{hashlib.sha256(text.encode()).hexdigest()}"


def _who_says_what(
    features: Sequence[dict[str, Any]], catalog: Catalog, settings: Settings
) -> tuple[str, str | list[str] | None]:
    """Return who the features of a context are about, and what they want.

    That is a text or a number under `user` or `userId`, and `everyone` if there is none; a sentence under `text`, else
    names of objectives under `ranking`, else None.
    """
    found = dict(reversed([*_flat(features)]))  # the first of a name counts
    users = [found.get(name) for name in ("userId", "user")]
    named = [str(user) for user in users if isinstance(user, str | int) and not isinstance(user, bool)]
    user = as_id(named[0]) if named and named[0] else EVERYONE
    text, ranking = found.get("text"), found.get("ranking")
    if isinstance(text, str) and text.strip():
        if len(text) > settings.max_text:
            raise Problem(422, f"a text may have {settings.max_text} characters, but this one has {len(text)}")
        return user, text
    if not isinstance(ranking, list):
        return user, None
    names = [objective.name for objective in catalog.objectives]
    if not all(name in names for name in ranking) or len(set(ranking)) != len(ranking):
        raise Contradiction(f"a ranking must list some of {', '.join(names)}, each once, but got another one")
    return user, ranking


def _flat(features: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield names and values of features, and of groups of features."""
    for group in features:
        for name, value in group.items():
            if isinstance(value, dict):
                yield from value.items()
            yield name, value


async def _add_missing(desk: Desk, settings: Settings, offer: dict[str, RankableAction]) -> int:
    """Put actions into the catalog that it lacks, all of them or none; returns how many."""
    new = [_as_item(id, action, desk.fold.catalog) for id, action in offer.items() if id not in desk.fold.items]
    if new and not settings.ranking_adds_items:
        raise UnknownArm(
            f"an action must be an item of the catalog, but {new[0].name!r} is not; put it there with"
            f" PUT /v1/items/{new[0].id}, or start the service with ranking_adds_items = true"
        )
    if len(desk.fold.items) + len(new) > settings.max_items:
        raise Problem(409, f"a catalog must hold at most {settings.max_items} items, and is full")
    await asyncio.gather(*(desk.run(desk.operations.put_item(item)) for item in new))
    return len(new)


def _as_item(id: str, action: RankableAction, catalog: Catalog) -> Item:
    found = dict(reversed([*_flat(action.features or [])]))
    values = {}
    for objective in catalog.objectives:
        value = found.get(objective.name)
        if isinstance(value, int | float) and not isinstance(value, bool) and objective.low <= value <= objective.high:
            values[objective.name] = float(value)
    return Item(id, action.id[:200].strip(), values=values, details=ADDED)


def _ranked(desk: Desk, made: Recommendation, offer: list[str], actions: list[str]) -> list[tuple[str, float | None]]:
    """Return all actions with their chances: the chosen one first, the others by score, excluded ones in place."""
    chosen, policy = made.items[0], desk.fold.policy
    known = [item for item in offer if item in desk.fold.items]  # one may have left meanwhile
    scores = dict(zip(known, policy.choose(made.user, known).reasons[3].tolist(), strict=True)) if known else {}
    order = sorted(offer, key=lambda item: (item != chosen.item, -scores.get(item, -math.inf)))
    best = max(scores, key=scores.__getitem__, default=chosen.item)
    chances = _chances(order, best, chosen.propensity, policy.exploration)
    waiting = iter(order)
    ranking: list[tuple[str, float | None]] = []
    for action in actions:
        item = next(waiting) if action in chances else action
        ranking.append((item, chances.get(item, 0.0)))
    return ranking


def _chances(order: list[str], best: str, propensity: float | None, exploration: float) -> dict[str, float | None]:
    """Return the chance that each item had of being chosen, by that of the first in order; None if it is not known.

    A share of the decisions is left to chance. The others go to the best item, or in equal parts to some that a policy
    draws from: as many as explain the first one's chance.

    Examples
    --------
    >>> _chances(["a", "b"], "a", propensity=0.9, exploration=0.2)
    {'a': 0.9, 'b': 0.1}
    >>> _chances(["a", "b"], "b", propensity=0.1, exploration=0.2)
    {'a': 0.1, 'b': 0.9}
    """
    if propensity is None:
        return dict.fromkeys(order)
    floor = exploration / len(order)
    share = propensity - floor
    # Without a share of its own, it was drawn though another one was favored.
    favored = order[: max(1, round((1.0 - exploration) / share))] if share > 1e-9 else [best]
    return {item: floor + (item in favored) * (1.0 - exploration) / len(favored) for item in order}


_LINKS = {
    name: link(f"{name}_personalizer_v1_0_events__eventId__{name}_post", about, eventId="eventId")
    for name, about in (("reward", "A reward for the event."), ("activate", "The event was shown."))
}
