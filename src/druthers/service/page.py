"""The page in a browser: its document at the path of each view, its files for ever under their version."""

from fastapi import Request
from starlette.responses import Response

from druthers.service.guards import limit_anybody
from druthers.service.problems import Problem
from druthers.service.routing import Routes
from druthers.web import POLICY, VIEWS, load

FOREVER = "public, max-age=31536000, immutable"


def make_page() -> Routes:
    """Return the routes of the page."""
    routes = Routes(tags=["page"])
    site = load()
    tag = f'"{site.version}"'
    headers = {"content-security-policy": POLICY, "cache-control": "no-cache", "etag": tag}

    async def view(request: Request) -> Response:
        limit_anybody(request)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(site.document, media_type="text/html; charset=utf-8", headers=headers)

    for path in VIEWS:
        routes.get(path, role="public", include_in_schema=False, response_class=Response)(view)

    # Bytes in memory, of which a browser asks for each once: the document that names them is what is counted.
    @routes.get("/assets/{version}/{path:path}", role="public", include_in_schema=False)
    async def asset(version: str, path: str) -> Response:
        if version != site.version or path not in site.files:
            raise Problem(404, "a file of the page must be of this version, but this one is not; load the page again")
        kind, content = site.files[path]
        return Response(content, headers={"content-type": kind, "cache-control": FOREVER})

    return routes
