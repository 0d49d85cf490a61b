"""The description of the service: its OpenAPI document, and a page of it that needs no script and no other host."""

import base64
import hashlib
import json
import shlex
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from druthers.service.guards import ROLE
from druthers.service.shapes import EXAMPLES, Row, Shapes

TEMPLATE = Path(__file__).with_name("docs.html").read_text("utf-8")
STYLE = Path(__file__).with_name("docs.css").read_text("utf-8")
# Of all that a browser could load or run, only this very style.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HOME = "http://localhost:8000"  # stands for the service in examples, to be replaced
ROLES = {
    "public": "Anybody.",
    "read": "A key that may look.",
    "decide": "A key that may also hear users, recommend to them, and take feedback.",
    "admin": "A key that may also change the catalog, read the journal and erase people.",
}

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


def page(document: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as a page that needs nothing else."""
    shapes = Shapes(document)
    keys = "securitySchemes" in document.get("components", {})
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            told = _operation(shapes, method, path, operation, keys=keys)
            groups.setdefault((operation.get("tags") or ["other"])[0], []).append(told)
    html = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    return html.from_string(TEMPLATE).render(
        info=document["info"],
        style=Markup(STYLE),
        keys=keys,
        roles=ROLES,
        groups=groups,
        problem=list(shapes.rows(shapes.known["Problem"])),
    )


def _operation(shapes: Shapes, method: str, path: str, operation: Mapping[str, Any], *, keys: bool) -> dict[str, Any]:
    """Return what the page tells of an operation."""
    role = operation[ROLE]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    statuses = operation["responses"]
    problems = sorted(status for status in statuses if int(status) >= 400)
    return {
        "method": method,
        "path": path,
        "role": role,
        "about": operation.get("description") or operation["summary"],
        "parameters": [
            Row(one["name"], shapes.words(one["schema"]), one.get("required", False), _about(one))
            for one in operation.get("parameters", ())
        ],
        "body": None if body is None else list(shapes.rows(body)),
        "curl": _curl(shapes, method, path, body, key=keys and role != "public"),
        "answers": [_answer(shapes, status, answer) for status, answer in statuses.items() if int(status) < 400],
        "problems": ", ".join(f"{status} {HTTPStatus(int(status)).phrase}" for status in problems),
    }


def _answer(shapes: Shapes, status: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    about = shapes.resolve(schema).get("description") or (shapes.words(schema) if schema else "")
    phrase = HTTPStatus(int(status)).phrase
    return {"status": status, "phrase": phrase, "about": about, "rows": list(shapes.rows(schema))}


def _curl(shapes: Shapes, method: str, path: str, body: Mapping[str, Any] | None, *, key: bool) -> str:
    """Return a line for a terminal; only what the shell must see is not quoted."""
    for name in EXAMPLES:
        path = path.replace(f"{{{name}}}", str(EXAMPLES[name]))
    verb = "" if method in ("get", "post") and (method == "get" or body is not None) else f" -X {method.upper()}"
    parts = [f"curl{verb} {shlex.quote(HOME + path)}"]
    if key:
        parts.append('-H "Authorization: Bearer $KEY"')
    if body is not None:
        parts.append(f"--json {shlex.quote(json.dumps(shapes.example(body), ensure_ascii=False))}")
    return " \\\n  ".join(parts)


def _about(parameter: Mapping[str, Any]) -> str:
    return parameter.get("description") or parameter["schema"].get("description") or ""
