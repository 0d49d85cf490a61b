"""Anchors: what rankings alone say about a preference."""

from collections.abc import Mapping
from typing import Any

from druthers.anchors.base import Anchor
from druthers.anchors.grouplasso import GroupLasso
from druthers.anchors.likelihood import Likelihood
from druthers.anchors.mixture import Mixture
from druthers.errors import InvalidSetting, choices
from druthers.own import check_settings, find_class, is_own

ANCHORS: dict[str, type[Anchor]] = {anchor.name: anchor for anchor in (Likelihood, GroupLasso, Mixture)}


def make_anchor(name: str, **params: Any) -> Anchor:
    """Build an anchor by its name, or one of your own by FILE.py:Class.

    Examples
    --------
    >>> make_anchor("likelihood", n_objectives=3)
    Likelihood(n_objectives=3, bound=5.0, ridge=0.0, window=128)
    """
    anchor: type[Anchor] = find_class(name, ANCHORS, Anchor, "anchor")
    check_settings(anchor, params, name)
    return anchor(**params)


def as_anchor(given: Any) -> Any:
    """Return the anchor that a name or a table with a name stands for; anything else as it is.

    Examples
    --------
    >>> as_anchor({"name": "likelihood", "window": 64})
    Likelihood(bound=5.0, ridge=0.0, window=64)
    """
    if isinstance(given, str) and (given in ANCHORS or is_own(given)):
        return make_anchor(given)
    return make_anchor(**given) if isinstance(given, Mapping) and "name" in given else given


def require_anchor(given: object) -> None:
    """Refuse what is no anchor where a policy takes one."""
    if given is None or isinstance(given, Anchor):
        return
    known = f"; {choices(given, ANCHORS)}" if isinstance(given, str) else ""
    raise InvalidSetting(
        f"the anchor of a policy must be made, as Mixture() or make_anchor('mixture') are, but got {given!r}{known}"
    )


__all__ = [
    "ANCHORS",
    "Anchor",
    "GroupLasso",
    "Likelihood",
    "Mixture",
    "as_anchor",
    "make_anchor",
    "require_anchor",
]
