"""The routes: what the service can be asked, in our own words."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import count
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import HTMLResponse, Response

from druthers.advisor import events, showing
from druthers.advisor.replies import Conversation
from druthers.advisor.updating import check_renamed
from druthers.catalogs import Catalog
from druthers.errors import DruthersError, StoreFailure, UnknownArm, UnknownOutcome
from druthers.service import answers
from druthers.service.counter import Counter, as_json, takes, told
from druthers.service.desk import Desk
from druthers.service.metrics import MEDIA_TYPE
from druthers.service.problems import LONGEST_DETAIL, Problem, cut, malformed_entry, status_of
from druthers.service.routing import Routes, visit_of
from druthers.service.schemas import ID, Malformed, MigrationRequest, Schemas
from druthers.service.settings import Settings
from druthers.stores import Event

_HERE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]{1,200}")

# Rewards that stand for an aspect that was bad, fair or good.
GRADES = {"bad": 0.05, "fair": 0.5, "good": 0.95}

UserId = Annotated[str, Path(pattern=ID, description="Whom it is about.")]
DecisionId = Annotated[str, Path(pattern=ID, description="The id of a decision.")]
ItemId = Annotated[str, Path(pattern=ID, description="The id of an item.")]


def make_routes(desk: Desk, settings: Settings, bodies: Schemas) -> list[Routes]:
    """Return all routes of our own."""
    counter = Counter(desk, settings)
    return [
        _decisions(desk, counter, bodies),  # what is asked for most is found first
        _users(desk, counter, bodies),
        _catalog(desk, settings),
        _items(desk, counter, bodies),
        _batches(counter, bodies),
        _journal(desk),
        _operations(desk),
    ]


def _users(desk: Desk, counter: Counter, bodies: Schemas) -> Routes:
    routes = Routes("/v1/users", tags=["users"])
    talk = Conversation(desk.operations, erases=False)

    @routes.post(
        "/{user}/decisions",
        role="decide",
        problems=[404, 409],
        response_model=answers.DecisionAnswer,
        responses={200: {"links": _LINKS}},
    )
    @takes(bodies.decision)
    async def decide(user: UserId, body: Any) -> Response:
        """Recommend items to a user, after hearing a sentence if one comes along."""
        return as_json(await counter.decide(user, body))

    @routes.post("/{user}/queries", role="decide", problems=[409], response_model=answers.HeardAnswer)
    @takes(bodies.query)
    async def hear(user: UserId, body: Any) -> Response:
        """Hear what a user wants: a sentence, or a ranking of objectives; with an id, repeating it is safe."""
        return as_json(await counter.hear(user, body))

    @routes.post("/{user}/messages", role="decide", problems=[409], response_model=answers.ReplyAnswer)
    @takes(bodies.message)
    async def message(user: UserId, body: Any) -> Response:
        """Answer whatever a user types: a wish, a limit, how something was, a question, or small talk."""
        reply = await desk.run(talk.reply(user, body.text))
        counter.count(reply.heard, reply.recommendation)
        return as_json(reply.as_dict())

    @routes.get("/{user}", role="read", problems=[404], response_model=answers.CardAnswer)
    async def card(user: UserId) -> Response:
        """Tell what is believed of a user: the preference card."""
        return as_json((await desk.run(desk.operations.preference(user))).as_dict())

    @routes.get("/{user}/history", role="read", response_model=list[answers.RememberedAnswer])
    async def history(user: UserId) -> Response:
        """Tell what a user said and felt, the latest first: what is believed comes from that."""
        return as_json([one.as_dict() for one in await desk.run(showing.history(desk.operations, user))])

    @routes.patch("/{user}", role="decide", problems=[404, 409], response_model=answers.CardAnswer)
    @takes(bodies.correction)
    async def correct(user: UserId, body: Any) -> Response:
        """Take back all that a user said, and hear this instead; what the user felt stays."""
        return as_json((await desk.run(desk.operations.correct(user, **told(body)))).as_dict())

    @routes.delete("/{user}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def erase(user: UserId) -> Response:
        """Erase a person from journal, saved states and memory; what was learned about items stays."""
        await desk.run(desk.operations.forget(user))
        return Response(status_code=204)

    return routes


def _decisions(desk: Desk, counter: Counter, bodies: Schemas) -> Routes:
    routes = Routes("/v1/decisions", tags=["decisions"])

    @routes.post("/{decision}/feedback", role="decide", problems=[404, 409], response_model=answers.FeedbackAnswer)
    @takes(bodies.feedback)
    async def learn(decision: DecisionId, body: Any) -> Response:
        """Tell how a recommended item was, in parts or as a whole; repeating it is safe, changing it is not."""
        return as_json(await counter.learn(decision, body))

    @routes.post("/{decision}/choice", role="decide", problems=[404, 409], response_model=answers.ChoiceAnswer)
    @takes(bodies.choice)
    async def choose(decision: DecisionId, body: Any) -> Response:
        """Tell which item was picked, or that none was; repeating it is safe, changing it is not."""
        return as_json(await counter.choose(decision, body))

    @routes.get("/{decision}", role="read", problems=[404], response_model=answers.DecidedAnswer)
    async def look(decision: DecisionId) -> Response:
        """Show a decision as it was made, and all that was told of its items."""
        return as_json((await desk.run(desk.operations.decision(decision))).as_dict())

    @routes.get("/{decision}/items", role="read", problems=[404], response_model=list[answers.ShownAnswer])
    async def items(decision: DecisionId) -> Response:
        """Show the items of a decision, each with its place in every objective among what was on offer."""
        return as_json([one.as_dict() for one in await desk.run(showing.slate(desk.operations, decision))])

    return routes


def _catalog(desk: Desk, settings: Settings) -> Routes:
    routes = Routes("/v1", tags=["items"])

    @routes.get("/objectives", role="read", response_model=list[answers.ObjectiveAnswer])
    async def objectives() -> Response:
        """List what matters, and what the details of items came to tell about it."""
        return as_json(
            [
                {
                    "name": one.name,
                    "description": one.description,
                    "low": one.low,
                    "high": one.high,
                    "less_is_better": one.less_is_better,
                    **{name: one.to_value(reward) for name, reward in GRADES.items()},
                    "columns": [part._asdict() for part in desk.fold.predictor.parts(one.name)],
                }
                for one in desk.fold.catalog.objectives
            ]
        )

    @routes.get("/catalog", role="read", response_model=answers.CatalogAnswer)
    async def catalog() -> Response:
        """Tell what the catalog is without its items: objectives with their scales, and what limits can be on."""
        limits = {"batch": settings.max_batch, "body_bytes": settings.max_body_bytes}
        content = replace(desk.fold.catalog, items=()).content()
        columns = await asyncio.to_thread(desk.operations.columns.domains)
        answer = {"number": desk.fold.editions.number, "catalog": content, "columns": columns, "limits": limits}
        return as_json(answer)

    @routes.post("/catalog", role="admin", problems=[409], response_model=answers.MigrationAnswer)
    async def migrate(body: MigrationRequest) -> Response:
        """Change objectives, ranges, scales or words; the service then starts over, and reads its journal by them."""
        wanted = Catalog.from_content(body.catalog, source="the body")
        if wanted.items:
            raise Problem(422, "a change of objectives must come without items, but got some; put them on their own")
        check_renamed(desk.fold.catalog, wanted, body.renamed)
        position = await desk.migrate(events.migration(body.number, wanted, body.renamed))
        return as_json({"number": body.number, "position": position})

    return routes


def _items(desk: Desk, counter: Counter, bodies: Schemas) -> Routes:
    routes = Routes("/v1", tags=["items"])

    @routes.get("/items", role="read", response_model=bodies.items_answer)
    async def items(
        after: Annotated[str | None, Query(pattern=ID, description="List items after this one.")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """List the items, in the order of their ids."""
        ids = desk.fold.ids
        first = 0 if after is None else bisect_right(ids, after)
        page = [desk.fold.items[id].content() for id in ids[first : first + limit]]
        return as_json({"items": page, "next": page[-1]["id"] if len(ids) > first + limit else None})

    @routes.get("/items/{item}", role="read", problems=[404], response_model=bodies.item_answer)
    async def item(item: ItemId) -> Response:
        """Show an item."""
        if item not in desk.fold.items:
            raise UnknownArm(f"an item must be in the catalog, but got {item!r}")
        return as_json(desk.fold.items[item].content())

    @routes.put(
        "/items/{item}",
        role="admin",
        problems=[409],
        response_model=bodies.item_answer,
        responses={201: {"description": "It is new.", "model": bodies.item_answer}},
    )
    @takes(bodies.item)
    async def put(item: ItemId, body: Any) -> Response:
        """Add an item, or change what is known of one."""
        content, new = await counter.put(item, body)
        return as_json(content, 201 if new else 200)

    @routes.delete("/items/{item}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def retire(item: ItemId) -> Response:
        """Take an item out: it is recommended no more."""
        await desk.run(desk.operations.retire_item(item))
        return Response(status_code=204)

    return routes


def _batches(counter: Counter, bodies: Schemas) -> Routes:
    routes = Routes("/v1/batch", tags=["batches"])

    @routes.post("/queries", role="decide", response_model=answers.BatchAnswer)
    @takes(bodies.queries)
    async def queries(request: Request, body: Any) -> Response:
        """Hear many queries."""
        return await _together(request, body, lambda entry: counter.hear(entry.user, entry))

    @routes.post("/decisions", role="decide", response_model=answers.BatchAnswer)
    @takes(bodies.decisions)
    async def decisions(request: Request, body: Any) -> Response:
        """Recommend to many users."""
        return await _together(request, body, lambda entry: counter.decide(entry.user, entry))

    @routes.post("/feedback", role="decide", response_model=answers.BatchAnswer)
    @takes(bodies.feedbacks)
    async def feedbacks(request: Request, body: Any) -> Response:
        """Take in much feedback."""
        return await _together(request, body, lambda entry: counter.learn(entry.decision, entry))

    @routes.put("/items", role="admin", response_model=answers.BatchAnswer)
    @takes(bodies.items)
    async def put(request: Request, body: Any) -> Response:
        """Add or change many items."""

        async def one(entry: Any) -> dict[str, Any]:
            return (await counter.put(entry.id, entry))[0]

        return await _together(request, body, one)

    return routes


async def _together(request: Request, body: Any, do: Callable[[Any], Coroutine[Any, Any, dict[str, Any]]]) -> Response:
    """Do all entries of a batch; one that is refused does not stop the others, a journal out of reach does."""
    visit = visit_of(request)
    visit.gate.charge(visit.caller, len(body.entries) - 1)

    async def one(place: int, entry: Any) -> dict[str, Any]:
        if isinstance(entry, Malformed):
            raise malformed_entry(place, entry.mistakes, type(body))
        return await do(entry)

    results: list[dict[str, Any]] = []
    outcomes = await asyncio.gather(*map(one, count(), body.entries), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, StoreFailure):
            alone = all(isinstance(other, StoreFailure) and not isinstance(other, UnknownOutcome) for other in outcomes)
            raise (
                outcome if alone else UnknownOutcome(f"some entries were written before the journal failed: {outcome}")
            )
        if isinstance(outcome, DruthersError):
            results.append({"status": status_of(outcome), "answer": None, "problem": cut(str(outcome), LONGEST_DETAIL)})
        elif isinstance(outcome, Problem):
            results.append({"status": outcome.status_code, "answer": None, "problem": str(outcome.detail)})
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            results.append({"status": 200, "answer": outcome, "problem": None})
    return as_json({"results": results})


def _journal(desk: Desk) -> Routes:
    routes = Routes("/v1", tags=["journal"])

    @routes.get("/events", role="admin", response_model=answers.EventsAnswer)
    async def journal(
        after: Annotated[int, Query(ge=0, le=2**62)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        user: Annotated[str | None, Query(pattern=ID)] = None,
    ) -> Response:
        """Show the journal, page by page."""
        page = await asyncio.to_thread(desk.store.read, after, limit=limit, user=user)
        further = page[-1].position if len(page) == limit else None
        return as_json({"events": [_event(event) for event in page], "next": further})

    return routes


def _operations(desk: Desk) -> Routes:
    routes = Routes(tags=["operations"])
    pages: list[str] = []

    @routes.get("/healthz", role="public")
    async def healthz() -> Response:
        """Tell that the process lives."""
        return as_json({"status": "alive"})

    @routes.get("/readyz", role="public", problems=[503])
    async def readyz() -> Response:
        """Tell whether requests can be served: the journal is in reach, and a sentence has been read."""
        if desk.failing:
            raise StoreFailure("the journal is out of reach, or its disk is full")
        if not desk.can_read:
            raise Problem(
                503, "a ready service has read a sentence, but this one is still loading", {"Retry-After": "1"}
            )
        return as_json({"status": "ready", "position": desk.fold.position})

    @routes.get("/metrics", role="read", response_class=Response)
    async def metrics() -> Response:
        """Tell Prometheus."""
        return Response(desk.metrics.render(), headers={"Content-Type": MEDIA_TYPE})

    @routes.get("/openapi.json", role="public", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        _limit(request)
        return as_json(request.app.openapi())

    @routes.get("/docs", role="public", include_in_schema=False)
    async def docs(request: Request) -> Response:
        from druthers.service.docs import HOME, POLICY, page

        _limit(request)
        if not pages:
            pages.append(page(request.app.openapi()))
        here = str(request.base_url).rstrip("/")
        shown = pages[0].replace(HOME, here) if _HERE.fullmatch(here) else pages[0]
        return HTMLResponse(shown, headers={"content-security-policy": POLICY})

    return routes


def _limit(request: Request) -> None:
    """Count a request of anybody for the address that it comes from; probes are not counted."""
    visit_of(request).gate.limit(request.client.host if request.client else "")


def _event(event: Event) -> dict[str, Any]:
    return {
        "position": event.position,
        "kind": event.kind,
        "at": event.at,
        "user": event.user,
        "about": event.about,
        "body": event.body,
    }


_LINKS = {
    "feedback": {
        "operationId": "learn_v1_decisions__decision__feedback_post",
        "parameters": {"decision": "$response.body#/id"},
        "description": "Feedback on the decision.",
    },
    "decision": {
        "operationId": "look_v1_decisions__decision__get",
        "parameters": {"decision": "$response.body#/id"},
        "description": "The decision, and what came of it.",
    },
    "card": {
        "operationId": "card_v1_users__user__get",
        "parameters": {"user": "$response.body#/user"},
        "description": "What is believed of the user.",
    },
}
