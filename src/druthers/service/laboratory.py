"""What is played beside the service: experiments that come along, their reports, and a simulated guest to watch."""

import asyncio
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import Path as PathPart
from fastapi import Query
from pydantic import BaseModel, Field
from pydantic_core import from_json
from starlette.responses import HTMLResponse, Response

from druthers.errors import choices
from druthers.experiments import experiment_names, load_experiment
from druthers.experiments.guest import MOST_ROUNDS, Guest
from druthers.service.desk import Desk
from druthers.service.guards import Json, Routes
from druthers.service.player import Player, Runner
from druthers.service.problems import Problem
from druthers.service.schemas import Closed
from druthers.service.settings import Settings

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
REPORT = "report.html"
FEWEST, MOST = 2, 12  # objectives that a guest can have: those of the catalog, within reason
Figures = list[float | None]

MOST_RUNS, MOST_HORIZON = 20, 20_000
# A report is a page of its own with all in it: it may run its scripts, and reach nothing.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
ReportName = Annotated[str, PathPart(pattern=NAME, description="The name of its folder.")]


class RunRequest(Closed):
    """An experiment that is to be played."""

    experiment: Annotated[str, Field(max_length=100)]
    runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = 3
    horizon: Annotated[int, Field(ge=10, le=MOST_HORIZON)] = 500


class ReportAnswer(BaseModel):
    """A report that was written here."""

    name: str
    at: float = Field(description="When, in seconds since 1970.")
    bytes: int


class ExperimentAnswer(BaseModel):
    """An experiment that comes along, as the paper has it."""

    name: str
    title: str
    about: str
    runs: int
    horizon: int


class ProgressAnswer(BaseModel):
    """How far the experiment is that is or was played last."""

    name: str
    stage: str = Field(description="In the end done, failed or stopped.")
    done: int
    total: int
    problem: str | None


class LabAnswer(BaseModel):
    """All that the lab has."""

    reports: list[ReportAnswer] = Field(description="The latest first.")
    experiments: list[ExperimentAnswer]
    running: ProgressAnswer | None


class DemoAnswer(BaseModel):
    """A game with a simulated guest; what is not finite is null."""

    objectives: list[str]
    guest: dict[str, float] = Field(description="The settings of the guest.")
    truth: Figures = Field(description="Its hidden preference, a weight for each objective.")
    said: list[list[int]] = Field(description="In each round, places of objectives, most important first.")
    corrupted: list[bool] = Field(description="In each round, whether its words were not its own.")
    regret: dict[str, Figures] = Field(description="Of each player, what was lost up to each round.")
    estimates: list[Figures] = Field(description="Before the first round and after each, what is believed.")
    spreads: list[Figures] = Field(description="Half the width of the 90 % interval around each of these.")


def make_laboratory(settings: Settings) -> tuple[Routes, Runner]:
    """Return the routes, and what plays experiments, which is to be stopped in the end."""
    routes = Routes("/v1/lab", tags=["lab"])
    runner = Runner()
    results = Path(settings.results)

    @routes.get("", role="read", response_model=LabAnswer)
    async def lab() -> Response:
        """List the reports, the experiments that come along, and how far the one is that is being played."""
        reports = await asyncio.to_thread(_reports, results)
        return Json({"reports": reports, "experiments": _bundled(), "running": runner.told})

    @routes.post("/runs", role="admin", problems=[404, 409], status_code=202, response_model=ProgressAnswer)
    async def start(body: RunRequest) -> Response:
        """Play an experiment; its report is listed when it is done."""
        names = experiment_names()
        if body.experiment not in names:
            raise Problem(404, f"an experiment must be one that comes along; {choices(body.experiment, names)}")
        folder = results / f"{body.experiment}-{body.runs}x{body.horizon}"
        runner.start(body.experiment, body.runs, body.horizon, folder)
        return Json(runner.told, 202)

    @routes.delete("/runs", role="admin", status_code=204, response_class=Response)
    async def stop() -> None:
        """Stop the experiment that is being played; what was finished is kept."""
        runner.stop()

    @routes.get("/reports/{report}", role="read", problems=[404], response_class=HTMLResponse)
    async def show(report: ReportName) -> Response:
        """Show a report."""
        path = results / report / REPORT
        if not re.fullmatch(NAME, report) or not path.is_file():
            raise Problem(404, f"a report must be one of those that were written, but {report!r} is not")
        content = await asyncio.to_thread(path.read_bytes)
        headers = {"content-security-policy": POLICY, "x-frame-options": "SAMEORIGIN"}
        return Response(content, media_type="text/html; charset=utf-8", headers=headers)

    return routes, runner


def make_demo(desk: Desk) -> tuple[Routes, Player]:
    """Return the route, and the player behind it, which is to be closed in the end."""
    routes = Routes("/v1", tags=["demo"])
    player = Player()

    @routes.get("/demo", role="read", response_model=DemoAnswer)
    async def demo(
        seed: Annotated[int, Query(ge=0, le=10**6, description="Which guest.")] = 1,
        rounds: Annotated[int, Query(ge=1, le=MOST_ROUNDS, description="How often it comes.")] = 150,
        length: Annotated[int, Query(ge=1, le=MOST, description="How many objectives it names each time.")] = 3,
        corruption: Annotated[float, Query(ge=0, le=1, description="Chance that its words are not its own.")] = 0.0,
        noise: Annotated[float, Query(ge=0, le=10, description="Variance of rewards and of moods.")] = 0.5,
    ) -> Response:
        """Play a simulated guest with a hidden preference: estimates beside the truth, and regret of three players."""
        names = [one.name for one in desk.fold.catalog.objectives][:MOST]
        names += [f"objective {k + 1}" for k in range(len(names), FEWEST)]
        guest = Guest(len(names), seed, rounds, min(length, len(names)), corruption, noise)
        played = await asyncio.to_thread(player.play, guest)
        return Json({"objectives": names, **from_json(played)})

    return routes, player


@cache
def _bundled() -> list[dict[str, Any]]:
    """Return the experiments that come along."""
    found = [load_experiment(name) for name in experiment_names()]
    return [{part: getattr(one, part) for part in ExperimentAnswer.model_fields} for one in found]


def _reports(results: Path) -> list[dict[str, Any]]:
    """Return the reports in a folder, the latest first."""
    found = [path for path in results.glob(f"*/{REPORT}") if re.fullmatch(NAME, path.parent.name)]
    told = [{"name": path.parent.name, "at": path.stat().st_mtime, "bytes": path.stat().st_size} for path in found]
    return sorted(told, key=lambda one: -float(one["at"]))
