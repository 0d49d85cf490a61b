"""Routes that say who may use them, where they are declared; one without a role cannot be declared."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI

from druthers.service.guards import ROLE, GuardedRoute, documented

F = TypeVar("F", bound=Callable[..., Any])


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
