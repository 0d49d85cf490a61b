"""Whatever arrives: success, or 4xx that says what is wrong; never 5xx, and nothing changed if it was refused."""

from __future__ import annotations

import json
import random

import pytest
from fastapi.testclient import TestClient
from service_processes import until

from druthers.service.app import make_app
from druthers.service.settings import Settings

JSON = {"Content-Type": "application/json"}
QUERIES, DECISIONS, FEEDBACK = "/v1/users/ada/queries", "/v1/users/ada/decisions", "/v1/decisions/d-1/feedback"
BODIES = {
    QUERIES: {"text": "cheap and clean"},
    f"{QUERIES}#ranking": {"ranking": ["value", "rooms"]},
    DECISIONS: {"size": 2, "offer": ["inn", "lodge"], "text": "cheap", "id": "d-1"},
    FEEDBACK: {"item": "inn", "rewards": {"value": 4.5, "rooms": 3}, "utility": 0.5},
    "/v1/users/ada": {"ranking": ["value"]},
    "/v1/items/inn": {"name": "Inn", "description": "small", "values": {"value": 4.0}, "details": {"city": "Ur"}},
    "/v1/batch/queries": {"entries": [{"user": "ada", "text": "clean"}]},
    "/v1/batch/decisions": {"entries": [{"user": "ada", "size": 2}]},
    "/v1/batch/feedback": {"entries": [{"decision": "d-1", "utility": 0.5}]},
    "/v1/batch/items": {"entries": [{"id": "inn", "name": "Inn"}]},
}
METHODS = {"/v1/users/ada": "PATCH", "/v1/items/inn": "PUT", "/v1/batch/items": "PUT"}
WILD = [
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e308", "-0.0", "5e-324", "1" + "0" * 5000, "0.1" + "1" * 5000,
    str(2**63), str(-(2**64)), "true", "false", "null", '""', '"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"',
    '"🏨 שלום ﷽"',
    '"\\u202e\\u200b"', '"' + "a" * 3000 + '"', '"<script>alert(1)</script>"', '"\'; DROP TABLE druthers_events; --"',
    '"{{7*7}} ${7*7} %s %n {0}"', "[]", "{}", "[[]]", '{"a": 1, "a": 2}', '["value", "value"]', '["", null, 7]',
    "[" * 50 + "]" * 50, '{"a":' * 30 + "1" + "}" * 30, "[1" + ",1" * 3000 + "]", '{"version": 1}', '"\\u00e9\\u0301"',
    '{"__proto__": {}, "__class__": 1}', "01", "+1", "1.", ".5", "0x10", "'a'", "undefined", '"\\x"', '"\t"', "1 2",
]  # fmt: skip


@pytest.fixture(scope="module")
def client():
    app = make_app(Settings(store="memory:", parser="lexicon", rate=0.0))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        for item in ("inn", "lodge"):
            assert client.put(f"/v1/items/{item}", json={"values": {"value": 3.0}}).status_code == 201
        assert client.post(DECISIONS, json={"offer": ["inn", "lodge"], "id": "d-1"}).status_code == 200
        until(lambda: client.get("/readyz").status_code == 200, "the service to be ready")
        yield client
        assert client.get("/readyz").status_code == 200


def send(client, path, content, **headers):
    place = path.partition("#")[0]
    return client.request(METHODS.get(place, "POST"), place, content=content, headers={**JSON, **headers})


def check(client, answer, sent, before):
    """An answer is one of success, or a problem that tells what to do, after which all is as before."""
    assert answer.status_code < 500, (answer.status_code, answer.text, sent[:300])
    if answer.status_code < 400:
        return answer.json()
    problem = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert problem["status"] == answer.status_code
    assert len(problem["detail"]) >= 20
    assert answer.status_code != 422 or problem["type"] != "about:blank" or "must" in problem["detail"]
    assert len(answer.content) < 20_000
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text
    assert position(client) == before, "a refused request must not change anything"
    return problem


def position(client):
    return client.get("/readyz").json()["position"]


def places(body):
    """Yield every place of a body where something else could stand, as a function that puts it there."""
    yield lambda value: value
    for key in body if isinstance(body, dict) else range(len(body)):
        part = body[key]
        yield lambda value, key=key: _with(body, key, value)
        if isinstance(part, dict | list):
            for inner in places(part):
                yield lambda value, key=key, inner=inner: _with(body, key, inner(value))


def _with(body, key, value):
    changed = dict(body) if isinstance(body, dict) else list(body)
    changed[key] = value
    return changed


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("count", [6, pytest.param(len(WILD), marks=pytest.mark.slow)])
def test_wild_values_everywhere(client, path, count):
    mark = "\ue000wild"
    chance = random.Random(path)
    for put in places(BODIES[path]):
        content = json.dumps(put(mark), ensure_ascii=False)
        for wild in chance.sample(WILD, count):
            sent = content.replace(f'"{mark}"', wild)
            before = position(client)
            check(client, send(client, path, sent.encode("utf-8", "surrogatepass")), sent, before)


@pytest.mark.parametrize("path", BODIES)
def test_unknown_fields_are_told_by_name(client, path):
    answer = send(client, path, json.dumps({**BODIES[path], "surprise": 1}))
    assert answer.status_code == 422
    assert "body.surprise" in answer.text


