"""Processes that play simulated guests, so that playing keeps the service from nothing.

Each reads settings, one JSON object a line, and answers each with what was played; it ends with its parent. Two are
started when somebody first asks: one runs the kernels as plain Python, and takes seconds for a game; the other plays
once its kernels are compiled, or read from where they are kept, within a tenth of a second, and takes over then.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict

from druthers._jit import SWITCHED_OFF
from druthers.errors import DruthersError, InvalidSetting
from druthers.experiments.guest import Guest, play_guest

KEPT = 32  # games that are remembered
# The compiled player does its first game for itself; long enough to use all kernels, and without being in the way.
FIRST = Guest(rounds=20)
GENTLY = 10


class Player:
    """Both processes; one game at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plain: subprocess.Popen[bytes] | None = None
        self._compiled: subprocess.Popen[bytes] | None = None
        self._ready = threading.Event()
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
        process = self._quickest()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and answers nothing
            process.stdin.write(line)
            process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise InvalidSetting("a game must come to its end, but its process ended before; try again")
        return answer

    def _quickest(self) -> subprocess.Popen[bytes]:
        """Return the quickest process that can play now."""
        if self._compiled is None:
            self._compiled = start("druthers.service.player", NUMBA_DISABLE_JIT="0")
            threading.Thread(target=self._wait, args=(self._compiled,), daemon=True).start()
        if self._ready.is_set() and self._compiled.poll() is None:
            _end(self._plain)
            self._plain = None
            return self._compiled
        if self._plain is None or self._plain.poll() is not None:
            _end(self._plain)
            self._plain = start("druthers.service.player", NUMBA_DISABLE_JIT="1")
        return self._plain

    def _wait(self, compiled: subprocess.Popen[bytes]) -> None:
        if compiled.stdout is not None and compiled.stdout.readline():
            self._ready.set()

    def close(self) -> None:
        """End the processes."""
        for process in (self._plain, self._compiled):
            _end(process)


def start(module: str, *given: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start a module as a process that speaks in lines; its first argument is the process that it ends with."""
    command = [sys.executable, "-m", module, str(os.getpid()), *given]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment})


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is not None:
        process.kill()
        process.communicate()


def end_with(parent: str) -> None:
    """Have this process end with its parent, however that goes, in the middle of compiling too."""

    def watch() -> None:
        while os.getppid() == int(parent):
            time.sleep(1.0)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Play whatever is asked for, until nobody asks any more."""
    end_with(sys.argv[1])
    if not SWITCHED_OFF:
        os.nice(GENTLY)
        play_guest(FIRST)
        print("compiled", flush=True)
    for line in sys.stdin:
        try:
            answer = play_guest(Guest(**json.loads(line)))
        except DruthersError as problem:
            answer = {"problem": str(problem)}
        print(json.dumps(answer, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
