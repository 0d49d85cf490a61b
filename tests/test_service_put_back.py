"""A journal that comes back older is refused by a service that runs, and folded by one that starts; nobody is back."""

from __future__ import annotations

import os
import signal

import pytest
from backups import Backup
from service_processes import Server, free_port, until
from test_service_kills import STORES, check_state, journal, read_all, users_of
from typer.testing import CliRunner

from druthers.advisor import events
from druthers.cli import app

__all__ = ["journal"]
ROUTES = (
    ("POST", "/v1/users/ada/queries", {"text": "clean"}),
    ("POST", "/v1/users/eve/decisions", {}),
    ("POST", "/v1/batch/decisions", {"entries": [{"user": "eve"}]}),
    ("POST", "/personalizer/v1.0/rank", {"actions": [{"id": "a"}]}),
    ("GET", "/v1/users/ada", None),
    ("GET", "/v1/items", None),
    ("GET", "/v1/events", None),
    ("GET", "/metrics", None),
    ("DELETE", "/v1/users/ada", None),
    ("PUT", "/v1/items/inn", {}),
)


@pytest.fixture
def start(forker, tmp_path):
    """Return what starts servers with keys, which are gone afterwards."""
    servers = []

    def start(url, **settings):
        servers.append(Server(forker, tmp_path / f"log-{len(servers)}", free_port()))
        settings = {"parser": "lexicon", "rate": 0.0, "ledger": str(tmp_path / "ledger"), **settings}
        return servers[-1].start(store=url, keys="required", **settings)

    yield start
    for server in servers:
        server.kill()
        assert "unexpected: " not in server.told(), server.told()


def command(*words):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.output.strip()


def make_key(url):
    key = command("keys", "create", "admin", "--store", url)
    return key, key.split("_")[1]


@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_a_service_refuses_an_older_journal_and_a_start_folds_it(journal, start, tmp_path):
    start(journal).kill()
    (old, old_id), (stolen, stolen_id) = make_key(journal), make_key(journal)
    server = start(journal, snapshot_every=5)

    def ask(method, path, body=None, key=old):
        return server.ask(method, path, body, **{"X-API-Key": key})

    for user in ("ada", "bob"):
        assert ask("POST", f"/v1/users/{user}/decisions", {"text": "cheap", "id": f"visit-{user}"})[0] == 200
    backup = Backup(journal, tmp_path)
    before = len(read_all(journal))
    assert ask("POST", "/v1/users/eve/decisions", {"text": "quiet"})[0] == 200
    assert ask("DELETE", "/v1/users/ada")[0] == 204
    command("keys", "revoke", stolen_id, "--store", journal, "--ledger", str(tmp_path / "ledger"))
    until(lambda: ask("GET", "/v1/items", key=stolen)[0] == 401, "the revoked key to be refused")

    backup.put_back()
    until(lambda: server.ask("GET", "/readyz")[0] == 503, "the service to notice")
    for key in (old, stolen, "druthers_000000000000_" + "0" * 64):
        for method, path, body in ROUTES:
            status, problem = ask(method, path, body, key=key)
            assert (status, problem["type"]) == (503, "urn:druthers:other-journal"), (method, path, key)
            assert "journal.db" not in str(problem)
    assert server.ask("GET", "/healthz")[0] == 200
    os.kill(server.process, signal.SIGTERM)
    until(lambda: not os.path.exists(f"/proc/{server.process}"), "the service to stop")
    server.forker.running.discard(server.process)
    server.process = None
    assert len(read_all(journal)) == before, "something was written to an older journal"
    assert "an older or another journal was put in its place" in server.told()

    server = start(journal)
    assert "2 erasures and revocations were done again" in server.told()
    assert ask("GET", "/v1/items", key=stolen)[0] == 401
    assert [ask("GET", f"/v1/users/{user}")[0] for user in ("ada", "bob", "eve")] == [404, 200, 404]
    assert ask("POST", "/v1/decisions/visit-ada/feedback", {"utility": 0.5})[0] == 404
    assert ask("POST", "/v1/decisions/visit-bob/feedback", {"utility": 0.5})[0] == 200
    found = read_all(journal)
    assert users_of(found) == {"bob"}
    assert [event.kind for event in found[before:]] == [events.ERASURE, events.REVOCATION, events.FEEDBACK]
    assert server.stands(users_of(found)) == check_state(journal)
    assert old_id != stolen_id


@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_a_service_goes_on_when_the_right_journal_is_back(journal, start, tmp_path):
    server = start(journal)
    older = Backup(journal, tmp_path)
    (key, _) = make_key(journal)
    until(lambda: server.ask("GET", "/v1/items", **{"X-API-Key": key})[0] == 200, "the key to be known")
    newer = Backup(journal, tmp_path)
    older.put_back()
    until(lambda: server.ask("GET", "/v1/items", **{"X-API-Key": key})[0] == 503, "the service to notice")
    newer.put_back()
    until(lambda: server.ask("GET", "/v1/items", **{"X-API-Key": key})[0] == 200, "the service to notice")
    until(lambda: server.ask("GET", "/readyz")[0] == 200, "the service to be ready")


@pytest.mark.parametrize(
    ("journal", "option"),
    [
        ("sqlite", ("--drop-states",)),
        ("postgresql", ()),
        pytest.param("sqlite", (), marks=pytest.mark.slow),
        pytest.param("postgresql", ("--drop-states",), marks=pytest.mark.slow),
    ],
    indirect=["journal"],
)
def test_compacting_takes_nothing_from_a_service_that_runs(journal, start, option):
    """Most users are not in memory, and their states are all that is left of them there."""
    server = start(journal, resident_users=5, snapshot_every=30, follow_seconds=0.02)
    (key, _) = make_key(journal)

    def ask(method, path, body=None):
        return server.ask(method, path, body, **{"X-API-Key": key})

    until(lambda: ask("GET", "/v1/items")[0] == 200, "the key to be known")
    users = [f"/v1/users/u{number}" for number in range(20)]
    for user in users:
        assert ask("POST", f"{user}/queries", {"text": "cheap and quiet"})[0] == 200
    cards = [ask("GET", user) for user in users]
    assert {status for status, _ in cards} == {200}
    command("store", "compact", "--store", journal, *option)
    assert [ask("GET", user) for user in users] == cards
    for user in users:
        assert ask("POST", f"{user}/queries", {"text": "clean"})[0] == 200
    server.kill()
    server.start(store=journal, keys="required", parser="lexicon", rate=0.0)
    assert [ask("GET", user)[1]["queries"] for user in users] == [2] * 20
    found = read_all(journal)
    assert server.stands(users_of(found)) == check_state(journal)
