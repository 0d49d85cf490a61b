"""Routes for who runs the service: health, journal, items, people, doubtful readings, settings, keys; and the page."""

import asyncio
import re
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import HTMLResponse, Response

from druthers import web
from druthers.advisor import events
from druthers.errors import StoreFailure
from druthers.service import answers, overview
from druthers.service.auth import key_event, make_key
from druthers.service.desk import Desk
from druthers.service.docs import HOME, POLICY, page
from druthers.service.guards import Json, Routes, limit_anybody
from druthers.service.logs import redact
from druthers.service.metrics import MEDIA_TYPE
from druthers.service.problems import Problem
from druthers.service.schemas import ID, Closed
from druthers.service.settings import ABOUT, Settings


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


FOREVER = "public, max-age=31536000, immutable"
_HERE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]{1,200}")

Position = Annotated[int, Path(ge=1, le=2**53, description="Where the journal has it.")]


def make_operating(desk: Desk, settings: Settings) -> list[Routes]:
    """Return the routes."""
    return [_journal(desk), _operations(desk), _views(desk, settings), _page()]


def _views(desk: Desk, settings: Settings) -> Routes:
    routes = Routes("/v1/operate", tags=["operating"])

    @routes.get("/items", role="admin", response_model=list[dict[str, Any]])
    async def items() -> Response:
        """List the items: share of the latest decisions, reports, means and expectations with 90 % intervals."""
        decided = await asyncio.to_thread(overview.latest, desk.store, events.DECISION)
        return Json(overview.item_rows(desk.fold, decided))

    @routes.get("/users", role="admin", response_model=list[dict[str, Any]])
    async def users(
        contains: Annotated[str, Query(max_length=200, description="A part of the id.")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """List people in memory, the latest heard of first."""
        return Json(overview.people_rows(desk.fold, contains, limit))

    @routes.get("/map", role="admin", response_model=dict[str, Any])
    async def preferences() -> Response:
        """Show where the preferences of the latest people lie, on two axes and in clusters."""
        return Json(overview.preference_map(desk.fold))

    @routes.get("/settings", role="admin", response_model=list[dict[str, Any]])
    async def in_force() -> Response:
        """List the settings in force; passwords stay hidden."""
        changed, told = settings.changed(), []
        for name, about in ABOUT.items():
            value = redact(str(getattr(settings, name)))
            told.append({"name": name, "value": value, "changed": name in changed, "about": about})
        return Json(told)

    _add_readings(routes, desk)
    _add_keys(routes, desk)
    return routes


def _add_readings(routes: Routes, desk: Desk) -> None:
    """Add the routes that list readings, and tell whether they are right."""

    @routes.get("/readings", role="admin", response_model=dict[str, Any])
    async def readings() -> Response:
        """List readings that were unsure, and queries that do not fit what else somebody said."""
        said = await asyncio.to_thread(overview.latest, desk.store, events.QUERY)
        marked = await asyncio.to_thread(overview.latest, desk.store, events.MARK)
        return Json(await asyncio.to_thread(overview.doubtful, desk.fold, said, marked))

    @routes.put("/readings/{position}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def mark(position: Position, body: MarkRequest) -> None:
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

    @routes.delete("/readings/{position}", role="admin", status_code=204, response_class=Response)
    async def unmark(position: Position) -> None:
        """Take a mark back."""
        await desk.append(events.make(events.MARK, {"position": position}))

    @routes.get("/sentences", role="admin", response_model=list[SentenceAnswer])
    async def marked() -> Response:
        """List the readings that were marked, as sentences with their right readings, to evaluate parsers on."""
        return Json(await asyncio.to_thread(overview.sentences, desk.fold, desk.store))


def _add_keys(routes: Routes, desk: Desk) -> None:
    """Add the routes that list, make and revoke keys."""

    @routes.get("/keys", role="admin", response_model=list[dict[str, Any]])
    async def keys() -> Response:
        """List the keys, without the keys themselves."""
        parts = ("id", "role", "name", "created", "revoked")
        return Json([{part: key[part] for part in parts} for key in desk.fold.keys.values()])

    @routes.post("/keys", role="admin", status_code=201, response_model=dict[str, Any])
    async def create(body: KeyRequest) -> Response:
        """Make a key and show it, once: only its hash is kept."""
        text, key = make_key(body.role, body.name)
        await desk.append(key_event(key))
        return Json({"key": text, "id": key.id, "role": key.role, "name": key.name}, 201)

    @routes.delete("/keys/{key}", role="admin", problems=[404], status_code=204, response_class=Response)
    async def revoke(key: Annotated[str, Path(pattern=r"^[0-9a-f]{1,64}$", description="Its id.")]) -> None:
        """Revoke a key; every process refuses it within a second."""
        if key not in desk.fold.keys:
            raise Problem(404, f"a key must exist to be revoked, but {key!r} does not")
        await desk.append(events.make(events.REVOCATION, {"id": key}))


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
        told = [{part: getattr(event, part) for part in answers.EventAnswer.model_fields} for event in page]
        return Json({"events": told, "next": further})

    return routes


def _operations(desk: Desk) -> Routes:
    routes = Routes(tags=["operations"])
    pages: list[str] = []

    @routes.get("/healthz", role="public")
    async def healthz() -> Response:
        """Tell that the process lives."""
        return Json({"status": "alive"})

    @routes.get("/readyz", role="public", problems=[503])
    async def readyz() -> Response:
        """Tell whether requests can be served: the journal is in reach, and a sentence has been read."""
        if desk.failing:
            raise StoreFailure("the journal is out of reach, or its disk is full")
        if not desk.can_read:
            raise Problem(
                503, "a ready service has read a sentence, but this one is still loading", {"Retry-After": "1"}
            )
        return Json({"status": "ready", "position": desk.fold.position})

    @routes.get("/metrics", role="read", response_class=Response)
    async def metrics() -> Response:
        """Tell Prometheus."""
        return Response(desk.metrics.render(), headers={"Content-Type": MEDIA_TYPE})

    @routes.get("/openapi.json", role="public", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        limit_anybody(request)
        return Json(request.app.openapi())

    @routes.get("/docs", role="public", include_in_schema=False)
    async def docs(request: Request) -> Response:
        limit_anybody(request)
        if not pages:
            pages.append(page(request.app.openapi()))
        here = str(request.base_url).rstrip("/")
        shown = pages[0].replace(HOME, here) if _HERE.fullmatch(here) else pages[0]
        return HTMLResponse(shown, headers={"content-security-policy": POLICY})

    return routes


def _page() -> Routes:
    """Return the page in a browser: its document at the path of each view, its files for ever under their version."""
    routes = Routes(tags=["page"])
    site = web.load()
    tag = f'"{site.version}"'
    headers = {"content-security-policy": web.POLICY, "cache-control": "no-cache", "etag": tag}

    async def view(request: Request) -> Response:
        limit_anybody(request)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(site.document, media_type="text/html; charset=utf-8", headers=headers)

    for path in web.VIEWS:
        routes.get(path, role="public", include_in_schema=False, response_class=Response)(view)

    # Bytes in memory, of which a browser asks for each once: the document that names them is what is counted.
    @routes.get("/assets/{version}/{path:path}", role="public", include_in_schema=False)
    async def asset(version: str, path: str) -> Response:
        if version != site.version or path not in site.files:
            raise Problem(404, "a file of the page must be of this version, but this one is not; load the page again")
        kind, content = site.files[path]
        return Response(content, headers={"content-type": kind, "cache-control": FOREVER})

    return routes
