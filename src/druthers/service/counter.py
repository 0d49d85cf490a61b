"""What users want, made and taken through the desk, and counted; and how endpoints take and give it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic_core import to_json
from starlette.responses import Response

from druthers.advisor import Heard, Recommendation
from druthers.advisor.picking import pick
from druthers.advisor.rating import feedback
from druthers.catalogs import Item
from druthers.errors import Contradiction
from druthers.service.desk import Desk
from druthers.service.problems import Problem
from druthers.service.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


def takes(body: Any) -> Callable[[F], F]:
    """Give an endpoint's body its type, which is known only when the service starts."""

    def decorate(function: F) -> F:
        function.__annotations__["body"] = body
        return function

    return decorate


class Json(Response):
    """Plain values as a response, which are not checked again."""

    def __init__(self, content: Any, status: int = 200) -> None:
        try:
            self.body = to_json(content)
        except ValueError:  # half a character, from who wrote the journal by other ways
            self.body = json.dumps(content, separators=(",", ":")).encode()
        self.status_code, self.background = status, None
        length = b"%d" % len(self.body)
        self.raw_headers = [(b"content-length", length), (b"content-type", b"application/json")]


def as_json(content: Any, status: int = 200) -> Response:
    """Return plain values as a response."""
    return Json(content, status)


def told(values: Any) -> dict[str, Any]:
    """Return values by the names of their objectives."""
    return {} if values is None else values.model_dump(by_alias=True, exclude_none=True)


def trimmed(detail: Any) -> Any:
    """Return a detail without spaces around texts, and without texts that hold nothing else in a list."""
    if isinstance(detail, list):
        return [part for part in map(trimmed, detail) if part != ""]
    return detail.strip() if isinstance(detail, str) else detail


class Counter:
    """Makes and takes what users want, and counts it."""

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
        self.count(heard, None)
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
        self.count(made.heard, made)
        return made.as_dict()

    def count(self, heard: Heard | None, made: Recommendation | None) -> None:
        """Count what was heard and recommended, once however often it is repeated."""
        if heard is not None and heard.new:
            self.desk.metrics.heard(understood=bool(heard.ranking))
        if made is not None and made.new:
            self.desk.metrics.decided(best=made.regret, shown=0.0)

    async def learn(self, decision: str, body: Any) -> dict[str, Any]:
        """Take in feedback."""
        try:
            learned = await self.desk.run(
                feedback(
                    self.ask, decision, item=body.item, rewards=told(body.rewards), utility=body.utility, id=body.id
                )
            )
        except Contradiction:
            self.desk.metrics.learned("contradicted")
            raise
        self.desk.metrics.learned("revised" if learned.revised else "new" if learned.new else "repeated")
        return learned.as_dict()

    async def choose(self, decision: str, body: Any) -> dict[str, Any]:
        """Take in a choice."""
        try:
            picked = await self.desk.run(pick(self.ask, decision, body.picked, offer=body.offer))
        except Contradiction:
            self.desk.metrics.learned("contradicted")
            raise
        self.desk.metrics.learned("new" if picked.new else "repeated")
        return picked.as_dict()

    async def put(self, id: str, body: Any) -> tuple[dict[str, Any], bool]:
        """Add or change an item."""
        if id not in self.desk.fold.items and len(self.desk.fold.items) >= self.settings.max_items:
            raise Problem(409, f"a catalog must hold at most {self.settings.max_items} items, and is full")
        details = {name.strip(): trimmed(detail) for name, detail in body.details.items()}
        details = {name: detail for name, detail in details.items() if name and detail != ""}
        values = told(body.values)
        counts = {name: count for name, count in told(body.counts).items() if name in values}
        item = Item(id, body.name.strip(), body.description, values, details, counts)
        new = await self.desk.run(self.ask.put_item(item))
        return item.content(), new
