"""The figures of an experiment: which there are, and the files they are written to."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from druthers.experiments import Results
from druthers.report.curves import draw_errors, draw_regret
from druthers.report.shares import draw_shares
from druthers.report.sheets import drawing, save_figure
from druthers.report.styles import Style, styles_of
from druthers.report.varied import draw_varied

# Each takes the results and the styles of the groups, and returns none if it has nothing to show.
FIGURES: dict[str, Callable[[Results, dict[str, Style]], Any]] = {
    "regret": draw_regret,
    "regret-loglog": partial(draw_regret, log=True),  # where the slope of a line is its exponent of growth
    "preference-error": draw_errors,
    "arm-shares": draw_shares,
    "varied": draw_varied,
}


def draw_figures(results: Results, folder: str | Path, formats: Sequence[str] = ("pdf", "svg", "png")) -> list[Path]:
    """Draw the figures of an experiment that its results allow into a folder, and return the files."""
    styles = styles_of(results.best_settings())
    paths = []
    with drawing():
        for name, draw in FIGURES.items():
            figure = draw(results, styles)
            paths += [] if figure is None else save_figure(figure, folder, name, formats)
    return paths
