"""What the guard and the gate of the service cost: microseconds of the processor per request, beside an empty route.

The applications are called as a server calls them, in turns, and the least of many rounds counts.
"""

from __future__ import annotations

import argparse
import asyncio
import logging.config
import tempfile
import time
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from druthers.service import problems
from druthers.service.auth import Gate, Limiter, make_key
from druthers.service.guards import Guard, Routes
from druthers.service.logs import log_config
from druthers.service.metrics import Metrics

TEXT, KEY = make_key("decide")
BODY = b'{"text":"cheap and clean, quiet if possible","size":3}'
HEADERS = [
    (b"host", b"127.0.0.1:8000"),
    (b"user-agent", b"benchmark"),
    (b"accept", b"*/*"),
    (b"connection", b"keep-alive"),
    (b"authorization", b"Bearer " + TEXT.encode()),
]


class Query(BaseModel):
    """A body as a query has it."""

    text: str
    size: int = 1


async def show(user: str) -> dict[str, str]:
    """Answer a GET."""
    return {"user": user}


async def hear(user: str, query: Query) -> dict[str, str]:
    """Answer a POST."""
    return {"user": user}


def application(*, guarded: bool, gated: bool) -> FastAPI:
    """Return the two routes, bare, behind the guard, or behind the guard and the gate."""
    app = FastAPI(openapi_url=None)
    if guarded:
        gate = Gate(lambda: {KEY.id: KEY}, required=True, limiter=Limiter(1e9, 10**9))
        app.add_middleware(Guard, gate=gate, metrics=Metrics(), max_body_bytes=65_536)
        problems.install(app)
    if gated:
        routes = Routes()
        routes.get("/users/{user}", role="read")(show)
        routes.post("/users/{user}", role="decide")(hear)
        routes.attach(app)
    else:
        app.get("/users/{user}")(show)
        app.post("/users/{user}")(hear)
    return app


async def measure(app: FastAPI, method: str, rounds: int) -> float:
    """Return the microseconds of a request."""
    body = BODY if method == "POST" else b""
    headers = [*HEADERS, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    scope = {"type": "http", "http_version": "1.1", "method": method, "path": "/users/ada", "raw_path": b"/users/ada"}
    scope |= {"query_string": b"", "client": ("127.0.0.1", 4000), "server": ("127.0.0.1", 8000), "scheme": "http"}
    scope |= {"headers": headers if body else HEADERS, "root_path": "", "asgi": {"version": "3.0"}}
    statuses = set()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        statuses.add(message.get("status", 200))

    started = time.thread_time()
    for _ in range(rounds):
        await app(dict(scope), receive, send)
    spent = time.thread_time() - started
    if statuses != {200}:
        raise RuntimeError(f"all requests must be answered with 200, but got {statuses}")
    return 1e6 * spent / rounds


async def compare(repeats: int, rounds: int) -> None:
    """Print the table."""
    apps = {
        "empty route": application(guarded=False, gated=False),
        "with the guard": application(guarded=True, gated=False),
        "with guard and gate": application(guarded=True, gated=True),
    }
    print(f"{'':22}{'GET':>8}{'':8}{'POST':>8}   µs of the processor")
    least = dict.fromkeys([(name, method) for name in apps for method in ("GET", "POST")], float("inf"))
    for _ in range(repeats):
        for name, method in least:
            least[name, method] = min(least[name, method], await measure(apps[name], method, rounds))
    for name in apps:
        cells = ""
        for method in ("GET", "POST"):
            extra = least[name, method] - least["empty route", method]
            cells += f"{least[name, method]:8.1f}" + (f"{extra:+8.1f}" if name != "empty route" else " " * 8)
        print(f"{name:22}{cells}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200, help="rounds of which the least counts")
    parser.add_argument("--rounds", type=int, default=25, help="requests of a round")
    options = parser.parse_args()
    with tempfile.TemporaryFile("w") as lines:
        config = log_config("info")
        config["handlers"]["lines"]["stream"] = lines
        logging.config.dictConfig(config)
        asyncio.run(compare(options.repeats, options.rounds))
