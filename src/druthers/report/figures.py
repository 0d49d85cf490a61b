"""Figures for print: each as PDF, SVG and PNG, the same bytes for the same results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from druthers.drafts import replaced
from druthers.errors import needs
from druthers.experiments import Results
from druthers.report.curves import draw_errors, draw_growth, draw_regret
from druthers.report.layout import groups_of
from druthers.report.shares import draw_shares
from druthers.report.styles import Style, styles_of
from druthers.report.varied import draw_varied

SETTINGS = {
    "axes.edgecolor": "#444444",
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "path.simplify_threshold": 0.2,
    "pdf.fonttype": 42,  # whole outlines, which publishers ask for
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "druthers",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
}
# Without the time of writing, equal results make equal files. Images are packed lightly: half the time for a
# fifth more bytes.
EXTRAS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
    "png": {"pil_kwargs": {"compress_level": 1}},
}

# Each takes the results, the styles of the groups and the class of figures, and returns none if it has nothing to show.
FIGURES: dict[str, Callable[[Results, dict[str, Style], Any], Any]] = {
    "regret": draw_regret,
    "regret-loglog": draw_growth,
    "preference-error": draw_errors,
    "arm-shares": draw_shares,
    "varied": draw_varied,
}


def draw_figures(results: Results, folder: str | Path, formats: Sequence[str] = ("pdf", "svg", "png")) -> list[Path]:
    """Draw the figures of an experiment that its results allow, and return the files.

    Parameters
    ----------
    results
        What came of the experiment.
    folder
        Where the files go; made if it is not there.
    formats
        Endings of the files: "pdf", "svg", "png" (300 dots per inch).
    """
    matplotlib = needs("matplotlib", "lab")
    new_figure = needs("matplotlib.figure", "lab").Figure
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    styles = styles_of(groups_of(results))
    paths = []
    with matplotlib.rc_context(SETTINGS):
        for name, draw in FIGURES.items():
            figure = draw(results, styles, new_figure)
            for kind in formats if figure is not None else ():
                paths.append(place / f"{name}.{kind}")
                with replaced(paths[-1]) as path:
                    figure.savefig(path, format=kind, dpi=300, **EXTRAS.get(kind, {}))
    return paths
