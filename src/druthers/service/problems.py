"""Errors as the service tells them: problem+json (RFC 9457), one table from our errors to HTTP statuses."""

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from druthers import errors
from druthers.errors import DruthersError, ReadingFailure
from druthers.service.logs import NAME
from druthers.service.schemas import ID

MEDIA_TYPE = "application/problem+json"
VISIT = "druthers"  # where a request's scope holds what the guard knows of it
LONGEST = 200  # characters of what arrived that are ever sent back
MORE = 500  # characters of which names are known instead
LONGEST_DETAIL = 1000  # characters of the sentence that tells a problem
GIVEN_AS = {"limits": "where", "wished": "ranking"}  # what answers tell under one name, and bodies give under another
MOST = 20  # mistakes of a body that are told

# A class that is not listed has the status of its nearest parent.
STATUSES: dict[type[DruthersError], int] = {
    DruthersError: 500,
    errors.InvalidSetting: 422,
    errors.InvalidRanking: 422,
    errors.InvalidFeedback: 422,
    errors.InvalidOffer: 422,
    errors.NothingFits: 409,
    errors.InvalidExperiment: 422,
    errors.InvalidCatalog: 422,
    errors.InvalidLog: 422,
    errors.InvalidEvent: 422,
    errors.DamagedEvent: 500,
    errors.NoSupport: 422,
    errors.UnknownName: 404,
    errors.UnknownUser: 404,
    errors.UnknownArm: 404,
    errors.UnknownDecision: 404,
    errors.Contradiction: 409,
    errors.StoreFailure: 503,
    errors.ReadingFailure: 503,
    errors.MissingExtra: 501,
    errors.NoPreference: 501,
}

_log = logging.getLogger(NAME)


class Problem(HTTPException):
    """Something that a caller is told in so many words, with its status and the headers that go with it."""


def problem_response(
    status: int,
    detail: str,
    request_id: str,
    *,
    kind: str = "",
    mistakes: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    path: str = "",
) -> Response:
    """Return a problem as a response; below /personalizer/ it also says `error`, as clients of Personalizer read it.

    Examples
    --------
    >>> body = json.loads(problem_response(404, "user 7 was never seen", "a1", kind="UnknownUser").body)
    >>> body["type"], body["title"], body["status"]
    ('urn:druthers:unknown-user', 'Unknown user', 404)
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()
    content: dict[str, Any] = {
        "type": f"urn:druthers:{words.replace(' ', '-')}" if kind else "about:blank",
        "title": words.capitalize() if kind else HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": request_id,
    }
    if mistakes:
        content["errors"] = list(mistakes)
    if path.startswith("/personalizer/"):
        code = "InternalServerError" if status >= 500 else "ResourceNotFound" if status == 404 else "BadRequest"
        details = [{"code": code, "message": one["why"], "target": one["where"]} for one in mistakes]
        content["error"] = {"code": code, "message": detail, **({"details": details} if details else {})}
    body = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return Response(body, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def cut(text: str, longest: int = LONGEST) -> str:
    """Return a text, or its beginning.

    Examples
    --------
    >>> cut("cheap and clean", 8)
    'cheap...'
    """
    return text if len(text) <= longest else text[: longest - 3] + "..."


def where(place: Iterable[object]) -> str:
    """Return a place in a request as people write it.

    Examples
    --------
    >>> where(("body", "offer", 3, "id"))
    'body.offer[3].id'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return cut(text.removeprefix("."))


def why(mistake: Mapping[str, Any], body: Any = None) -> str:
    """Return what is wrong at a place: the law, and what arrived; of a name that is not known, those that are.

    The mistake is as pydantic tells it, the body the type of the whole body.
    """
    law, kind = str(mistake["msg"]), mistake["type"]
    if kind in ("value_error", "json_invalid"):
        return cut(law.removeprefix("Value error, "))
    if kind == "missing":
        return "this must be given"
    if kind == "extra_forbidden" and (known := names_at(body, mistake["loc"][1:-1])):
        name = mistake["loc"][-1]
        if (given_as := GIVEN_AS.get(name)) in known:
            return f"this is no field here; what an answer tells as {name!r} is given as {given_as!r}"
        return cut(f"this is no field here; {errors.choices(name, known)}", MORE)
    if mistake.get("ctx", {}).get("pattern") == ID:
        law = "an id must be letters, figures and ._:@+~=-, a letter or figure first, 1 to 200 of them"
    got = mistake.get("input")
    shown = json.dumps(cut(got, 80) if isinstance(got, str) else got, default=repr, ensure_ascii=False)
    return cut(f"{law}, but got {cut(shown, 90)}")


