"""Figures for print: sheets of panels with fixed margins in inches, written as the same bytes for the same results.

No texts are measured, so layout costs nothing and never shifts.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib.resources import files
from pathlib import Path
from typing import Any

from druthers.drafts import replaced
from druthers.errors import needs
from druthers.report.styles import Style

POINT = 1 / 72  # of an inch
FONT = 8.0  # points
LINE = 0.19  # inches from line to line in a legend
FORMATS = ("pdf", "svg", "png")
# Without the time of writing, equal results make equal files. Images are packed lightly: half the time for a
# fifth more bytes.
EXTRAS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
    "png": {"pil_kwargs": {"compress_level": 1}},
}


def drawing() -> AbstractContextManager[None]:
    """Have figures look alike within the block, both while they are drawn and while they are written."""
    style = files("druthers.report").joinpath("figures.mplstyle")
    context: AbstractContextManager[None] = needs("matplotlib", "lab").rc_context(fname=style)
    return context


def save_figure(figure: Any, folder: str | Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure into a folder, made if it is not there, and return the files; images have 300 dots per inch."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = {kind: Path(folder) / f"{name}.{kind}" for kind in formats}
    for kind, path in paths.items():
        with replaced(path) as draft:
            figure.savefig(draft, format=kind, dpi=300, **EXTRAS.get(kind, {}))
    return list(paths.values())


class Sheet:
    """A figure with panels in rows and columns and, beneath them, the names of the lines.

    There are `count` panels, `columns` of them in a row; `panel` is the width and height of each, by the number of
    columns if not given. `legend` has the style of each name beneath. Margins and the `gap` between panels, across and
    down, are in inches as well.
    """

    def __init__(
        self,
        count: int,
        columns: int,
        panel: tuple[float, float] | None = None,
        legend: dict[str, Style] | None = None,
        left: float = 0.68,
        right: float = 0.2,
        top: float = 0.3,
        bottom: float = 0.5,
        gap: tuple[float, float] = (0.32, 0.52),
    ) -> None:
        wide, high = panel or {1: (4.9, 3.3), 2: (2.75, 2.4), 3: (1.95, 1.7)}.get(columns, (1.5, 1.6))
        step = wide + max(gap[0], right), high + gap[1]
        rows = -(-count // columns)
        self.width = left + (columns - 1) * step[0] + wide + right
        entry = 0.55 + max((text_width(shortened(name)) for name in legend or ()), default=0.0)
        beside = max(1, min(len(legend or ()), int((self.width - 0.2) / entry)))
        lines = -(-len(legend or ()) // beside)
        foot = LINE * lines + 0.08 if legend else 0.0
        self.height = top + (rows - 1) * step[1] + high + bottom + foot
        self.figure = needs("matplotlib.figure", "lab").Figure(figsize=(self.width, self.height))
        self.boxes = [  # left, bottom, width and height of each panel, row by row
            (left + column * step[0], self.height - top - row * step[1] - high, wide, high)
            for row, column in (divmod(number, columns) for number in range(count))
        ]
        size = (self.width, self.height) * 2
        self.axes = [self.figure.add_axes([a / b for a, b in zip(box, size, strict=True)]) for box in self.boxes]
        for axes in self.axes:
            # Fixed places: to find them by the ticks' sizes would be the slowest part of drawing.
            axes.xaxis.set_label_coords(0.5, (0.23 - bottom) / high)
            axes.yaxis.set_label_coords(-0.46 / wide, 0.5)
        self.lowest = [self.axes[number] for number in range(count) if number + columns >= count]
        self.leftmost = self.axes[::columns]
        self.paper = self.figure.add_axes((0, 0, 1, 1), zorder=-1)  # in inches, to write anywhere
        self.paper.set(xlim=(0, self.width), ylim=(0, self.height))
        self.paper.set_axis_off()
        start = max((self.width - beside * entry) / 2, 0.1)
        for number, (name, style) in enumerate((legend or {}).items()):
            row, column = divmod(number, beside)
            self.name_line(start + column * entry, LINE * (lines - row - 1) + 0.15, shortened(name), style)

    def name_line(self, x: float, y: float, text: str, style: Style) -> None:
        """Write a name, with a piece of its line before it."""
        look = line_look(style, [1])
        if style.dash:  # its first gap would lie under the mark
            look["linestyle"] = (style.dash[0] / 2, style.dash)
        self.paper.plot([x, x + 0.17, x + 0.34], [y] * 3, **look)
        self.write(x + 0.41, y, text)

    def write(self, x: float, y: float, text: str, **look: Any) -> None:
        """Write a text that starts at a place on the paper."""
        self.paper.text(x, y, text, va="center_baseline", parse_math=False, **look)


def line_look(style: Style, marks: Any = None) -> dict[str, Any]:
    """Return a style as Matplotlib's keywords."""
    return {
        "color": style.color,
        "linestyle": (0, style.dash) if style.dash else "-",
        "linewidth": 1.4,
        "marker": style.marker,
        "markersize": 5.4 if style.marker in "PX" else 4.2,
        "markeredgewidth": 0.5,
        "markeredgecolor": "white",
        **({} if marks is None else {"markevery": marks}),
    }


def shortened(label: str, length: int = 26) -> str:
    """Return a label that fits, with a gap in its middle if need be."""
    label = " ".join(label.split())
    return label if len(label) <= length else f"{label[: length // 2]}…{label[len(label) - length // 2 + 1 :]}"


def text_width(text: str) -> float:
    """Return about how wide a text is, in inches."""
    return 0.6 * FONT * POINT * len(text)
