"""Compiles ahead what the quick tests use, by two processes that share the work, and prints what each part of it took.

Run by `make kernels`. Processes that run tests on an empty cache compile the same machine code at the same time, and
have nothing of being two; where all is kept already, this takes seconds.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import cache_steps
import numpy as np

import druthers as dr
from druthers.advisor.serving import compile_steps
from druthers.anchors import Mixture
from druthers.catalogs import Catalog
from druthers.environments import Synthetic
from druthers.evaluation.following import LEARN, follow
from druthers.logs import record
from druthers.simulation import play_tape

# What shares most of its kernels is compiled by one process; the longest first, so that both end together.
TOGETHER = (
    ("fisher-pqucb-robust", "mixture"),
    ("fisher-pqucb", "fisher-ucb", "likelihood"),
    ("stated-ucb",),
    ("mo-pqucb-gl", "mo-pqucb-gl-recipe", "group-lasso"),
    ("mo-pqucb", "mo-pqucb-recipe", "greedy"),
)
# Forms of policies that tests use beside the plain ones.
FORMS = {"fisher-pqucb": {"population": True}, "mo-pqucb": {"anchor": Mixture()}}
# Who follows logs in quick tests, and who follows those of picks.
FOLLOW = ("s-ucb", "pareto-ucb", "mo-pqucb", "fisher-pqucb")
FOLLOW_PICKS = ("fisher-pqucb",)
SIZE = cache_steps.N_OBJECTIVES


def use(names):
    """Use policies and anchors once in all their ways; return the seconds of processor time of each."""
    took = []
    for name in names:
        before = time.process_time()
        if name in dr.ANCHORS:
            cache_steps.done(name, list(cache_steps.ANCHOR_METHODS))
        else:
            cache_steps.done(name, list(cache_steps.POLICY_METHODS))
            serve(name)
            play(name, "utility", logs=name in FOLLOW)
            play(name, "choice", logs=name in FOLLOW_PICKS)
            if name in FORMS:
                serve(name, **FORMS[name])
                play(name, "utility", **FORMS[name])
        took.append((name, time.process_time() - before))
    return took


def serve(name, **settings):
    """Let a policy serve."""
    catalog = Catalog.load("hotels")
    compile_steps(dr.make_policy(name, n_objectives=catalog.n_objectives, **settings), catalog)


def play(name, feedback, *, logs=False, **settings):
    """Let a policy play where users feel or pick, and follow the log of that."""
    world = Synthetic(n_arms=4, n_objectives=SIZE, n_users=2, offered=3, feedback=feedback)
    tape = world.tape(seed=3, horizon=6)
    player, recorder, follower = (dr.make_policy(name, n_objectives=SIZE, **settings) for _ in range(3))
    list(play_tape(player, tape, np.array([6])))
    if logs:
        follow(follower, record(recorder, tape), LEARN)


def main(processes):
    rest = [(name,) for name in (*dr.POLICIES, *dr.ANCHORS) if not any(name in family for family in TOGETHER)]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for family in pool.map(use, (*TOGETHER, *rest)):
            for name, seconds in family:
                print(f"{name:20s} {seconds:6.1f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
