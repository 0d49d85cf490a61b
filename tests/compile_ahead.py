"""Compiles ahead what the tests use, by two processes that share the work, and prints what each part of it took.

Run by `make kernels`. Processes that run tests on an empty cache compile the same machine code at the same time, and
have nothing of being two; where all is kept already, this takes seconds.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import cache_steps

import druthers as dr
from druthers.advisor.serving import compile_steps
from druthers.catalogs import Catalog

# What shares most of its kernels is compiled by one process; the longest first, so that both end together.
TOGETHER = (
    ("fisher-pqucb-robust", "mixture"),
    ("fisher-pqucb", "fisher-ucb", "likelihood"),
    ("mo-pqucb-gl", "mo-pqucb-gl-recipe", "group-lasso"),
    ("mo-pqucb", "mo-pqucb-recipe", "greedy"),
    ("stated-ucb",),
)


def use(names):
    """Use policies and anchors once in all their ways; return the seconds of processor time of each."""
    took = []
    for name in names:
        before = time.process_time()
        methods = cache_steps.ANCHOR_METHODS if name in dr.ANCHORS else [*cache_steps.POLICY_METHODS, "play"]
        cache_steps.done(name, list(methods))
        if name in dr.POLICIES:
            catalog = Catalog.load("hotels")
            compile_steps(dr.make_policy(name, n_objectives=catalog.n_objectives), catalog)
        took.append((name, time.process_time() - before))
    return took


def main(processes):
    rest = [(name,) for name in (*dr.POLICIES, *dr.ANCHORS) if not any(name in family for family in TOGETHER)]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for family in pool.map(use, (*TOGETHER, *rest)):
            for name, seconds in family:
                print(f"{name:20s} {seconds:6.1f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
