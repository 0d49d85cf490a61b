"""Several servers on one journal, and a journal that is out of reach for a while."""

from __future__ import annotations

import resource
import threading
import time

import pytest
from service_clients import Client, load
from service_processes import Server, free_port, until
from test_service_kills import SETTINGS, STORES, check_books, check_state, journal, read_all, users_of

from druthers.advisor import events

__all__ = ["journal"]
CALM = {"parser": "lexicon", "rate": 0.0}


@pytest.fixture
def start(forker, tmp_path):
    """Return what starts servers, which are gone afterwards."""
    servers = []

    def start(url, **settings):
        servers.append(Server(forker, tmp_path / f"log-{len(servers)}", free_port()))
        return servers[-1].start(store=url, **{**CALM, **settings})

    yield start
    for server in servers:
        server.kill()
        assert "unexpected: " not in server.told(), server.told()


@pytest.mark.parametrize("journal", [pytest.param("sqlite", marks=pytest.mark.slow), "postgresql"], indirect=True)
def test_replicas_under_load_end_with_equal_state(journal, start):
    replicas = [start(journal, **SETTINGS) for _ in range(2)]
    clients = [Client(number, 3, [replica.port for replica in replicas]) for number in range(4)]
    load(clients, 80)
    found = read_all(journal)
    check_books(clients, found)
    for replica in replicas:
        until(lambda replica=replica: replica.ask("GET", "/readyz")[1]["position"] == len(found), "all to be followed")
    ends = [replica.stands(users_of(found)) for replica in replicas]
    assert ends[0] == ends[1] == check_state(journal)


@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_replicas_follow_each_other_and_take_feedback_on_each_others_decisions(journal, start):
    one, other = start(journal), start(journal)
    for number in range(5):
        user = f"/v1/users/user-{number}"
        status, made = one.ask("POST", f"{user}/decisions", {"text": "cheap and clean"})
        assert status == 200
        feedback = f"/v1/decisions/{made['id']}/feedback"
        for replica, new in ((other, True), (one, False)):
            status, learned = replica.ask("POST", feedback, {"utility": 0.5})
            assert (status, learned["decision"], learned["new"]) == (200, made["id"], new)
        assert one.ask("POST", feedback, {"utility": 0.75, "id": "booking"})[1]["revised"]
        assert other.ask("POST", feedback, {"utility": 0.75, "id": "booking"})[1]["new"] is False
        assert other.ask("POST", feedback, {"utility": 0.5, "id": "booking"})[0] == 409
        until(lambda user=user: other.ask("GET", user)[1].get("feedbacks") == 1, "the other to know")
        assert other.ask("GET", user) == one.ask("GET", user)


@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_of_feedback_sent_to_both_at_once_one_revises_the_other(journal, start):
    replicas = [start(journal), start(journal)]
    for number in range(10):
        _, made = replicas[number % 2].ask("POST", "/v1/users/ada/decisions", {})
        barrier, answers = threading.Barrier(2), {}

        def tell(place, path=f"/v1/decisions/{made['id']}/feedback", barrier=barrier, answers=answers):
            barrier.wait()
            answers[place] = replicas[place].ask("POST", path, {"utility": 0.25 + 0.5 * place})[0]

        threads = [threading.Thread(target=tell, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert list(answers.values()) == [200, 200]
        first, last = [event.body for event in read_all(journal) if event.kind == events.FEEDBACK][2 * number :]
        assert sorted([first["utility"], last["utility"]]) == [0.25, 0.75]
        assert last["instead"]["utility"] == first["utility"]


@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_erasing_reaches_the_other_replica(journal, start):
    one, other = start(journal), start(journal)
    _, made = one.ask("POST", "/v1/users/ada/decisions", {"text": "cheap"})
    assert other.ask("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.5})[0] == 200
    assert one.ask("DELETE", "/v1/users/ada")[0] == 204
    until(lambda: other.ask("GET", "/v1/users/ada")[0] == 404, "the other to forget")
    for replica in (one, other):
        assert replica.ask("POST", f"/v1/decisions/{made['id']}/feedback", {"rewards": {"value": 4.0}})[0] == 404
    assert not users_of(read_all(journal))


def check_out_of_reach(server, *, readable):
    """A server says that it cannot do its work, and not more than it knows."""
    for method, path, body in (
        ("POST", "/v1/users/ada/queries", {"text": "clean"}),
        ("POST", "/v1/users/eve/decisions", {}),
        ("DELETE", "/v1/users/ada", None),
        ("PUT", "/v1/items/inn", {}),
    ):
        status, problem = server.ask(method, path, body)
        assert (status, problem["type"]) == (503, "urn:druthers:store-failure")
        assert "nothing was changed" in problem["detail"]
        assert "journal.db" not in str(problem)
        assert "socket" not in str(problem)
    until(lambda: server.ask("GET", "/readyz")[0] == 503, "the server to say that it is not ready")
    time.sleep(0.5)
    assert server.ask("GET", "/readyz")[0] == 503
    assert server.ask("GET", "/healthz")[0] == 200
    assert server.ask("GET", "/v1/users/ada")[0] == (200 if readable else 503)


def check_recovered(server, url, before):
    """A server works again without being asked to, and knows what it knew."""
    until(server.ready, "the server to recover")
    told = server.ask("POST", "/v1/users/ada/queries", {"text": "clean"})
    assert told[1].get("position") == before + 1, (told, server.told())
    told = server.ask("GET", "/v1/users/ada")
    assert told[1].get("queries") == 2, (told, server.told())
    found = read_all(url)
    assert server.stands(users_of(found)) == check_state(url)


def test_a_full_disk_is_told_and_recovers(start, tmp_path):
    """The system refuses to let any file of the server grow."""
    url = f"sqlite:{tmp_path / 'journal.db'}"
    server = start(url)
    assert server.ask("POST", "/v1/users/ada/queries", {"text": "cheap"})[0] == 200
    before = len(read_all(url))
    limits = resource.prlimit(server.process, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process, resource.RLIMIT_FSIZE, (4096, limits[1]))
    check_out_of_reach(server, readable=True)
    assert len(read_all(url)) == before
    resource.prlimit(server.process, resource.RLIMIT_FSIZE, limits)
    check_recovered(server, url, before)


def test_a_file_that_is_gone_is_told_and_recovers(start, tmp_path):
    path = tmp_path / "journal.db"
    server = start(f"sqlite:{path}")
    assert server.ask("POST", "/v1/users/ada/queries", {"text": "cheap"})[0] == 200
    before = len(read_all(f"sqlite:{path}"))
    path.rename(tmp_path / "moved.db")
    check_out_of_reach(server, readable=False)
    (tmp_path / "moved.db").rename(path)
    check_recovered(server, f"sqlite:{path}", before)


def test_a_database_that_is_gone_is_told_and_recovers(start, postgres):
    url = postgres.fresh()
    server = start(url)
    assert server.ask("POST", "/v1/users/ada/queries", {"text": "cheap"})[0] == 200
    before = len(read_all(url))
    postgres.server.stop()
    try:
        check_out_of_reach(server, readable=False)
    finally:
        postgres.server.start()
    check_recovered(server, url, before)
