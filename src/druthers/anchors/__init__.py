"""Anchors: what rankings alone say about a preference."""

from __future__ import annotations

import inspect
from typing import Any

from druthers.anchors.base import Anchor
from druthers.anchors.grouplasso import GroupLasso
from druthers.anchors.likelihood import Likelihood
from druthers.anchors.mixture import Mixture
from druthers.errors import UnknownName

ANCHORS: dict[str, type[Anchor]] = {anchor.name: anchor for anchor in (Likelihood, GroupLasso, Mixture)}


def make_anchor(name: str, **params: Any) -> Anchor:
    """Build an anchor by its name.

    Examples
    --------
    >>> make_anchor("likelihood", n_objectives=3)
    Likelihood(bound=5.0, ridge=0.0, window=128, n_objectives=3)
    """
    if name not in ANCHORS:
        raise UnknownName.of("anchor", name, ANCHORS)
    known = list(inspect.signature(ANCHORS[name]).parameters)
    for param in params:
        if param not in known:
            raise UnknownName.of(f"setting of {name}", param, known)
    return ANCHORS[name](**params)


__all__ = ["ANCHORS", "Anchor", "GroupLasso", "Likelihood", "Mixture", "make_anchor"]
