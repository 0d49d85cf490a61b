"""The only place that knows Numba: compiled kernels, a cache that cannot go stale, dispatch on the class of a state.

Kernels are strict IEEE arithmetic (no fast-math): the same numbers come out whether a kernel is called alone
or inlined into a compiled episode, so single steps and simulations agree bit for bit.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from llvmlite.binding import add_symbol
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

try:
    import fcntl
except ImportError:  # Windows, where two processes should not compile for the first time at once
    fcntl = None  # type: ignore[assignment]

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = Path(__file__).parent
KEPT_CACHES = 8


def _kernel_sources() -> list[Path]:
    """Return the files that hold kernels and all they import, directly or not: what machine code can depend on."""
    found = [path for path in PACKAGE.rglob("*.py") if "druthers._jit" in path.read_text("utf-8")]
    for path in found:  # grows as it goes
        for module in re.findall(r"^\s*from druthers([\w.]*) import", path.read_text("utf-8"), re.MULTILINE):
            place = PACKAGE.joinpath(*module.split("."))
            for source in (place.with_suffix(".py"), place / "__init__.py"):
                if source.exists() and source not in found:
                    found.append(source)
    return sorted(found)


def _cache_folder() -> Path:
    """Return a folder named after the sources of the kernels, Numba and Python, so that a stale cache is impossible.

    Numba itself compares only the time stamp of the file a kernel stands in, not of the kernels it calls.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in _kernel_sources():
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    home = os.environ.get("DRUTHERS_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    for parent in (Path(home).expanduser(), Path(tempfile.gettempdir())):
        folder = parent / "druthers" / digest.hexdigest()[:16]
        try:
            if not folder.exists():
                folder.mkdir(parents=True, exist_ok=True)
                _forget_old(folder.parent)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="druthers-"))


