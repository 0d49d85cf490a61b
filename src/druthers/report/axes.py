"""Axes of panels: what they are called, how their numbers are written, and which of them are alike."""

from collections.abc import Sequence
from typing import Any


def compact(value: float, _place: object = None) -> str:
    """Return a number as short as an axis wants it.

    Examples
    --------
    >>> [compact(value) for value in (0, 0.25, 1500, 20000, 3e6)]
    ['0', '0.25', '1.5k', '20k', '3M']
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"


def name_axes(lowest: Sequence[Any], leftmost: Sequence[Any], x: str, y: str) -> None:
    """Name the horizontal axis of some panels and the vertical one of others."""
    for axes in lowest:
        axes.set_xlabel(x, parse_math=False)
    for axes in leftmost:
        axes.set_ylabel(y, parse_math=False)


def rule(axes: Any, axis: str = "both") -> None:
    """Rule a panel lightly, behind what is drawn."""
    axes.grid(True, axis=axis, color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)


def write_compactly(axes: Any) -> None:
    """Rule a panel, and write the numbers of both its axes short."""
    axes.xaxis.set_major_formatter(compact)
    axes.yaxis.set_major_formatter(compact)
    rule(axes)


def name_panel(axes: Any, title: str, size: float = 8.5) -> None:
    """Write what a panel shows above it."""
    if title:
        axes.set_title(title, loc="left", y=1.0, pad=5, fontsize=size, parse_math=False)


def share_limits(panels: Sequence[Any], leftmost: Sequence[Any]) -> None:
    """Give panels the same vertical axis, with numbers only on the leftmost ones."""
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        if axes not in leftmost:
            axes.tick_params(labelleft=False)
