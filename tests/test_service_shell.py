"""Around the routes: settings, keys, problems, guards, logs and figures; over real HTTP where a caller could tell."""

from __future__ import annotations

import base64
import contextlib
import errno
import http.client
import io
import json
import logging
import logging.config
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from fastapi import FastAPI, Request
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response, StreamingResponse

from druthers import errors
from druthers.errors import DruthersError, InvalidCatalog, InvalidSetting, StoreFailure
from druthers.service import metrics as metrics_module
from druthers.service import problems
from druthers.service.auth import LEVELS, ROLES, Gate, Key, Limiter, make_key
from druthers.service.docs import describe
from druthers.service.guards import Guard, GuardedRoute, Routes, unguarded, visit_of
from druthers.service.logs import NAME, LineHandler, log_config, redact
from druthers.service.metrics import MEDIA_TYPE, Metrics
from druthers.service.settings import ABOUT, DEFAULTS, LAWS, Settings, is_loopback, load_settings

quick = settings(deadline=None, max_examples=50, derandomize=True)

SECRET_WORD = "hunter2swordfish"
MAX_BODY = 4096


class Query(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    size: int = 1
    offer: list[str] = []


RAISED: dict[str, Exception] = {}


def make_routes() -> Routes:
    routes = Routes("/v1", tags=["things"])

    @routes.get("/open", role="public")
    async def see() -> dict[str, str]:
        return {"seen": "yes"}

    @routes.get("/users/{user}", role="read", problems=[404])
    async def show(user: str, request: Request, limit: int = 1) -> dict[str, str | None]:
        return {"user": user, "key": visit_of(request).caller.key}

    @routes.delete("/users/{user}", role="admin", problems=[404])
    async def erase(user: str) -> dict[str, str]:
        return {"erased": user}

    @routes.post("/users/{user}/queries", role="decide", problems=[409])
    async def hear(user: str, query: Query) -> dict[str, str]:
        return {"heard": query.text}

    @routes.post("/raise/{name}", role="public")
    async def fail(name: str) -> dict[str, str]:
        raise RAISED[name]

    @routes.get("/boom", role="public")
    async def boom(request: Request) -> dict[str, str]:
        logging.getLogger(NAME).warning("headers %s", request.scope["headers"])
        raise RuntimeError(f"{dict(request.headers)} postgresql://ada:{SECRET_WORD}@db/shop")

    @routes.get("/half", role="public")
    async def half() -> Response:
        async def pieces():
            yield b"begun"
            raise RuntimeError("lost")

        return StreamingResponse(pieces())

    @routes.get("/page", role="public", include_in_schema=False)
    async def page() -> Response:
        return Response("<p>", headers={"Content-Security-Policy": "default-src 'self'"}, media_type="text/html")

    return routes


def make_app(gate: Gate, metrics: Metrics, *, keys_required: bool = True) -> FastAPI:
    app = FastAPI(title="shell", version="1", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_middleware(Guard, gate=gate, metrics=metrics, max_body_bytes=MAX_BODY)
    problems.install(app)
    make_routes().attach(app)
    describe(app, keys_required=keys_required)
    return app


@contextlib.contextmanager
def serving(app, written=None):
    """Serve an application on a free port, with the service's own logs written to a stream if one is given."""
    config = log_config("debug") if written is not None else None
    if config:
        config["handlers"]["lines"]["stream"] = written
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_config=config, access_log=False, server_header=False, ws="none")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(60)
        for name in config["loggers"] if config else ():
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True
            logger.setLevel(logging.NOTSET)


@pytest.fixture(scope="module")
def service():
    """A service that requires keys, with one of each role and a revoked one."""
    made = {role: make_key(role, role) for role in ROLES[1:]}
    made["revoked"] = make_key("admin")
    kept = {key.id: key for _, key in made.values()}
    kept[made["revoked"][1].id] = made["revoked"][1]._replace(revoked=1.0)
    metrics, written = Metrics(), io.StringIO()
    app = make_app(Gate(lambda: kept, required=True, limiter=Limiter(0, 1)), metrics)
    with serving(app, written) as port:
        keys = {name: text for name, (text, _) in made.items()}
        yield SimpleNamespace(app=app, port=port, keys=keys, kept=kept, metrics=metrics, written=written)


def call(service, method, path, body=None, headers=(), *, key=None, json_body=True):
    """Return status, headers and body of an answer; a dict as body goes out as JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    sent = dict(headers)
    if key is not None:
        sent["Authorization"] = f"Bearer {service.keys.get(key, key)}"
    if body is not None and json_body:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
    finally:
        connection.close()


def problem(answer, status):
    """Return the problem that an answer must be."""
    got, headers, content = answer
    assert got == status, content
    assert headers["content-type"] == "application/problem+json"
    body = json.loads(content)
    assert set(body) - {"errors"} == {"type", "title", "status", "detail", "instance"}
    assert body["status"] == status
    assert body["instance"] == headers["x-request-id"]
    assert "Traceback" not in content.decode()
    return body


def eventually(look):
    """Return what a look finds as soon as it finds anything: requests are noted just after they are answered."""
    until = time.monotonic() + 60
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.002)
    return found


def lines(service, request_id, field="status"):
    """Return the lines about a request that have a field: "status" for the one that tells its end."""

    def look():
        found = [json.loads(line) for line in service.written.getvalue().splitlines() if request_id in line]
        return [line for line in found if line.get("request") == request_id and field in line]

    return eventually(look)


# Settings


LAWFUL = {
    "store": st.sampled_from(["sqlite:a.db", "postgresql://db/shop", "sqlite:/tmp/my file.db"]),
    "catalog": st.sampled_from(["hotels", "beers", "mine.toml"]),
    "policy": st.sampled_from(LAWS["policy"].known),
    "policy_settings": st.dictionaries(st.just("seed"), st.floats(0, 1) | st.integers(0, 9) | st.booleans()),
    "parser_settings": st.dictionaries(st.just("model"), st.text("abc", min_size=1)),
    "parser": st.sampled_from(LAWS["parser"].known),
    "exploration": st.floats(0, 1),
    "host": st.sampled_from(["127.0.0.1", "localhost", "::1", "0.0.0.0", "druthers.example"]),
    "port": st.integers(1, 65535),
    "workers": st.integers(1, 16),
    "keys": st.sampled_from(["auto", "required"]),
    "rate": st.floats(0, 1e6) | st.integers(0, 1000),
    "follow_seconds": st.floats(0.01, 60),
    "max_offer": st.integers(100, 1000),
    "log_level": st.sampled_from(LAWS["log_level"].known),
}
UNLAWFUL = {
    "store": st.sampled_from(["", "druthers.db", 3, True]),
    "policy": st.sampled_from(["", "ucb", 1.0, []]),
    "policy_settings": st.sampled_from([[], "width=1", {"width": float("nan")}, {"deep": {"er": float("inf")}}]),
    "parser_settings": st.sampled_from([[], "model=x", {"timeout": float("nan")}]),
    "exploration": st.sampled_from([-0.1, 1.1, float("nan"), "half", True]),
    "port": st.sampled_from([0, 65536, 80.0, "tcp://10.0.0.1:8000", True]),
    "keys": st.sampled_from(["on", "", False]),
    "rate": st.sampled_from([-1, float("inf"), float("nan"), "fast"]),
    "max_body_bytes": st.sampled_from([0, 2**31, 10.5]),
    "log_level": st.sampled_from(["INFO", "loud", 3]),
}


def as_toml(value):
    """Write a value as TOML does."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else repr(value)


def test_settings_without_anything_are_the_defaults():
    assert load_settings(environ={}) == Settings()
    assert repr(Settings()) == "Settings()"
    assert Settings().changed() == {}
    assert set(LAWS) == set(ABOUT) == set(DEFAULTS)
    assert all(about.endswith(".") and len(about) < 90 for about in ABOUT.values())


@quick
@given(
    chosen=st.fixed_dictionaries({}, optional=LAWFUL),
    again=st.fixed_dictionaries({}, optional=LAWFUL),
    last=st.fixed_dictionaries({}, optional=LAWFUL),
)
def test_the_command_line_holds_over_the_environment_and_that_over_the_file(tmp_path_factory, chosen, again, last):
    path = tmp_path_factory.mktemp("settings") / "druthers.toml"
    path.write_text("".join(f"{name} = {as_toml(value)}\n" for name, value in chosen.items()))
    environ = {
        f"DRUTHERS_{name.upper()}": value if LAWS[name].is_text else as_toml(value) for name, value in again.items()
    }
    expected = Settings(**{**chosen, **again, **last})
    assert load_settings(path, environ=environ, **last) == expected
    assert load_settings(environ={**environ, "DRUTHERS_CONFIG": str(path)}, **last) == expected


@quick
@given(
    wrong=st.fixed_dictionaries({}, optional=UNLAWFUL).filter(len),
    right=st.fixed_dictionaries({}, optional=LAWFUL),
)
def test_all_mistakes_are_told_at_once(wrong, right):
    with pytest.raises(InvalidSetting) as refused:
        load_settings(environ={}, **{**right, **wrong}, colour="red")
    told = str(refused.value).splitlines()
    assert told[0].endswith(f"{len(wrong) + 1} problem{'s' if wrong else ''}:")
    assert "  --colour is not a setting;" in str(refused.value)
    for name in wrong:
        assert any(line.startswith(f"  --{name.replace('_', '-')} must be ") for line in told)
    with pytest.raises(InvalidSetting):
        Settings(**{**right, **wrong})


@quick
@given(environ=st.dictionaries(st.sampled_from([f"DRUTHERS_{name.upper()}" for name in LAWS]), st.text(max_size=20)))
@example(environ={"DRUTHERS_POLICY_SETTINGS": "{a = 1}\nport = 7"})
@example(environ={"DRUTHERS_RATE": "[" * 3000})
def test_whatever_the_environment_holds_is_taken_or_refused(environ):
    """Only what stands in the environment is told to be wrong with it."""
    with contextlib.suppress(InvalidSetting):
        load_settings(environ=environ)
        return
    with pytest.raises(InvalidSetting) as refused:
        load_settings(environ=environ)
    told = {line.split(" must ")[0].strip() for line in str(refused.value).splitlines()[1:] if " must be " in line}
    assert told <= set(environ)


def test_slips_are_told_with_the_nearest_name(tmp_path):
    path = tmp_path / "druthers.toml"
    path.write_text('prot = 9000\npolicy = "mo-pqucd"\n')
    with pytest.raises(InvalidSetting) as refused:
        load_settings(
            path, environ={"DRUTHERS_WORKER": "2", "DRUTHERS_CACHE_DIR": "/tmp", "DRUTHERS_SERVICE_HOST": "x"}
        )
    text = str(refused.value)
    assert f"prot in {path} is not a setting; known: store, " in text
    assert "did you mean 'port'?" in text
    assert "did you mean mo-pqucb?" in text
    assert "DRUTHERS_WORKER is not a setting; did you mean DRUTHERS_WORKERS?" in text
    assert "CACHE_DIR" not in text
    assert "SERVICE_HOST" not in text


@pytest.mark.parametrize("content", [b"port = ", b"\xff\xfe", b"port = 1\nport = 2", b"a = " + b"[" * 5000])
def test_files_that_are_not_toml_are_refused(tmp_path, content):
    path = tmp_path / "druthers.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidSetting, match="must be written in TOML"):
        load_settings(path, environ={})
    with pytest.raises(InvalidSetting, match="that can be read"):
        load_settings(tmp_path / "none.toml", environ={})


def test_keys_are_off_on_loopback_addresses_only():
    for host in ("127.0.0.1", "127.9.9.9", "localhost", "::1"):
        assert is_loopback(host)
        assert not Settings(host=host).keys_required
        assert Settings(host=host, keys="required").keys_required
        assert not Settings(host=host, keys="off").keys_required
    for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.0.0.1.example"):
        assert Settings(host=host).keys_required
        with pytest.raises(InvalidSetting, match="must not be off where others can reach"):
            Settings(host=host, keys="off")


def test_settings_must_agree_with_each_other():
    with pytest.raises(InvalidSetting, match="journal in memory is that of one process"):
        Settings(store="memory:", workers=2)
    with pytest.raises(InvalidSetting, match="a slate is chosen from an offer"):
        Settings(max_slate=20, max_offer=10)
    with pytest.raises(InvalidSetting, match=r"not a setting of s-ucb; .* did you mean 'width'"):
        Settings(policy="s-ucb", policy_settings={"widht": 0.5})
    with pytest.raises(InvalidSetting, match="1 problem"):
        Settings(policy="s-ucd", policy_settings={"width": 0.5})
    assert Settings(policy="s-ucb", policy_settings={"width": 0.5}).policy_settings == {"width": 0.5}


def test_settings_never_show_a_password():
    url = f"postgresql://ada:{SECRET_WORD}@db/shop"
    assert SECRET_WORD not in repr(Settings(store=url))
    assert Settings(store=url).store == url
    with pytest.raises(InvalidSetting) as refused:
        Settings(store=f" {url}")
    assert SECRET_WORD not in str(refused.value)


# Keys


def test_a_key_is_kept_as_its_hash_only():
    text, key = make_key("decide", "shop", now=5.0)
    assert text.split("_")[:2] == ["druthers", key.id]
    assert len(bytes.fromhex(text.split("_")[2])) == 32
    assert text not in repr(key)
    assert text.split("_")[2] not in repr(key)
    assert Key(**key._asdict()) == key == Key(key.id, key.digest, "decide", "shop", 5.0, None)
    assert make_key("read")[0] != make_key("read")[0]
    for role in ("public", "root", ""):
        with pytest.raises(InvalidSetting, match="read, decide, admin"):
            make_key(role)


@pytest.mark.parametrize("key", ["none", "read", "decide", "admin", "revoked", "unknown", "altered", "foreign"])
def test_every_route_admits_whom_its_role_admits(service, key):
    """The whole route table, with every kind of key; a body is not looked at before the key."""
    shown = {
        "none": None,
        "unknown": make_key("admin")[0],
        "altered": service.keys["admin"][:-1] + ("0" if service.keys["admin"][-1] != "0" else "1"),
        "foreign": "sk-something-else",
    }.get(key, key)
    level = LEVELS.get(key, 0)
    walked = [route for route in service.app.routes if isinstance(route, GuardedRoute)]
    assert len(walked) == len(service.app.routes) == 8
    for route in walked:
        if route.path in ("/v1/boom", "/v1/raise/{name}", "/v1/half"):
            assert route.role == "public"
            continue
        (method,) = route.methods
        path = route.path.replace("{user}", "ada")
        answer = call(service, method, path, b"{broken" if method == "POST" else None, key=shown)
        if LEVELS[route.role] <= level:
            assert answer[0] == (400 if method == "POST" else 200)
        elif level:
            assert f"needs a key with the role {route.role}" in problem(answer, 403)["detail"]
        else:
            problem(answer, 401)
            assert answer[1]["www-authenticate"].startswith('Bearer realm="druthers"')


@pytest.mark.parametrize("header", ["X-API-Key", "x-api-key", "Ocp-Apim-Subscription-Key"])
def test_a_key_may_come_in_other_headers(service, header):
    status, _, content = call(service, "GET", "/v1/users/ada", headers={header: service.keys["read"]})
    assert status == 200
    assert service.keys["read"].split("_")[1] == json.loads(content)["key"]


def test_keys_that_come_and_go_hold_at_once(service):
    text, key = make_key("read")
    problem(call(service, "GET", "/v1/users/ada", key=text), 401)
    service.kept[key.id] = key
    assert call(service, "GET", "/v1/users/ada", key=text)[0] == 200
    service.kept[key.id] = key._replace(revoked=7.0)
    assert "revoked" in problem(call(service, "GET", "/v1/users/ada", key=text), 401)["detail"]
    del service.kept[key.id]
    problem(call(service, "GET", "/v1/users/ada", key=text), 401)


TEXT, KEY = make_key("decide")
pieces = st.sampled_from([TEXT.encode(), b"Bearer ", b"bearer", b"Basic ", b" ", b"_", b"\x00", TEXT[:-1].encode()])
values = st.binary(max_size=40) | st.lists(pieces, max_size=4).map(b"".join)
names = st.sampled_from([b"authorization", b"x-api-key", b"ocp-apim-subscription-key", b"host", b"origin"])


@quick
@given(headers=st.dictionaries(names, values), role=st.sampled_from(ROLES[1:]), required=st.booleans())
@example(headers={b"authorization": b"Bearer " + TEXT.encode()}, role="admin", required=True)
def test_any_headers_are_admitted_or_refused(headers, role, required):
    """Only one who shows the very key is somebody."""
    gate = Gate(lambda: {KEY.id: KEY}, required=required, limiter=Limiter(0, 1))
    with contextlib.suppress(problems.Problem):
        caller = gate.admit(headers, role, "127.0.0.1")
        assert caller.key == (KEY.id if required else None)
        assert not required or any(TEXT.encode() in value for value in headers.values())
        assert LEVELS[caller.role] >= LEVELS[role]
        return
    with pytest.raises(problems.Problem) as refused:
        gate.admit(headers, role, "127.0.0.1")
    assert refused.value.status_code in ((401, 403) if required else (403,))
    assert TEXT not in refused.value.detail


@pytest.mark.parametrize(
    ("headers", "admitted"),
    [
        ({}, True),
        ({b"host": b"localhost:8000"}, True),
        ({b"host": b"127.0.0.1"}, True),
        ({b"host": b"[::1]:8000"}, True),
        ({b"host": b"evil.example"}, False),
        ({b"host": b"127.0.0.1.evil.example"}, False),
        ({b"host": b"localhost", b"origin": b"http://localhost:3000"}, True),
        ({b"host": b"localhost", b"origin": b"https://evil.example"}, False),
        ({b"host": b"localhost", b"origin": b"null"}, False),
        ({b"host": b"["}, False),
        ({b"host": b"localhost", b"x-forwarded-for": b"203.0.113.7"}, False),
        ({b"host": b"127.0.0.1:8000", b"forwarded": b"for=203.0.113.7"}, False),
        ({b"via": b"1.1 proxy"}, False),
        ({b"x-real-ip": b"127.0.0.1"}, False),
    ],
)
def test_without_keys_only_this_machine_is_served(headers, admitted):
    """A page in a browser of this machine can reach a loopback address too, under a name of its own."""
    gate = Gate(dict, required=False, limiter=Limiter(0, 1))
    if admitted:
        assert gate.admit(headers, "admin").role == "admin"
    else:
        with pytest.raises(problems.Problem, match="machine only"):
            gate.admit(headers, "read")
    with pytest.raises(problems.Problem, match="machine only"):
        gate.admit(headers, "read", version="1.0")
    assert gate.admit(headers, "public").role == "public"


# Rates


def test_keys_that_are_wrong_are_counted_for_their_address():
    """They get 401 as often as right ones get through, and cost those nothing."""
    gate = Gate(lambda: {KEY.id: KEY}, required=True, limiter=Limiter(1, 3), clock=lambda: 5.0)
    wrong, right = {b"x-api-key": make_key("admin")[0].encode()}, {b"x-api-key": TEXT.encode()}

    def status(headers, client):
        try:
            gate.admit(headers, "read", client)
        except problems.Problem as problem:
            return problem.status_code
        return 200

    assert [status(wrong, "10.0.0.1") for _ in range(5)] == [401, 401, 401, 429, 429]
    assert [status({}, "10.0.0.1"), status({}, "10.0.0.2")] == [429, 401]
    assert [status(right, "10.0.0.1") for _ in range(5)] == [200, 200, 200, 429, 429]


def test_work_counts_and_not_requests():
    moment = 0.0
    gate = Gate(lambda: {KEY.id: KEY}, required=True, limiter=Limiter(10, 20), clock=lambda: moment)
    caller = gate.admit({b"x-api-key": TEXT.encode()}, "read")
    gate.charge(caller, 99)  # a batch of a hundred
    with pytest.raises(problems.Problem, match=r"each entry of a batch counted.*wait 8.1 s"):
        gate.admit({b"x-api-key": TEXT.encode()}, "read")
    moment = 8.2
    gate.admit({b"x-api-key": TEXT.encode()}, "read")


@quick
@given(
    rate=st.sampled_from([0.5, 2.0, 10.0]),
    burst=st.integers(1, 5),
    pauses=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 8)), max_size=60),
)
def test_a_limiter_is_a_bucket_of_tokens(rate, burst, pauses):
    """The same answers as buckets that are refilled step by step."""
    limiter, now = Limiter(rate, burst), 0.0
    buckets = {caller: (float(burst), 0.0) for caller in "ab"}
    for caller, eighths in pauses:
        now += eighths / 8
        tokens, since = buckets[caller]
        tokens = min(burst, tokens + (now - since) * rate)
        wait = limiter.wait(caller, now)
        if tokens >= 1 - 1e-6:
            assert wait == 0.0
            tokens -= 1
        else:
            assert wait == pytest.approx((1 - tokens) / rate)
        buckets[caller] = (tokens, now)


