"""Every policy keeps every law."""

from __future__ import annotations

import functools

import pytest

from druthers import POLICIES, make_policy
from druthers.testing import POLICY_CHECKS


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("check", POLICY_CHECKS, ids=lambda check: check.__name__)
def test_policy_law(name, check):
    check(functools.partial(make_policy, name))