def told_mistakes(found: Sequence[Mapping[str, Any]], body: Any) -> list[dict[str, str]]:
    """Return the first mistakes of a body, each with its place and what is wrong there."""
    return [{"where": where(mistake["loc"]), "why": why(mistake, body)} for mistake in found[:MOST]]


def malformed_entry(place: int, found: Sequence[Mapping[str, Any]], body: Any) -> Problem:
    """Return what is told of the entry at a place of a batch that is not as described."""
    placed = [{**mistake, "loc": ("body", "entries", place, *mistake["loc"])} for mistake in found]
    told = "; ".join(f"{one['where']}: {one['why']}" for one in told_mistakes(placed, body))
    return Problem(422, cut(f"an entry must follow the description at /openapi.json, but {told}", LONGEST_DETAIL))


def names_at(kind: Any, place: Iterable[object]) -> list[str]:
    """Return the fields of the object at a place of a body, whatever is around its type: none if there is no such.

    Examples
    --------
    >>> from pydantic import Field, create_model
    >>> point = create_model("Point", across=(float, Field(alias="x")))
    >>> line = create_model("Line", points=(list[point] | None, None))
    >>> names_at(line, ("points", 1)), names_at(line, ("color",))
    (['x'], [])
    """
    kinds = _models(kind)
    for part in place:
        if not isinstance(part, int):  # the types in a list are found as those of the list
            fields = (field for one in kinds for name, field in one.model_fields.items() if part in (name, field.alias))
            kinds = [model for field in fields for model in _models(field.annotation)]
    return [field.alias or name for one in kinds for name, field in one.model_fields.items()]


def _models(kind: Any) -> list[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [model for part in get_args(kind) for model in _models(part)]


def install(app: FastAPI) -> None:
    """Let an application tell all its errors as problems; what nobody expected is left to the guard."""
    app.add_exception_handler(DruthersError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)


def _told(request: Request, status: int, detail: str, **more: Any) -> Response:
    """Return a problem as the answer to a request."""
    id, path = request.scope[VISIT].id, request.scope["path"]
    return problem_response(status, cut(detail, LONGEST_DETAIL), id, path=path, **more)


def status_of(error: DruthersError) -> int:
    """Return the HTTP status of one of our errors."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


async def _on_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, DruthersError)
    status, kind = status_of(error), type(error).__name__
    if status == 503:
        # The message of a store may name hosts and files: it stays here.
        _log.warning("%s: %s", kind, error, extra={"request": request.scope[VISIT].id})
        detail = str(error) if isinstance(error, ReadingFailure) else out_of_reach(error)
        return _told(request, status, detail, kind=kind, headers={"Retry-After": "1"})
    if status == 500:
        raise error
    mistakes = [{"where": "body", "why": cut(line)} for line in getattr(error, "problems", ())[:MOST]]
    first = str(error).partition("\n")[0] if mistakes else str(error)
    return _told(request, status, first, kind=kind, mistakes=mistakes)


def out_of_reach(error: DruthersError) -> str:
    """Return what a caller is told when the journal failed: only what is known of the outcome, and no place."""
    if isinstance(error, errors.OtherJournal):
        return (
            "the journal must be the one that this service has read, but an older or another one is in its place;"
            " nothing was changed; whoever runs the service brings the right one back, or starts it again"
        )
    law = "the journal must be reachable, but is not now; "
    if isinstance(error, errors.UnknownOutcome):
        return law + (
            "what this request was to write may be there, in whole or in part: repeat it in a moment, with the same id"
            " if it has one, which then counts once"
        )
    return law + "nothing was changed; try again in a moment"


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    body = getattr(request.scope.get("route"), "body_field", None)
    kind = None if body is None else body.field_info.annotation
    mistakes = told_mistakes(found, kind)
    count = "1 mistake" if len(found) == 1 else f"{len(found)} mistakes"
    told = f", the first {MOST} of which are told" if len(found) > MOST else ""
    detail = f"a request must follow the description at /openapi.json, but this one has {count}{told}"
    return _told(request, 422, detail, kind="InvalidRequest", mistakes=mistakes)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail, headers = str(error.detail), error.headers
    if not isinstance(error, Problem):
        if error.status_code == 404:
            detail = "a path must be one of those at /openapi.json, but nothing is at this one"
        elif error.status_code == 405:  # each route knows only its own methods
            there = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
            allowed = sorted(set().union(*(getattr(route, "methods", None) or () for route in there)))
            headers = {"Allow": ", ".join(allowed)}
            detail = f"this path takes {' or '.join(allowed)}, but got {cut(request.method, 20)}"
    return _told(request, error.status_code, detail, headers=headers)
