"""The figure of a benchmark of people: hit rate and log-loss by position, a column for each study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from druthers.errors import needs
from druthers.experiments.results import replaced
from druthers.report.figures import EXTRAS, SETTINGS
from druthers.report.sheets import Sheet, line_look, name_axes, name_panel
from druthers.report.styles import DASHES, HUES, Style

LOOKS = {
    "crowd": ("teal", "solid", "o"),
    "population-logit": ("orange", "solid", "s"),
    "personal-logit": ("blue", "dashed", "^"),
    "thompson": ("wine", "dotted", "P"),
    "ucb": ("sky", "dotted", "v"),
    "mixed-logit": ("black", "dashdot", "D"),
}


def draw_people(results: dict[str, Any], folder: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Draw the results of a benchmark of people, and return the files."""
    matplotlib = needs("matplotlib", "lab")
    new_figure = needs("matplotlib.figure", "lab").Figure
    studies = results["studies"]
    styles = {name: Style(*HUES[hue], DASHES[dash], mark) for name, (hue, dash, mark) in LOOKS.items()}
    shown = [name for name in styles if any(name in study["players"] for study in studies.values())]
    paths = []
    with matplotlib.rc_context(SETTINGS):
        sheet = Sheet(new_figure, 2 * len(studies), len(studies), legend={name: styles[name] for name in shown})
        for row, what in enumerate(("hit", "log_loss")):
            for column, (study, content) in enumerate(studies.items()):
                axes = sheet.axes[row * len(studies) + column]
                for name in shown:
                    scores = content["players"].get(name)
                    # How likely a bandit is to show something is not how likely it is to be picked.
                    if scores is None or (what == "log_loss" and name in ("thompson", "ucb")):
                        continue
                    at = [int(place) for place in scores["positions"]]
                    values = [place[what] for place in scores["positions"].values()]
                    axes.plot(range(len(at)), values, **line_look(styles[name]))
                    axes.set_xticks(range(len(at)), [str(place) for place in at])
                axes.grid(True, color="#e6e6e6", linewidth=0.6)
                axes.set_axisbelow(True)
                name_panel(axes, study if row == 0 else "")
        name_axes(sheet.lowest, [], "Choice of a person", "")
        name_axes([], sheet.leftmost[:1], "", "Hit rate")
        name_axes([], sheet.leftmost[1:], "", "Log-loss")
        Path(folder).mkdir(parents=True, exist_ok=True)
        for kind in formats:
            paths.append(Path(folder) / f"people.{kind}")
            with replaced(paths[-1]) as path:
                sheet.figure.savefig(path, format=kind, dpi=300, **EXTRAS.get(kind, {}))
    return paths
