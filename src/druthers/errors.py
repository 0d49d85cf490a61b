"""Everything druthers raises on purpose; docs/inside.md draws the tree.

Each message states the law, then what arrived, then the way out where there is one. A refused call changes nothing.
"""

import difflib
import importlib
import importlib.util
from collections.abc import Collection, Iterable, Sequence
from typing import Any


class DruthersError(Exception):
    """The parent of everything raised here."""

    def __str__(self) -> str:
        """Return the message as it stands (a KeyError would show it in quotes)."""
        return str(self.args[0]) if self.args else ""


class InvalidSetting(DruthersError, ValueError):
    """A parameter breaks its law."""


class InvalidRanking(DruthersError, ValueError):
    """A ranking breaks its law."""


class InvalidFeedback(DruthersError, ValueError):
    """A reward, utility or answer breaks its law."""


class InvalidOffer(DruthersError, ValueError):
    """An offer breaks its law."""


class NothingFits(InvalidOffer):
    """No item is within the limits; `relaxations` are what relaxing single limits would bring."""

    def __init__(self, message: str, relaxations: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.relaxations = tuple(relaxations)


class InvalidExperiment(DruthersError, ValueError):
    """An experiment cannot be played, or its results are not there."""


class InvalidCatalog(DruthersError, ValueError):
    """A catalog breaks its laws; `problems` are the mistakes one by one, each a line of the message."""

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class InvalidLog(DruthersError, ValueError):
    """A log of decisions breaks its law, or cannot be read."""


class NoSupport(DruthersError, ValueError):
    """A log cannot answer what it is asked: what would be needed was never tried, or its chance is not known."""


class InvalidEvent(DruthersError, ValueError):
    """An event breaks its law."""


class DamagedEvent(InvalidEvent):
    """An event of a journal is not as it was written, or of a version that cannot be read."""


class UnknownDecision(DruthersError, KeyError):
    """No journal holds this decision."""


class Contradiction(DruthersError, ValueError):
    """Something was said that an earlier statement, which stands, contradicts."""


class ReadingFailure(DruthersError):
    """A text could not be read in time."""


class StoreFailure(DruthersError):
    """A journal cannot be read or written now; nothing was changed, and it may be tried again."""


class OtherJournal(StoreFailure):
    """A journal no longer holds what was read from it: an older copy or another one is in its place."""


class ObjectivesChanged(StoreFailure):
    """A journal has other objectives since; whoever follows it starts over."""


class UnknownOutcome(StoreFailure):
    """A journal failed while it was written: what was asked for may have happened, in whole or in part.

    To try again is safe for what has an id or a key: it then happens once.
    """


class OwnFailure(DruthersError):
    """A part of someone's own, in a file named FILE.py:Class, failed."""


class EngineFailure(DruthersError):
    """Tasks could not be carried out where they were sent."""


class MissingExtra(DruthersError, ImportError):
    """A part needs an optional package that is not installed."""


def needs(module: str, extra: str, *, load: bool = True) -> Any:
    """Return an optional module, or say how to install it; without `load`, only see that it is there."""
    package = module.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        raise MissingExtra(
            f"this needs {package}, which is not installed; install it with: pip install 'druthers[{extra}]'"
            f" (in a clone: '.[{extra}]')"
        )
    return importlib.import_module(module) if load else None


def require(holds: object, law: str, got: object) -> None:
    """Refuse a setting that breaks its law, and say what arrived."""
    if not holds:
        raise InvalidSetting(f"{law}, but got {got!r}")


def choices(name: object, known: Iterable[str]) -> str:
    """Return which names are known, and the nearest one."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"known: {', '.join(names)}" + (f"; did you mean '{close[0]}'?" if close else "")


class UnknownName(DruthersError, KeyError):
    """No registry holds this name."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str]) -> "UnknownName":
        """Say which names are known, and the nearest one."""
        return cls(f"unknown {kind} {name!r}; {choices(name, known)}")


def require_known(kind: str, known: Collection[str], *names: object) -> None:
    """Refuse a name that no registry holds."""
    for name in names:
        if name not in known:
            raise UnknownName.of(kind, name, known)


class UnknownUser(DruthersError, KeyError):
    """The user was never seen, or has been forgotten."""


class UnknownArm(DruthersError, KeyError):
    """The arm was never seen, or has retired."""


class NoPreference(DruthersError):
    """The policy does not learn preferences."""


class DamagedState(DruthersError):
    """A saved state is damaged or of a version that cannot be read."""


class Degraded(UserWarning):
    """A part works, but less well than it could with an optional package."""
