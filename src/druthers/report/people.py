"""The figures of benchmarks of people: a row for each score, a column for each study."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from druthers.report.axes import name_axes, name_panel, rule
from druthers.report.sheets import Sheet, drawing, line_look, save_figure
from druthers.report.styles import DASHES, HUES, Style

PLAYERS = {
    "crowd": ("teal", "solid", "o"),
    "population-logit": ("orange", "solid", "s"),
    "personal-logit": ("blue", "dashed", "^"),
    "thompson": ("wine", "dotted", "P"),
    "ucb": ("sky", "dotted", "v"),
    "mixed-logit": ("black", "dashdot", "D"),
}
TOLD = {"0": "nothing", "S": "sentence", "R": "ranking", "C": "choice", "SC": "sentence and choice"}
MEETINGS = {"population": ("teal", "solid", "o"), "alone": ("blue", "dashed", "^")}

Looks = Mapping[str, tuple[str, str, str]]
# By the content of a study, a name and a score: where the points are, and how high; None where there are none.
Curve = Callable[[dict[str, Any], str, str], tuple[Sequence[str], Sequence[float]] | None]


def draw_people(results: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Draw hit rate and log-loss of all players by position, and return the files."""

    def curve(content: dict[str, Any], name: str, score: str) -> tuple[Sequence[str], Sequence[float]] | None:
        scores = content["players"].get(name)
        # How likely a bandit is to show something is not how likely it is to be picked.
        if scores is None or (score == "log_loss" and name in ("thompson", "ucb")):
            return None
        return list(scores["positions"]), [place[score] for place in scores["positions"].values()]

    played = {name for study in results["studies"].values() for name in study["players"]}
    looks = {name: look for name, look in PLAYERS.items() if name in played}
    rows = {"hit": "Hit rate", "log_loss": "Log-loss"}
    with drawing():
        figure = _draw(results["studies"], looks, rows, curve, "Choice of a person")
        return save_figure(figure, folder, "people", formats)


def draw_first(results: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Draw what is gained by what a person tells first, met alone or with a population, and return the files."""

    def curve(content: dict[str, Any], name: str, score: str) -> tuple[Sequence[str], Sequence[float]]:
        return list(TOLD), [content[name][evidence][score] for evidence in TOLD.values()]

    rows = {"log_loss": "Log-loss", "regret": "Regret"}
    with drawing():
        figure = _draw(results["studies"], MEETINGS, rows, curve, "Told first")
        return save_figure(figure, folder, "first", formats)


def _draw(studies: dict[str, Any], looks: Looks, rows: Mapping[str, str], curve: Curve, across: str) -> Any:
    styles = {who: Style(*HUES[hue], DASHES[dash], mark) for who, (hue, dash, mark) in looks.items()}
    sheet = Sheet(2 * len(studies), len(studies), legend=styles)
    for axes, (row, study) in zip(sheet.axes, itertools.product(rows, studies), strict=True):
        for who, style in styles.items():
            found = curve(studies[study], who, row)
            if found is not None:
                axes.plot(range(len(found[0])), found[1], **line_look(style))
                axes.set_xticks(range(len(found[0])), found[0])
        rule(axes)
        name_panel(axes, "" if axes in sheet.lowest else study)
    for axes, title in zip(sheet.leftmost, rows.values(), strict=True):
        name_axes([], [axes], "", title)
    name_axes(sheet.lowest, [], across, "")
    return sheet.figure
