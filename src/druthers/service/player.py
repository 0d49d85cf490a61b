"""A process that plays simulated guests, so that playing keeps the service from nothing.

It reads settings, one JSON object a line, and answers each with what was played; it ends with its parent. It runs the
kernels as plain Python: a game takes a second, and nobody waits a minute until they are compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict

from druthers.errors import DruthersError, InvalidSetting
from druthers.experiments.guest import Guest, play_guest

KEPT = 32  # games that are remembered


class Player:
    """The process, started when somebody first asks; one game at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._played: dict[Guest, bytes] = {}

    def play(self, guest: Guest) -> bytes:
        """Return what is played with a guest, as JSON."""
        with self._lock:
            if (known := self._played.get(guest)) is None:
                known = self._ask(json.dumps(asdict(guest)).encode() + b"\n")
                if b'"problem"' in known[:20]:
                    raise InvalidSetting(json.loads(known)["problem"])
                if len(self._played) >= KEPT:
                    del self._played[next(iter(self._played))]
                self._played[guest] = known
            return known

    def _ask(self, line: bytes) -> bytes:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "druthers.service.player"]
            plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=plain)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise InvalidSetting("a game must come to its end, but its process ended before; try again")
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def main() -> None:
    """Play whatever is asked for, until nobody asks any more."""
    for line in sys.stdin:
        try:
            answer = play_guest(Guest(**json.loads(line)))
        except DruthersError as problem:
            answer = {"problem": str(problem)}
        print(json.dumps(answer, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