def test_a_limiter_forgets_but_never_those_who_must_wait_most():
    limiter = Limiter(1.0, 2, most=100)
    for _ in range(2):
        limiter.wait("busy", 0.0)
    for number in range(1000):
        limiter.wait(f"caller-{number}", 0.0)
        assert len(limiter) <= 100
    assert limiter.wait("busy", 0.0) == pytest.approx(1.0)
    assert Limiter(0, 1).wait("anyone", 0.0) == 0.0


def test_who_calls_too_often_is_told_when_to_come_back():
    text, key = make_key("read")
    _, other = make_key("read")
    now = [100.0]
    gate = Gate(lambda: {key.id: key, other.id: other}, required=True, limiter=Limiter(0.25, 2), clock=lambda: now[0])
    app = make_app(gate, Metrics())
    with serving(app) as port:
        caller = SimpleNamespace(port=port, keys={})
        statuses = [call(caller, "GET", "/v1/users/ada", key=text)[0] for _ in range(3)]
        refused = call(caller, "GET", "/v1/users/ada", key=text)
        assert statuses == [200, 200, 429]
        assert "0.25 requests per second" in problem(refused, 429)["detail"]
        assert refused[1]["retry-after"] == "4"
        assert call(caller, "GET", "/v1/open")[0] == 200
        now[0] += 4.0
        assert call(caller, "GET", "/v1/users/ada", key=text)[0] == 200


