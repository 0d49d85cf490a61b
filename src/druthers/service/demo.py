"""See it learn: a simulated guest, played by the library itself, for the page to show round by round."""

import asyncio
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from pydantic_core import from_json
from starlette.responses import Response

from druthers.experiments.guest import MOST_ROUNDS, Guest
from druthers.service.desk import Desk
from druthers.service.guards import Json
from druthers.service.player import Player
from druthers.service.routing import Routes

FEWEST, MOST = 2, 12  # objectives that a guest can have: those of the catalog, within reason
Figures = list[float | None]


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
