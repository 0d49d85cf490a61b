"""How every request comes in and its answer goes out.

The guard is around all of them: an id, a limit to size, time, a line in the log, headers that browsers heed. A guarded
route asks the gate who is calling before it reads anything, and reads by the letter of JSON. It says who may use it
where it is declared; one without a role cannot be declared.
"""

import json
import logging
import math
import os
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic_core import from_json, to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from druthers.errors import InvalidSetting, choices
from druthers.service.auth import ANYBODY, ROLES, Caller, Gate, Headers
from druthers.service.logs import NAME, log_request
from druthers.service.metrics import METHODS, Metrics
from druthers.service.problems import MEDIA_TYPE, MORE, VISIT, Problem, cut, problem_response

ROLE = "x-role"
NOWHERE = "none"  # the route of a request that no route matches

_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# Pages and files that may be kept say so themselves.
_UNLESS_SAID = (
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)

# Numbers that may turn out infinite when they are read.
_HUGE = re.compile(rb"[0-9.][eE]\+?[0-9]{3}|[0-9]{300}")

F = TypeVar("F", bound=Callable[..., Any])

_log = logging.getLogger(NAME)


class Visit:
    """What the guard knows of a request: the request's scope holds it."""

    __slots__ = ("caller", "gate", "headers", "id", "status")

    def __init__(self, headers: Headers, gate: Gate) -> None:
        given = headers.get(b"x-request-id")
        sane = given is not None and _SANE_ID.fullmatch(given)
        self.id = sane[0].decode() if sane else os.urandom(8).hex()  # the caller's, if it is a sane one
        self.headers = headers  # by name, in lower case; of a repeated one the last
        self.gate = gate  # who decides about callers
        self.caller: Caller = ANYBODY  # who is calling, as soon as it is known
        self.status = 0  # of the answer; 0 as long as there is none


def visit_of(request: Request) -> Visit:
    """Return what the guard knows of a request: its id, and who is calling."""
    visit: Visit = request.scope[VISIT]
    return visit


def limit_anybody(request: Request) -> None:
    """Count a request of anybody for the address that it comes from; probes are not counted."""
    visit_of(request).gate.limit(request.client.host if request.client else "")


class Ending(NamedTuple):
    """How requests of a method to a route end with a status: where their time goes, and what the log tells of them."""

    observe: Callable[[float], None]
    level: int
    told: str


