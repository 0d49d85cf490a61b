"""Figures of curves over the rounds: regret, its growth, and the errors of learned preferences."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from druthers.experiments import Results
from druthers.report.axes import name_axes, name_panel, share_limits, write_compactly
from druthers.report.layout import Panel, panels_of, setting_of, spread_out
from druthers.report.sheets import FONT, POINT, Sheet, line_look, shortened, text_width
from druthers.report.styles import Style

MOST_PANELS = 9


def draw_regret(results: Results, styles: dict[str, Style], log: bool = False) -> Any:
    """Draw cumulative regret over rounds, with its fitted growth where axes are logarithmic."""
    parts = panels_of(results)
    if len(parts) > MOST_PANELS:
        return _draw_by_group(results, styles, log)
    several = len(parts) > 1
    shared = "horizon" not in results.experiment.vary
    names = [shortened(row.group) for row in results.rows]
    ends = max(map(text_width, names)) + 0.6 + 0.6 * log
    sheet = Sheet(
        len(parts),
        _columns(len(parts)),
        panel=None if several else (6.9 - 0.68 - ends, max(3.4, 0.165 * len(names))),
        legend=styles if several else None,
        right=(0.4 if log else 0.2) if several else ends,
        top=0.3 if several else 0.12,
        gap=(0.32 if shared else 0.5 + 0.35 * log, 0.52),
    )
    for axes, part in zip(sheet.axes, parts, strict=True):
        _draw_curves(axes, results, part.labels, "regret", styles, log)
        name_panel(axes, part.title)
    if shared:
        share_limits(sheet.axes, sheet.leftmost)
    for number, part in enumerate(parts):
        _name_ends(sheet, number, results, part.labels, None if several else styles, log)
    name_axes(sheet.lowest, sheet.leftmost, "Round", "Cumulative regret")
    return sheet.figure


def draw_errors(results: Results, styles: dict[str, Style]) -> Any:
    """Draw how far estimated preferences are from the true ones, in two norms; nothing if none are learned."""
    learners = {row.label: row.group for row in results.rows if results.learns(row.label)}
    parts = [part for part in panels_of(results) if learners.keys() & set(part.labels)]
    if not parts:
        return None
    if len(parts) > MOST_PANELS:
        parts = [Panel("each at its best setting", list(results.best_settings().values()))]
    lone = len(parts) == 1
    columns = 1 if lone else _columns(len(parts))
    places = -(-len(parts) // columns) * columns  # each norm starts a row of its own
    sheet = Sheet(
        2 * places,
        2 if lone else columns,
        panel=(2.75, 2.6) if lone else None,
        legend={group: style for group, style in styles.items() if group in learners.values()},
    )
    for first, what, norm in ((0, "error", "Euclidean norm"), (places, "gram_error", "norm of V")):
        for axes in sheet.axes[first + len(parts) : first + places]:
            axes.set_axis_off()
        some = sheet.axes[first : first + len(parts)]
        for axes, part in zip(some, parts, strict=True):
            _draw_curves(axes, results, [label for label in part.labels if label in learners], what, styles)
            name_panel(axes, ", ".join(filter(None, [norm[0].upper() + norm[1:], part.title])) if lone else part.title)
        share_limits(some, some[::columns])
        name_axes([], [] if lone and first else some[::columns], "", "Preference error" + f", {norm}" * (not lone))
    name_axes(sheet.lowest, [], "Round", "")
    return sheet.figure


def _draw_by_group(results: Results, styles: dict[str, Style], log: bool) -> Any:
    """Draw a panel for each policy: its best setting in its color, the others behind it."""
    best = list(results.best_settings().values())
    rows = {row.label: row for row in results.rows}
    finals = {label: float(results.final_regret(label).mean()) for label in rows}
    sheet = Sheet(len(best), _columns(len(best)), right=0.4 if log else 0.2, top=0.62, gap=(0.32, 0.85))
    for axes, label in zip(sheet.axes, best, strict=True):
        mine = [row.label for row in rows.values() if row.group == rows[label].group]
        for other in mine:
            axes.plot(results.rounds(other), results.curves(other).mean(axis=0), color="#b5b5b5", linewidth=0.6)
        # The worst settings may leave the panel, or the good ones would lie on its floor.
        top = max(finals[other] for other in mine) if log else 1.5 * float(np.median([finals[other] for other in mine]))
        _draw_curves(axes, results, [label], "regret", styles, log, top)
        setting = textwrap.wrap(setting_of(rows[label]).replace(" = ", "="), 32)[:2]
        name_panel(axes, "\n".join([shortened(rows[label].group), *setting]), 7.5)
    share_limits(sheet.axes, sheet.leftmost)
    for number, label in enumerate(best):
        _name_ends(sheet, number, results, [label], None, log)
    name_axes(sheet.lowest, sheet.leftmost, "Round", "Cumulative regret")
    return sheet.figure


def _draw_curves(
    axes: Any,
    results: Results,
    labels: Sequence[str],
    what: str,
    styles: dict[str, Style],
    log: bool = False,
    top: float = 0.0,
) -> None:
    """Draw means and bands, and set the axes so that they and `top` are seen."""
    groups = {row.label: row.group for row in results.rows}
    bottom = np.inf
    for number, label in enumerate(reversed(labels)):  # the best on top
        rounds = results.rounds(label)
        mean, error = results.band(label, what)
        style = styles[groups[label]]
        marks = _marks(rounds, (number + 1) / (len(labels) + 1), log)
        axes.plot(rounds, mean, zorder=3, **line_look(style, marks))
        if np.isfinite(error).any():
            axes.fill_between(rounds, mean - error, mean + error, color=style.color, alpha=0.18, linewidth=0, zorder=2)
        reach = mean + np.nan_to_num(error)
        top = max(top, float(reach[np.isfinite(reach)].max(initial=0.0)))
        bottom = min(bottom, float(mean[mean > 0].min(initial=np.inf)))
    if what == "regret" and results.floor is not None:
        below = np.array(results.floor.regret)
        axes.plot(results.floor.rounds, below, color="#222222", linestyle=(0, (3.0, 2.0)), linewidth=1.0, zorder=1)
        look = {"textcoords": "offset points", "ha": "right", "fontsize": 6.5, "color": "#222222"}
        axes.annotate("floor", (results.floor.rounds[-1], below[-1]), (-2, 3), **look)
        bottom = min(bottom, float(below[below > 0].min(initial=np.inf)))
    last = max(int(results.rounds(label)[-1]) for label in labels)
    if log:
        bottom = min(bottom, top or 1.0)  # where nothing is above 0, there is an empty panel
        top = max(top, bottom)
        axes.set(xlim=(1, max(last, 2)), ylim=(bottom / 1.5, top * 1.5), xscale="log", yscale="log")
        axes.minorticks_off()
    else:
        axes.set(xlim=(0, last), ylim=(0, top * 1.04 or 1.0))
        axes.locator_params(nbins=5 if axes.get_position().width > 0.25 else 4)
    write_compactly(axes)


def _marks(rounds: Any, offset: float, log: bool) -> list[int]:
    """Return six points to mark, evenly along the axis, at another place for each line."""
    share = (np.arange(6) + offset) / 6
    wanted = rounds[-1] ** share if log else rounds[-1] * share
    return [int(place) for place in np.unique(np.searchsorted(rounds, wanted).clip(0, len(rounds) - 1))]


def _name_ends(
    sheet: Sheet, number: int, results: Results, labels: Sequence[str], styles: dict[str, Style] | None, growth: bool
) -> None:
    """Write at the ends of lines what they are called (given styles) and how they grow, without overlaps."""
    if styles is None and not growth:
        return
    axes, (x, y, wide, high) = sheet.axes[number], sheet.boxes[number]
    groups = {row.label: row.group for row in results.rows}
    scale = np.log if axes.get_yscale() == "log" else np.asarray
    low, top = scale(axes.get_ylim())
    ends = [float((scale(max(results.curves(label).mean(axis=0)[-1], 1e-12)) - low) / (top - low)) for label in labels]
    gap = FONT * POINT * (1.3 if styles else 1.05)
    places = spread_out([y + high * end for end in ends], gap, y, y + high)
    for label, end, place in zip(labels, ends, places, strict=True):
        exponent = float(np.mean(results.growth(label)))
        power = f"{exponent:.2f}" if np.isfinite(exponent) else "–"
        sheet.paper.plot([x + wide + 0.02, x + wide + 0.12], [y + high * end, place], color="#999999", linewidth=0.5)
        if styles is None:
            sheet.write(x + wide + 0.14, place, power, fontsize=6.5)
        else:
            name = shortened(groups[label]) + (f"  slope {power}" if growth else "")
            sheet.name_line(x + wide + 0.14, place, name, styles[groups[label]])


def _columns(count: int) -> int:
    return count if count <= 4 else 3