@pytest.mark.parametrize("path", BODIES)
def test_bodies_that_are_no_json(client, path):
    chance = random.Random(3)
    whole = json.dumps(BODIES[path]).encode()
    broken = [
        b"",
        b"{",
        b"\xff\xfe",
        b"\x00",
        whole[:-1],
        whole + b"}",
        b"\xef\xbb\xbf" + whole,
        whole.replace(b'"', b"'"),
    ]
    broken += [b"[" * 100_00, b'{"a":' * 10_000, b"a=1&b=2", b"<xml/>", whole.decode().encode("utf-16")]
    for _ in range(40):
        mangled = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            mangled[chance.randrange(len(mangled))] = chance.randrange(256)
        broken.append(bytes(mangled))
    for sent in broken:
        before = position(client)
        check(client, send(client, path, sent), sent.decode("latin-1"), before)
    assert send(client, path, b"{").status_code == 400
    assert send(client, path, b"").status_code in (400, 422)


@pytest.mark.parametrize("path", BODIES)
def test_ten_megabytes(client, path):
    before = position(client)
    for sent in (json.dumps({"text": "a" * 10**7}).encode(), b" " * 10**7 + b"{}"):
        assert check(client, send(client, path, sent), "10 MB", before)["status"] == 413
        pieces = (sent[start : start + 10**5] for start in range(0, len(sent), 10**5))  # of unknown length
        assert check(client, send(client, path, pieces), "10 MB in pieces", before)["status"] == 413


@pytest.mark.parametrize("path", BODIES)
def test_wrong_kinds_of_content(client, path):
    before = position(client)
    sent = json.dumps(BODIES[path])
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "é", "json"):
        answer = send(client, path, sent, **{"Content-Type": kind.encode()})
        assert check(client, answer, kind, before)["status"] == 415
    assert send(client, path, sent, **{"Content-Encoding": "gzip"}).status_code == 415


WILD_IDS = ["%00", "%FF", "%C3%28", "a" * 201, "a" * 5000, "%2e%2e", "..%2f..%2fetc", "%F0%9F%8F%A8", "a%20b", "%0a",
            "%", "%zz", "-", "", "null", "'--", "%ED%A0%80", "*", "a?b=c", "a;b", "a/b", "%22%3E"]  # fmt: skip


@pytest.mark.parametrize("name", WILD_IDS)
def test_wild_names_in_paths(client, name):
    for method, path, body in (
        ("GET", "/v1/users/{}", None),
        ("DELETE", "/v1/users/{}", None),
        ("PATCH", "/v1/users/{}", {"ranking": ["value"]}),
        ("POST", "/v1/decisions/{}/feedback", {"utility": 0.5}),
        ("GET", "/v1/decisions/{}", None),
        ("GET", "/v1/items/{}", None),
        ("DELETE", "/v1/items/{}", None),
        ("GET", "/v1/events?user={}&limit=3", None),
        ("GET", "/v1/items?after={}", None),
    ):
        before = position(client)
        answer = client.request(method, path.format(name), json=body)
        check(client, answer, f"{method} {path.format(name)}", before)


@pytest.mark.parametrize("value", ["-1", "0", "1e3", "NaN", "99999999999999999999999", "1.5", "true", "", "%00", "١"])
def test_wild_numbers_in_queries(client, value):
    for path in ("/v1/events?after={}", "/v1/events?limit={}", "/v1/items?limit={}", "/v1/items?limit=5&limit={}"):
        check(client, client.get(path.format(value)), path, position(client))


def test_who_and_what_is_unknown_is_told(client):
    for method, path, body, status, words in (
        ("GET", "/v1/users/nobody", None, 404, "nobody"),
        ("DELETE", "/v1/users/nobody", None, 404, "nobody"),
        ("PATCH", "/v1/users/nobody", {"ranking": ["value"]}, 404, "nobody"),
        ("POST", "/v1/decisions/nothing/feedback", {"utility": 0.5}, 404, "nothing"),
        ("GET", "/v1/items/nothing", None, 404, "nothing"),
        ("DELETE", "/v1/items/nothing", None, 404, "nothing"),
        ("POST", DECISIONS, {"offer": ["nothing"]}, 404, "nothing"),
        ("POST", QUERIES, {"ranking": ["price"]}, 422, "value"),
        ("POST", QUERIES, {"ranking": ["value", "value"]}, 422, "twice"),
        ("POST", QUERIES, {"text": "cheap", "ranking": ["value"]}, 422, "exactly one"),
        ("POST", FEEDBACK, {"rewards": {"value": 5.5}}, 422, "5"),
        ("POST", FEEDBACK, {"rewards": {}}, 422, "at least one"),
        ("POST", FEEDBACK, {"item": "barn", "utility": 0.5}, 404, "barn"),
        ("POST", FEEDBACK, {"utility": 1.5}, 422, "1"),
        ("POST", DECISIONS, {"size": 0}, 422, "1"),
        ("POST", DECISIONS, {"size": 1, "id": "d-1"}, 409, "d-1"),
    ):
        problem = check(client, client.request(method, path, json=body), path, position(client))
        assert problem["status"] == status, problem
        assert words in json.dumps(problem), problem


def test_words_in_every_script_are_heard_and_kept(client):
    for text in ("сыр и чистота", "安い", "🏨" * 500, "a\u0000b", "\u202ecba", "e\u0301", "x" * 2000):
        answer = client.post(QUERIES, json={"text": text})
        assert answer.status_code == 200, answer.text
        [event] = client.get(f"/v1/events?after={answer.json()['position'] - 1}&limit=1").json()["events"]
        assert event["body"]["text"] == text
