"""Real servers for tests: started in no time, killed at any time."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 300  # seconds that a machine with much other work to do may need for anything


def free_port():
    """Return a port for a server that may end and come back to it: of those that nobody is given who connects."""
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def until(holds, what, patience=PATIENCE):
    """Wait until something holds; `what` may be a function, asked where it is waited for in vain."""
    deadline = time.monotonic() + patience
    while not (found := holds()):
        assert time.monotonic() < deadline, f"waited {patience} s in vain: {what() if callable(what) else what}"
        time.sleep(0.01)
    return found


class Server:
    """A process that serves at a port of its own."""

    def __init__(self, forker, log, port):
        self.forker, self.log, self.port = forker, Path(log), port
        self.process = None

    def start(self, **settings):
        """Start it, and wait until it is ready."""
        self.process = child = self.forker.fork(self.log, {"port": self.port, "log_level": "warning", **settings})

        def ready():
            assert Path(f"/proc/{child}").exists(), f"a server must come up, but this one ended:\n{self.told()}"
            return self.ready()

        def in_vain():
            os.kill(child, signal.SIGUSR2)
            time.sleep(1)
            return f"the server of {self.log} to be ready:\n{self.told()}"

        until(ready, in_vain)
        return self

    def told(self):
        return self.log.read_text() if self.log.exists() else ""

    def ask(self, method, path, body=None, timeout=PATIENCE, **headers):
        """Send one request; return status and body, or (0, None) where nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), self.headers(headers))
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, json.loads(content) if content else None
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    @staticmethod
    def headers(more=()):
        return {"Content-Type": "application/json", **dict(more)}

    def ready(self):
        return self.ask("GET", "/readyz")[0] == 200

    def stands(self, users):
        """Return the position and the digest of all that the process knows."""
        digest = Path(f"{self.log}.digest")
        digest.unlink(missing_ok=True)
        Path(f"{self.log}.users").write_text(json.dumps(sorted(users)))
        os.kill(self.process, signal.SIGUSR1)
        until(digest.exists, lambda: f"the digest of {self.log}:\n{self.told()}")
        return tuple(json.loads(digest.read_text()))

    def kill(self):
        """End it in the midst of what it does."""
        if self.process is not None:
            self.forker.end(self.process)
            self.process = None


class Forker:
    """What starts servers."""

    def __init__(self):
        script = Path(__file__).with_name("service_forker.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.running = set()

    def fork(self, log, settings):
        """Start a process that serves, and return its id."""
        self.process.stdin.write(f"{json.dumps([str(log), settings])}\n")
        self.process.stdin.flush()
        child = int(self.process.stdout.readline())
        self.running.add(child)
        return child

    def end(self, child):
        """Kill a process, and wait until it is gone."""
        self.running.discard(child)
        os.kill(child, signal.SIGKILL)
        until(lambda: not Path(f"/proc/{child}").exists(), "a killed process to be gone")

    def close(self):
        for child in list(self.running):
            self.end(child)
        self.process.communicate()
