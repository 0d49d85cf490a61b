"""Sentences that take long to be read keep nobody else waiting, and ready means that one has been read."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import threading
import time
from types import SimpleNamespace

import pytest
import uvicorn

from druthers.language import make_parser
from druthers.service.app import _parser_settings, make_app
from druthers.service.desk import READERS_THAT_WAIT
from druthers.service.settings import Settings
from druthers.stores import open_store

PATIENCE = 60


def until(look):
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


@contextlib.contextmanager
def served(**settings):
    app = make_app(Settings(follow_seconds=0.02, **settings))
    options = {"log_config": None, "access_log": False, "ws": "none", "timeout_graceful_shutdown": 1}
    server = uvicorn.Server(uvicorn.Config(app, port=0, **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]

        def call(method, path, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            with contextlib.closing(connection):
                headers = {"Content-Type": "application/json"} if body is not None else {}
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                return SimpleNamespace(
                    status=answer.status, body=json.loads(answer.read()), retry=answer.getheader("retry-after")
                )

        yield call, app.state.desk
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.fixture
def silent():
    """A language model that takes every question and never answers; `questions` are those that it got."""
    pytest.importorskip("openai")
    listener = socket.create_server(("127.0.0.1", 0), backlog=200)
    held = []

    def hold():
        with contextlib.suppress(OSError):
            while True:
                held.append(listener.accept()[0])

    thread = threading.Thread(target=hold)
    thread.start()
    model = {"model": "m", "base_url": f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "fallback": "lexicon"}
    yield SimpleNamespace(settings=model, questions=held)
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()
    for connection in held:
        connection.close()


def test_a_silent_language_model_stalls_nobody_else(tmp_path, silent):
    """More sentences wait than there are threads to read them; whoever says nothing is served, from the store too."""
    told = {**silent.settings, "timeout": 600, "retries": 0}
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with served(store=where, parser="llm", parser_settings=told, reading_seconds=600, resident_users=1) as (call, _):
        until(lambda: call("GET", "/readyz").status == 200)
        for number in range(5):
            assert call("POST", f"/v1/users/known-{number}/decisions", {}).status == 200
        talk = [
            threading.Thread(target=lambda: suppressed(call, "POST", "/v1/users/talker/queries", {"text": "clean"}))
            for _ in range(READERS_THAT_WAIT + 8)
        ]
        for thread in talk:
            thread.start()
        until(lambda: len(silent.questions) >= READERS_THAT_WAIT)
        for number in range(5):
            assert call("GET", f"/v1/users/known-{number}").status == 200
            assert call("POST", f"/v1/users/known-{number}/decisions", {}).status == 200
            assert call("POST", f"/v1/users/known-{number}/queries", {"ranking": ["rooms"]}).status == 200
        assert call("GET", "/readyz").status == 200
    for thread in talk:
        thread.join(PATIENCE)


def suppressed(call, *given):
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        call(*given)


def test_a_sentence_that_is_not_read_in_time_is_not_heard_and_its_teller_is_told_so(tmp_path, silent):
    told = {**silent.settings, "timeout": 600, "retries": 0}
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with served(store=where, parser="llm", parser_settings=told, reading_seconds=0.3) as (call, _):
        for path in ("/v1/users/ada/queries", "/v1/users/ada/decisions"):
            answer = call("POST", path, {"text": "clean"})
            assert (answer.status, answer.retry) == (503, "1")
            assert answer.body["type"] == "urn:druthers:reading-failure"
            assert "must be read within 0.3 s, but this one was not, and is not heard" in answer.body["detail"]
        entries = [{"user": "ada", "text": "clean"}, {"user": "ada", "ranking": ["rooms"]}]
        results = call("POST", "/v1/batch/queries", {"entries": entries}).body["results"]
        assert [result["status"] for result in results] == [503, 200]
    with open_store(where) as store:
        assert [event.body["ranking"] for event in store.walk() if event.user == "ada"] == [["rooms"]]


def test_a_language_model_leaves_time_to_read_without_it():
    given = {"model": "m", "base_url": "http://localhost/v1"}
    made = _parser_settings(Settings(parser="llm", parser_settings=given, reading_seconds=8))
    assert made == {**given, "background": True, "timeout": 4, "retries": 0}
    made = _parser_settings(Settings(parser="llm", parser_settings={**given, "timeout": 1}))
    assert made["timeout"] == 1
    assert _parser_settings(Settings()) == {"background": True}


def test_ready_means_that_a_sentence_has_been_read(monkeypatch):
    """Until then the process lives, and serves who says nothing."""
    from druthers.language import Parser

    release, read = threading.Event(), Parser.warm_up

    def slow(parser):
        assert release.wait(PATIENCE)
        read(parser)

    monkeypatch.setattr(Parser, "warm_up", slow)
    with served(store="memory:", parser="lexicon") as (call, desk):
        answer = call("GET", "/readyz")
        assert (answer.status, answer.retry) == (503, "1")
        assert "still loading" in answer.body["detail"]
        assert call("GET", "/healthz").status == 200
        assert call("POST", "/v1/users/ada/decisions", {}).status == 200
        release.set()
        until(lambda: call("GET", "/readyz").status == 200)
        assert desk.can_read


def test_a_parser_that_cannot_be_loaded_is_never_ready(monkeypatch, caplog):
    from druthers.language import Parser

    def broken(parser):
        raise OSError("no weights")

    monkeypatch.setattr(Parser, "warm_up", broken)
    with served(store="memory:", parser="lexicon") as (call, _):
        until(lambda: "will not be ready" in caplog.text)
        assert call("GET", "/readyz").status == 503


def test_warming_up_leaves_nothing_to_be_loaded(monkeypatch):
    """The sentence model too, which plain words do not take."""
    from druthers.language.models import minilm

    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(minilm, "_loaded", [])
    parser = make_parser("default", objectives=["price", "cleanliness", "quiet", "location"])
    parser.warm_up()
    monkeypatch.setattr(minilm, "MiniLM", None)
    assert parser.read("a place where I can hear a pin drop and my wallet survives").ranking is not None


def test_a_full_disk_is_not_ready(tmp_path, monkeypatch):
    """Before anybody has tried to write, and until there is room again."""
    with served(store=f"sqlite:{tmp_path / 'journal.db'}", parser="lexicon") as (call, _):
        until(lambda: call("GET", "/readyz").status == 200)
        usual = shutil.disk_usage
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usual(path)._replace(free=1000))
        until(lambda: call("GET", "/readyz").status == 503)
        assert call("GET", "/readyz").body["type"] == "urn:druthers:store-failure"
        monkeypatch.setattr(shutil, "disk_usage", usual)
        until(lambda: call("GET", "/readyz").status == 200)
