"""Compiles ahead what the quick tests use, by two processes that share the work, and prints what each policy took.

Run by `make kernels`. Processes that run tests on an empty cache would compile the same machine code several times;
where all is kept already, this takes seconds.
"""

from __future__ import annotations

import multiprocessing
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

# What every server of the tests uses.
SERVED = "stated-ucb"
# Forms of policies that tests use beside the plain ones.
FORMS = {"a mixture": ("mo-pqucb", {"anchor": Mixture()})}
# What shares most of its kernels is compiled by one process; the longest first, so that all end together.
TOGETHER = (
    ("fisher-pqucb", "fisher-ucb", "likelihood"),
    ("stated-ucb",),
    ("fisher-pqucb-robust", "mixture"),
    ("mo-pqucb", "a mixture", "mo-pqucb-recipe", "greedy"),
    ("mo-pqucb-gl", "mo-pqucb-gl-recipe", "group-lasso"),
)
# Who is served in contexts by quick tests, who follows logs in them, and who plays and follows picks.
IN_CONTEXTS = (SERVED,)
FOLLOW = ("s-ucb", "pareto-ucb", "mo-pqucb", "fisher-pqucb")
PICKS = (SERVED, "s-ucb")
SIZE = cache_steps.N_OBJECTIVES


def use(name):
    """Use a policy, an anchor or a form of a policy once in all its ways."""
    if name in dr.ANCHORS:
        cache_steps.done(name, list(cache_steps.ANCHOR_METHODS))
    elif name in FORMS:
        policy, settings = FORMS[name]
        serve(policy, **settings)
        play(policy, "utility", **settings)
    else:
        cache_steps.done(name, list(cache_steps.POLICY_METHODS))
        if name in IN_CONTEXTS or not dr.POLICIES[name].learns_contexts:
            serve(name)
        play(name, "utility", logs=name in FOLLOW)
        if name in PICKS:
            play(name, "choice", logs=name == SERVED)


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


def use_all(names):
    """Use one after the other; return the seconds of processor time of each."""
    took = []
    for name in names:
        before = time.process_time()
        use(name)
        took.append((name, time.process_time() - before))
    return took


if __name__ == "__main__":
    known = {name for family in TOGETHER for name in family}
    families = [*TOGETHER, tuple(name for name in (*dr.POLICIES, *dr.ANCHORS) if name not in known)]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for family in pool.map(use_all, families):
            for name, seconds in family:
                print(f"{name:20s} {seconds:6.1f} s", flush=True)
