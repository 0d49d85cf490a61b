"""How the rows of an experiment are laid out: in panels of rows that belong together, along axes, without overlaps."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from druthers.errors import needs
from druthers.experiments import Results, Row


class Panel(NamedTuple):
    """Rows to be seen together: those that share the values of what is varied."""

    title: str  # the values, or nothing where nothing is varied
    labels: list[str]  # of the rows, the one with the least regret first


class Axis(NamedTuple):
    """Where some values stand on an axis."""

    kind: str  # "linear", "log" or "even" (one step from value to value)
    values: list[Any]  # in the order of the axis

    def places(self, values: Sequence[Any]) -> list[float]:
        """Return where values stand: numbers as they are, others counted from 0."""
        if self.kind != "even":
            return [float(value) for value in values]
        keys = [key_of(value) for value in self.values]
        return [float(keys.index(key_of(value))) for value in values]


def key_of(value: Any) -> str:
    """Return a text that is the same for equal settings, whatever they are made of."""
    return json.dumps(value, sort_keys=True, default=str)


def shown(value: Any) -> str:
    """Return a setting as a reader wants to see it."""
    if isinstance(value, dict) and "name" in value:
        others = ", ".join(f"{key}={shown(item)}" for key, item in value.items() if key != "name")
        return f"{value['name']}({others})" if others else str(value["name"])
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def setting_of(row: Row) -> str:
    """Return the values of what is varied in a row."""
    return ", ".join(f"{key} = {shown(value)}" for key, value in row.varied.items())


def panels_of(results: Results) -> list[Panel]:
    """Return the panels; a row that some varied thing does not concern is in all panels that differ in that alone."""
    rows = sorted(results.rows, key=lambda row: float(results.final_regret(row.label).mean()))
    kinds = {_items(row): setting_of(row) for row in results.rows}
    widest = [items for items in kinds if not any(items < others for others in kinds)]
    return [Panel(kinds[items], [row.label for row in rows if _items(row) <= items]) for items in widest]


def _items(row: Row) -> frozenset[tuple[str, str]]:
    return frozenset((key, key_of(value)) for key, value in row.varied.items())


def axis_of(results: Results, key: str) -> Axis:
    """Return the axis for the values of something varied: evenly spaced unless numbers have room on a scale."""
    values = list({key_of(row.varied[key]): row.varied[key] for row in results.rows if key in row.varied}.values())
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return Axis("even", values)
    values.sort()
    numbers = np.array(values, dtype=float)
    if numbers[0] > 0 and numbers[-1] > 30 * numbers[0]:
        return Axis("log", values)
    # Values drawn at random may be close to each other; listed ones must not fall together.
    crowded = len(values) > 1 and np.diff(numbers).min() < 0.03 * (numbers[-1] - numbers[0])
    return Axis("even" if crowded and results.experiment.samples is None else "linear", values)


def spread_out(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return the places nearest to those wanted that keep a gap between neighbors and stay between low and high.

    Examples
    --------
    >>> spread_out([0.5, 0.5, 0.9], 0.25, 0.0, 1.0)
    [0.375, 0.625, 0.9]
    """
    order, gaps = np.argsort(wanted, kind="stable"), gap * np.arange(len(wanted))
    freed = needs("scipy.optimize", "lab").isotonic_regression(np.take(wanted, order) - gaps).x
    places = np.empty(len(wanted))
    places[order] = np.clip(freed, low, max(high - gap * (len(wanted) - 1), low)) + gaps
    return places.tolist()
