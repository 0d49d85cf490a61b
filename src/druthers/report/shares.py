"""The figure of how choices are spread over the arms: a strip for each policy, the best arm first."""

from typing import Any

import numpy as np

from druthers.experiments import Results
from druthers.report.layout import panels_of, setting_of
from druthers.report.sheets import Sheet, line_look, shortened, text_width
from druthers.report.styles import Style

MOST_STRIPS = 40
STRIP = 0.21  # inches


def draw_shares(results: Results, styles: dict[str, Style]) -> Any:
    """Draw the share of each arm as a shade, darker for more, and write that of the best tenth beside it."""
    labels = list(dict.fromkeys(label for part in panels_of(results) for label in part.labels))
    if len(labels) > MOST_STRIPS:
        labels = list(results.best_settings().values())
    rows = {row.label: row for row in results.rows}
    shares = [results.shares(label).mean(axis=0) for label in labels]
    arms = max(map(len, shares))
    shades = np.full((len(labels), arms), np.nan)
    for line, share in zip(shades, shares, strict=True):
        line[: len(share)] = share
    names = [shortened(", ".join(filter(None, [rows[label].group, setting_of(rows[label])])), 36) for label in labels]
    left = max(map(text_width, names)) + 0.6
    sheet = Sheet(1, 1, panel=(max(6.9 - left - 0.75, 2.5), STRIP * len(labels)), left=left, right=0.75, top=0.35)
    axes, (x, y, wide, high) = sheet.axes[0], sheet.boxes[0]
    # Shades grow with the root of the share, or the rarely chosen would all look alike.
    axes.imshow(
        np.sqrt(shades), cmap="Blues", vmin=0, vmax=np.sqrt(np.nanmax(shades)), aspect="auto", interpolation="nearest"
    )
    axes.hlines(np.arange(len(labels) - 1) + 0.5, -0.5, arms - 0.5, color="white", linewidth=2.5)
    step = max(1, 5 * round(arms / 25))
    ticks = np.unique([1, *range(step, arms + 1, step)])
    axes.set_xticks(ticks - 1, [str(tick) for tick in ticks])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_xlabel("Arm, by its expected utility over all users (1 is the best)")
    few = max(1, round(arms / 10))
    sheet.write(x, y + high + 0.14, f"Share of choices: white is none, darkest is {np.nanmax(shades):.0%} of all")
    sheet.write(x + wide + 0.65, y + high + 0.14, "best arm" if few == 1 else f"best {few}", ha="right")
    for number, (label, name, share) in enumerate(zip(labels, names, shares, strict=True)):
        place = y + high - STRIP * (number + 0.5)
        sheet.paper.plot(
            [x - 0.4, x - 0.24, x - 0.08], [place] * 3, markevery=[1], **line_look(styles[rows[label].group])
        )
        sheet.write(x - 0.46, place, name, ha="right")
        sheet.write(x + wide + 0.65, place, f"{share[:few].sum():.0%}", ha="right")
    return sheet.figure