# Problems


@pytest.mark.parametrize(
    "kind", [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DruthersError)]
)
def test_each_of_our_errors_has_its_status(service, kind):
    name = kind.__name__
    expected = 422 if name.startswith("Invalid") or name == "NoSupport" else 404 if name.startswith("Unknown") else None
    if issubclass(kind, errors.StoreFailure | errors.ReadingFailure):
        expected = 503
    others = {"Contradiction": 409, "NothingFits": 409, "MissingExtra": 501, "NoPreference": 501}
    expected = expected or others.get(name, 500)
    RAISED[name] = kind(f"the law, but got {name}; the way out")
    answer = call(service, "POST", f"/v1/raise/{name}")
    body = problem(answer, expected)
    if expected < 500 or expected == 501 or name == "ReadingFailure":
        assert body["detail"] == str(RAISED[name])
        assert body["type"].removeprefix("urn:druthers:").replace("-", "") == name.lower()
    else:
        assert name not in body["detail"]
        assert name in lines(service, body["instance"], "message")[0]["message"]
    assert (answer[1].get("retry-after") == "1") == (expected == 503)


def test_a_catalogs_mistakes_are_told_one_by_one(service):
    RAISED["many"] = InvalidCatalog("not a catalog, 2 problems:\n  a\n  b", ["a", "b" * 900])
    body = problem(call(service, "POST", "/v1/raise/many"), 422)
    assert body["detail"] == "not a catalog, 2 problems:"
    assert [mistake["why"] for mistake in body["errors"]] == ["a", "b" * 197 + "..."]


