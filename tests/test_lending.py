"""Kernels count no references to what they are lent, which lives as long as the call, and all that they give away.

And their loops are as they were written.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from druthers._jit import OPTIONS, kernel

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")


class Inner(NamedTuple):
    """A part with parts."""

    rows: Any
    scale: float


class Outer(NamedTuple):
    """Two parts of different kinds."""

    inner: Inner
    total: Any


def make():
    return Outer(Inner(np.arange(12.0).reshape(4, 3), 2.0), np.zeros(3))


@kernel
def add_row(outer, row):
    rows, total = outer.inner.rows, outer.total
    view = rows[row]
    scale: Any = outer.inner.scale
    local = np.empty(view.shape[0])  # what is freed in between must not hinder
    for k in range(view.shape[0]):
        local[k] = scale * view[k]
    for k in range(view.shape[0]):
        total[k] += local[k]


@kernel
def add_all(outer):
    for row in range(outer.inner.rows.shape[0]):
        add_row(outer, row)


@kernel
def itself(array):
    return array


@kernel
def part(outer):
    inner, _ = outer
    same = inner
    return same.rows


@kernel
def seen(outer, first):
    return outer.inner.rows[first:, 1]


@kernel
def both(outer):
    return Inner(outer.total, outer.inner.scale), outer.inner.rows[0]


@kernel
def either(outer, first):
    found = outer.total
    if first:
        found = outer.inner.rows[0]
    return found


@kernel
def walk(array, steps):
    """The argument's own name is given to something else."""
    for _ in range(steps):
        array = array[1:]
    return array


@kernel
def gather(outer):
    views = [outer.inner.rows[row] for row in range(outer.inner.rows.shape[0])]
    views.append(outer.total)
    return views[1], views[-1]


@kernel
def picked(array, places):
    """Such an index makes a copy."""
    return array[places]


@kernel
def use_up(outer, times):
    """What is returned by others, and held or dropped here."""
    total = 0.0
    for k in range(times):
        first = part(outer)
        second = either(outer, k % 2 == 0)
        third, _ = gather(outer)
        total += first[0, 0] + second[0] + third[0] + picked(outer.total, np.array([0, 1]))[0]
    return total


@kernel
def shuffle(array, places, flags):
    """Entries from either end, by signed and unsigned places, of a type other than the array's."""
    last = array.shape[1] - 1
    total = array[0, 0]
    for k in range(places.shape[0]):
        place = places[k]
        row: Any = -1 - k % 2
        total += array[row, place] + array[1, last]
        array[row, -1] = array[0, place]
        array[k % 2, place] = k
        flags[place] = array[row, 0] > 2
        last -= 1 if flags[-1] else 0
    return total, last


RETURNING = {
    "itself": lambda outer: itself(outer.total),
    "a part": part,
    "a view": lambda outer: seen(outer, 1),
    "the one": lambda outer: either(outer, True),
    "the other": lambda outer: either(outer, False),
    "a walk": lambda outer: walk(outer.inner.rows, 2),
    "no walk": lambda outer: walk(outer.inner.rows, 0),
    "a list": lambda outer: gather(outer)[0],
    "a tuple": lambda outer: both(outer)[0].rows,
    "its view": lambda outer: both(outer)[1],
}


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int16])
@pytest.mark.parametrize("how", ["rows", "columns", "every other", "later rows"])
@pytest.mark.parametrize("place", [np.int64, np.uint8])
def test_entries_are_found_as_in_plain_python(kind, how, place):
    """Numba's own way is not taken for them: it writes some fifty instructions where ten do."""
    found = []
    for run in (shuffle, shuffle.function):
        whole = (np.arange(40, dtype=kind) % 7).reshape(4, 10)
        array = {"rows": whole, "columns": np.asfortranarray(whole), "every other": whole[::2, ::3]}.get(how, whole[1:])
        flags = np.zeros(array.shape[1], dtype=np.bool_)
        found.append([*run(array, np.array([1, 0, 2, 1], dtype=place), flags), array.tolist(), flags.tolist()])
    assert found[0] == found[1]


def test_compiling_leaves_numba_as_it_was():
    import llvmlite.binding as llvm
    from numba.core.types.functions import BaseFunction

    before = BaseFunction.get_call_type, list(llvm.ffi.lib._lock._cblist)
    assert before[1]

    @kernel
    def broken(value):
        return value.nothing

    with pytest.raises(Exception, match="nothing"):
        broken(np.zeros(1))
    assert (BaseFunction.get_call_type, llvm.ffi.lib._lock._cblist) == before


def counts(outer):
    return [sys.getrefcount(array) for array in (outer.inner.rows, outer.total)]


@pytest.mark.parametrize("how", RETURNING)
def test_what_is_returned_outlives_what_it_came_from(how):
    """And holds it once: no more, or it would never be freed, and no less, or it would be freed too early."""
    outer = make()
    before = counts(outer)
    first, second = RETURNING[how](outer), RETURNING[how](outer)
    want = first.copy()
    assert sum(counts(outer)) > sum(before)
    del second
    del outer
    garbage = [np.full((4, 3), -1.0) for _ in range(100)]  # would take the place of what was freed
    assert np.array_equal(first, want)
    assert len(garbage) == 100
    outer = make()
    for _ in range(5):
        RETURNING[how](outer)
    assert counts(outer) == before


def test_nothing_is_leaked_and_nothing_freed_twice():
    from numba.core.runtime import _nrt_python, rtsys

    outer = make()
    use_up(outer, 3)
    before = counts(outer)
    _nrt_python.memsys_enable_stats()
    try:
        start = rtsys.get_allocation_stats()
        for _ in range(10):
            add_all(outer)
            use_up(outer, 7)
        end = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert end.mi_alloc - start.mi_alloc == end.mi_free - start.mi_free > 0
    assert counts(outer) == before
    assert np.allclose(outer.total, 10 * 2.0 * outer.inner.rows.sum(axis=0))


def test_what_is_lent_is_not_counted():
    """None of this is documented by Numba; without it all is right, and a round takes twice as long."""
    add_all(make())
    (compiled,) = add_row.inner.overloads.values()
    text = compiled.library.get_llvm_str()
    (body,) = [one for one in re.findall(r"^define .*?^}", text, re.M | re.S) if "add_row" in one.partition("\n")[0]]
    assert "@NRT_incref" not in body
    assert body.count("@NRT_decref") == 1  # of the local array


def test_loops_are_not_unrolled():
    """Not documented by Numba: a loop that adds has one addition in it. With 0.61 they are."""
    import numba

    from druthers._compiler import KernelCompiler

    @numba.njit(pipeline_class=KernelCompiler, **OPTIONS)
    def total(values):
        found = 0.0
        for value in values:
            found += value
        return found

    assert total(np.arange(9.0)) == 36.0
    (code,) = total.inspect_llvm().values()
    assert code.count(" fadd ") == 1 or numba.__version__.startswith("0.61.")
