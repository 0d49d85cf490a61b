"""How much the service does beside an empty FastAPI route: throughput in alternating phases, and latency at half load.

All servers are one process each, on loopback, with the same uvicorn settings; the journal is a SQLite file, each event
flushed to the disk before it is acknowledged. The clients are in this process: raw sockets with requests that are made
beforehand. Figures are ratios because machines differ and share their cores; the spread over the rounds is told.

`--start` builds a journal of a million events of a hundred thousand users, has a server fold it, and measures memory
per user and how long the next start takes from its snapshot.

`--items K` has a server decide over K items with `--features P` columns, three items a decision, one request after the
other: processor time of the server for each, and how long the caller waits while nobody else asks. Strangers are also
asked something if that pays, which has to be weighed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import uvloop
from items import many_items

from druthers.advisor import Advisor, events
from druthers.catalogs import Catalog
from druthers.stores import Event, SQLiteStore

CONNECTIONS = 128
USERS = 5000
EMPTY = """
import uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/")
async def empty():
    return {}
uvicorn.run(app, port=int(__import__("sys").argv[1]), log_level="warning", access_log=False, server_header=False,
            ws="none", loop="uvloop", http="httptools")
"""
SERVE = """
import sys
from druthers.service.app import serve
from druthers.service.settings import load_settings
serve(load_settings(environ={}, store="sqlite:" + sys.argv[2], port=int(sys.argv[1]), parser="lexicon", rate=0.0,
                    log_level=sys.argv[3]))
"""


class Client(asyncio.Protocol):
    """A connection that is kept; one request at a time."""

    def __init__(self, done: Callable[[Client, bytes], None]) -> None:
        self.done = done
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        """Look whether an answer is whole."""
        self.buffer = data = self.buffer + data if self.buffer else data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return
        at = data.find(b"content-length: ", 0, end) + 16
        if len(data) >= end + 4 + int(data[at : data.find(b"\r", at)]):
            self.buffer = b""
            self.done(self, data)


def request(method: str, path: str, body: object = None) -> bytes:
    """Return a request as it travels."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    content = json.dumps(body).encode()
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


async def connect(port: int, done: Callable[[Client, bytes], None], count: int) -> list[Client]:
    """Open connections."""
    loop = asyncio.get_running_loop()
    opened = [await loop.create_connection(lambda: Client(done), "127.0.0.1", port) for _ in range(count)]
    return [client for _, client in opened]


def check(answer: bytes) -> None:
    """End where a server answers with anything but success."""
    if answer[9:11] != b"20":
        raise SystemExit(f"a request was refused: {answer.decode()}")


async def throughput(port: int, requests: Iterator[bytes], seconds: float, seen: Callable[[bytes], None]) -> float:
    """Return the requests per second that keep all connections busy."""
    count = 0
    stopped = False

    def done(client: Client, answer: bytes) -> None:
        nonlocal count
        count += 1
        check(answer)
        seen(answer)
        if not stopped:
            client.transport.write(next(requests))

    clients = await connect(port, done, CONNECTIONS)
    started = time.perf_counter()
    for client in clients:
        client.transport.write(next(requests))
    await asyncio.sleep(seconds)
    stopped, total, took = True, count, time.perf_counter() - started
    await asyncio.sleep(0.2)
    for client in clients:
        client.transport.close()
    return total / took


async def latencies(port: int, requests: Iterator[bytes], seconds: float, rate: float) -> list[float]:
    """Return how long requests took that come at random moments, counted from the moment when each was due."""
    chance = random.Random(7)
    loop = asyncio.get_running_loop()
    times: list[float] = []
    due: dict[Client, float] = {}
    waiting: list[float] = []

    def done(client: Client, answer: bytes) -> None:
        times.append(loop.time() - due[client])
        check(answer)
        if waiting:
            send(client, waiting.pop(0))
        else:
            free.append(client)

    def send(client: Client, moment: float) -> None:
        due[client] = moment
        client.transport.write(next(requests))

    free = await connect(port, done, 4 * CONNECTIONS)
    everyone = list(free)
    moment = start = loop.time()
    while moment < start + seconds:
        moment += chance.expovariate(rate)
        if (pause := moment - loop.time()) > 0:
            await asyncio.sleep(pause)
        if free:
            send(free.pop(), moment)
        else:
            waiting.append(moment)
    await asyncio.sleep(1.0)
    for client in everyone:
        client.transport.close()
    return times


