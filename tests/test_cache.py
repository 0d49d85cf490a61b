"""Machine code is kept between processes, never mixed up, and never kept for classes of others."""

from __future__ import annotations

import os
import subprocess
import sys

# Reading the list of what is kept takes long here, so that the two are sure to meet.
COMPILE = """
import sys
import time
import numpy as np
from numba.core.caching import IndexDataCacheFile
read = IndexDataCacheFile._load_index
IndexDataCacheFile._load_index = lambda self: (read(self), time.sleep(0.3))[0]
from druthers.simulation import expected_utility
kinds = [np.arange(6, dtype=kind)[::step] for kind in ("f8", "f4", "i8", "i4", "i2", "u1") for step in (1, 2)]
for preference in kinds[int(sys.argv[1]) :: 2]:
    expected_utility(preference, preference)
"""

LOAD = """
import numpy as np
from druthers.simulation import expected_utility
names = list(expected_utility._cache._cache_file._load_index().values())
kinds = [np.arange(6, dtype=kind)[::step] for kind in ("f8", "f4", "i8", "i4", "i2", "u1") for step in (1, 2)]
answers = [expected_utility(preference, preference) for preference in kinds]
print(len(names), len(set(names)), sum(expected_utility.stats.cache_hits.values()), set(answers))
"""

FOREIGN = """
import numpy as np
from typing import NamedTuple
from druthers._jit import bound, kernel
from druthers.policies.base import Arms, never_seen

class Arms(NamedTuple):
    pulls: np.ndarray
    means: np.ndarray

bound(never_seen, Arms(np.zeros((2, 2)), np.zeros((2, 2))), 1)
"""

OURS = """
import numpy as np
from druthers._jit import bound
from druthers.policies.base import Arms, never_seen
print(bound(never_seen, Arms(np.zeros((2, 2)), np.zeros((2, 2))), 1)(Arms(np.zeros((2, 2)), np.zeros((2, 2))), 1))
"""


def start(code, folder, *arguments):
    environment = {**os.environ, "DRUTHERS_CACHE_DIR": str(folder)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process):
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    return out.strip()


def test_two_processes_that_compile_at_once_keep_all_they_compiled(tmp_path):
    for process in [start(COMPILE, tmp_path, number) for number in "01"]:
        finished(process)
    assert finished(start(LOAD, tmp_path)) == "12 12 12 {20.0, 55.0}"


def test_classes_of_others_leave_nothing_behind(tmp_path):
    finished(start(FOREIGN, tmp_path))
    assert not list(tmp_path.rglob("*never_seen*.nbi"))
    assert finished(start(OURS, tmp_path)) == "True"
    assert list(tmp_path.rglob("*never_seen*.nbi"))
