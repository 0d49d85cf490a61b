"""Machine code is kept between processes: never mixed up, never stale, never kept for classes of others."""

from __future__ import annotations

import ast
import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import cache_steps
import numpy as np
import pytest

import druthers
from druthers import ANCHORS, POLICIES
from druthers._jit import bound, kernel
from druthers._matrices import inverse

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
PACKAGE = Path(druthers.__file__).parent
STEPS = Path(cache_steps.__file__)
# Both ends of what pyproject.toml allows. Numba 0.61.0 was tried with NumPy 2.0.0: the quick tests of this file, of
# tests/test_lending.py, of tests/test_kernels.py and of tests/test_fisher.py passed, and the slow ones here of
# stated-ucb and likelihood; since loops are not unrolled, a short game only, with 0.62.0 too; since little is written,
# tests/test_lending.py. 0.68.1 with NumPy 2.4.6 is what is pinned.
TRIED = (0, 61, 0), (0, 68, 1)


def start(arguments, folder, **environment):
    environment = {**os.environ, "DRUTHERS_CACHE_DIR": str(folder), "PYTHONPATH": str(PACKAGE.parent), **environment}
    return subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process):
    out, err = process.communicate(timeout=1200)
    assert (process.returncode, err) == (0, "")
    return out.strip()


def stepping(folder, *work):
    return start([str(STEPS), json.dumps(work)], folder)


def expected(*work):
    return json.loads(json.dumps([cache_steps.done(name, methods) for name, methods in work]))


def kept(folder):
    return sorted(folder.rglob("*.nb?"))


def test_numba_is_one_of_the_versions_that_were_tried():
    """And in these, `entry_point`, which Numba does not document, is the machine code of one signature."""
    import numba

    assert TRIED[0] <= tuple(map(int, numba.__version__.split(".")[:3])) <= TRIED[1]
    allowed = re.search(r'"numba>=(\d+)\.(\d+),<(\d+)\.(\d+)"', (PACKAGE.parents[1] / "pyproject.toml").read_text())
    assert tuple(map(int, allowed.groups())) == (*TRIED[0][:2], TRIED[1][0], TRIED[1][1] + 1)
    factor, out = np.eye(2), np.empty((2, 2))
    entry = bound(inverse, factor, out)
    assert isinstance(entry, types.BuiltinFunctionType)
    entry(factor, out)
    assert np.array_equal(out, np.eye(2))


def test_quick_flags_are_equal_where_numbas_own_are():
    """Also not documented; one that is set to its default is equal to one that is not set."""
    from numba.core.compiler import Flags

    from druthers._compiler import QuickFlags

    flags = [Flags() for _ in range(4)]
    flags[1].nrt = flags[2].nrt = True
    flags[3].nrt = False
    for one, other in itertools.product(flags, flags):
        assert (QuickFlags(one) == QuickFlags(other)) == (QuickFlags(one) == other) == (one == other)
        assert hash(QuickFlags(one)) == hash(other)
    assert QuickFlags(flags[0]) != 1


def test_what_kernels_call_is_compiled_as_part_of_them_alone():
    """Also not documented: what a kernel calls has no machine code of its own, and goes into that of its callers."""
    from druthers._matrices import factor, inverse

    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    root, out = np.empty((2, 2)), np.empty((2, 2))

    @kernel
    def inverted(matrix, root, out):
        if factor(matrix, root):
            inverse(root, out)

    inverted(matrix, root, out)
    assert np.allclose(out, np.linalg.inv(matrix))
    (compiled,) = [one for one in inverse.inner.overloads.values() if one.signature.args[0].layout == "C"]
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    assert inverse(root, out) is None  # called by itself it is a kernel like any other
    assert np.allclose(out, np.linalg.inv(matrix))


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("kernels", "part", "whole"),
        *(
            pytest.param(name, "preference", "choose", marks=pytest.mark.slow)
            for name in ("prucb", "stated-ucb", "mo-pqucb", "fisher-pqucb-robust")
        ),
    ],
)
def test_processes_that_come_one_after_the_other(tmp_path, name, one, other):
    """What one has compiled as part of something else never breaks what another compiled before it."""
    for methods in ([one], [other], [other], [one, other]):
        assert json.loads(finished(stepping(tmp_path, (name, methods)))) == expected((name, methods))


def test_a_cache_that_is_damaged_is_made_whole(tmp_path):
    """Files that are missing, cut off, empty or of no meaning are made anew, and then used."""
    work = ("kernels", ["part", "whole"])
    want = expected(work)
    assert json.loads(finished(stepping(tmp_path, work))) == want
    files = kept(tmp_path)
    assert [path.suffix for path in files] == [".nbc", ".nbi", ".nbc", ".nbi"]
    damages = (Path.unlink, cut_off, empty, nonsense)
    for turn in range(2):  # so that each damage befalls an index and machine code
        for place, path in enumerate(files):
            damages[(place + turn) % 4](path)
        assert json.loads(finished(stepping(tmp_path, work))) == want
        assert kept(tmp_path) == files
    before = {path: path.stat().st_mtime_ns for path in files}
    assert json.loads(finished(stepping(tmp_path, work))) == want
    assert {path: path.stat().st_mtime_ns for path in kept(tmp_path)} == before


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-9])


