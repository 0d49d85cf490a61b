"""The page at /docs and the document behind it: whole, valid, harmless, with examples that hold."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import json
import re
import shlex
from html.parser import HTMLParser

import pytest
from jsonschema import Draft202012Validator

from druthers.service.app import make_app
from druthers.service.docs import HOME, POLICY, Shapes, page
from druthers.service.settings import Settings


@pytest.fixture(scope="module")
def app():
    return make_app(Settings(store="memory:", parser="lexicon", keys="required"))


@pytest.fixture(scope="module")
def document(app):
    return app.openapi()


@pytest.fixture(scope="module")
def operations(document):
    return [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


class Reader(HTMLParser):
    """Notes elements, attributes and text of a page, and that everything opened is closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.marks, self.texts = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.marks += attrs
        if tag not in ("meta", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


def test_the_document_is_valid_openapi_3_1(document):
    from openapi_spec_validator import OpenAPIV31SpecValidator

    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


def test_the_page_tells_every_route_with_its_role_and_problems(document, operations):
    reader = Reader(page(document))
    assert reader.open == []
    ids = {value for name, value in reader.marks if name == "id"}
    links = {value for name, value in reader.marks if name == "href"}
    assert {link.removeprefix("#") for link in links if link.startswith("#")} == ids
    articles = page(document).split("<article")[1:]
    assert len(articles) == len(operations)
    for article, (method, path, operation) in zip(articles, operations, strict=True):
        text = html.unescape(re.sub(r"<[^>]+>", "", article))
        assert method.upper() in text
        assert path in text
        assert operation["x-role"] in text
        assert operation["description"] in text
        for status in operation["responses"]:
            assert status in text


def test_the_page_needs_nothing_and_runs_nothing(document):
    reader = Reader(page(document))
    assert not {"script", "link", "img", "iframe", "form", "base"} & set(reader.tags)
    assert not [name for name, _ in reader.marks if name.startswith("on") or name in ("style", "src")]
    assert {value for name, value in reader.marks if name == "href" and not value.startswith("#")} == {"openapi.json"}
    (style,) = re.findall(r"<style>(.*?)</style>", page(document), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in POLICY
    assert POLICY.startswith("default-src 'none'")


def test_whatever_a_document_says_is_escaped(document):
    evil = "</p><script>alert(1)</script>\"'&"
    text = json.dumps(document).replace("Whom it is about.", json.dumps(evil)[1:-1])
    told = json.loads(text)
    told["info"] |= {"title": evil, "summary": evil, "description": evil}
    told["paths"]["/v1/<b>{user}</b>"] = told["paths"].pop("/v1/users/{user}")
    reader = Reader(page(told))
    assert "script" not in reader.tags
    assert sum(evil in told for _, told in reader.texts) >= 4


def test_examples_are_bodies_that_the_document_allows(document, operations):
    shapes = Shapes(document)
    bodies = 0
    for _, _, operation in operations:
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            Draft202012Validator({**schema, "components": document["components"]}).validate(shapes.example(schema))
            bodies += 1
    assert bodies >= 10


def test_curl_lines_are_lines_for_a_shell(document, operations):
    lines = [text for tag, text in Reader(page(document)).texts if tag == "code" and text.startswith("curl")]
    assert len(lines) == len(operations)
    for line, (method, _, operation) in zip(lines, operations, strict=True):
        words = shlex.split(line.replace("\\\n", ""))
        (address,) = [word for word in words if word.startswith(HOME)]
        assert "{" not in address
        shown = words[words.index("-X") + 1] if "-X" in words else "POST" if "--json" in words else "GET"
        assert shown == method.upper()
        assert ("Authorization: Bearer $KEY" in words) == (operation["x-role"] != "public")
        if "--json" in words:
            json.loads(words[words.index("--json") + 1])


@pytest.mark.parametrize(
    ("host", "shown"), [("druthers.example:81", "http://druthers.example:81"), ("a'b<c>", "http://127.0.0.1:8000")]
)
def test_the_page_is_served_with_its_policy_and_for_its_host(app, host, shown):
    """Asked as a server asks it: the one answer, its headers and its body."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/docs", "query_string": b"", "scheme": "http"}
    scope |= {"headers": [(b"host", host.encode())], "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 1)}
    asyncio.run(app(scope | {"asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": ""}, receive, send))
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 200
    assert headers[b"content-security-policy"] == POLICY.encode()
    assert headers[b"content-type"].startswith(b"text/html")
    assert f"curl {shown}/v1/users/ada" in b"".join(message.get("body", b"") for message in sent).decode()
