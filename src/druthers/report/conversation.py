"""The figure of a conversation: regret over time with words and without, and by how much is corrupted or vague."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from druthers.experiments import Conversation, Row, mean_and_error
from druthers.report.axes import name_axes, name_panel, share_limits, write_compactly
from druthers.report.sheets import Sheet, drawing, line_look, save_figure
from druthers.report.styles import Style, styles_of

# The same line without words in between.
DIRECT = {"alpha": 0.45, "linewidth": 0.9, "marker": "", "linestyle": (0, (2.0, 1.5))}


def draw_conversation(
    conversation: Conversation, folder: str | Path, formats: Sequence[str] = ("pdf", "svg", "png")
) -> list[Path]:
    """Draw the figure of a conversation and return the files, as `draw_figures` does."""
    with drawing():
        return save_figure(_draw(conversation), folder, "conversation", formats)


def _draw(conversation: Conversation) -> Any:
    styles = styles_of(conversation.results.best_settings())
    rows, keys = conversation.results.rows, conversation.results.varied
    sheet = Sheet(1 + len(keys), 1 + len(keys), panel=(2.1, 2.5), legend=styles, top=0.55, gap=(0.72, 0.5))
    calm = [row for row in rows if not any(row.varied.values())] or rows
    _draw_curves(sheet.axes[0], conversation, calm, styles)
    name_panel(sheet.axes[0], "Nothing corrupted or vague" if keys else "")
    name_axes(sheet.axes[:1], sheet.axes[:1], "Round", "Cumulative regret")
    for axes, key in zip(sheet.axes[1:], keys, strict=True):
        mine = [row for row in rows if not any(row.varied.get(other) for other in keys if other != key)]
        _draw_varied(axes, conversation, [row for row in mine if row.group in conversation.listeners], key, styles)
        name_panel(axes, f"By {key}, policies that listen")
        name_axes([axes], [], key.capitalize(), "")
    share_limits(sheet.axes[1:], sheet.axes[1:])
    for axes in sheet.axes[1:]:
        low, high = axes.get_ylim()
        axes.set_yticks(
            [step * 10.0**power for power in range(-2, 9) for step in (1, 2, 5) if low <= step * 10.0**power <= high]
        )
    name_axes([], sheet.axes[1:2], "", "Final regret")
    note = "Lines with marks: policies hear what was read from words. Thin dashes: they hear the rankings themselves."
    sheet.write(sheet.boxes[0][0], sheet.height - 0.14, note, color="#444444")
    return sheet.figure


def _draw_curves(axes: Any, conversation: Conversation, rows: Sequence[Row], styles: dict[str, Style]) -> None:
    for row in rows:
        rounds = conversation.results.rounds(row.label)
        said, direct = (results.band(row.label)[0] for results in (conversation.results, conversation.direct))
        look = line_look(styles[row.group], [len(rounds) // 3, 2 * len(rounds) // 3])
        if row.group in conversation.listeners:
            axes.plot(rounds, direct, zorder=2, **{**look, **DIRECT})
        axes.plot(rounds, said, zorder=3, **look)
    axes.set(xlim=(0, None), ylim=(0, None))
    write_compactly(axes)


def _draw_varied(
    axes: Any, conversation: Conversation, rows: Sequence[Row], key: str, styles: dict[str, Style]
) -> None:
    """Draw final regret with error bars, and beside it that of the rankings themselves."""
    for group in dict.fromkeys(row.group for row in rows):
        mine = [row for row in rows if row.group == group]
        x = [row.varied[key] for row in mine]
        look = line_look(styles[group])
        said, direct = (
            np.array([mean_and_error(results.final_regret(row.label)) for row in mine]).T
            for results in (conversation.results, conversation.direct)
        )
        axes.plot(x, direct[0], zorder=2, **{**look, **DIRECT})
        axes.errorbar(x, said[0], np.nan_to_num(said[1]), capsize=2, elinewidth=0.8, zorder=3, **look)
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set_xticks(sorted({row.varied[key] for row in rows}))
    write_compactly(axes)