def empty(path):
    path.write_bytes(b"")


def nonsense(path):
    path.write_bytes(b"nonsense")


def rotations(methods):
    return [methods[first:] + methods[:first] for first in range(len(methods))]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*POLICIES, *ANCHORS])
def test_every_method_in_every_order_over_several_processes(tmp_path, name):
    """On a cache that is empty, warm, being filled by another process, and half deleted."""
    methods = list(cache_steps.ANCHOR_METHODS if name in ANCHORS else [*cache_steps.POLICY_METHODS, "play"])
    for turn, order in enumerate(rotations(methods)):
        folder = tmp_path / "one-by-one"
        # Each process comes with a method that none has begun with, and the first of them stops there.
        for begun in ([order[0]], order) if turn < 3 else (order,):
            assert json.loads(finished(stepping(folder, (name, begun)))) == expected((name, begun))
    filled = tmp_path / "filled-by-two"
    there, back = methods, methods[::-1]
    for process, order in [(stepping(filled, (name, order)), order) for order in (there, back)]:
        assert json.loads(finished(process)) == expected((name, order))
    for first in (0, 1):
        for path in kept(filled)[first::2]:
            path.unlink()
        for process, order in [(stepping(filled, (name, order)), order) for order in (there, back)]:
            assert json.loads(finished(process)) == expected((name, order))


# Reading the list of what is kept takes long here, so that the two are sure to meet.
COMPILE = """
import sys
import time
import numpy as np
from numba.core.caching import IndexDataCacheFile
read = IndexDataCacheFile._load_index
IndexDataCacheFile._load_index = lambda self: (read(self), time.sleep(0.3))[0]
from druthers.simulation import expected_utility
kinds = [np.arange(6, dtype=kind)[::step] for kind in ("f8", "i8", "u1") for step in (1, 2)]
for preference in kinds[int(sys.argv[1]) :: 2]:
    expected_utility(preference, preference)
"""

LOAD = """
import numpy as np
from druthers.simulation import expected_utility
kinds = [np.arange(6, dtype=kind)[::step] for kind in ("f8", "i8", "u1") for step in (1, 2)]
print({expected_utility(preference, preference) for preference in kinds})
"""


def test_two_processes_that_compile_at_once_keep_all_they_compiled(tmp_path):
    for process in [start(["-c", COMPILE, number], tmp_path) for number in "01"]:
        finished(process)
    before = {path: path.stat().st_mtime_ns for path in kept(tmp_path)}
    assert len(before) == 2 * 6
    assert finished(start(["-c", LOAD], tmp_path)) in ("{20.0, 55.0}", "{55.0, 20.0}")
    assert {path: path.stat().st_mtime_ns for path in kept(tmp_path)} == before


# Telling Numba what a kernel is takes long here, so that all threads are sure to come while one is at it.
AT_ONCE = """
import threading
import time
import numpy as np
from druthers import _jit
from druthers._matrices import center, max_abs, sum_of
from druthers.policies import steps
teach, taught = _jit._teach, []
_jit._teach = lambda made: (taught.append(made), time.sleep(0.01), teach(made))
threads = [threading.Thread(target=used, args=(np.zeros(2),)) for used in (center, max_abs, sum_of)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(taught) == len(set(taught)) == len(_jit._GENERICS) > 0)
"""


def test_threads_that_come_at_once_load_numba_once(tmp_path):
    assert finished(start(["-c", AT_ONCE], tmp_path)) == "True"


FOREIGN = """
import numpy as np
from typing import NamedTuple
from druthers._jit import bound, kernel
from druthers.policies.arms import never_seen

class Arms(NamedTuple):
    pulls: np.ndarray
    means: np.ndarray

arms = Arms(np.zeros((2, 2)), np.zeros((2, 2)))
print(bound(never_seen, arms, 1)(arms, 1))
"""
OURS = FOREIGN.partition("class")[0] + "from druthers.policies.arms import Arms\narms" + FOREIGN.partition("\narms")[2]


def test_classes_of_others_leave_nothing_behind(tmp_path):
    assert finished(start(["-c", FOREIGN], tmp_path)) == "True"
    assert not kept(tmp_path)
    assert finished(start(["-c", OURS], tmp_path)) == "True"
    assert [path.name for path in kept(tmp_path) if "never_seen" in path.name]


OTHERS = """
import sys
from typing import NamedTuple
from druthers._jit import implements
from druthers.policies.steps import hear_policy, learn_policy, score_policy
import druthers as dr

class OtherState(NamedTuple):
    number: float

if sys.argv[1:]:
    for made in (hear_policy, learn_policy, score_policy):
        implements(made, OtherState)(lambda state, *given: None)
policy = dr.SUCB(n_objectives=2)
policy.add_arms(["inn"])
policy.learn("ada", "inn", [3.0, 4.0])
print(policy.choose("ada", ["inn", "spa"]).reasons.round(3).tolist())
"""


