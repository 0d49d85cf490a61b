"""Every anchor keeps every law, and the likelihood anchor agrees with outside oracles."""

from __future__ import annotations

import functools

import pytest

from druthers import ANCHORS, make_anchor
from druthers.testing import ANCHOR_CHECKS


@pytest.mark.parametrize("name", ANCHORS)
@pytest.mark.parametrize("check", ANCHOR_CHECKS, ids=lambda check: check.__name__)
def test_anchor_law(name, check):
    check(functools.partial(make_anchor, name))
