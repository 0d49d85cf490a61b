"""A service that starts again: without its catalog, with several processes, and with one that cannot start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient as Client
from service_processes import PATIENCE, Server, free_port, until
from typer.testing import CliRunner

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.cli import app
from druthers.service.app import make_app
from druthers.service.settings import Settings
from druthers.types import Objective

LONG = 300  # seconds in which a process may also have to compile
INNS = Catalog(
    name="inns",
    objectives=[Objective("clean", low=1, high=5), Objective("quiet", low=1, high=5)],
    items=[Item("mill", values={"clean": 4, "quiet": 2}), Item("barn", values={"clean": 2, "quiet": 5})],
)


class Command:
    """A `druthers serve` of its own, ended with the test."""

    def __init__(self, folder, *words):
        self.port = free_port()
        self.log = folder / f"{self.port}.log"
        self.client = Server(None, self.log, self.port)
        ours = {key for key in os.environ if key.startswith("DRUTHERS_") and key != "DRUTHERS_CACHE_DIR"}
        environment = {key: value for key, value in os.environ.items() if key not in ours}
        command = [sys.executable, "-m", "druthers", "serve", "--parser", "lexicon", "--policy", "s-ucb"]
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *words], cwd=folder, env=environment, stdout=file, stderr=file
            )

    def told(self):
        return self.log.read_text()

    def ready(self):
        assert self.process.poll() is None, self.told()
        return self.client.ready()

    def children(self):
        tasks = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        found = {int(child) for child in tasks.read_text().split()}
        return {child for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()}

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@pytest.fixture
def command(tmp_path):
    started = []

    def start(*words):
        started.append(Command(tmp_path, *words))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_a_journal_that_is_there_needs_no_catalog(tmp_path):
    INNS.save(tmp_path / "inns.toml")
    where = f"sqlite:{tmp_path / 'inns.db'}"
    for catalog in ({"catalog": str(tmp_path / "inns.toml")}, {}):
        settings = Settings(store=where, parser="lexicon", policy="s-ucb", **catalog)
        with Client(make_app(settings), base_url="http://localhost") as client:
            assert [one["name"] for one in client.get("/v1/objectives").json()] == ["clean", "quiet"]
            assert [one["id"] for one in client.get("/v1/items").json()["items"]] == ["barn", "mill"]


def test_a_new_journal_is_about_hotels_if_nobody_says_otherwise(tmp_path):
    with Client(make_app(Settings(store="memory:", parser="lexicon", policy="s-ucb"))) as client:
        assert len(client.app.state.desk.fold.items) == 62


@pytest.mark.slow
def test_workers_share_an_address_and_one_that_dies_is_followed_by_another(command):
    service = command("--store", "sqlite:inns.db", "--workers", "2")
    until(service.ready, "the service", LONG)
    until(lambda: len(service.children()) == 2, "two workers")
    first = service.children()
    victim = min(first)
    os.kill(victim, signal.SIGKILL)
    until(lambda: victim not in service.children() and len(service.children()) == 2, "another worker")
    assert first - {victim} < service.children()
    until(service.ready, "the service", LONG)
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(PATIENCE) == 0
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in first), "all to be gone")


@pytest.mark.slow
def test_workers_end_with_their_parent(command):
    service = command("--store", "sqlite:inns.db", "--workers", "2")
    until(service.ready, "the service", LONG)
    children = service.children()
    service.process.kill()
    service.process.wait()
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in children), "the workers to be gone")


@pytest.mark.slow
def test_a_worker_that_cannot_start_ends_the_service_with_its_message(command, tmp_path):
    with Advisor(INNS, store=f"sqlite:{tmp_path / 'inns.db'}", parser="lexicon", policy="s-ucb"):
        pass
    service = command("--store", "sqlite:inns.db", "--catalog", "hotels", "--workers", "2")
    assert service.process.wait(LONG) == 2
    assert (
        "druthers: a journal stays with its catalog, 'inns' with ['clean', 'quiet'], but got 'hotels'" in service.told()
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_services_go_on_with_the_catalog_that_a_command_changed(command, tmp_path, workers):
    """Two services on one journal: what was said stays, who was erased stays erased, and new objectives are heard."""
    where = f"sqlite:{tmp_path / 'inns.db'}"
    INNS.save(tmp_path / "inns.toml")
    words = ("--store", where, "--catalog", "inns.toml", "--workers", workers, "--policy", "stated-ucb")
    services = [command(*words)]
    until(services[0].ready, "the service", LONG)
    services.append(command(*words))
    until(services[1].ready, "the other service", LONG)
    one, other = (service.client for service in services)
    for user in ("ada", "eve"):
        assert one.ask("POST", f"/v1/users/{user}/queries", {"text": "clean"})[0] == 200
    assert one.ask("DELETE", "/v1/users/eve")[0] == 204
    wider = replace(INNS, objectives=[*INNS.objectives, Objective("wifi", low=0, high=100)])
    wider.save(tmp_path / "wider.toml")
    update = ["catalog", "apply", str(tmp_path / "wider.toml"), "--to", where]
    assert CliRunner().invoke(app, update).exit_code == 0

    def follows(client):
        status, told = client.ask("GET", "/v1/objectives")
        return status == 200 and [objective["name"] for objective in told] == ["clean", "quiet", "wifi"]

    for service in services:
        until(
            lambda service=service: follows(service.client),
            lambda service=service: f"the change:\n{service.told()}",
            LONG,
        )
        until(service.ready, "the service", LONG)
        assert service.process.poll() is None
    told = "\n".join(service.told() for service in services)
    assert "objective 'wifi' goes" in told, told  # the file that they were started with is the older one
    assert one.ask("POST", "/v1/users/ada/queries", {"text": "wifi"})[0] == 200
    until(lambda: other.ask("GET", "/v1/users/ada")[1]["queries"] == 2, "the other service to follow")
    assert one.ask("GET", "/v1/users/eve")[0] == other.ask("GET", "/v1/users/eve")[0] == 404


CRASH = """
import os, socket
from druthers.service.workers import run_workers

def crash(address, line):
    os._exit(77)

if __name__ == "__main__":
    run_workers(2, crash, socket.socket())
"""


@pytest.mark.slow
def test_a_worker_that_crashes_before_it_is_ready_ends_the_service(tmp_path):
    (tmp_path / "crash.py").write_text(CRASH)
    words = [sys.executable, "crash.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LONG, check=False)
    assert done.returncode == 1
    assert "a worker must stay until it is stopped, but one ended with code 77; see its log" in done.stderr
