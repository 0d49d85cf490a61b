"""Routes for who runs the service: items, people, doubtful readings, settings in force, keys."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from druthers.advisor import events
from druthers.service import overview
from druthers.service.auth import make_key
from druthers.service.counter import as_json
from druthers.service.desk import Desk
from druthers.service.logs import redact
from druthers.service.problems import Problem
from druthers.service.routing import Routes
from druthers.service.schemas import Closed
from druthers.service.settings import Settings


class KeyRequest(Closed):
    """A key that is to be made."""

    role: Literal["read", "decide", "admin"]
    name: Annotated[str, Field(max_length=200, description="What it is for.")] = ""


class MarkRequest(Closed):
    """Whether a reading is right, and if not, what was meant."""

    right: bool
    ranking: list[str] = Field([], max_length=100, description="What was meant, most important first.")
    dismissed: list[str] = Field([], max_length=100, description="What was set aside.")


class SentenceAnswer(BaseModel):
    """A sentence and its right reading, as `druthers read --evaluate` takes it."""

    query: str
    domain: str
    objectives: list[str]
    gold: list[str]
    low: list[str]
    tags: list[str]


Position = Annotated[int, Path(ge=1, le=2**53, description="Where the journal has it.")]


def make_operating(desk: Desk, settings: Settings) -> Routes:
    """Return the routes."""
    routes = Routes("/v1/operate", tags=["operating"])

    @routes.get("/items", role="admin", response_model=list[dict[str, Any]])
    async def items() -> Response:
        """List the items: share of the latest decisions, reports, means and expectations with 90 % intervals."""
        decided = await asyncio.to_thread(overview.latest, desk.store, events.DECISION)
        return as_json(overview.item_rows(desk.fold, decided))

    @routes.get("/users", role="admin", response_model=list[dict[str, Any]])
    async def users(
        contains: Annotated[str, Query(max_length=200, description="A part of the id.")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """List people in memory, the latest heard of first."""
        return as_json(overview.people_rows(desk.fold, contains, limit))

    @routes.get("/map", role="admin", response_model=dict[str, Any])
    async def preferences() -> Response:
        """Show where the preferences of the latest people lie, on two axes and in clusters."""
        return as_json(overview.preference_map(desk.fold))

    @routes.get("/readings", role="admin", response_model=dict[str, Any])
    async def readings() -> Response:
        """List readings that were unsure, and queries that do not fit what else somebody said."""
        said = await asyncio.to_thread(overview.latest, desk.store, events.QUERY)
        marked = await asyncio.to_thread(overview.latest, desk.store, events.MARK)
        return as_json(await asyncio.to_thread(overview.doubtful, desk.fold, said, marked))

    @routes.put("/readings/{position}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def mark(position: Position, body: MarkRequest) -> Response:
        """Mark a reading as right or wrong, in place of what it was marked before; the journal keeps it."""
        said = await asyncio.to_thread(overview.said_at, desk.store, position)
        if said is None:
            raise Problem(404, f"a reading must be of something that was said, but event {position} is not")
        read = desk.fold.editions.today(said).body
        parts = ("ranking", "dismissed")
        meant = {part: read.get(part, []) if body.right else getattr(body, part) for part in parts}
        for names in meant.values():
            desk.fold.catalog.ranking(names)
        await desk.append(events.make(events.MARK, {"position": position, "right": body.right, **meant}))
        return Response(status_code=204)

    @routes.delete("/readings/{position}", role="admin", status_code=204, response_class=Response)
    async def unmark(position: Position) -> Response:
        """Take a mark back."""
        await desk.append(events.make(events.MARK, {"position": position}))
        return Response(status_code=204)

    @routes.get("/sentences", role="admin", response_model=list[SentenceAnswer])
    async def marked() -> Response:
        """List the readings that were marked, as sentences with their right readings, to evaluate parsers on."""
        return as_json(await asyncio.to_thread(overview.sentences, desk.fold, desk.store))

    @routes.get("/settings", role="admin", response_model=list[dict[str, Any]])
    async def in_force() -> Response:
        """List the settings in force; passwords stay hidden."""
        changed = settings.changed()
        return as_json(
            [
                {
                    "name": field.name,
                    "value": redact(str(getattr(settings, field.name))),
                    "changed": field.name in changed,
                    "about": field.metadata["about"],
                }
                for field in dataclasses.fields(settings)
            ]
        )

    _add_keys(routes, desk)
    return routes


def _add_keys(routes: Routes, desk: Desk) -> None:
    """Add the routes that list, make and revoke keys."""

    @routes.get("/keys", role="admin", response_model=list[dict[str, Any]])
    async def keys() -> Response:
        """List the keys, without the keys themselves."""
        parts = ("id", "role", "name", "created", "revoked")
        return as_json([{part: key[part] for part in parts} for key in desk.fold.keys.values()])

    @routes.post("/keys", role="admin", status_code=201, response_model=dict[str, Any])
    async def create(body: KeyRequest) -> Response:
        """Make a key and show it, once: only its hash is kept."""
        text, key = make_key(body.role, body.name)
        content = {"id": key.id, "digest": key.digest, "role": key.role, "name": key.name}
        await desk.append(events.make(events.KEY, content, key=f"{events.KEY}:{key.id}"))
        return as_json({"key": text, "id": key.id, "role": key.role, "name": key.name}, 201)

    @routes.delete("/keys/{key}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def revoke(key: Annotated[str, Path(pattern=r"^[0-9a-f]{1,64}$", description="Its id.")]) -> Response:
        """Revoke a key; every process refuses it within a second."""
        if key not in desk.fold.keys:
            raise Problem(404, f"a key must exist to be revoked, but {key!r} does not")
        await desk.append(events.make(events.REVOCATION, {"id": key}))
        return Response(status_code=204)
