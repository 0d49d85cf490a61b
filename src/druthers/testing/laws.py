"""A law is a function whose name begins with check_: it takes a builder, and raises AssertionError where broken."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def laws_of(module: Mapping[str, Any]) -> list[Callable[[Any], None]]:
    """Return the laws that stand in a module so far, in their order."""
    return [one for name, one in module.items() if name.startswith("check_")]


def require_refused(error: type[Exception], call: Callable[[], Any], passed: str) -> None:
    """Make a call that must be refused with an error; say what passed where it is not."""
    try:
        call()
    except error:
        return
    raise AssertionError(passed)


def hold(laws: Iterable[Callable[[Any], None]], build: Any) -> None:
    """Run laws one after the other; an assertion that says nothing is told by the law that it breaks."""
    for law in laws:
        try:
            law(build)
        except AssertionError as broken:
            if str(broken):
                raise
            raise AssertionError(f"broken: {(law.__doc__ or law.__name__).strip()}") from broken