def test_invalid_bodies_are_told_where_and_why(service):
    body = {"text": 3, "size": "many", "sise": 1, "offer": ["a", None, {"deep": "x" * 3000}]}
    told = problem(call(service, "POST", "/v1/users/ada/queries", body, key="decide"), 422)
    assert told["type"] == "urn:druthers:invalid-request"
    places = {mistake["where"]: mistake["why"] for mistake in told["errors"]}
    assert set(places) == {"body.text", "body.size", "body.sise", "body.offer[1]", "body.offer[2]"}
    assert places["body.text"] == "Input should be a valid string, but got 3"
    assert places["body.sise"] == "this is no field here; known: text, size, offer; did you mean 'size'?"
    assert all(len(why) <= 200 for why in places.values())
    told = problem(call(service, "POST", "/v1/users/ada/queries", {"offer": [1] * 500}, key="decide"), 422)
    assert len(told["errors"]) == 20
    assert "501 mistakes, the first 20" in told["detail"]
    told = problem(call(service, "GET", "/v1/users/ada?limit=x", key="read"), 422)
    assert told["errors"][0]["where"] == "query.limit"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "not: EOF"),
        (b'{"text": NaN}', "not: expected value"),
        (b'{"text": "a", "size": Infinity}', "not: expected value"),
        (b'{"text": "a", "size": 1e999}', "must be finite"),
        (b'{"text": "a", "size": 1' + b"0" * 400 + b".5}", "must be finite"),
        (b'{"text": "\\ud800"}', "hex escape"),
        (b'{"text": "\xff"}', "not: "),
        (b"[" * 2000 + b"]" * 2000, "recursion limit"),
        (b"\xef\xbb\xbf{}", "not: expected value"),
        (b"text=a", "not: expected"),
    ],
)
def test_bodies_that_are_no_json_are_refused(service, body, says):
    assert says in problem(call(service, "POST", "/v1/users/ada/queries", body, key="decide"), 400)["detail"]


