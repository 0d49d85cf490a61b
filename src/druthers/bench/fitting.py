"""Do people choose as the model says? What is left in their choices once a personal logit has foretold them.

Every test is a conditional logit of what was picked on some feature of the options, with the logarithm of what was
foretold as its offset: a coefficient of zero says that the feature tells nothing more. Errors are those over people.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from druthers.bench.ceiling import log_sums
from druthers.bench.players import CEILING, fit_logit, shares_of
from druthers.bench.running import STUDIES, foretell_study, write_results
from druthers.bench.scoring import positions, two_sided
from druthers.data.people import STUDIES as KNOWN
from druthers.environments.people import People, read_rankings
from druthers.errors import needs
from druthers.types import Floats, Integers

# An option that cannot be picked.
NEVER = -1e9


class Left(NamedTuple):
    """What a feature tells beyond what was foretold."""

    coefficient: float  # of the feature with the largest |coefficient / error|
    error: float
    p: float  # that all coefficients are zero, by Wald's test with errors over people
    gain: float  # nats per choice that a link with these features would save, fitted on the other half of people


def fit_people(
    studies: Sequence[str] = STUDIES, folder: str | Path | None = None, *, n_people: int | None = None
) -> dict[str, Any]:
    """Test on each study whether what is left of choices, once foretold by the ceiling, is chance alone."""
    results: dict[str, Any] = {}
    for name in studies:
        people, foretold = foretell_study(name, CEILING, n_people)
        results[Path(name).name] = examine(people, foretold)
    write_results(results, folder, "fit.json")
    return results


def examine(people: People, foretold: Floats) -> dict[str, Any]:
    """Return entropy against log-loss, ties, and what places, tasks, similarity and curvature tell beyond the model."""
    rows = np.arange(len(people.picked))
    owner = np.repeat(np.arange(len(people)), np.diff(people.starts))
    losses = -np.log(np.maximum(foretold[rows, people.picked], 1e-12))
    entropies = -(foretold * np.log(np.maximum(foretold, 1e-300))).sum(axis=1)
    over = np.bincount(owner, losses - entropies, len(people))
    counts = np.bincount(owner, minlength=len(people))
    surprise = float((losses - entropies).mean())
    error = math.sqrt(((over - surprise * counts) ** 2).sum()) / counts.sum()
    some = {name: feature for name, feature in features(people, foretold).items() if feature.shape[2]}
    tests = {name: left_over(foretold, each, people.picked, owner)._asdict() for name, each in some.items()}
    return {
        "people": len(people),
        "choices": len(people.picked),
        "ties": people.ties,
        "log_loss": float(losses.mean()),
        "entropy": float(entropies.mean()),
        "surprise": {"mean": surprise, "error": error, "p": two_sided(surprise / error)},
        "tests": tests,
    }


def features(people: People, foretold: Floats) -> dict[str, Floats]:
    """Return what may tell more about choices (n, K, F): nothing of it would, were the model right."""
    slates = people.slates
    n_choices, n_options, size = slates.shape
    logs = np.log(np.maximum(foretold, 1e-12))
    places = np.broadcast_to(np.eye(n_options)[:, : n_options - 1], (n_choices, n_options, n_options - 1))
    task = positions(people)[:, None] - 1.0
    late = (task / max(task.max(), 1.0) - 0.5) * (logs - logs.mean(axis=1, keepdims=True))
    # Of two options only the difference counts, which has no curvature; nor has an objective that is 0 or 1.
    steps = [len(np.unique(np.round(np.abs(np.diff(slates[:, :2, k], axis=1)), 6))) for k in range(size)]
    curved = [k for k in range(size) if steps[k] > 3 and n_options > 2]
    apart = np.sqrt(((slates[:, :, None] - slates[:, None]) ** 2).sum(axis=3))
    apart[:, np.arange(n_options), np.arange(n_options)] = np.inf
    nearest = -apart.min(axis=2)
    return {
        "sharpness": logs[:, :, None],
        "lateness": late[:, :, None],
        "place": places,
        "similarity": nearest[:, :, None] if n_options > 2 else np.empty((n_choices, n_options, 0)),
        "curvature": slates[:, :, curved] ** 2,
    }


def left_over(foretold: Floats, feature: Floats, picked: Integers, owner: Integers) -> Left:
    """Return what a feature (n, K, F) tells about what was picked beyond what was foretold (n, K)."""
    logs = np.log(np.maximum(foretold, 1e-12))
    weights, covariance = fit_offset(logs, feature, picked, owner)
    errors = np.sqrt(covariance.diagonal())
    most = int(np.abs(weights / errors).argmax())
    wald = float(weights @ np.linalg.solve(covariance, weights))
    half = owner // 2 % 2 == 0  # across the halves that the ceiling learns from
    gain = 0.0
    for part in (half, ~half):
        found, _ = fit_offset(logs[part], feature[part], picked[part], owner[part])
        rest = ~part
        saved = _losses(logs[rest], picked[rest]) - _losses(logs[rest] + feature[rest] @ found, picked[rest])
        gain += float(saved.sum()) / len(picked)
    return Left(float(weights[most]), float(errors[most]), upper_chi_square(wald, len(weights)), gain)


def fit_offset(logs: Floats, feature: Floats, picked: Integers, owner: Integers) -> tuple[Floats, Floats]:
    """Return coefficients of a conditional logit with an offset, and their covariance with errors over people."""
    ridge = 1e-6 * np.eye(feature.shape[2])
    weights = fit_logit(feature, picked, offset=logs, prior=ridge)
    shares = shares_of(feature, weights, logs)
    means = np.einsum("nk,nkf->nf", shares, feature)
    off = feature - means[:, None]
    scores = np.zeros((owner.max() + 1, feature.shape[2]))
    np.add.at(scores, owner, feature[np.arange(len(picked)), picked] - means)
    bread: Any = np.linalg.inv(np.einsum("nk,nkf,nkg->fg", shares, off, off) + ridge)
    covariance: Any = bread @ (scores.T @ scores) @ bread
    return weights, covariance


def fit_rankings(study: str = "values") -> dict[str, Any]:
    """Test Plackett-Luce on rankings: is who comes second as likely as if the first had not been there?

    One Plackett-Luce law for everybody, against a law with a chance for every ranking (a G-test). People who differ
    break it for all of them together, even where each of them follows it.
    """
    objectives = tuple(KNOWN[study].objectives)
    orders = np.array([ranking[:2] for ranking in read_rankings(study, objectives)])
    size, n_people = len(objectives), len(orders)
    logs: Any = np.zeros((n_people, 2, size))
    logs[np.arange(n_people), 1, orders[:, 0]] = NEVER
    logs = logs.reshape(-1, size)
    feature = np.broadcast_to(np.eye(size)[:, : size - 1], (len(logs), size, size - 1))
    owner = np.repeat(np.arange(n_people), 2)
    weights, _ = fit_offset(logs, feature, orders.ravel(), owner)
    worth = np.append(weights, 0.0)
    losses = _losses(logs + worth, orders.ravel()).sum()
    cells = np.bincount(orders[:, 0] * size + orders[:, 1])
    saturated = -(cells[cells > 0] * np.log(cells[cells > 0] / n_people)).sum()
    statistic = 2.0 * float(losses - saturated)
    degrees = size * (size - 1) - size
    return {
        "people": n_people,
        "weights": dict(zip(objectives, (worth - worth.mean()).tolist(), strict=True)),
        "log_loss": float(losses) / n_people,
        "saturated": float(saturated) / n_people,
        "uniform": math.log(size * (size - 1)),
        "statistic": statistic,
        "degrees": degrees,
        "p": upper_chi_square(statistic, degrees),
    }


def upper_chi_square(value: float, degrees: int) -> float:
    """Return the chance that a chi-square number is larger."""
    return float(needs("scipy.special", "lab").chdtrc(degrees, value))


def _losses(worth: Floats, picked: Integers) -> Floats:
    losses: Floats = log_sums(worth) - worth[np.arange(len(picked)), picked]
    return losses
