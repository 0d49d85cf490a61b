"""A law is a function whose name begins with check_: it takes a builder, and raises AssertionError where broken."""

from collections.abc import Callable, Mapping
from typing import Any


def laws_of(module: Mapping[str, Any]) -> list[Callable[[Any], None]]:
    """Return the laws that stand in a module so far, in their order."""
    return [one for name, one in module.items() if name.startswith("check_")]
