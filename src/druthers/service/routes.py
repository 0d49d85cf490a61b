"""The routes: what the service can be asked, in our own words."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import count
from typing import Annotated, Any

from fastapi import Path, Query, Request
from starlette.responses import Response

from druthers.advisor import Recommendation, events, showing
from druthers.advisor.answers import Learned, Picked
from druthers.advisor.messages import Kind
from druthers.advisor.outcomes import feedback, pick
from druthers.advisor.replies import Conversation
from druthers.advisor.steps import Operation
from druthers.advisor.updating import find_renamed
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, DruthersError, StoreFailure, UnknownArm, UnknownOutcome
from druthers.service import answers
from druthers.service.desk import Desk
from druthers.service.guards import Json, Routes, link, takes, visit_of
from druthers.service.problems import LONGEST_DETAIL, Problem, cut, malformed_entry, status_of
from druthers.service.schemas import ID, Malformed, MigrationRequest, Schemas
from druthers.service.settings import Settings

OBJECTIVE_PARTS = ("name", "description", "low", "high", "less_is_better")
# Rewards that stand for an aspect that was bad, fair or good.
GRADES = {"bad": 0.05, "fair": 0.5, "good": 0.95}

UserId = Annotated[str, Path(pattern=ID, description="Whom it is about.")]
DecisionId = Annotated[str, Path(pattern=ID, description="The id of a decision.")]
ItemId = Annotated[str, Path(pattern=ID, description="The id of an item.")]


def told(values: Any) -> dict[str, Any]:
    """Return values by the names of their objectives."""
    return {} if values is None else values.model_dump(by_alias=True, exclude_none=True)


def trimmed(detail: Any) -> Any:
    """Return a detail without spaces around texts, and without texts that hold nothing else in a list."""
    if isinstance(detail, list):
        return [part for part in map(trimmed, detail) if part != ""]
    return detail.strip() if isinstance(detail, str) else detail


class Handlers:
    """Makes and takes what users want, through the desk, and counts it."""

    def __init__(self, desk: Desk, settings: Settings) -> None:
        self.desk = desk
        self.settings = settings
        self.ask = desk.operations

    async def hear(self, user: str, body: Any) -> dict[str, Any]:
        """Take in a query."""
        said = body.text if body.text is not None else body.ranking
        if said is None or (body.text is not None and body.ranking is not None):
            raise Problem(422, "a query must be a text or a ranking, one of both")
        heard = await self.desk.run(self.ask.hear(user, said, id=body.id))
        self.desk.count(heard, None)
        return heard.as_dict()

    async def decide(self, user: str, body: Any) -> dict[str, Any]:
        """Recommend something."""
        made: Recommendation = await self.desk.run(
            self.ask.recommend(
                user,
                size=body.size,
                offer=body.offer,
                text=body.text,
                where=body.where,
                id=body.id,
                repeats=body.repeats,
                floors=[floor.model_dump(exclude_none=True) for floor in body.floors],
                context=body.context,
            )
        )
        self.desk.count(made.heard, made)
        return made.as_dict()

    async def learn(self, decision: str, body: Any) -> dict[str, Any]:
        """Take in feedback."""
        rewards = told(body.rewards)
        return await self.taken(
            feedback(self.ask, decision, item=body.item, rewards=rewards, utility=body.utility, id=body.id)
        )

    async def taken(self, operation: Operation[Learned] | Operation[Picked]) -> dict[str, Any]:
        """Take in what came of a decision, and count what it was."""
        try:
            taken: Learned | Picked = await self.desk.run(operation)
        except Contradiction:
            self.desk.metrics.learned("contradicted")
            raise
        revised = isinstance(taken, Learned) and taken.revised
        self.desk.metrics.learned("revised" if revised else "new" if taken.new else "repeated")
        return taken.as_dict()

    async def put(self, id: str, body: Any) -> tuple[dict[str, Any], bool]:
        """Add or change an item."""
        if id not in self.desk.fold.items and len(self.desk.fold.items) >= self.settings.max_items:
            raise Problem(409, f"a catalog must hold at most {self.settings.max_items} items, and is full")
        details = {name.strip(): trimmed(detail) for name, detail in body.details.items()}
        details = {name: detail for name, detail in details.items() if name and detail != ""}
        item = Item(id, body.name.strip(), body.description, told(body.values), details, told(body.counts))
        new = await self.desk.run(self.ask.put_item(item))
        return item.content(), new


def make_routes(desk: Desk, settings: Settings, bodies: Schemas) -> list[Routes]:
    """Return all routes of our own."""
    handlers = Handlers(desk, settings)
    return [
        _decisions(desk, handlers, bodies),  # what is asked for most is found first
        _users(desk, handlers, bodies),
        _catalog(desk, settings),
        _items(desk, handlers, bodies),
        _batches(handlers, bodies),
    ]


def _users(desk: Desk, handlers: Handlers, bodies: Schemas) -> Routes:
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
        return Json(await handlers.decide(user, body))

    @routes.post("/{user}/queries", role="decide", problems=[409], response_model=answers.HeardAnswer)
    @takes(bodies.query)
    async def hear(user: UserId, body: Any) -> Response:
        """Hear what a user wants: a sentence, or a ranking of objectives; with an id, repeating it is safe."""
        return Json(await handlers.hear(user, body))

    @routes.post("/{user}/messages", role="decide", problems=[409], response_model=answers.ReplyAnswer)
    @takes(bodies.message)
    async def message(user: UserId, body: Any) -> Response:
        """Answer whatever a user types: a wish, a limit, how something was, a question, or small talk.

        With an id, repeating it is safe: it is taken in once, and answered alike.
        """
        reply = await desk.run(talk.reply(user, body.text, id=body.id), counts_feedback=True)
        desk.count(reply.heard, reply.recommendation)
        if reply.kind == Kind.UNCLEAR and reply.heard is None and reply.new:
            desk.metrics.heard(understood=False)
        return Json(reply.as_dict())

    @routes.get("/{user}", role="read", problems=[404], response_model=answers.CardAnswer)
    async def card(user: UserId) -> Response:
        """Tell what is believed of a user: the preference card."""
        return Json((await desk.run(desk.operations.preference(user))).as_dict())

    @routes.get("/{user}/history", role="read", response_model=list[answers.RememberedAnswer])
    async def history(user: UserId) -> Response:
        """Tell what a user said and felt, the latest first: what is believed comes from that."""
        return Json([one.as_dict() for one in await desk.run(showing.history(desk.operations, user))])

    @routes.patch("/{user}", role="decide", problems=[404, 409], response_model=answers.CardAnswer)
    @takes(bodies.correction)
    async def correct(user: UserId, body: Any) -> Response:
        """Take back all that a user said, and hear this instead; what the user felt stays."""
        return Json((await desk.run(desk.operations.correct(user, **told(body)))).as_dict())

    @routes.delete("/{user}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def erase(user: UserId) -> None:
        """Erase a person from journal, saved states and memory; what was learned about items stays."""
        await desk.run(desk.operations.forget(user))

    return routes


def _decisions(desk: Desk, handlers: Handlers, bodies: Schemas) -> Routes:
    routes = Routes("/v1/decisions", tags=["decisions"])

    @routes.post("/{decision}/feedback", role="decide", problems=[404, 409], response_model=answers.FeedbackAnswer)
    @takes(bodies.feedback)
    async def learn(decision: DecisionId, body: Any) -> Response:
        """Tell how a recommended item was, in parts or as a whole; repeating it is safe, changing it is not."""
        return Json(await handlers.learn(decision, body))

    @routes.post("/{decision}/choice", role="decide", problems=[404, 409], response_model=answers.ChoiceAnswer)
    @takes(bodies.choice)
    async def choose(decision: DecisionId, body: Any) -> Response:
        """Tell which item was picked, or that none was; repeating it is safe, changing it is not."""
        return Json(await handlers.taken(pick(desk.operations, decision, body.picked, offer=body.offer)))

    @routes.get("/{decision}", role="read", problems=[404], response_model=answers.DecidedAnswer)
    async def look(decision: DecisionId) -> Response:
        """Show a decision as it was made, and all that was told of its items."""
        return Json((await desk.run(desk.operations.decision(decision))).as_dict())

    @routes.get("/{decision}/items", role="read", problems=[404], response_model=list[answers.ShownAnswer])
    async def items(decision: DecisionId) -> Response:
        """Show the items of a decision, each with its place in every objective among what was on offer."""
        return Json([one.as_dict() for one in await desk.run(showing.slate(desk.operations, decision))])

    return routes


def _catalog(desk: Desk, settings: Settings) -> Routes:
    routes = Routes("/v1", tags=["items"])

    @routes.get("/objectives", role="read", response_model=list[answers.ObjectiveAnswer])
    async def objectives() -> Response:
        """List what matters, and what the details of items came to tell about it."""
        told = []
        for one in desk.fold.catalog.objectives:
            grades = {name: one.to_value(reward) for name, reward in GRADES.items()}
            columns = [part._asdict() for part in desk.fold.predictor.parts(one.name)]
            told.append({part: getattr(one, part) for part in OBJECTIVE_PARTS} | grades | {"columns": columns})
        return Json(told)

    @routes.get("/catalog", role="read", response_model=answers.CatalogAnswer)
    async def catalog() -> Response:
        """Tell what the catalog is without its items: objectives with their scales, and what limits can be on."""
        limits = {"batch": settings.max_batch, "body_bytes": settings.max_body_bytes}
        content = replace(desk.fold.catalog, items=()).content()
        columns = await asyncio.to_thread(desk.operations.columns.domains)
        number = desk.fold.editions.number
        return Json({"number": number, "catalog": content, "columns": columns, "limits": limits})

    @routes.post("/catalog", role="admin", problems=[409], response_model=answers.MigrationAnswer)
    async def migrate(body: MigrationRequest) -> Response:
        """Change objectives, ranges, scales or words; the service then starts over, and reads its journal by them."""
        wanted = Catalog.from_content(body.catalog, source="the body")
        if wanted.items:
            raise Problem(422, "a change of objectives must come without items, but got some; put them on their own")
        renamed = find_renamed(desk.fold.catalog, wanted, body.renamed)
        position = await desk.migrate(events.migration(body.number, wanted, renamed))
        return Json({"number": body.number, "position": position})

    return routes


def _items(desk: Desk, handlers: Handlers, bodies: Schemas) -> Routes:
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
        return Json({"items": page, "next": page[-1]["id"] if len(ids) > first + limit else None})

    @routes.get("/items/{item}", role="read", problems=[404], response_model=bodies.item_answer)
    async def item(item: ItemId) -> Response:
        """Show an item."""
        if item not in desk.fold.items:
            raise UnknownArm(f"an item must be in the catalog, but got {item!r}")
        return Json(desk.fold.items[item].content())

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
        content, new = await handlers.put(item, body)
        return Json(content, 201 if new else 200)

    @routes.delete("/items/{item}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def retire(item: ItemId) -> None:
        """Take an item out: it is recommended no more."""
        await desk.run(desk.operations.retire_item(item))

    return routes


def _batches(handlers: Handlers, bodies: Schemas) -> Routes:
    routes = Routes("/v1/batch", tags=["batches"])

    @routes.post("/queries", role="decide", response_model=answers.BatchAnswer)
    @takes(bodies.queries)
    async def queries(request: Request, body: Any) -> Response:
        """Hear many queries."""
        return await _together(request, body, lambda entry: handlers.hear(entry.user, entry))

    @routes.post("/decisions", role="decide", response_model=answers.BatchAnswer)
    @takes(bodies.decisions)
    async def decisions(request: Request, body: Any) -> Response:
        """Recommend to many users."""
        return await _together(request, body, lambda entry: handlers.decide(entry.user, entry))

    @routes.post("/feedback", role="decide", response_model=answers.BatchAnswer)
    @takes(bodies.feedbacks)
    async def feedbacks(request: Request, body: Any) -> Response:
        """Take in much feedback."""
        return await _together(request, body, lambda entry: handlers.learn(entry.decision, entry))

    @routes.put("/items", role="admin", response_model=answers.BatchAnswer)
    @takes(bodies.items)
    async def put(request: Request, body: Any) -> Response:
        """Add or change many items."""

        async def one(entry: Any) -> dict[str, Any]:
            return (await handlers.put(entry.id, entry))[0]

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
            told = f"some entries were written before the journal failed: {outcome}"
            raise outcome if alone else UnknownOutcome(told)
        if isinstance(outcome, DruthersError):
            results.append({"status": status_of(outcome), "answer": None, "problem": cut(str(outcome), LONGEST_DETAIL)})
        elif isinstance(outcome, Problem):
            results.append({"status": outcome.status_code, "answer": None, "problem": str(outcome.detail)})
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            results.append({"status": 200, "answer": outcome, "problem": None})
    return Json({"results": results})


_LINKS = {
    "feedback": link("learn_v1_decisions__decision__feedback_post", "Feedback on the decision.", decision="id"),
    "decision": link("look_v1_decisions__decision__get", "The decision, and what came of it.", decision="id"),
    "card": link("card_v1_users__user__get", "What is believed of the user.", user="user"),
}
