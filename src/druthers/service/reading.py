"""How requests are read: bodies by the letter of JSON, in little time."""

from __future__ import annotations

import math
import re
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request

from druthers.service.auth import Headers
from druthers.service.problems import Problem

# Numbers that may turn out infinite when they are read.
_HUGE = re.compile(rb"[0-9.][eE]\+?[0-9]{3}|[0-9]{300}")


class StrictRequest(Request):
    """A request whose JSON is read by the letter."""

    async def json(self) -> Any:
        """Return the body, or say why it is no JSON."""
        return as_content(await self.body())


def as_content(body: bytes) -> Any:
    """Return what a body says in JSON: no NaN, no infinite number, no half characters, not too deep."""
    try:
        content = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Problem(400, f"a body must be JSON in UTF-8, but this one is not: {error}") from None
    if _HUGE.search(body) and not _is_finite(content):
        raise Problem(400, "a number must be finite, but the body holds one that is not")
    return content


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
