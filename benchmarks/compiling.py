"""Compile time: what the first use of each policy costs on an empty cache, and what a process pays on a full one.

Run it from the repository: python benchmarks/compiling.py. One process does the steps of all policies one after the
other (hear, choose, learn, preference) and plays a short game with each; seconds are those of the processor, so that a
busy machine tells nearly the same. The default policy of the service is measured alone, steps only, as the service uses
it, by one process and by two that start together. Two processes at once share the games as those of `druthers run` do.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from druthers.advisor.advisor import POLICY as DEFAULT

# Runs in a process of its own.
FIRST_USE = """
import json, sys, time
before = time.process_time()
import druthers as dr
from druthers.environments import Synthetic
from druthers.simulation import simulate
print(json.dumps(["import", time.process_time() - before]), flush=True)
names, kinds = json.loads(sys.argv[1])
for name in names or dr.POLICIES:
    for kind in kinds:
        before = time.process_time()
        policy = dr.make_policy(name, n_objectives=4)
        if kind == "steps":
            policy.hear("ada", (0, 1))
            policy.choose("ada", ["inn", "spa"])
            policy.learn("ada", "inn", [1.0, 2.0, 3.0, 4.0], 0.5)
            if policy.learns_preference:
                policy.preference("ada")
        else:
            simulate(policy, Synthetic(n_objectives=4).tape(seed=1, horizon=60))
        print(json.dumps([f"{name} {kind}", time.process_time() - before]), flush=True)
"""


def start(folder: str, names: list[str], kinds: list[str]) -> subprocess.Popen[str]:
    """Start a process that uses policies for the first time."""
    environment = {**os.environ, "DRUTHERS_CACHE_DIR": folder}
    work = json.dumps([names, kinds])
    return subprocess.Popen([sys.executable, "-c", FIRST_USE, work], env=environment, stdout=subprocess.PIPE, text=True)


def costs(process: subprocess.Popen[str]) -> dict[str, float]:
    """Return the seconds of each use."""
    assert process.stdout is not None
    return dict(json.loads(line) for line in process.stdout)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", nargs="*", default=[], help="which policies (all)")
    names = parser.parse_args().policies
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        first = costs(start(folder, names, ["steps", "play"]))
        wall = time.perf_counter() - began
        again = costs(start(folder, names, ["steps", "play"]))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.nb?"))
    print(f"{'processor seconds':35s} {'empty cache':>12s} {'full cache':>12s}")
    for use, seconds in first.items():
        print(f"{use:35s} {seconds:12.2f} {again[use]:12.2f}")
    print(f"{'sum':35s} {sum(first.values()):12.2f} {sum(again.values()):12.2f}   ({wall:.0f} s, {size / 1e6:.0f} MB)")
    for kind in ("steps", "play"):
        print(f"{'of which ' + kind:35s} {sum(cost for use, cost in first.items() if use.endswith(kind)):12.2f}")
    for number in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            each = [sum(costs(one).values()) for one in [start(folder, [DEFAULT], ["steps"]) for _ in range(number)]]
        wall = time.perf_counter() - began
        told = " and ".join(f"{seconds:.1f}" for seconds in each)
        print(f"steps of {DEFAULT} alone, by {number} at once: {told} s, over after {wall:.0f} s")
    uses = [use.split()[0] for use in first if use.endswith("play")]
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        pair = [start(folder, uses[part::2], ["play"]) for part in range(2)]
        both = [sum(costs(process).values()) for process in pair]
    wall = time.perf_counter() - began
    print(f"games by two processes at once: {both[0]:.1f} and {both[1]:.1f} s, over after {wall:.0f} s")


if __name__ == "__main__":
    main()