class Feedback:
    """Requests with feedback on decisions that were made."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.names = [objective.name for objective in Catalog.load("hotels").objectives]

    def note(self, answer: bytes) -> None:
        """Remember a decision."""
        at = answer.find(b'"id":"') + 6
        self.ids.append(answer[at : answer.find(b'"', at)].decode())

    def stock(self, server: Server, count: int) -> None:
        """Have so many decisions made that nobody has told about."""
        while len(self.ids) < count:
            some = range(len(self.ids), len(self.ids) + 100)
            made = server.send("/v1/batch/decisions", {"entries": [{"user": f"user-{k % USERS}"} for k in some]})
            self.ids += [one["answer"]["id"] for one in json.loads(made)["results"]]

    def __iter__(self) -> Iterator[bytes]:
        while True:
            rewards = {name: 1.0 + (len(self.ids) + place) % 9 / 2 for place, name in enumerate(self.names)}
            yield request("POST", f"/v1/decisions/{self.ids.pop()}/feedback", {"rewards": rewards, "utility": 0.5})


class Server:
    """A process that serves."""

    def __init__(self, code: str, *given: str, path: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port = found.getsockname()[1]
        self.started = time.perf_counter()
        self.process = subprocess.Popen([sys.executable, "-c", code, str(self.port), *given], stderr=subprocess.DEVNULL)
        self.url = f"http://localhost:{self.port}"
        while True:
            try:
                self.get(path)
                break
            except OSError:
                time.sleep(0.02)
                if self.process.poll() is not None:
                    raise SystemExit("a server did not start") from None
        self.took = time.perf_counter() - self.started

    def get(self, path: str) -> bytes:
        """Return what is at a path."""
        return self.send(path)

    def send(self, path: str, body: object = None) -> bytes:
        """Return the answer to a body, or what is at a path."""
        content = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self.url + path, content, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=600) as answer:
            found: bytes = answer.read()
            return found

    def megabytes(self) -> float:
        """Return the memory of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def seconds(self) -> float:
        """Return the processor time of the process so far, all its threads together."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> float:
        """End it in peace; returns how long that took."""
        started = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        return time.perf_counter() - started


async def compare(folder: str, rounds: int, seconds: float, level: str) -> None:
    """Print throughput beside an empty route, and latency at half of it."""
    service = Server(SERVE, f"{folder}/load.db", level, path="/readyz")
    empty = Server(EMPTY, path="/")
    try:
        feedback = Feedback()
        decisions = (request("POST", f"/v1/users/user-{k % USERS}/decisions", {}) for k in itertools.count())
        nothing = itertools.repeat(request("GET", "/"))
        learning = iter(feedback)
        feedback.stock(service, USERS)
        found: dict[str, list[float]] = {"empty": [], "decisions": [], "feedback": []}
        for _ in range(rounds):
            found["empty"].append(await throughput(empty.port, nothing, seconds, lambda answer: None))
            found["decisions"].append(await throughput(service.port, decisions, seconds, feedback.note))
            feedback.stock(service, int(1.2 * seconds * found["empty"][-1]))
            found["feedback"].append(await throughput(service.port, learning, seconds, lambda answer: None))
        rates = {name: statistics.median(values) for name, values in found.items()}
        print(f"requests per second, median of {rounds} rounds of {seconds:g} s, {CONNECTIONS} connections")
        print(f"  {'empty route':12} {rates['empty']:8.0f}")
        for name, target in (("decisions", 50), ("feedback", 35)):
            ratios = [100 * one / other for one, other in zip(found[name], found["empty"], strict=True)]
            shown = f"{statistics.median(ratios):5.1f} % (from {min(ratios):.1f} to {max(ratios):.1f})"
            print(f"  {name:12} {rates[name]:8.0f}   {shown}, wanted {target} %")
        print("milliseconds at half that load, from the moment when a request is due")
        for name, requests in (("decisions", decisions), ("feedback", learning)):
            feedback.stock(service, int(2 * seconds * rates[name]))
            times = [1e3 * one for one in await latencies(service.port, requests, 2 * seconds, rates[name] / 2)]
            half, most = np.quantile(times, [0.5, 0.99])
            print(f"  {name:12} p50 {half:6.2f}   p99 {most:6.2f}, wanted 20 ({len(times)} requests)")
    finally:
        for server in (service, empty):
            server.stop()


def decide_over(folder: str, n_items: int, n_features: int, count: int) -> None:
    """Print what a decision over many items costs the server, and how long it takes; the same of feedback."""
    Advisor(many_items(n_items, n_features), store=f"sqlite:{folder}/many.db", parser="lexicon").close()
    server = Server(SERVE, f"{folder}/many.db", "warning", path="/readyz")
    try:
        ids: list[str] = []
        line = http.client.HTTPConnection("localhost", server.port)

        def ask(path: str, body: object) -> dict[str, Any]:
            line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = line.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise SystemExit(f"a request was refused: {content.decode()}")
            told: dict[str, Any] = json.loads(content)
            return told

        def meet(number: int) -> None:
            ids.append(ask(f"/v1/users/stranger-{number}/decisions", {"size": 3})["id"])

        def decide(number: int) -> None:
            ids.append(ask(f"/v1/users/user-{number % 20}/decisions", {"size": 3})["id"])

        def learn(number: int) -> None:
            ask(f"/v1/decisions/{ids.pop()}/feedback", {"utility": number % 21 / 10 - 1})

        for number in range(60):  # so that nobody of these is asked anything any more
            decide(number)
            learn(number)
        print(f"{n_items} items with {n_features} columns, {count} requests, one after the other; milliseconds")
        for name, act in (("decisions", decide), ("feedback", learn), ("for strangers", meet)):
            times, before = [], server.seconds()
            for number in range(count):
                began = time.perf_counter()
                act(number)
                times.append(1e3 * (time.perf_counter() - began))
            spent = 1e3 * (server.seconds() - before) / count
            half, most = np.quantile(times, [0.5, 0.99])
            print(f"  {name:14} processor {spent:6.2f}   p50 {half:6.2f}   p99 {most:6.2f}", flush=True)
    finally:
        server.stop()


def history(users: int, count: int) -> Iterator[list[Event]]:
    """Yield the events of a busy service, in large batches: a query, then decisions with feedback."""
    catalog = Catalog.load("hotels")
    names = [objective.name for objective in catalog.objectives]
    items = [item.id for item in catalog.items]
    chance = random.Random(11)
    batch: list[Event] = []
    for number in range(count):
        user = f"user-{number % users}"
        turn = number // users
        item, decision = chance.choice(items), f"d-{number - users}"
        if turn == 0:
            batch.append(events.make(events.QUERY, {"ranking": chance.sample(names, 3)}, user=user))
        elif turn % 2:
            body = {"items": [item], "offer": None, "size": 1, "why": [["", 0.0, 0.0, 0.0, 0.0, 1.0, ""]]}
            about = f"d-{number}"
            batch.append(events.make(events.DECISION, body, user=user, about=about, key=events.decision_key(about)))
        else:
            felt = {"item": item, "rewards": {name: chance.uniform(1, 5) for name in names}, "utility": chance.random()}
            key = events.feedback_key(decision, item, 0)
            batch.append(events.make(events.FEEDBACK, felt, user=user, about=decision, key=key))
        if len(batch) == 20_000:
            yield batch
            batch = []
    yield batch


def start(folder: str, users: int, count: int) -> None:
    """Print memory per user, and the time of a start from a snapshot."""
    path = f"{folder}/start.db"
    Advisor("hotels", store=f"sqlite:{path}", parser="lexicon").close()
    began = time.perf_counter()
    with SQLiteStore(path) as store:
        for batch in history(users, count):
            store.append(batch)
    print(f"journal of {count} events of {users} users written in {time.perf_counter() - began:.0f} s")
    fresh = Server(SERVE, f"{folder}/other.db", "warning", path="/readyz")
    without = fresh.megabytes()
    fresh.stop()
    server = Server(SERVE, path, "warning", path="/readyz")
    print(f"  start without a snapshot: {server.took:.0f} s")
    time.sleep(1.0)  # figures of the journal are renewed when it is followed
    told = dict(line.rsplit(b" ", 1) for line in server.get("/metrics").splitlines() if not line.startswith(b"#"))
    resident = float(told[b"druthers_resident_users"])
    size = server.megabytes()
    print(f"  {resident:.0f} users in memory: {size:.0f} MB, {1024 * (size - without) / users:.2f} kB per user")
    print(f"  stop, with all users saved: {server.stop():.0f} s")
    times = []
    for _ in range(3):
        server = Server(SERVE, path, "warning", path="/readyz")
        times.append(server.took)
        server.stop()
    server = Server(SERVE, f"{folder}/another.db", "warning", path="/readyz")
    server.stop()
    print(f"  start from the snapshot: {min(times):.1f} to {max(times):.1f} s from process to ready, wanted 5 s")
    print(f"  (an empty journal: {server.took:.1f} s, which is importing, and reading compiled kernels)")


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--log-level", default="warning", help="info logs every request to /dev/null")
    parser.add_argument("--folder", help="where the journal is; a temporary folder by default")
    parser.add_argument("--start", action="store_true", help="measure memory and start-up instead")
    parser.add_argument("--users", type=int, default=10**5)
    parser.add_argument("--events", type=int, default=10**6)
    parser.add_argument("--items", type=int, help="decide over so many items instead")
    parser.add_argument("--features", type=int, default=20, help="columns of these items")
    parser.add_argument("--requests", type=int, default=300, help="decisions over these items")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        if given.start:
            start(folder, given.users, given.events)
        elif given.items:
            decide_over(folder, given.items, given.features, given.requests)
        else:
            uvloop.run(compare(folder, given.rounds, given.seconds, given.log_level))
    os.sync()


if __name__ == "__main__":
    main()
