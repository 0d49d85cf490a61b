"""What each policy looks like, the same in every figure and on every page."""

import zlib
from collections.abc import Iterable
from typing import NamedTuple

# Okabe and Ito's colors, then some of Paul Tol's: told apart by color-blind readers. On white, and on dark pages.
HUES = {
    "blue": ("#0072B2", "#4FA8E6"),
    "orange": ("#E69F00", "#F2B437"),
    "green": ("#009E73", "#2DC79B"),
    "vermilion": ("#D55E00", "#FF8647"),
    "purple": ("#CC79A7", "#E6A0C6"),
    "sky": ("#56B4E9", "#9AD8FA"),
    "black": ("#000000", "#F4F4F4"),
    "gray": ("#7A7A7A", "#A6A6A6"),
    "wine": ("#882255", "#D8639B"),
    "brown": ("#8C510A", "#CF9450"),
    "indigo": ("#332288", "#9A8CF0"),
    "olive": ("#8A8A2B", "#C9C95F"),
    "teal": ("#1F8F80", "#63CDBE"),
    "rose": ("#CC6677", "#F094A2"),
}
# Lengths of ink and gap in line widths; solid where there are none.
DASHES: dict[str, tuple[float, ...]] = {
    "solid": (),
    "dashed": (4.0, 1.6),
    "dotted": (1.2, 1.4),
    "dashdot": (5.0, 1.5, 1.2, 1.5),
    "long": (8.0, 2.0),
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_KNOWN = {
    "mo-pqucb-recipe": ("blue", "solid", "o"),
    "mo-pqucb": ("blue", "dashed", "s"),
    "fisher-pqucb": ("vermilion", "solid", "o"),
    "fisher-pqucb-robust": ("black", "solid", "s"),
    "fisher-ucb": ("vermilion", "dotted", "^"),
    "mo-pqucb-gl-recipe": ("purple", "solid", "D"),
    "mo-pqucb-gl": ("purple", "dashed", "^"),
    "prucb-recipe": ("green", "solid", "v"),
    "prucb": ("green", "dashed", "P"),
    "mo-oful": ("orange", "solid", "X"),
    "conucb": ("orange", "dashed", "^"),
    "s-ucb": ("sky", "solid", "s"),
    "s-moss": ("sky", "dashed", "D"),
    "pareto-ucb": ("wine", "solid", "P"),
    "pareto-ts": ("wine", "dotted", "o"),
    "greedy": ("teal", "dashed", "v"),
    "random": ("gray", "dotted", "X"),
    "oracle": ("gray", "dashdot", "D"),
}
# Hues that no known policy has, for every other label.
_FREE = ("indigo", "rose", "olive", "brown")


class Style(NamedTuple):
    """The look of a line."""

    color: str  # on white
    dark: str  # on a dark page
    dash: tuple[float, ...]  # lengths of ink and gap in line widths; empty for a solid line
    marker: str  # the mark on points, as Matplotlib names it


def styles_of(labels: Iterable[str]) -> dict[str, Style]:
    """Return a style for each label, no two alike.

    A known policy has its own. Any other label is led to its style by a checksum of its name, and steps aside only for
    a label of the same call that was led to the same.

    Examples
    --------
    >>> styles_of(["s-ucb", "mine"])["s-ucb"].color
    '#56B4E9'
    """
    names = list(dict.fromkeys(labels))
    styles = {name: Style(*HUES[hue], DASHES[dash], marker) for name, (hue, dash, marker) in _KNOWN.items()}
    taken = set(styles.values())
    for name in sorted(set(names) - set(styles)):
        place = zlib.crc32(name.encode("utf-8", "surrogatepass")) % (len(_FREE) * len(DASHES))
        while _free_style(place) in taken:
            place += 1
        styles[name] = _free_style(place)
        taken.add(styles[name])
    return {name: styles[name] for name in names}


def _free_style(place: int) -> Style:
    """Return the style of a place: neighbors differ in hue, then in dash, then in marker, then in length of dash."""
    rest, hue = divmod(place, len(_FREE))
    rest, dash = divmod(rest, len(DASHES))
    turn, marker = divmod(rest, len(MARKERS))
    pattern = list(DASHES.values())[dash]
    if turn:
        pattern = (*(pattern or (12.0, 2.0)), 1.0 + turn, 2.0)
    # The dash moves the marker on, so that neighbors differ in both.
    return Style(*HUES[_FREE[hue]], pattern, MARKERS[(marker + hue + dash) % len(MARKERS)])