@given(
    body=st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["text", "size", "offer"]) | st.text(), inner),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
@quick
def test_any_body_is_answered_below_500(service, body):
    status, _, content = answer = call(service, "POST", "/v1/users/ada/queries", body, key="decide")
    if status != 200:
        problem(answer, status)
        assert status in (400, 422)
    else:
        assert json.loads(content)["heard"] == json.loads(body)["text"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Content-Type": "application/merge-patch+json"}, 200),
        ({"Content-Type": "Application/JSON"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
        ({}, 415),
    ],
)
def test_bodies_must_say_that_they_are_json(service, headers, status):
    answer = call(service, "POST", "/v1/users/ada/queries", b'{"text": "a"}', headers, key="decide", json_body=False)
    assert answer[0] == status
    if status == 415:
        problem(answer, 415)


def test_a_missing_body_is_a_mistake_of_the_request(service):
    told = problem(call(service, "POST", "/v1/users/ada/queries", key="decide"), 422)
    assert told["errors"] == [{"where": "body", "why": "this must be given"}]


def test_paths_and_methods_that_are_not_there(service):
    assert "nothing is at this one" in problem(call(service, "GET", "/v2/nothing"), 404)["detail"]
    problem(call(service, "GET", "/v1/open/"), 404)
    answer = call(service, "PUT", "/v1/users/ada")
    assert problem(answer, 405)["detail"] == "this path takes DELETE or GET, but got PUT"
    assert answer[1]["allow"] == "DELETE, GET"


def test_the_unexpected_is_told_without_a_trace_and_logged_with_one(service):
    body = problem(call(service, "GET", "/v1/boom"), 500)
    assert "RuntimeError" not in json.dumps(body)
    (line,) = lines(service, body["instance"], "trace")
    assert "in boom" in line["trace"]
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        call(service, "GET", "/v1/half")
    assert call(service, "GET", "/v1/open")[0] == 200


# The guard


@given(sent=st.binary(max_size=70).filter(lambda value: not set(value) & set(b"\r\n\x00")))
@quick
@example(sent=b"order-17.retry_2")
@example(sent=b"order-17 \t")
@example(sent=b'x","level":"forged')
def test_sane_request_ids_come_back_and_others_are_replaced(service, sent):
    given = sent.strip(b" \t")  # as servers do
    sane = re.fullmatch(rb"[A-Za-z0-9._-]{1,64}", given) is not None
    raw = b"GET /v1/open HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-ID: " + sent + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(raw)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    if answer.startswith(b"HTTP/1.1 400"):
        assert not sane  # the server itself does not let such a header pass
        return
    head = answer.partition(b"\r\n\r\n")[0].decode("latin-1")
    given_back = next(line.split(": ")[1] for line in head.splitlines() if line.startswith("x-request-id"))
    assert given_back == given.decode() if sane else re.fullmatch("[0-9a-f]{16}", given_back)
    assert lines(service, given_back)[-1]["status"] == 200


def test_bodies_at_the_limit_pass_and_longer_ones_do_not(service):
    def body(size):
        return b'{"text": "' + b"a" * (size - 12) + b'"}'

    assert call(service, "POST", "/v1/users/ada/queries", body(MAX_BODY), key="decide")[0] == 200
    answer = call(service, "POST", "/v1/users/ada/queries", body(MAX_BODY + 1), key="decide")
    assert f"{MAX_BODY} bytes" in problem(answer, 413)["detail"]
    assert answer[1]["connection"] == "close"
    headers = {"Content-Type": "application/json"}
    for size, status in ((MAX_BODY, 200), (MAX_BODY + 1, 413)):
        chunks = iter([body(size)[:1000], body(size)[1000:]])
        answer = call(service, "POST", "/v1/users/ada/queries", chunks, headers, key="decide", json_body=False)
        assert answer[0] == status
    for length in (b"9" * 18, b"18446744073709551615"):
        raw = b"POST /v1/users/ada/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length + b"\r\n\r\n"
        with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
            connection.sendall(raw)
            assert connection.recv(65536).startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))