def test_policies_of_others_do_not_make_ours_compile_anew(tmp_path):
    alone = finished(start(["-c", OTHERS], tmp_path))
    before = {path: path.stat().st_mtime_ns for path in kept(tmp_path)}
    assert before
    assert finished(start(["-c", OTHERS, "beside another"], tmp_path)) == alone
    assert {path: path.stat().st_mtime_ns for path in kept(tmp_path)} == before


def test_without_a_folder_to_keep_it_in_all_is_compiled_each_time(tmp_path):
    (tmp_path / "file").write_text("")
    place = {"TMPDIR": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path / "file")}
    assert finished(start(["-c", OURS], tmp_path / "file", **place)) == "True"


CHOOSE = """
import druthers as dr
policy = dr.SUCB(n_objectives=2)
policy.add_arms(["inn"])
policy.learn("ada", "inn", [3.0, 4.0])
print(policy.choose("ada", ["inn", "spa"]).reasons.round(3).tolist())
"""
ESTIMATE = """
import numpy as np
from druthers.preferences import anchored_estimate
print(anchored_estimate(2.0 * np.eye(2), np.ones(2), np.arange(2.0), 0.5).round(3).tolist())
"""
# What uses a kernel that another file's kernel calls, a constant it reads, or the order of a NamedTuple; what changes.
CHANGED = {
    "a kernel": (ESTIMATE, "_matrices.py", "value = x[k] / root[k, k]", "value = 2.0 * x[k] / root[k, k]"),
    "a constant": (CHOOSE, "policies/arms.py", "NEVER_SEEN = 1e9", "NEVER_SEEN = 1e6"),
    "a field": (
        CHOOSE,
        "policies/arms.py",
        "    pulls: Floats\n    means: Floats",
        "    means: Floats\n    pulls: Floats",
    ),
}


@pytest.mark.parametrize(
    "what", ["a kernel", *(pytest.param(what, marks=pytest.mark.slow) for what in ("a constant", "a field"))]
)
def test_code_that_changed_is_compiled_anew(tmp_path, what):
    use, name, old, new = CHANGED[what]
    # With all bytecode but that of the file that changes, and none is written (-B): its time stamp stays the same.
    shutil.copytree(PACKAGE, tmp_path / "druthers", ignore=shutil.ignore_patterns(f"{Path(name).stem}.*.pyc"))
    run = functools.partial(start, ["-B", "-c", use], tmp_path / "cache", PYTHONPATH=str(tmp_path))
    before = finished(run())
    path = tmp_path / "druthers" / name
    source, times = path.read_text("utf-8"), path.stat()
    assert old in source
    path.write_text(source.replace(old, new), "utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = finished(run())
    assert after == finished(run(NUMBA_DISABLE_JIT="1"))
    assert (after == before) == (what == "a field")  # which is the same, read from another place
    path.write_text(source, "utf-8")
    assert finished(run()) == before


def calls_of_kernels():
    """Return the kernels with one body, and for every kernel the names it calls, those of all its bodies together."""
    plain, calls = set(), {}
    for file in Path(druthers.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            called = {
                call.func.id
                for call in ast.walk(node)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            }
            for mark in node.decorator_list:
                if isinstance(mark, ast.Name) and mark.id in ("kernel", "generic"):
                    calls.setdefault(node.name, set()).update(called)
                    plain |= {node.name} if mark.id == "kernel" else set()
                elif isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "implements":
                    calls.setdefault(mark.args[0].id, set()).update(called)
    return plain, calls


def test_no_kernel_reaches_itself():
    # Machine code of a kernel that calls itself, be it for other types, crashes when it is read from the cache.
    plain, calls = calls_of_kernels()
    assert len(plain) > 100
    for start in plain:
        reached, queue = set(), list(calls[start])
        while queue:
            one = queue.pop()
            if one in calls and one not in reached:
                reached.add(one)
                queue += calls[one]
        assert start not in reached


SERVED = """
import druthers as dr
from druthers import _jit

made, entry = set(), _jit._entry


def noted(function, signature, *where):
    made.add((function.__qualname__, str(signature)))
    return entry(function, signature, *where)


_jit._entry = noted
advisor = dr.Advisor("hotels", parser="lexicon")
advisor.compile()
ready = set(made)
for context in (None, {"device": "phone"}):
    for user in ("ada", "ben"):
        one = advisor.recommend(user, size=3, context=context)
        advisor.feedback(one.id, utility=0.4)
        advisor.message(user, "quiet and cheap, ideally with a pool")
        advisor.message(user, "I'll take the second")
        advisor.preference(user)
        one = advisor.recommend(user, size=3, context=context)
        advisor.feedback(one.id, utility=0.4, rewards={"cleanliness": 4.0})
        advisor.feedback(one.id, utility=0.1)
print(sorted(name for name, _ in made - ready))
"""


def test_no_request_waits_for_machine_code():
    """What a service compiles when it starts is all that its requests need: none waits seconds for more."""
    done = subprocess.run([sys.executable, "-c", SERVED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
