"""The description of the service: its OpenAPI document, and a page of it that needs no script and no other host."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import shlex
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from druthers.service.guards import ROLE
from druthers.service.shapes import EXAMPLES, Row, Shapes

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


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def tag(name: str, *inside: str | Iterable[str] | None, **marks: str | None) -> Markup:
    """Return an element; texts inside it, and its attributes, are escaped unless they are elements.

    Examples
    --------
    >>> tag("p", "1 < 2, ", tag("b", "no?"), class_="a&b")
    '<p class="a&amp;b">1 &lt; 2, <b>no?</b></p>'
    """
    texts = (text for part in inside for text in ((part,) if isinstance(part, str) else part or ()))
    parts = [text if isinstance(text, Markup) else html.escape(text) for text in texts]
    attributes = "".join(
        f' {mark.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for mark, value in marks.items() if value
    )
    return Markup(f"<{name}{attributes}>{''.join(parts)}</{name}>")


def page(document: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as a page that needs nothing else."""
    shapes = Shapes(document)
    info = document["info"]
    groups: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault((operation.get("tags") or ["other"])[0], []).append((method, path, operation))
    keys = "securitySchemes" in document.get("components", {})
    sections = [
        tag(
            "section",
            tag("h2", tag("a", group.capitalize(), href=f"#{group}"), id=group),
            [_operation(shapes, *one, keys=keys) for one in operations],
        )
        for group, operations in groups.items()
    ]
    head = (
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
        + tag("title", f"{info['title']} {info['version']}")
        + f"<style>{STYLE}</style>"
    )
    body = tag("div", _menu(groups), tag("main", _intro(info, keys), sections, _problems(shapes)), class_="page")
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def _menu(groups: Mapping[str, list[tuple[str, str, Mapping[str, Any]]]]) -> Markup:
    parts = [
        tag(
            "li",
            tag("a", group.capitalize(), href=f"#{group}", class_="group"),
            tag(
                "ul",
                [
                    tag("li", tag("a", _badge(method), _path(path), href=f"#{_anchor(method, path)}"))
                    for method, path, _ in operations
                ],
            ),
        )
        for group, operations in groups.items()
    ]
    end = tag("li", tag("a", "Problems", href="#problems", class_="group"))
    return tag("nav", tag("ul", parts, end))


def _intro(info: Mapping[str, Any], keys: bool) -> Markup:
    shown = (
        "Show a key as Authorization: Bearer KEY; X-API-Key and Ocp-Apim-Subscription-Key do as well."
        if keys
        else "This service listens to its own machine only and asks for no key."
    )
    roles = [tag("tr", tag("td", _role(role)), tag("td", about)) for role, about in ROLES.items()]
    return tag(
        "header",
        tag("h1", info["title"], " ", tag("small", info["version"])),
        tag("p", f"{info.get('summary', '')}. ", info.get("description", ""), class_="lead"),
        tag(
            "p",
            shown,
            " Bodies are JSON. An id is made of letters, figures and ._:@+~=-, up to 200 of them."
            " Tools read all this from ",
            tag("a", "openapi.json", href="openapi.json"),
            ".",
        ),
        tag("table", roles, class_="roles") if keys else None,
    )


def _operation(shapes: Shapes, method: str, path: str, operation: Mapping[str, Any], *, keys: bool) -> Markup:
    role = operation.get(ROLE, "public")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    given = [
        Row(one["name"], shapes.words(one["schema"]), one.get("required", False), _about(one))
        for one in operation.get("parameters", ())
    ]
    answers, problems = [], []
    for status, answer in operation.get("responses", {}).items():
        if int(status) < 400:
            answers.append(_answer(shapes, status, answer))
        else:
            problems.append(status)
    return tag(
        "article",
        tag("h3", _badge(method), tag("a", _path(path), href=f"#{_anchor(method, path)}"), _role(role)),
        tag("p", operation.get("description") or operation.get("summary", "")),
        [tag("h4", "Parameters"), _table(given)] if given else None,
        [tag("h4", "Body"), _table(shapes.rows(body))] if body else None,
        tag("h4", "Example"),
        tag("pre", tag("code", _curl(shapes, method, path, body, key=keys and role != "public"))),
        tag("h4", "Answers"),
        answers,
        tag("p", "Problems: ", _statuses(problems), class_="problems") if problems else None,
        id=_anchor(method, path),
    )


def _answer(shapes: Shapes, status: str, answer: Mapping[str, Any]) -> Markup:
    content = answer.get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    rows = list(shapes.rows(schema))
    about = shapes.resolve(schema).get("description") or (shapes.words(schema) if schema else "")
    title = [tag("b", status), f" {HTTPStatus(int(status)).phrase}", f": {about}" if about else ""]
    return tag("details", tag("summary", title), _table(rows)) if rows else tag("p", title, class_="answer")


def _problems(shapes: Shapes) -> Markup:
    return tag(
        "section",
        tag("h2", tag("a", "Problems", href="#problems"), id="problems"),
        tag(
            "p",
            "Whatever goes wrong is told as application/problem+json: the law, then what arrived, then the way out."
            " A request that was refused has changed nothing.",
        ),
        _table(shapes.rows(shapes.known["Problem"])) if "Problem" in shapes.known else None,
    )


def _table(rows: Iterable[Row]) -> Markup:
    lines = [
        tag(
            "tr",
            tag("td", tag("code", row.name), tag("span", "required", class_="must") if row.required else None),
            tag("td", row.kind, class_="kind"),
            tag("td", row.about),
        )
        for row in rows
    ]
    return tag("div", tag("table", lines), class_="wide") if lines else tag("p", "An empty object will do.")


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


def _statuses(statuses: Iterable[str]) -> str:
    return ", ".join(f"{status} {HTTPStatus(int(status)).phrase}" for status in sorted(statuses))


def _about(parameter: Mapping[str, Any]) -> str:
    return parameter.get("description") or parameter["schema"].get("description") or ""


def _badge(method: str) -> Markup:
    return tag("span", method.upper(), class_=f"method {method.lower()}")


def _role(role: str) -> Markup:
    return tag("span", role, class_=f"role {role}")


def _path(path: str) -> Markup:
    """Return a path that a narrow screen may break before each part."""
    return tag("code", [piece for part in path.split("/")[1:] for piece in (Markup("<wbr>"), f"/{part}")])


def _anchor(method: str, path: str) -> str:
    return f"{method}{path}".replace("/", "-").replace("{", "").replace("}", "")
