"""Who may do what: every route is tried with every kind of key."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from service_processes import until

from druthers.advisor import Advisor, events
from druthers.service.app import make_app
from druthers.service.auth import LEVELS, ROLES, make_key
from druthers.service.guards import GuardedRoute
from druthers.service.settings import Settings
from druthers.stores import open_store
from druthers.web import VIEWS, load

NAMES = {"user": "ada", "decision": "d-1", "item": "hotel-1", "id": "d-1", "event_id": "d-1", "eventId": "d-1"}
NAMES |= {"position": "64", "key": "0123456789ab", "report": "none", "version": load().version, "path": "main.js"}


def key_event(key):
    return events.make(events.KEY, {"id": key.id, "digest": key.digest, "role": key.role, "name": key.name})


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Return an application that wants keys, a client, and keys by role."""
    url = f"sqlite:{tmp_path_factory.mktemp('keys') / 'journal.db'}"
    keys = {role: make_key(role, role) for role in ROLES[1:]}
    keys["revoked"] = make_key("admin", "lost")
    with Advisor("hotels", store=url, parser="lexicon") as advisor:
        advisor.hear("ada", "cheap and clean")
        advisor.recommend("ada", id="d-1")
        advisor.store.append([key_event(key) for _, key in keys.values()])
        advisor.store.append([events.make(events.REVOCATION, {"id": keys["revoked"][1].id})])
    app = make_app(Settings(store=url, parser="lexicon", keys="required", rate=0.0, follow_seconds=0.05))
    with TestClient(app, raise_server_exceptions=False) as client:
        until(lambda: client.get("/readyz").status_code == 200, "the service to be ready")
        yield app, client, {name: text for name, (text, _) in keys.items()}


def walk(app):
    """Yield each route with its methods: its role, and a request that is about something."""
    for route in app.routes:
        assert isinstance(route, GuardedRoute)
        path = route.path_format
        for parameter in route.dependant.path_params:
            path = path.replace(f"{{{parameter.alias}}}", NAMES[parameter.alias])
        assert "{" not in path
        for method in route.methods:
            yield method, path, route.role


def call(client, method, path, **headers):
    body = {"json": {}} if method in ("POST", "PUT", "PATCH") else {}
    return client.request(method, path, headers=headers, **body)


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def test_all_roles_are_there(service):
    app, _, _ = service
    assert {role for _, _, role in walk(app)} == set(ROLES)
    public = {path for _, path, role in walk(app) if role == "public"}
    assert public == {"/healthz", "/readyz", "/openapi.json", "/docs", *VIEWS, f"/assets/{load().version}/main.js"}


def test_wrong_missing_and_revoked_keys_are_refused_on_every_route(service):
    app, client, keys = service
    good = keys["admin"]
    wrong = [
        {},
        bearer(""),
        bearer("druthers"),
        bearer(make_key("admin")[0]),
        bearer(keys["revoked"]),
        bearer(good[:-1] + ("0" if good[-1] != "0" else "1")),
        bearer(good.upper()),
        bearer(good[:-1]),
        bearer(f"{good} {good}"),
        {"Authorization": f"Basic {good}"},
        {"X-API-Key": keys["revoked"]},
        {"Ocp-Apim-Subscription-Key": "0" * 32},
        {"Authorization": f"Bearer {keys['revoked']}", "X-API-Key": good},
        {"Cookie": f"key={good}"},
    ]
    before = app.state.desk.fold.position
    for method, path, role in walk(app):
        for headers in wrong:
            answer = call(client, method, path, **headers)
            if role == "public":
                assert answer.status_code == 200
                continue
            assert answer.status_code == 401, (method, path, headers)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert good[-20:] not in answer.text
        assert role == "public" or call(client, method, f"{path}?key={good}").status_code == 401
    assert app.state.desk.store.last() == before


def test_a_key_with_too_low_a_role_is_refused_and_a_good_one_let_through(service):
    app, client, keys = service
    tried = set()
    for method, path, role in sorted(walk(app), key=lambda one: one[0] == "DELETE"):
        for held in ("read", "decide", "admin"):
            low = LEVELS[held] < LEVELS[role]
            before = app.state.desk.store.last()
            for header in (bearer(keys[held]), {"X-API-Key": keys[held]}, {"Ocp-Apim-Subscription-Key": keys[held]}):
                answer = call(client, method, path, **header)
                if low:
                    assert answer.status_code == 403, (method, path, held)
                    assert f"the role {role}" in answer.json()["detail"]
                else:
                    assert answer.status_code not in (401, 403, 405, 500, 503), (method, path, held)
            assert not low or app.state.desk.store.last() == before
            tried.add((role, held, low))
    assert len(tried) == 4 * 3


def test_a_key_is_refused_before_anything_is_read(service):
    """Who has no key learns nothing, not even what is wrong with a body."""
    app, client, _ = service
    for method, path, role in walk(app):
        if role != "public" and method in ("POST", "PUT", "PATCH"):
            for content in (b"{", b"[" * 1000, b""):
                answer = client.request(method, path, content=content, headers={"Content-Type": "text/plain"})
                assert answer.status_code == 401


def test_new_and_revoked_keys_are_known_within_a_second(service):
    app, client, _ = service
    text, key = make_key("read", "late")
    with open_store(app.state.desk.settings.store) as elsewhere:
        for event, status in ((key_event(key), 200), (events.make(events.REVOCATION, {"id": key.id}), 401)):
            elsewhere.append([event])
            position = elsewhere.last()
            for _ in range(1000):
                if client.get("/readyz").json()["position"] >= position:
                    break
            assert call(client, "GET", "/v1/objectives", **bearer(text)).status_code == status


@pytest.mark.parametrize("path", ["/v1/events/", "//v1/events", "/v1//events", "/V1/events", "/v1/events%2f", "/v1/x"])
def test_paths_that_are_nearly_routes_lead_nowhere(service, path):
    _, client, _ = service
    assert client.get(f"http://testserver{path}").status_code in (401, 404)


def test_other_methods_tell_nothing(service):
    app, client, _ = service
    for _, path, role in walk(app):
        for method in ("OPTIONS", "TRACE", "HEAD"):
            answer = client.request(method, path)
            assert answer.status_code in (401, 405) or role == "public"
