"""The figure of what comes of varying something: final regret and preference error against its values."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from druthers.experiments import Results, Row, mean_and_error
from druthers.report.axes import compact, name_axes, name_panel, rule, share_limits
from druthers.report.layout import Axis, axis_of, key_of, shown
from druthers.report.sheets import Sheet, line_look, shortened, text_width
from druthers.report.styles import Style

MOST_COLUMNS = 6
TURN = 25  # degrees, of names that are too long to stand side by side


def draw_varied(results: Results, styles: dict[str, Style]) -> Any:
    """Draw one or two varied things as lines, more of them or random draws as points; nothing if nothing is varied."""
    keys = results.varied
    if not keys:
        return None
    rows = results.rows
    measures = [("Final regret", results.final_regret)]
    if any(results.learns(row.label) for row in rows):
        measures.append(("Preference error at the end", results.end_error))
    axis = {key: axis_of(results, key) for key in keys}
    keys.sort(key=lambda key: -len(axis[key].values))
    columns: list[tuple[str, str, Sequence[Row]]] = [(key, "", rows) for key in keys]  # what is along it, title, rows
    other = keys[-1] if len(keys) == 2 and len(axis[keys[1]].values) <= MOST_COLUMNS else ""
    joined = results.experiment.samples is None and (len(keys) == 1 or bool(other))
    if joined and other:
        columns = []
        for value in axis[other].values:
            alike = [row for row in rows if key_of(row.varied.get(other, value)) == key_of(value)]
            columns.append((keys[0], f"{other} = {shown(value)}", alike))
    lone = len(columns) == 1  # then the measures stand side by side
    long = [text_width(name) for each in axis.values() if _long(each) for name in _ticks(each)[1]]
    slant = math.sin(math.radians(TURN)) * max(long, default=0.0)
    sheet = Sheet(
        len(columns) * len(measures),
        len(measures) if lone else len(columns),
        panel=(2.75, 2.5) if lone and len(measures) == 2 else None,
        legend=styles,
        top=0.3 if columns[0][1] else 0.12,
        bottom=0.5 + slant,
        gap=(0.74 if lone else 0.32, 0.52),
    )
    for line, (name, measure) in enumerate(measures):
        some_axes = sheet.axes[line * len(columns) : (line + 1) * len(columns)]
        for axes, (key, title, some) in zip(some_axes, columns, strict=True):
            for group, style in styles.items():
                mine = [row for row in some if row.group == group]
                _draw_group(axes, mine, key, axis[key], measure, style, joined)
            name_panel(axes, title)
            _set_height(axes, [float(measure(row.label).mean()) for row in some])
            axes.yaxis.set_major_formatter(compact)
            rule(axes, "y")
            _set_ticks(axes, axis[key])
        share_limits(some_axes, some_axes[:1])
        name_axes([], some_axes[:1], "", name)
    for axes, (key, _, _) in zip(sheet.axes, columns * len(measures), strict=True):
        name_axes([axes] if axes in sheet.lowest else [], [], key, "")
    return sheet.figure


def _draw_group(axes: Any, rows: Sequence[Row], key: str, axis: Axis, measure: Any, style: Style, joined: bool) -> None:
    """Draw one policy: a line with error bars, or points of which the lowest stands out."""
    values = {row.label: mean_and_error(measure(row.label)) for row in rows}
    rows = [row for row in rows if np.isfinite(values[row.label][0])]
    for row in rows:
        if key not in row.varied:  # this policy is the same for all values
            axes.axhline(values[row.label][0], **{**line_look(style), "marker": ""})
    rows = [row for row in rows if key in row.varied]
    if not rows:
        return
    places = axis.places([row.varied[key] for row in rows])
    order = np.argsort(places, kind="stable")
    x = np.array(places)[order]
    mean, error = np.array([values[rows[i].label] for i in order]).T
    if joined:
        axes.errorbar(x, mean, None if np.isnan(error).all() else error, capsize=2, elinewidth=0.9, **line_look(style))
        return
    look = {"color": style.color, "linestyle": "", "marker": style.marker}
    axes.plot(x, mean, markersize=3.0, alpha=0.55, markeredgewidth=0, **look)
    axes.plot(x[[mean.argmin()]], mean[[mean.argmin()]], markersize=6.5, markeredgecolor="black", zorder=4, **look)


def _set_height(axes: Any, values: Sequence[float]) -> None:
    """Start at zero, or take a logarithmic scale where values differ so much that most would lie on the floor."""
    known = [value for value in values if np.isfinite(value)]
    if known and max(known) > 200 * min(known) > 0:
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_ylim(min(known) / 1.5, max(known) * 1.5)
    else:
        axes.set_ylim(0, 1.08 * max(known, default=0.0) or 1.0)


def _ticks(axis: Axis) -> tuple[list[float], list[str]]:
    """Return where an axis is marked and with what: at its values, or some of them."""
    kept = slice(None, None, -(-len(axis.values) // 8))
    values = axis.values[kept]
    return axis.places(values), [shortened(shown(value), 20) for value in values]


def _set_ticks(axes: Any, axis: Axis) -> None:
    if axis.kind == "log":
        axes.set_xscale("log")
        axes.minorticks_off()
    if _plain(axis):
        axes.xaxis.set_major_formatter(compact)
        return
    places, names = _ticks(axis)
    axes.set_xticks(places, names, **({"rotation": TURN, "ha": "right"} if _long(axis) else {}))


def _long(axis: Axis) -> bool:
    return not _plain(axis) and sum(map(len, _ticks(axis)[1])) > 28


def _plain(axis: Axis) -> bool:
    """Tell whether an axis has too many numbers to mark each."""
    return axis.kind != "even" and len(axis.values) > 8