def test_an_endless_body_is_not_read_to_its_end(service):
    """The connection breaks long before what a caller would like to send."""
    head = (
        f"POST /v1/users/ada/queries HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.keys['decide']}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk, sent = b"10000\r\n" + b" " * 65536 + b"\r\n", 0
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(head.encode())
        with contextlib.suppress(ConnectionError):
            while sent < 256 << 20:
                connection.sendall(chunk)
                sent += len(chunk)
    assert sent < 64 << 20


def test_answers_carry_the_headers_that_browsers_heed(service):
    for path, policy in (
        ("/v1/open", "default-src 'none'; frame-ancestors 'none'"),
        ("/v1/page", "default-src 'self'"),
    ):
        _, headers, _ = call(service, "GET", path)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"] == policy
        assert "server" not in headers


def test_each_request_is_one_line_with_its_route_and_never_its_path(service):
    call(service, "GET", "/v1/users/ada-lovelace?limit=1", headers={"X-Request-ID": "line-1"}, key="read")
    (line,) = lines(service, "line-1")
    assert set(line) == {"time", "level", "request", "method", "route", "status", "ms", "key"}
    assert (line["method"], line["route"], line["status"], line["level"]) == ("GET", "/v1/users/{user}", 200, "info")
    assert line["key"] == service.keys["read"].split("_")[1]
    assert 0 < line["ms"] < 10_000
    call(service, "GET", "/nowhere/ada-lovelace", headers={"X-Request-ID": "line-2"})
    assert lines(service, "line-2")[0]["route"] == "none"
    assert "lovelace" not in service.written.getvalue()


# Logs


def test_no_secret_is_ever_logged(service):
    """Secrets are sent everywhere they can go, to every kind of answer, and through every logger of the process."""
    secrets = [service.keys[name].split("_")[2] for name in ("read", "admin", "revoked")] + [SECRET_WORD]
    basic = base64.b64encode(f"ada:{SECRET_WORD}".encode()).decode()
    carriers = [
        {"Authorization": f"Bearer {service.keys['admin']}"},
        {"Authorization": f"bearer {service.keys['revoked']}x"},
        {"Authorization": f"Basic {basic}"},
        {"X-API-Key": service.keys["read"]},
        {"Ocp-Apim-Subscription-Key": SECRET_WORD},
        {"Cookie": f"a=1; session={SECRET_WORD}"},
        {"X-Request-ID": service.keys["read"], "Proxy-Authorization": f"Basic {basic}"},
        {"Origin": f"http://ada:{SECRET_WORD}@evil.example"},
    ]
    places = [("GET", "/v1/boom"), ("GET", "/v1/users/x"), ("PUT", "/v1/users/x"), ("POST", "/v1/users/x/queries")]
    places += [("GET", f"/v1/users/{SECRET_WORD}?api_key={SECRET_WORD}"), ("GET", f"/{SECRET_WORD}")]
    for headers in carriers:
        for method, path in places:
            call(service, method, path, {"text": SECRET_WORD} if method == "POST" else None, headers)
    RAISED["secret"] = StoreFailure(
        f"could not reach postgresql://ada:{SECRET_WORD}@db:5432/shop?password={SECRET_WORD}"
    )
    problem(call(service, "POST", "/v1/raise/secret"), 503)
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nAuthorization {SECRET_WORD}\r\n\r\n".encode())
        connection.recv(65536)
    for name in ("druthers", "druthers.stores", "uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).warning("opening %s", f"postgresql://ada:{SECRET_WORD}@db")
        logging.getLogger(name).error("%r", {"password": SECRET_WORD, "authorization": f"Bearer {SECRET_WORD}"})
    written = service.written.getvalue()
    assert "opening postgresql://ada:***@db" in written
    for secret in [*secrets, basic]:
        assert secret not in written


@quick
@given(text=st.text(max_size=300), name=st.sampled_from(["password", "Authorization", "X-API-Key", "token"]))
def test_redaction_lets_no_announced_secret_through(text, name):
    assert SECRET_WORD not in redact(f"{text}\n{name}={SECRET_WORD}\n{text}")
    assert SECRET_WORD not in redact(f"{text} https://ada:{SECRET_WORD}@host/ {text}")
    assert redact(redact(text)) == redact(text)


class FullDisk(io.StringIO):
    def flush(self):
        raise OSError(errno.ENOSPC, "no space left on device")


def test_a_log_that_cannot_be_written_fails_no_request(capsys):
    handler = LineHandler(FullDisk())
    handler.write_request("info", '{"request":"a1"}')
    assert "no space left" in capsys.readouterr().err


def test_redaction_is_quick_on_hostile_texts():
    for text in ("a://b:" * 20_000, "password" * 20_000, "Bearer " * 20_000, "a." * 50_000, "token=" * 20_000):
        started = time.perf_counter()
        redact(text)
        assert time.perf_counter() - started < 1.0


def test_every_line_is_one_json_object(service):
    logging.getLogger("druthers").error("two\nlines %s", "\u2028 and a \x00")
    for line in service.written.getvalue().splitlines():
        assert {"time", "level"} <= set(json.loads(line))


# Figures


def test_requests_are_timed_by_route_and_class_of_status(service):
    def count(status):
        found = service.metrics.value(
            "druthers_request_seconds_count", method="GET", route="/v1/users/{user}", status=status
        )
        return found or 0.0

    call(service, "GET", "/v1/users/first", headers={"X-Request-ID": "before"}, key="read")
    assert lines(service, "before")  # and so all requests before it are noted
    before = count("2xx"), count("4xx")
    call(service, "GET", "/v1/users/a", key="read")
    call(service, "GET", "/v1/users/b", key="read")
    call(service, "GET", "/v1/users/c")
    assert eventually(lambda: (count("2xx") - before[0], count("4xx") - before[1]) == (2.0, 1.0))
    assert b"/users/a" not in service.metrics.render()


def test_figures_add_up():
    metrics = Metrics()
    for best, shown in ((0.9, 0.5), (0.7, 0.7), (float("nan"), 1.0)):
        metrics.decided(best - shown)
    metrics.heard(understood=True)
    metrics.learned()
    metrics.learned("repeated")
    metrics.followed(events=5, position=5, last=9)
    metrics.followed(events=4, position=9, last=8)
    metrics.residents.set(3)
    metrics.snapshot.set(1234.5)
    metrics.timer("OTHER", "none", 418)(0.1)
    told = metrics.render().decode()
    for line in (
        "druthers_decisions_total 3.0",
        "druthers_regret_proxy_count 2.0",
        "druthers_regret_proxy_sum 0.4",
        'druthers_queries_total{understood="yes"} 1.0',
        'druthers_feedback_total{outcome="repeated"} 1.0',
        "druthers_events_applied_total 9.0",
        "druthers_journal_position 9.0",
        "druthers_journal_lag_events 0.0",
        "druthers_resident_users 3.0",
        "druthers_snapshot_time_seconds 1234.5",
        'druthers_request_seconds_count{method="OTHER",route="none",status="4xx"} 1.0',
    ):
        assert f"\n{line}\n" in told
    assert MEDIA_TYPE.startswith("text/plain")
    assert Metrics().value("druthers_decisions_total") == 0.0


def test_processes_that_share_a_folder_tell_the_same():
    """Each started alone, as workers are; the module needs nothing else of the package."""
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('metrics', {str(Path(metrics_module.__file__))!r})\n"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        "metrics = module.Metrics()\n"
        "metrics.decided(0.5); metrics.residents.set(7); metrics.snapshot.set(3.0)\n"
        "metrics.timer('GET', '/v1', 200)(0.01)\n"
        "print(metrics.render().decode())\n"
        "module.leave()\n"
    )
    with metrics_module.shared_metrics():
        told = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in "ab"]
    assert "druthers_decisions_total 1.0" in told[0].stdout
    assert "druthers_decisions_total 2.0" in told[1].stdout
    assert "druthers_resident_users 7.0" in told[1].stdout
    assert metrics_module.SHARED not in metrics_module.os.environ


