"""Everything at once: kills, replicas, compacting, erasures with feedback on its way, and a journal put back."""

from __future__ import annotations

import contextlib
import random
import threading

import pytest
from backups import Backup
from service_clients import Client, Racer, copy_books, load, put_back_books
from service_processes import Server, free_port, until
from test_service_kills import SETTINGS, STORES, check_books, check_state, journal, read_all, users_of

from druthers.errors import StoreFailure
from druthers.stores import inspect, open_store

__all__ = ["journal"]


class Torture:
    """Two replicas on one journal, and all that can befall them."""

    def __init__(self, url, forker, folder, seed):
        self.url, self.folder = url, folder
        self.chance = random.Random(f"torture {seed}")
        self.servers = [Server(forker, folder / f"log-{number}", free_port()) for number in range(2)]
        self.clients = [Client(number, seed, [server.port for server in self.servers]) for number in range(4)]
        self.settings = {"store": url, **SETTINGS, "ledger": str(folder / "ledger")}
        self.racer = Racer([server.port for server in self.servers])
        self.kills = self.compacted = self.put_backs = 0

    def start(self):
        for server in self.servers:
            if server.process is None:
                server.start(**self.settings)

    def kill(self, *servers):
        for server in servers:
            if server.process is not None:
                server.kill()
                self.kills += 1

    def settle(self):
        """Finish what is under way, with all replicas there."""
        self.start()
        while any(client.under_way is not None for client in self.clients):
            load(self.clients, 0)

    @contextlib.contextmanager
    def disturbed(self):
        """Compact the journal, and have people erased while feedback on their decisions comes, all the time."""
        stop = threading.Event()
        others = [threading.Thread(target=work, args=(stop,)) for work in (self.racer.run, self.compact)]
        for thread in others:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in others:
                thread.join()

    def play(self, answers, *victims):
        """Have clients ask while all else goes on; then kill, and look at the books."""
        self.start()
        with self.disturbed():
            load(self.clients, answers, lambda: self.kill(*victims))
        self.check()

    def compact(self, stop):
        while not stop.is_set():
            try:
                with open_store(self.url) as store:
                    store.compact(next(iter(store.folds()), None))
                self.compacted += 1
            except StoreFailure:  # others kept it for too long
                pass
            stop.wait(0.05)

    def check(self):
        """Nothing is lost, nothing is doubled, nobody is back, and what is saved gives the bits of all events."""
        check_state(self.url)
        found = read_all(self.url)
        check_books(self.clients, found)
        forgotten = {id for one in (*self.clients, self.racer) for id in one.forgotten}
        assert [event.position for event in found if event.about in forgotten] == [], "a decision is back"
        assert users_of(found) & self.racer.erased == set(), "somebody is back"

    def put_back(self):
        """Bring an older journal back under the replicas: they refuse it, and fold it when they are started again."""
        self.settle()
        with self.disturbed():
            backup, books = Backup(self.url, self.folder), [copy_books(client) for client in self.clients]
            load(self.clients, self.chance.randint(20, 60))
            self.settle()
            until(lambda: all(server.ready() for server in self.servers), "the replicas to be ready")
            backup.put_back()
            last = len(read_all(self.url))
            for server in self.servers:
                until(lambda server=server: server.ask("GET", "/readyz")[0] == 503, "a replica to notice")
                assert server.ask("POST", "/v1/users/ada/decisions", {})[1]["type"] == "urn:druthers:other-journal"
            assert len(read_all(self.url)) == last
            self.kill(*self.servers)
            for client, known in zip(self.clients, books, strict=True):
                put_back_books(client, known)
            self.start()
        self.check()
        self.put_backs += 1

    def end(self):
        self.settle()
        load(self.clients, 40)
        self.settle()
        self.check()
        found = read_all(self.url)
        for server in self.servers:
            until(lambda server=server: server.ask("GET", "/readyz")[1].get("position") == len(found), "all to be read")
        stands = [server.stands(users_of(found)) for server in self.servers]
        assert stands[0] == stands[1] == check_state(self.url)
        with open_store(self.url) as store:
            assert inspect(store) == []


def torture(url, forker, folder, kills, seed):
    played = Torture(url, forker, folder, seed)
    try:
        while played.kills < kills:
            victims = played.chance.choice([played.servers[:1], played.servers[1:], played.servers])
            played.play(played.chance.randint(5, 60), *victims)
            if played.chance.random() < 0.1 or played.kills >= kills:
                played.put_back()
        played.end()
    finally:
        for server in played.servers:
            server.kill()
    for server in played.servers:
        assert "unexpected: " not in server.told(), server.told()
    assert played.compacted > 0
    assert played.racer.erased
    assert sum(client.answers for client in played.clients) > 40
    told = {"kills": played.kills, "put back": played.put_backs, "compacted": played.compacted}
    told |= {"erased in a race": len(played.racer.erased), "erased": sum(client.erased for client in played.clients)}
    print(told | {"answers": sum(client.answers for client in played.clients), "events": len(read_all(url))})


# The other store is tried by the kills alone (tests/test_service_kills.py), and here by the slow test.
@pytest.mark.parametrize("journal", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
def test_all_at_once_loses_doubles_and_brings_back_nothing(journal, forker, tmp_path):
    torture(journal, forker, tmp_path, kills=3, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("journal", STORES, indirect=True)
def test_all_at_once_a_hundred_times(journal, forker, tmp_path):
    torture(journal, forker, tmp_path, kills=100, seed=2)
