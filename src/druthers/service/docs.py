"""The description of the service: its OpenAPI document, and a page of it that needs no script and no other host."""

import base64
import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import FastAPI
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from druthers.service.guards import ROLE
from druthers.service.schemas import ID

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
Schema = Mapping[str, Any]

DEEPEST = 4
# What stands for a field in examples, by its name; others get the smallest value that their law allows.
EXAMPLES: dict[str, Any] = {
    "text": "cheap and clean, quiet if possible",
    "size": 3,
    "utility": 0.9,
    "user": "ada",
    "decision": "visit-1",
    "item": "old-mill",
    "key": "0123456789ab",
    "position": 64,
    "report": "synthetic-3x500",
    "experiment": "synthetic",
    "name": "The Old Mill",
    "description": "By the river, with a garden.",
    "value": 1,
    "eventId": "rank-1",
    "actions": [{"id": "old-mill"}, {"id": "new-mill"}],
    "contextFeatures": [{"user": "ada"}, {"text": "cheap and clean"}],
    "features": [],
}
# Fields that an example shows though they may be left out.
TELLING = ("text", "size", "utility", "rewards", "values", "weights", "name", "eventId", "contextFeatures")


class Row(NamedTuple):
    """A field: its path, its kind in words, whether it must be there, and what it is."""

    name: str
    kind: str
    required: bool
    about: str


class Shapes:
    """Reads the schemas of an OpenAPI document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.known: Mapping[str, Schema] = document.get("components", {}).get("schemas", {})

    def resolve(self, schema: Schema) -> Schema:
        """Return what a reference leads to, and of a choice with null the other one."""
        while True:
            if "$ref" in schema:
                schema = self.known[schema["$ref"].rpartition("/")[2]]
            elif parts := [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]:
                if "properties" in schema or len(parts) > 1:
                    return schema
                schema = {**parts[0], **{key: schema[key] for key in ("description", "default") if key in schema}}
            else:
                return schema

    def words(self, schema: Schema) -> str:
        """Return the kind of a value.

        Examples
        --------
        >>> shapes = Shapes({})
        >>> shapes.words({"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 3})
        'list of text, up to 9 characters; up to 3'
        >>> shapes.words({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]})
        'number, 0 to 1, or null'
        """
        null = any(part.get("type") == "null" for part in schema.get("anyOf", ()))
        return self._words(self.resolve(schema)) + (", or null" if null else "")

    def _words(self, schema: Schema) -> str:
        if "enum" in schema:
            return f"one of {', '.join(map(str, schema['enum']))}"
        kind = schema.get("type")
        if kind == "array":
            items = self.words(schema.get("items", {})).removeprefix("one of ")
            plural = "s" if items in ("id", "object", "text", "number") else ""
            return f"list of {items}{plural}" + _span(schema, "Items", "; ", "")
        if kind is None and "anyOf" in schema:
            return " or ".join(dict.fromkeys(map(self.words, schema["anyOf"])))
        if schema.get("pattern") == ID:
            return "id"
        if kind == "string":
            return "text" + _span(schema, "Length", ", ", " characters")
        if kind in ("integer", "number"):
            word = "whole number" if kind == "integer" else "number"
            low, high = schema.get("minimum"), schema.get("maximum")
            if low is not None and high is not None:
                return f"{word}, {low:g} to {high:g}"
            return word if low is None else f"{word}, {low:g} or more"
        if kind == "object":
            more = schema.get("additionalProperties")
            return f"table of {self.words(more)}" if isinstance(more, Mapping) and more else "object"
        return {"boolean": "true or false", "null": "null"}.get(str(kind), "anything")

    def rows(self, schema: Schema, prefix: str = "", depth: int = 0) -> Iterator[Row]:
        """Yield the fields of an object, those of objects in it with their path before them."""
        found = self.resolve(schema)
        if found.get("type") == "array" and not prefix:
            yield from self.rows(found.get("items", {}), "[].", depth + 1)
            return
        required = found.get("required", ())
        for name, part in found.get("properties", {}).items():
            inner = self.resolve(part)
            about = part.get("description") or inner.get("description") or ""
            yield Row(prefix + name, self.words(part), name in required, about)
            path = f"{prefix}{name}."
            if inner.get("type") == "array":
                path, inner = f"{prefix}{name}[].", self.resolve(inner.get("items", {}))
            if depth < DEEPEST and "properties" in inner:
                yield from self.rows(inner, path, depth + 1)

    def example(self, schema: Schema, name: str = "") -> Any:
        """Return a value that a schema allows: what must be there, and what is worth showing."""
        found = self.resolve(schema)
        if "properties" in found:
            parts: Mapping[str, Schema] = found["properties"]
            must = found.get("required", ())
            shown = [part for part in parts if part in must or part in TELLING or "examples" in parts[part]]
            if not shown and name in ("values", "rewards", "weights"):
                shown = list(parts)[:1]
            return {part: self.example(parts[part], part) for part in shown}
        if name in EXAMPLES or "examples" in schema:
            return schema["examples"][0] if "examples" in schema else EXAMPLES[name]
        if found.get("enum"):
            return found["enum"][0]
        if found.get("type") == "array":
            one = self.resolve(found.get("items", {}))
            return one["enum"][:2] if "enum" in one else [self.example(one)]
        if found.get("type") in ("integer", "number"):
            return found.get("default", found.get("maximum", found.get("minimum", 1)))
        return {"boolean": False, "object": {}}.get(str(found.get("type")), "old-mill")


def _span(schema: Schema, what: str, before: str, after: str) -> str:
    least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}")
    if most is None:
        return ""
    return f"{before}{least} to {most}{after}" if least > 1 else f"{before}up to {most}{after}"


def describe(app: FastAPI, *, keys_required: bool) -> None:
    """Let an application's OpenAPI document tell its problems and, where keys are required, how to show one."""
    app.openapi = cache(partial(_document, app, keys_required))  # type: ignore[method-assign]


def _document(app: FastAPI, keys_required: bool) -> dict[str, Any]:
    document = FastAPI.openapi(app)
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
            Row(
                one["name"],
                shapes.words(one["schema"]),
                one.get("required", False),
                one.get("description") or one["schema"].get("description") or "",
            )
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
    for name, value in EXAMPLES.items():
        path = path.replace(f"{{{name}}}", str(value))
    verb = "" if method in ("get", "post") and (method == "get" or body is not None) else f" -X {method.upper()}"
    parts = [f"curl{verb} {shlex.quote(HOME + path)}"]
    if key:
        parts.append('-H "Authorization: Bearer $KEY"')
    if body is not None:
        parts.append(f"--json {shlex.quote(json.dumps(shapes.example(body), ensure_ascii=False))}")
    return " \\\n  ".join(parts)