class Guard:
    """The one middleware of the service, in plain ASGI.

    Of a body that is larger than it may be nothing more is read.
    """

    def __init__(self, app: ASGIApp, *, gate: Gate, metrics: Metrics, max_body_bytes: int) -> None:
        self.app = app
        self.gate = gate
        self.metrics = metrics
        self.max_body_bytes = max_body_bytes
        self._endings: dict[tuple[str, str, int], Ending] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = perf_counter()
        # White space behind a value is no part of it (RFC 9110, 5.5), but httptools leaves it there.
        headers = {name: value.rstrip(b" \t") for name, value in scope["headers"]}
        scope[VISIT] = visit = Visit(headers, self.gate)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                visit.status, given = message["status"], message.get("headers", ())
                said = dict(given)
                unsaid = [header for header in _UNLESS_SAID if header[0] not in said]
                message["headers"] = [*given, (b"x-request-id", visit.id.encode()), *_ALWAYS, *unsaid]
            await send(message)

        try:
            length = visit.headers.get(b"content-length")
            if length is None:
                await self.app(scope, self._counted(receive), answer)
            elif len(length) > 18 or int(length) > self.max_body_bytes:
                await self._tell(self._too_large(), visit.id, scope, receive, answer)
            else:
                await self.app(scope, receive, answer)
        except ClientDisconnect:
            pass  # nobody is there any more to be answered
        except Exception as error:
            _log.error("unexpected: %s", type(error).__name__, exc_info=error, extra={"request": visit.id})
            if visit.status:  # too late to say anything: the server breaks the connection off
                raise
            detail = "the service must not fail, but it did; the log tells more under this request's id"
            await self._tell(Problem(500, detail), visit.id, scope, receive, answer)
        finally:
            self._note(scope, visit, perf_counter() - started)

    @staticmethod
    async def _tell(problem: Problem, id: str, scope: Scope, receive: Receive, send: Send) -> None:
        response = problem_response(
            problem.status_code, problem.detail, id, headers=problem.headers, path=scope["path"]
        )
        await response(scope, receive, send)

    def _too_large(self) -> Problem:
        detail = f"a body may have {self.max_body_bytes} bytes, but this one has more; send less at a time"
        return Problem(413, detail, {"Connection": "close"})

    def _counted(self, receive: Receive) -> Receive:
        """Return a receive for a body of unknown length that stops where the body gets too long."""
        left = self.max_body_bytes

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise self._too_large()
            return message

        return counted

    def _note(self, scope: Scope, visit: Visit, seconds: float) -> None:
        route = scope.get("route")
        method = scope["method"]
        template = NOWHERE if route is None else route.path_format
        status = visit.status or 499  # as others number it: the caller has left
        place = (method if method in METHODS else "OTHER", template, status)
        known = self._endings.get(place)
        if known is None:
            level = logging.INFO if status < 500 else logging.ERROR
            told = f'"method":"{place[0]}","route":{json.dumps(template)},"status":{status}'
            self._endings[place] = known = Ending(self.metrics.timer(*place), level, told)
        known.observe(seconds)
        if _log.isEnabledFor(known.level):
            key = "null" if visit.caller.key is None else f'"{visit.caller.key}"'
            fields = f'{{"request":"{visit.id}",{known.told},"ms":{seconds * 1e3:.3f},"key":{key}}}'
            log_request(known.level, fields)


class GuardedRoute(APIRoute):
    """A route that asks the gate before it reads anything; `Routes` makes them."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        role = (options.get("openapi_extra") or {}).get(ROLE)
        if role not in ROLES:
            raise InvalidSetting(f"a route must have a role, but {path} has {role!r}; {choices(role, ROLES)}")
        self.role: str = role
        super().__init__(path, endpoint, **options)
        self.responses = {**{status: documented(status) for status in self._problems()}, **self.responses}

    def _problems(self) -> list[int]:
        """Return the statuses that the guard, the gate and the reading of the request may answer with."""
        statuses = [] if self.role == "public" else [401, 403, 429, 503]
        if self.body_field is not None:
            statuses += [400, 413, 415, 422]
        elif self.role != "public" or self.dependant.path_params or self.dependant.query_params:
            statuses.append(422)
        return sorted(statuses)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with the gate before it: the role first, then the kind of body, then the body."""
        handle = super().get_route_handler()
        has_body = self.body_field is not None
        known = [one.alias for one in self.dependant.query_params]
        # What anybody may ask for, and what others have laid down, may come with parameters of others.
        strict = self.role != "public" and not self.path.startswith("/personalizer/")

        async def guarded(request: Request) -> Response:
            scope = request.scope
            visit, (host, _) = visit_of(request), scope.get("client") or ("", 0)
            visit.caller = visit.gate.admit(visit.headers, self.role, host, scope.get("http_version", "1.1"))
            if strict and scope["query_string"]:
                require_known(request.query_params, known)
            if has_body:
                require_json(visit.headers)
                request = StrictRequest(scope, request.receive)
            return await handle(request)

        return guarded


