"""Processes that play simulated guests and experiments, so that playing keeps the service from nothing.

They speak in lines of JSON, and end with their parent. One that plays guests reads settings and answers with what was
played. Two are started when somebody first asks: one runs the kernels as plain Python, and takes seconds for a game;
the other plays once its kernels are compiled, or read from where they are kept, within a tenth of a second, and takes
over then. One that plays an experiment tells how far it is.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from druthers._jit import SWITCHED_OFF
from druthers.errors import Contradiction, DruthersError, InvalidSetting
from druthers.experiments.guest import Guest, play_guest

MODULE = "druthers.service.player"
KEPT = 32  # games that are remembered
# The compiled player does its first game for itself; long enough to use all kernels, and without being in the way.
FIRST = Guest(rounds=20)
GENTLY = 10
FEW = 100  # rounds that are played sooner as plain Python than the kernels are compiled


class Player:
    """The two processes that play guests; one game at a time."""

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
            self._compiled = start(MODULE, NUMBA_DISABLE_JIT="0")
            threading.Thread(target=self._wait, args=(self._compiled,), daemon=True).start()
        if self._ready.is_set() and self._compiled.poll() is None:
            _end(self._plain)
            self._plain = None
            return self._compiled
        if self._plain is None or self._plain.poll() is not None:
            _end(self._plain)
            self._plain = start(MODULE, NUMBA_DISABLE_JIT="1")
        return self._plain

    def _wait(self, compiled: subprocess.Popen[bytes]) -> None:
        if compiled.stdout is not None and compiled.stdout.readline():
            self._ready.set()

    def close(self) -> None:
        """End the processes."""
        for process in (self._plain, self._compiled):
            _end(process)


class Runner:
    """The experiment that is being played, if one is: one at a time, in a process of its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.told: dict[str, Any] | None = None

    @property
    def running(self) -> bool:
        """Whether one is being played."""
        return self._process is not None and self._process.poll() is None

    def start(self, name: str, runs: int, horizon: int, folder: Path) -> None:
        """Play an experiment into a folder."""
        if self.running:
            raise Contradiction("one experiment is played at a time, and one is; wait for its end, or stop it")
        self.told = {"name": name, "stage": "starting", "done": 0, "total": 0, "problem": None}
        plain = {"NUMBA_DISABLE_JIT": "1"} if runs * horizon <= FEW else {}
        self._process = start(MODULE, name, str(runs), str(horizon), str(folder), **plain)
        threading.Thread(target=self._follow, args=(self._process, self.told), daemon=True).start()

    @staticmethod
    def _follow(process: subprocess.Popen[bytes], told: dict[str, Any]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            told |= json.loads(line)
        if process.wait() and told["stage"] != "stopped":
            problem = told["problem"] or f"its process ended with code {process.returncode}"
            told |= {"stage": "failed", "problem": problem}

    def stop(self) -> None:
        """End what is being played; what was finished of it is kept."""
        if self.running and self._process is not None and self.told is not None:
            self.told["stage"] = "stopped"
            self._process.kill()
            self._process.wait()


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


def main(parent: str, *experiment: str) -> None:
    """Play an experiment, or else whatever guests are asked for, until nobody asks any more."""
    end_with(parent)
    if experiment:
        play_experiment(*experiment)
        return
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


def play_experiment(name: str, runs: str, horizon: str, folder: str) -> None:
    """Play an experiment, and write its report."""
    from druthers.engines import Progress
    from druthers.experiments import load_experiment, run_experiment
    from druthers.report import write_report

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    def watch(progress: Progress) -> None:
        tell(stage=progress.stage, done=progress.done, total=progress.total)

    try:
        experiment = load_experiment(name).with_settings({"runs": int(runs), "horizon": int(horizon)})
        results = run_experiment(experiment, folder, workers=1, watch=watch)
        tell(stage="writing", done=0, total=0)
        write_report([results], Path(folder) / "report.html")
        tell(stage="done")
    except DruthersError as problem:
        tell(stage="failed", problem=str(problem))


if __name__ == "__main__":
    main(*sys.argv[1:])
