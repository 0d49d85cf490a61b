"""What policies with an anchor share: they hear with its kernels, and read its estimates."""

from __future__ import annotations

from typing import Any, NamedTuple

from druthers.policies.base import Policy
from druthers.types import Floats, Integers


class AnchorView(NamedTuple):
    """What a policy reads of its anchor's memory, whichever anchor it is: so scoring is compiled once for all."""

    estimate: Floats
    information: Floats
    queries: Integers
    total_length: Integers
    shortest: Integers


class Anchored(Policy):
    """A policy whose users carry the memory of an anchor."""

    def _view_of(self, state: Any) -> Any:
        anchor = AnchorView(*(getattr(state.users.anchor, field) for field in AnchorView._fields))
        return state._replace(users=state.users._replace(anchor=anchor))

    def _memory_of(self, state: Any) -> Any:
        return state.users.anchor