def documented(status: int) -> dict[str, Any]:
    """Return how a route's description tells that it may answer with this status."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}


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


class StrictRequest(Request):
    """A request whose JSON is read by the letter: no NaN, no infinite number, no half characters, not too deep."""

    async def json(self) -> Any:
        """Return the body, or say why it is no JSON."""
        body = await self.body()
        try:
            content = from_json(body, allow_inf_nan=False)
        except ValueError as error:
            raise Problem(400, f"a body must be JSON in UTF-8, but this one is not: {error}") from None
        if _HUGE.search(body) and not _is_finite(content):
            raise Problem(400, "a number must be finite, but the body holds one that is not")
        return content


def require_known(given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a parameter in an address that would say nothing there."""
    unknown = [name for name in given if name not in known]
    if unknown:
        remedy = choices(unknown[0], known) if known else "leave it out: there are none"
        law = "a parameter must be one that is known at this address"
        raise Problem(422, cut(f"{law}, but got {cut(unknown[0], 90)!r}; {remedy}", MORE))


def require_json(headers: Headers) -> None:
    """Refuse a body that does not say that it is plain JSON."""
    kind = headers.get(b"content-type")
    if kind != b"application/json" and (kind is not None or headers.get(b"content-length", b"0") != b"0"):
        name = (kind or b"").partition(b";")[0].strip().lower()
        if name != b"application/json" and not (name.startswith(b"application/") and name.endswith(b"+json")):
            raise Problem(415, "a body must come as application/json, but Content-Type says something else or nothing")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Problem(415, "a body must come as it is, but Content-Encoding says that it is packed")


def _is_finite(content: Any) -> bool:
    if isinstance(content, dict):
        return all(map(_is_finite, content.values()))
    if isinstance(content, list):
        return all(map(_is_finite, content))
    return not isinstance(content, float) or math.isfinite(content)


class Routes:
    """Routes to be attached to an application; each declares its role: "public", "read", "decide" or "admin".

    Examples
    --------
    >>> routes = Routes("/v1", tags=["users"])
    >>> @routes.get("/users/{user}", role="read", problems=[404])
    ... async def show(user: str) -> dict[str, str]:
    ...     return {"user": user}
    >>> app = FastAPI()
    >>> routes.attach(app)
    >>> app.routes[-1].path, app.routes[-1].role
    ('/v1/users/{user}', 'read')
    """

    get: Callable[..., Callable[[F], F]]
    post: Callable[..., Callable[[F], F]]
    put: Callable[..., Callable[[F], F]]
    patch: Callable[..., Callable[[F], F]]
    delete: Callable[..., Callable[[F], F]]

    def __init__(self, prefix: str = "", tags: Iterable[str] = ()) -> None:
        self._router = APIRouter(prefix=prefix, tags=list(tags), route_class=GuardedRoute)
        for method in ("get", "post", "put", "patch", "delete"):
            setattr(self, method, partial(self.declare, method.upper()))

    def declare(
        self, method: str, path: str, *, role: str, problems: Iterable[int] = (), **options: Any
    ) -> Callable[[F], F]:
        """Return a decorator that declares a route.

        Problems are those that only the route itself knows of, such as 404 and 409; the others are documented by
        themselves. Options are those of FastAPI.
        """
        told = {status: documented(status) for status in problems} | options.pop("responses", {})
        return self._router.api_route(path, methods=[method], openapi_extra={ROLE: role}, responses=told, **options)

    def attach(self, app: FastAPI) -> None:
        """Add the routes to an application itself: a router inside a router is searched twice for every request."""
        app.router.routes += self._router.routes


def unguarded(app: FastAPI) -> list[str]:
    """Return the paths of an application that no gate guards, which should be none."""
    return [getattr(route, "path", repr(route)) for route in app.routes if not isinstance(route, GuardedRoute)]


def takes(body: Any) -> Callable[[F], F]:
    """Give an endpoint's body its type, which is known only when the service starts."""

    def decorate(function: F) -> F:
        function.__annotations__["body"] = body
        return function

    return decorate


def link(operation: str, about: str, **parts: str) -> dict[str, Any]:
    """Return how a route's description tells which operation takes parts of its answer, each by name."""
    parameters = {part: f"$response.body#/{place}" for part, place in parts.items()}
    return {"operationId": operation, "parameters": parameters, "description": about}
