"""Connections that are slow, endless or many on purpose; over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time

import pytest
import uvicorn

from druthers.service.app import server_options
from druthers.service.connections import BoundedProtocol
from druthers.service.settings import Settings

LONG = 30.0


class Service:
    """A service that answers with how long a body was; /wait answers when it is let go, /large with 64 MB."""

    def __init__(self, **bounds):
        settings = Settings(max_header_bytes=4096, max_body_bytes=4096, **bounds)
        options = server_options(settings) | {"log_config": None, "port": 0, "interface": "asgi3"}
        self.server = uvicorn.Server(uvicorn.Config(self.answer, **options))
        self.released = threading.Event()
        self.waiting = 0
        self.thread = threading.Thread(target=self.server.run)

    async def answer(self, scope, receive, send):
        if scope["type"] != "http":
            return
        length, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            length += len(message.get("body", b""))
            more = message.get("more_body", False)
        if scope["path"] == "/wait":
            self.waiting += 1
            while not self.released.is_set():
                await asyncio.sleep(0.005)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64 if scope["path"] == "/large" else 0):
            await send({"type": "http.response.body", "body": b"x" * 2**20, "more_body": True})
        await send({"type": "http.response.body", "body": str(length).encode()})

    def connect(self):
        return socket.create_connection(self.server.servers[0].sockets[0].getsockname(), timeout=LONG)

    def __enter__(self):
        self.thread.start()
        until(lambda: self.server.started)
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.should_exit = True
        self.thread.join(LONG)


def until(look):
    deadline = time.monotonic() + LONG
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def told(connection):
    """Return all that comes until the connection ends; a reset counts as its end."""
    pieces = []
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            pieces.append(piece)
    connection.close()
    return b"".join(pieces)


def problem(answer, status):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), answer[:200]
    assert b"content-type: application/problem+json" in head.lower()
    return json.loads(body)["detail"]


def flood(connection, piece, most=64 << 20):
    """Send the same again and again; returns how much was taken."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            connection.sendall(piece)
            sent += len(piece)
    return sent


HEAD = b"POST /a HTTP/1.1\r\nHost: localhost\r\n"
ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def service():
    with Service(arrival_seconds=LONG) as service:
        yield service


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET / HTTP/1.1\r\n", b"X-A: " + b"a" * 1000 + b"\r\n"),
        (b"GET / HTTP/1.1\r\nX-A: ", b"a" * 1000),
        (b"GET /", b"a" * 1000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n", b"X-A: " + b"a" * 1000 + b"\r\n"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX-A: ", b"a" * 1000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;", b"a" * 1000),
    ],
    ids=["headers", "a header", "an address", "trailers", "a trailer", "a note on a chunk"],
)
def test_nothing_may_be_endless(service, start, piece):
    connection = service.connect()
    connection.sendall(start)
    assert flood(connection, piece) < 32 << 20
    connection.close()


def test_headers_at_the_limit_pass_and_longer_ones_are_told_why(service):
    for length, status in ((4096, 200), (4097, 431)):
        head = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: "
        request = head + b"a" * (length - len(head) - 4) + b"\r\n\r\n"
        assert len(request) == length
        connection = service.connect()
        connection.sendall(request)
        answer = told(connection)
        if status == 431:
            assert problem(answer, 431) == "the headers of a request may have 4096 bytes, but these have more"
        else:
            assert answer.startswith(b"HTTP/1.1 200")