# Routes


def test_a_route_without_a_role_cannot_be_registered():
    routes, app = Routes(), FastAPI(openapi_url=None)

    async def nothing() -> None: ...

    with pytest.raises(TypeError, match="role"):
        routes.get("/nothing")(nothing)
    with pytest.raises(InvalidSetting, match="did you mean 'read'"):
        routes.post("/nothing", role="reader")(nothing)
    with pytest.raises(InvalidSetting, match="must have a role"):
        app.router.add_api_route("/nothing", nothing, route_class_override=GuardedRoute)
    routes.attach(app)
    assert app.routes == []
    app.get("/nothing")(nothing)
    assert unguarded(app) == ["/nothing"]


@pytest.mark.parametrize("keys_required", [True, False])
def test_the_description_tells_roles_keys_and_problems(keys_required):
    gate = Gate(dict, required=keys_required, limiter=Limiter(0, 1))
    document = make_app(gate, Metrics(), keys_required=keys_required).openapi()
    assert document["openapi"].startswith("3.1")
    assert ("securitySchemes" in document["components"]) == keys_required
    paths = document["paths"]
    hear = paths["/v1/users/{user}/queries"]["post"]
    assert hear["x-role"] == "decide"
    assert set(hear["responses"]) == {"200", "400", "401", "403", "409", "413", "415", "422", "429", "503"}
    assert set(paths["/v1/users/{user}"]["get"]["responses"]) == {"200", "401", "403", "404", "422", "429", "503"}
    assert set(paths["/v1/open"]["get"]["responses"]) == {"200"}
    for path in paths.values():
        for operation in path.values():
            assert ("security" in operation) == (keys_required and operation["x-role"] != "public")
            for status, response in operation["responses"].items():
                if status >= "400":
                    schema = response["content"]["application/problem+json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Problem"}
    assert "HTTPValidationError" not in document["components"]["schemas"]


# The page about it


PAGE = (Path(__file__).parents[1] / "docs" / "operations.md").read_text("utf-8")


@pytest.mark.parametrize("name", LAWS)
def test_the_page_tells_every_setting(name):
    """With its default, and in the words of the settings themselves."""
    usual = json.dumps(DEFAULTS[name]) if not isinstance(DEFAULTS[name], float) else f"{DEFAULTS[name]:g}"
    assert f"| `{name}` | `{usual}` | {ABOUT[name]} |" in PAGE


def test_the_page_tells_every_figure_and_every_status():
    told = [line.split()[2] for line in Metrics().render().decode().splitlines() if line.startswith("# TYPE druthers_")]
    names = {name.removesuffix("_total") for name in told if not name.endswith("_created")}
    assert len(names) == 10
    assert [name for name in names if f"`{name}`" not in PAGE] == []
    for kind, status in problems.STATUSES.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {status} |"))
        assert kind is DruthersError or f"`{kind.__name__}`" in row
