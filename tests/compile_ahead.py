"""Compiles ahead what the quick tests use, in one process, and prints what each policy took.

Run by `make kernels`. Processes that run tests on an empty cache would compile the same machine code several times;
where all is kept already, this takes seconds.
"""

from __future__ import annotations

import time

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
FORMS = {"a population": ("fisher-pqucb", {"population": True}), "a mixture": ("mo-pqucb", {"anchor": Mixture()})}
# Who is served in contexts by quick tests, who follows logs in them, and who those of picks.
IN_CONTEXTS = (SERVED, "fisher-pqucb")
FOLLOW = ("s-ucb", "pareto-ucb", "mo-pqucb", "fisher-pqucb")
FOLLOW_PICKS = ("fisher-pqucb",)
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
        play(name, "choice", logs=name in FOLLOW_PICKS)


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


if __name__ == "__main__":
    for one in (*dr.POLICIES, *FORMS, *dr.ANCHORS):
        before = time.process_time()
        use(one)
        print(f"{one:20s} {time.process_time() - before:6.1f} s", flush=True)
