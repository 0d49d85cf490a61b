"""A process that plays one experiment and tells how far it is, a line of JSON at a time; it ends with its parent."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from druthers.errors import Contradiction, DruthersError
from druthers.service.player import end_with, start

FEW = 100  # rounds that are played sooner as plain Python than the kernels are compiled


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
        self._process = start("druthers.service.runner", name, str(runs), str(horizon), str(folder), **plain)
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


def main(parent: str, name: str, runs: str, horizon: str, folder: str) -> None:
    """Play an experiment, and write its report."""
    from druthers.engines import Progress
    from druthers.experiments import load_experiment, run_experiment
    from druthers.report import write_report

    def tell(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    def watch(progress: Progress) -> None:
        tell(stage=progress.stage, done=progress.done, total=progress.total)

    end_with(parent)
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
