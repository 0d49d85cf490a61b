"""Routes that say who may use them, where they are declared; one without a role cannot be declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from fastapi import FastAPI

from druthers.errors import InvalidSetting, choices
from druthers.service.auth import ROLES
from druthers.service.guards import ROLE, GuardedRoute, documented

F = TypeVar("F", bound=Callable[..., Any])


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
        told = {status: documented(status) for status in problems}
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


def unguarded(app: FastAPI) -> list[str]:
    """Return the paths of an application that no gate guards, which should be none."""
    return [getattr(route, "path", repr(route)) for route in app.routes if not isinstance(route, GuardedRoute)]


def takes(body: Any) -> Callable[[F], F]:
    """Give an endpoint's body its type, which is known only when the service starts."""

    def decorate(function: F) -> F:
        function.__annotations__["body"] = body
        return function

    return decorate
