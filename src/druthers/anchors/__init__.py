"""Anchors: what rankings alone say about a preference."""

from __future__ import annotations

from typing import Any

from druthers.anchors.base import Anchor
from druthers.anchors.grouplasso import GroupLasso
from druthers.anchors.likelihood import Likelihood
from druthers.anchors.mixture import Mixture
from druthers.own import check_settings, find_class

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


__all__ = ["ANCHORS", "Anchor", "GroupLasso", "Likelihood", "Mixture", "make_anchor"]
