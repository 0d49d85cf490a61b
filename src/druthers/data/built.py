"""What a pipeline leaves behind: estimates, doubts, and the folder that holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from druthers.data.diagnosis import doubts
from druthers.data.estimates import Estimates, estimate
from druthers.data.folders import FACTS, as_csv, as_experiment, as_json, write_folder
from druthers.data.ratings import Id, Sieve, Step
from druthers.data.reading import Source, as_text
from druthers.types import Integers


@dataclass(frozen=True)
class Built:
    """A data folder, and how it came about.

    Attributes
    ----------
    folder
        Where it is.
    item
        What its items are called, in the singular.
    objectives
        Names of the objectives.
    steps
        What was left after each step.
    paper
        What the paper says was left, if it says so.
    estimates
        What was estimated from it.
    damaged, repaired
        Records skipped, and records read in spite of something, by kind.
    notes
        What is doubtful, and what was done about it.
    """

    folder: Path
    item: str
    objectives: tuple[str, ...]
    steps: tuple[Step, ...]
    paper: Step | None
    estimates: Estimates
    damaged: dict[str, int]
    repaired: dict[str, int]
    notes: tuple[str, ...]


def finish(
    folder: Path,
    item: str,
    source: Source,
    sieve: Sieve,
    users: Integers,
    ridge: float,
    described: Callable[[Id], dict[str, str]],
    *,
    notes: Sequence[str] = (),
    paper: Step | None = None,
) -> Built:
    """Estimate, look for doubts, and write the folder.

    Parameters
    ----------
    folder
        The folder to write.
    item
        What items are called, in the singular.
    source, sieve
        Where the ratings came from, and what is left of them.
    users
        Numbers of the users whose preferences are estimated.
    ridge
        As in `estimate`.
    described
        From an item's id to what is known of it: id, name and more.
    notes
        What is already to be said.
    paper
        What the paper says is left; without it the folder gets an experiment of its own.
    """
    ratings = sieve.ratings
    estimates = estimate(ratings, users, ridge)
    built = Built(
        folder=folder,
        item=item,
        objectives=ratings.objectives,
        steps=tuple(sieve.steps),
        paper=paper,
        estimates=estimates,
        damaged=dict(source.damaged.most_common()),
        repaired=dict(source.repaired.most_common()),
        notes=(*notes, *doubts(ratings, estimates, ridge)),
    )
    items = [described(ratings.item_ids[number]) for number in estimates.items]
    labels = [f"{facts['name']} [{facts['id']}]" if facts.get("name") else facts["id"] for facts in items]
    names = [as_text(ratings.user_ids[number]) for number in users]
    files = {
        "rewards.csv": as_csv(item, labels, ratings.objectives, estimates.rewards),
        "preferences.csv": as_csv("user", names, ratings.objectives, estimates.preferences),
        FACTS: as_json(_facts(built, source, ridge, items, names)),
    }
    if paper is None:
        noise = float(estimates.reward_noise.mean()), estimates.preference_noise
        files[f"{folder.resolve().name}.toml"] = as_experiment(f"Regret on {folder.resolve().name}", *noise)
    write_folder(folder, files)
    return built


def _facts(
    built: Built, source: Source, ridge: float, items: Sequence[dict[str, str]], names: Sequence[str]
) -> dict[str, Any]:
    estimates = built.estimates
    steps = [*built.steps, *([built.paper] if built.paper else [])]
    return {
        "about": "what rewards.csv and preferences.csv were made from; noise is a variance, as in the environments",
        "files": [path.name for path in source.paths],
        "objectives": list(built.objectives),
        "ridge": ridge,
        "steps": [step._asdict() for step in steps],
        "damaged": built.damaged,
        "repaired": built.repaired,
        "notes": list(built.notes),
        "reward_noise": {
            name: _rounded(noise) for name, noise in zip(built.objectives, estimates.reward_noise, strict=True)
        },
        "preference_noise": _rounded(estimates.preference_noise),
        "items": [{**facts, "reviews": int(count)} for facts, count in zip(items, estimates.item_counts, strict=True)],
        "users": [
            {"id": name, "reviews": int(count)} for name, count in zip(names, estimates.user_counts, strict=True)
        ],
    }


def _rounded(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None
