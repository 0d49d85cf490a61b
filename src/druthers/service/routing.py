"""Routes that say who may use them, where they are declared; one without a role cannot be declared."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from druthers.errors import InvalidSetting, choices
from druthers.service.auth import ROLES, Headers
from druthers.service.guards import Visit
from druthers.service.problems import MEDIA_TYPE, VISIT
from druthers.service.reading import StrictRequest, require_json

ROLE = "x-role"
F = TypeVar("F", bound=Callable[..., Any])

_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Authorization: Bearer druthers_ID_SECRET"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "subscription": {"type": "apiKey", "in": "header", "name": "Ocp-Apim-Subscription-Key"},
}
_PROBLEM = {
    "title": "Problem",
    "description": "What went wrong, as RFC 9457 has it.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"type": "string", "description": "What kind of problem, as a URI; about:blank for a plain status."},
        "title": {"type": "string", "description": "The same in words."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "The law, what arrived, the way out."},
        "instance": {"type": "string", "description": "The request's id, as the log has it."},
        "errors": {
            "type": "array",
            "description": "The mistakes of a body.",
            "items": {
                "type": "object",
                "required": ["where", "why"],
                "properties": {"where": {"type": "string"}, "why": {"type": "string"}},
            },
        },
    },
}


def visit_of(request: Request) -> Visit:
    """Return what the guard knows of a request: its id, and who is calling."""
    visit: Visit = request.scope[VISIT]
    return visit


class Routes:
    """Routes to be attached to an application; each declares its role: "public", "read", "decide" or "admin".

    Parameters
    ----------
    prefix
        Beginning of all paths.
    tags
        Headings under which the description lists them.

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

    def __init__(self, prefix: str = "", tags: Iterable[str] = ()) -> None:
        self.prefix = prefix
        self.tags = list(tags)
        self._declared: list[tuple[str, Callable[..., Any], dict[str, Any]]] = []

    def declare(
        self, method: str, path: str, *, role: str, problems: Iterable[int] = (), **options: Any
    ) -> Callable[[F], F]:
        """Return a decorator that declares a route.

        Parameters
        ----------
        method, path
            What it answers.
        role
            The least role that may use it.
        problems
            Statuses of problems that only the route itself knows of, such as 404 and 409; the others are documented by
            themselves.
        options
            As in `FastAPI.add_api_route`.
        """
        if role not in ROLES:
            raise InvalidSetting(f"a route must have a role, but {method} {path} has {role!r}; {choices(role, ROLES)}")
        extra = {**options.pop("openapi_extra", {}), ROLE: role}
        told = {status: _documented(status) for status in problems}
        options |= {"methods": [method], "openapi_extra": extra, "responses": {**told, **options.get("responses", {})}}
        options.setdefault("tags", self.tags)

        def decorate(function: F) -> F:
            self._declared.append((self.prefix + path, function, options))
            return function

        return decorate

    def get(self, path: str, *, role: str, **options: Any) -> Callable[[F], F]:
        """Declare a route for GET, as `declare` has it."""
        return self.declare("GET", path, role=role, **options)

    def post(self, path: str, *, role: str, **options: Any) -> Callable[[F], F]:
        """Declare a route for POST."""
        return self.declare("POST", path, role=role, **options)

    def put(self, path: str, *, role: str, **options: Any) -> Callable[[F], F]:
        """Declare a route for PUT."""
        return self.declare("PUT", path, role=role, **options)

    def patch(self, path: str, *, role: str, **options: Any) -> Callable[[F], F]:
        """Declare a route for PATCH."""
        return self.declare("PATCH", path, role=role, **options)

    def delete(self, path: str, *, role: str, **options: Any) -> Callable[[F], F]:
        """Declare a route for DELETE."""
        return self.declare("DELETE", path, role=role, **options)

    def attach(self, app: FastAPI) -> None:
        """Add the routes to an application itself: a router inside a router is searched twice for every request."""
        for path, function, options in self._declared:
            app.router.add_api_route(path, function, route_class_override=GuardedRoute, **options)


class GuardedRoute(APIRoute):
    """A route that asks the gate before it reads anything; `Routes` makes them."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        role = (options.get("openapi_extra") or {}).get(ROLE)
        if role not in ROLES:
            raise InvalidSetting(f"a route must have a role, but {path} has {role!r}; {choices(role, ROLES)}")
        self.role: str = role
        super().__init__(path, endpoint, **options)
        self.responses = {**{status: _documented(status) for status in self._problems()}, **self.responses}

    def _problems(self) -> list[int]:
        """Return the statuses that the guard, the gate and the reading of the request may answer with."""
        statuses = [] if self.role == "public" else [401, 403, 429, 503]
        if self.body_field is not None:
            statuses += [400, 413, 415, 422]
        elif self.dependant.path_params or self.dependant.query_params:
            statuses.append(422)
        return sorted(statuses)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with the gate before it: the role first, then the kind of body, then the body."""
        handle = super().get_route_handler()
        has_body = self.body_field is not None

        async def guarded(request: Request) -> Response:
            headers = self._admit(request.scope)
            if has_body:
                require_json(headers)
                request = StrictRequest(request.scope, request.receive)
            return await handle(request)

        return guarded

    def _admit(self, scope: Scope) -> Headers:
        """Ask the gate, and return the headers."""
        visit: Visit = scope[VISIT]
        client = scope.get("client")
        visit.caller = visit.gate.admit(
            visit.headers, self.role, client[0] if client else "", scope.get("http_version", "1.1")
        )
        return visit.headers


def _documented(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}


def describe(app: FastAPI, *, keys_required: bool) -> None:
    """Let an application's OpenAPI document tell its problems and, where keys are required, how to show one."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, keys_required)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI, keys_required: bool) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
        servers=app.servers,
    )
    parts = document.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = _PROBLEM
    if keys_required:
        parts["securitySchemes"] = _SCHEMES
        for path in document["paths"].values():
            for operation in path.values():
                if operation.get(ROLE) != "public":
                    operation["security"] = [{name: []} for name in _SCHEMES]
    return document


def unguarded(app: FastAPI) -> list[str]:
    """Return the paths of an application that no gate guards, which should be none."""
    return [getattr(route, "path", repr(route)) for route in app.routes if not isinstance(route, GuardedRoute)]
