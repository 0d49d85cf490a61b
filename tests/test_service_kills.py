"""Nothing is lost: servers are killed at random moments under load, and every word that they gave is kept."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from service_clients import Client, load
from service_processes import Server, free_port

from druthers.advisor import Advisor, events, verify
from druthers.service.settings import Settings
from druthers.stores import open_store

STORES = ("sqlite", "postgresql")
KINDS = {events.QUERY, events.DECISION, events.FEEDBACK, events.ITEM}
# Saving and making room all the time, as in a service of years.
SETTINGS = {"parser": "lexicon", "snapshot_every": 40, "resident_users": 8, "follow_seconds": 0.02, "rate": 0.0}


@pytest.fixture
def journal(request, tmp_path):
    """Return the address of a fresh journal in the store that the test names."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'journal.db'}"
    return request.getfixturevalue("postgres").fresh()


def read_all(url):
    """Return the whole journal, whose positions must have no gap."""
    with open_store(url) as store:
        found = store.read(limit=10**7)
    assert [event.position for event in found] == list(range(1, len(found) + 1))
    return found


def users_of(journal):
    return {event.user for event in journal if event.user is not None}


def check_books(clients, journal):
    """All that was acknowledged is in the journal, once; what may have happened is there once or not at all."""
    texts = Counter(event.body["text"] for event in journal if event.kind == events.QUERY and event.body.get("text"))
    messages = {event.body.get("text") for event in journal if event.kind == events.MESSAGE}
    named = Counter(event.body["item"]["name"] for event in journal if event.kind == events.ITEM)
    retired = Counter(event.body["item"] for event in journal if event.kind == events.RETIREMENT)
    by_decision = {}
    for event in journal:
        if event.about is not None:
            by_decision.setdefault(event.about, []).append(event)
    for client in clients:
        for text, position in client.texts.items():
            if client.erasing is None or text not in client.erasing.texts:
                assert texts[text] == 1, text
                assert journal[position - 1].body["text"] == text
        assert all(texts[text] == 0 and text not in messages for text in client.gone)
        assert all(named[name] == 1 for name in client.names)
        assert all(texts[unknown] + named[unknown] <= 1 for unknown in client.maybe)
        assert all(retired[item] >= count for item, count in client.retired.items())
        for id, decision in client.decisions.items():
            if decision[0] is not client.erasing:
                check_decision(*decision, by_decision[id], client.under_way is not None)
    assert sum(event.kind == events.ERASURE for event in journal) >= sum(client.erased for client in clients)


def check_decision(person, items, rewards, utilities, found, under_way):
    """A decision is there once, each measured value once, and utilities as they were told, one after the other.

    More is there only if more is under way.
    """
    made, *feedback = found
    assert (made.kind, made.user, made.body["items"]) == (events.DECISION, person.name, items)
    told = Counter((event.body["item"], *part) for event in feedback for part in event.body["rewards"].items())
    said = {(item, *part) for item, given in rewards.items() for part in given.items()}
    assert said == set(told) or (under_way and said < set(told))
    assert set(told.values()) <= {1}
    for item in {event.body["item"] for event in feedback} | set(utilities):
        here = [event.body for event in feedback if event.body["item"] == item and event.body["utility"] is not None]
        felt, known = [body["utility"] for body in here], utilities.get(item, [])
        assert felt == known or (under_way and felt[:-1] == known)
        assert [body.get("instead", {}).get("utility") for body in here] == [None, *felt[:-1]][: len(felt)]
    assert {event.kind for event in feedback} <= {events.FEEDBACK}


def check_state(url):
    """What is rebuilt from snapshot and tail is, to the last bit, what all events give from the first on."""
    with Advisor(store=url, parser="lexicon", policy=Settings().policy) as advisor:
        verified = verify(advisor)
    assert verified.agrees
    return verified.events, verified.digest


def kill_often(url, forker, folder, kills, seed):
    """Kill a server in the midst of its work, again and again; look at state and books after each time."""
    moments = random.Random(f"moments {seed}")
    server = Server(forker, folder / "log", free_port())
    clients = [Client(number, seed, [server.port]) for number in range(4)]
    try:
        for _ in range(kills):
            server.start(store=url, **SETTINGS)
            load(clients, moments.randint(1, 60), server.kill)
            check_state(url)
            check_books(clients, read_all(url))
        server.start(store=url, **SETTINGS)
        load(clients, 40)
        found = read_all(url)
        check_books(clients, found)
        assert server.stands(users_of(found)) == check_state(url)
    finally:
        server.kill()
    assert "unexpected: " not in server.told(), server.told()
    return clients, found


# SQLite is tried by tests/test_service_torture.py, where servers are killed beside all else.
@pytest.mark.parametrize("journal", [pytest.param("sqlite", marks=pytest.mark.slow), "postgresql"], indirect=True)
def test_a_killed_server_loses_nothing(journal, forker, tmp_path):
    clients, found = kill_often(journal, forker, tmp_path, kills=3, seed=1)
    assert sum(client.answers for client in clients) > 40
    assert {event.kind for event in found} >= KINDS


@pytest.mark.slow
@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_a_server_killed_a_hundred_times_loses_nothing(journal, forker, tmp_path):
    _, found = kill_often(journal, forker, tmp_path, kills=100, seed=2)
    assert {event.kind for event in found} >= {*KINDS, events.CORRECTION, events.ERASURE, events.RETIREMENT}