def _forget_old(caches: Path) -> None:
    """Remove all but the latest caches: each change of the sources leaves one of some 20 MB behind."""
    with contextlib.suppress(OSError):  # another process may be tidying up too
        latest_first = sorted(caches.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in latest_first[KEPT_CACHES:]:
            shutil.rmtree(folder, ignore_errors=True)


CACHE = _cache_folder()

# Division by zero gives infinity, as in NumPy; no wrapper for C callers, which nobody needs.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}

if TYPE_CHECKING:

    def kernel(function: Callable[P, R], **options: bool) -> Callable[P, R]:
        """Compile a function on arrays; to the type checker it stays the plain function."""

else:

    def kernel(function, **options):
        """Compile a function on arrays with Numba; keep the machine code of our own in `CACHE`."""
        ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
        # Numba reads its cache folder when the function is decorated, so it is set for that moment only.
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(CACHE)
        try:
            compiled = numba.njit(cache=ours, **OPTIONS, **options)(function)
        finally:
            numba.config.CACHE_DIR = before
        if ours and hasattr(compiled, "_cache"):  # not so when compilation is switched off
            compiled._cache.save_overload = functools.partial(_save, compiled._cache.save_overload)
        return compiled


def _save(save: Callable[[Any, Any], None], types: Any, code: Any) -> None:
    """Keep machine code, one process at a time: Numba lets two that come together take the same file name."""
    if _foreign(types):
        return
    with (CACHE / "lock").open("w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)  # given back when the file is closed, or the process dies
        save(types, code)


def _foreign(types: Any) -> bool:
    """Tell whether types name a class from outside this package.

    Code for such a class must not be kept: the folder's name does not tell when that class's kernels change, and a
    process that cannot import the class could not even read the list of what is kept.
    """
    owner = getattr(types, "instance_class", None)
    if owner is not None and not owner.__module__.startswith("druthers."):
        return True
    parts = types if isinstance(types, tuple) else getattr(types, "types", ())
    return any(_foreign(part) for part in parts)


def routine(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel that others call by name, where a plain one is swallowed by each that calls it.

    The callers compile without the kernel's own code: in a chain of large kernels each would otherwise swallow, and
    optimize again, all below it.
    """
    body: Any = kernel(function)
    if not hasattr(body, "overloads"):  # compilation is switched off
        return function

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return body(*arguments)

    _call_by_name(call, lambda types: body)
    return cast("Callable[P, R]", call)


_IMPLEMENTATIONS: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def generic(stub: Callable[P, R]) -> Callable[P, R]:
    """Make a `routine` that is looked up by the class of its first argument, a NamedTuple of arrays.

    `implements` adds a body for a class; for any other class the stub's own body serves. Inside other kernels the
    choice is made when they are compiled and costs nothing when they run.
    """
    bodies: dict[type, Callable[..., Any]] = {}
    default = kernel(stub, no_cpython_wrapper=True)

    @functools.wraps(stub)
    def call(*arguments: Any) -> Any:
        return bodies.get(type(arguments[0]), stub)(*arguments)

    _call_by_name(call, lambda types: bodies.get(types[0].instance_class, default))
    _IMPLEMENTATIONS[call] = bodies
    return cast("Callable[P, R]", call)


_CHOICES: dict[str, Callable[[Any], Any]] = {}


def _call_by_name(function: Callable[..., Any], choose: Callable[[Any], Any]) -> None:
    """Let kernels that call `function` call the kernel that `choose` finds for the types of the arguments."""
    place = f"{function.__module__}.{function.__qualname__}"
    _CHOICES[place] = choose

    class Typing(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, types: Any, keywords: Any) -> Any:
            return numba.types.Dispatcher(choose(types)).get_call_type(self.context, types, keywords)

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        types, result, convention = signature.args, signature.return_type, context.call_conv
        # When the caller is read from the cache by another process, this is done first.
        context.active_code_library._reload_init.add(functools.partial(_publish, place, types))
        shape = convention.get_function_type(result, types)
        code = cgutils.get_or_insert_function(builder.module, shape, _publish(place, types))
        status, value = convention.call_function(builder, code, result, types, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    infer_global(function, numba.types.Function(Typing))
    lower_builtin(function, numba.types.VarArg(numba.types.Any))(lower)


def _publish(place: str, types: Any) -> str:
    """Compile a kernel for these types, or read it from the cache, and make its machine code known by a name."""
    body = _CHOICES[place](types)
    body.compile(types)
    code = body.overloads[types]
    name = f"{place}.{hashlib.sha256(str(types).encode()).hexdigest()[:32]}"
    add_symbol(name, code.library.get_pointer_to_function(code.fndesc.llvm_func_name))
    return name


def implements(function: Callable[..., Any], state_class: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a `generic` kernel its body for states of `state_class`."""

    def register(body: Callable[P, R]) -> Callable[P, R]:
        _IMPLEMENTATIONS[function][state_class] = body
        return body

    return register


def bound(function: Any, *example: Any) -> Callable[..., Any]:
    """Return the machine code of a kernel for arguments of exactly these types, skipping Numba's type checks.

    Looking at the types of a nested state takes Numba 12 us a call, five times the work of most kernels; the
    caller promises to pass the same types each time.
    """
    if function in _IMPLEMENTATIONS:
        function = _IMPLEMENTATIONS[function][type(example[0])]
    if not hasattr(function, "overloads"):  # compilation is switched off
        return cast("Callable[..., Any]", function)
    # Asking Numba for the types takes longer than 100 rounds of a simulation, so it is asked once for each kind.
    kind = (function, _kind(example))
    if kind not in _ENTRIES:
        signature = tuple(numba.typeof(argument) for argument in example)
        function.compile(signature)
        _ENTRIES[kind] = function.overloads[signature].entry_point
    return _ENTRIES[kind]


_ENTRIES: dict[Any, Callable[..., Any]] = {}


def _kind(value: Any) -> Any:
    """Return what Numba's type of a value depends on: equal for two values only if their types are."""
    if isinstance(value, tuple):
        return (type(value), *map(_kind, value))
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return type(value)