def test_a_body_in_the_smallest_chunks_is_a_body_like_any(service):
    connection = service.connect()
    connection.sendall(HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.sendall(b"1\r\na\r\n" * 4096 + b"0\r\nX-Late: 1\r\n\r\n")
    assert told(connection).endswith(b"4\r\n4096\r\n0\r\n\r\n")


def test_what_is_no_http_is_told_as_a_problem(service):
    connection = service.connect()
    connection.sendall(b"Dear service,\r\n\r\n")
    assert "must be HTTP/1.1" in problem(told(connection), 400)


def test_many_requests_may_come_at_once_on_one_connection(service):
    connection = service.connect()
    connection.sendall(ASK * 500 + ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert told(connection).count(b"HTTP/1.1 200") == 501


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET / HTTP/1.1\r\nX-A: ",
        HEAD + b"Content-Length: 2000\r\n\r\nabc",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n7ff\r\nabc",
    ],
    ids=["nothing", "half a header", "half a body", "half a chunk"],
)
def test_half_a_request_is_not_waited_for(start):
    """Neither if it says nothing more, nor if it says a little more again and again."""
    with Service(arrival_seconds=0.3) as service:
        for more in (b"", b"a") if start else (b"",):
            connection = service.connect()
            connection.sendall(start)
            answer = []
            reader = threading.Thread(target=lambda c, a: a.append(told(c)), args=(connection, answer))
            reader.start()
            with contextlib.suppress(OSError):
                while more and reader.is_alive():
                    connection.sendall(more)
                    time.sleep(0.02)
            reader.join(LONG)
            assert not reader.is_alive()
            if not start.startswith(HEAD):
                assert "must arrive within 0.3 s" in problem(answer[0], 408)
        until(lambda: not service.server.server_state.connections)


@pytest.mark.slow
def test_a_slow_caller_who_comes_to_an_end_is_served():
    """The time for a body begins when the headers are there, and that of the next request when it begins."""
    with Service(arrival_seconds=5.0) as service:
        connection = service.connect()
        for _ in range(2):
            connection.sendall(HEAD)
            time.sleep(3)
            connection.sendall(b"Content-Length: 6\r\n\r\nabc")
            time.sleep(3)
            connection.sendall(b"def")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.close()


def test_an_answer_that_nobody_reads_is_not_kept():
    with Service(arrival_seconds=0.3) as service:
        connection = service.connect()
        connection.sendall(ASK.replace(b"/ ", b"/large "))
        until(lambda: service.server.server_state.total_requests or service.server.server_state.connections)
        until(lambda: not service.server.server_state.connections)
        connection.close()


def test_who_waits_longest_gives_way_and_who_is_worked_for_stays():
    with Service(arrival_seconds=LONG, max_connections=20) as service:
        busy = [service.connect() for _ in range(5)]
        for connection in busy:
            connection.sendall(ASK.replace(b"/ ", b"/wait "))
        until(lambda: service.waiting == 5)
        slow = []
        for _ in range(200):
            slow.append(service.connect())
            slow[-1].sendall(b"GET / HT")
        for _ in range(20):  # others are served all the while
            connection = service.connect()
            connection.sendall(ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert told(connection).startswith(b"HTTP/1.1 200")
        assert len(service.server.server_state.connections) <= 20
        service.released.set()
        for connection in busy:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        for connection in busy + slow:
            connection.close()


def test_of_those_who_came_at_the_same_time_the_newest_stays(monkeypatch):
    monkeypatch.setattr(BoundedProtocol, "_since", property(lambda _: 0.0, lambda _, at: None), raising=False)
    with Service(arrival_seconds=LONG, max_connections=5) as service:
        slow = []
        for _ in range(30):
            slow.append(service.connect())
            slow[-1].sendall(b"GET / HT")
            connection = service.connect()
            connection.sendall(ASK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert told(connection).startswith(b"HTTP/1.1 200")
        for connection in slow:
            connection.close()


def test_where_all_are_worked_for_a_further_one_is_told_so():
    with Service(arrival_seconds=LONG, max_connections=3) as service:
        busy = [service.connect() for _ in range(3)]
        for connection in busy:
            connection.sendall(ASK.replace(b"/ ", b"/wait "))
        until(lambda: service.waiting == 3)
        assert "takes 3 connections, and all are in use" in problem(told(service.connect()), 503)
        service.released.set()
        for connection in busy:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.close()


def test_the_service_speaks_so():
    """And with as many processes as it was told, whatever the environment says."""
    options = server_options(Settings(max_header_bytes=2048, arrival_seconds=7))
    assert options["http"].func is BoundedProtocol
    given = options["http"].keywords["settings"]
    assert (given.max_header_bytes, given.max_body_bytes, given.arrival_seconds) == (2048, 65_536, 7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEB_CONCURRENCY", "4")
        assert uvicorn.Config(lambda: None, **options | {"log_config": None}).workers == 1
