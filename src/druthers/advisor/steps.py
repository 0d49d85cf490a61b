"""What an operation asks of whoever drives it: an operation is a generator of these, and is sent what came of each."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from druthers.stores import Event


class Append(NamedTuple):
    """Append an event and fold it in; gives its position, or 0 if its key is taken or its user was erased.

    What goes before it is added together with it, all or none.
    """

    event: Event
    before: tuple[Event, ...] = ()


class Erase(NamedTuple):
    """Erase a person and fold that in; gives whether there was one."""

    user: str


class Look(NamedTuple):
    """Ask the store."""

    question: Callable[[], Any]


class Read(NamedTuple):
    """Have a text read, which may take longer than anything else."""

    question: Callable[[], Any]


class CatchUp(NamedTuple):
    """Fold in what others appended."""


Step: TypeAlias = Append | Erase | Look | Read | CatchUp
T = TypeVar("T")
Operation: TypeAlias = Generator[Step, Any, T]
