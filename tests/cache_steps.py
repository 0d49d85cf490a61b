"""Runs public methods of policies and anchors in a process of its own, and prints what they return.

Called with a JSON list of [name, [method, ...]], it lets each policy or anchor do these methods in this order; "play"
is a simulation. "kernels" are two of which one is part of the other, quickly compiled. Also imported by the tests,
which so know what should come out.
"""

from __future__ import annotations

import json
import sys

import numpy as np

import druthers as dr
from druthers._matrices import solve
from druthers.environments import Synthetic
from druthers.preferences import anchored_estimate
from druthers.simulation import simulate

N_OBJECTIVES = 3
RANKINGS = [(0, 1), (2, 1, 0), (0,), (1, 0), (0, 2, 1), (2,), (0, 1), (1, 2), (2, 0, 1), (0, 1, 2)]


def plain(value):
    """Return a value as text that is equal only if every bit is."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if hasattr(value, "weights"):
        return [plain(value.weights), plain(value.covariance)]
    if hasattr(value, "reasons"):
        return [repr(value.arm), plain(value.reasons)]
    return repr(value)


def play(name):
    tape = Synthetic(n_objectives=N_OBJECTIVES, n_arms=4, offered=3).tape(seed=3, horizon=30)
    return tuple(simulate(dr.make_policy(name, n_objectives=N_OBJECTIVES), tape))


def talk(policy):
    for ranking in RANKINGS:
        policy.hear("ada", ranking)


def feel(policy):
    for turn in range(10):
        reward = [0.1 * turn, 1.0 - 0.2 * turn, 0.5]
        policy.learn("ada", ("inn", "spa")[turn % 2], reward, 0.3 + 0.1 * turn)
    policy.learn("ada", "inn", [0.5, np.nan, np.nan], None)
    policy.learn("bob", "spa", None, 0.2)


def revise(policy):
    policy.revise("ada", "inn", 0.4, before=0.3)
    if policy.hears_weights:
        policy.hear_weights("ada", [0.5, 0.3, 0.2], [0.1, 0.1, 0.1])


def pick(policy):
    if policy.learns_choices:
        policy.learn_choice("ada", "spa", ["inn", "spa"])
        policy.learn_choice("bob", None, ["inn"])


def measure(policy):
    noise = getattr(policy, "noise", None)  # a setting of some policies
    weights = [policy.utility_weight(user, "inn") for user in ("ada", "eve")]
    return [*weights, policy.utility_noise("ada"), noise("ada") if callable(noise) else None]


def ask(policy):
    question = policy.ask("ada")
    if question is not None:
        policy.answer("ada", question, 1.0)
    return question


def preference(policy):
    return policy.preference("ada") if policy.learns_preference else None


def solved():
    x = np.array([1.0, 2.0, 3.0])
    solve(np.array([[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [0.0, 0.0, 1.5]]), x)
    return x


KERNEL_METHODS = {
    "part": solved,
    "whole": lambda: anchored_estimate(2.0 * np.eye(3), np.ones(3), np.arange(3.0), 0.5),
}

POLICY_METHODS = {
    "hear": talk,
    "choose": lambda policy: policy.choose("ada", ["inn", "spa", "hut"], size=2),
    "learn": feel,
    "pick": pick,
    "ask": ask,
    "preference": preference,
    "sources": lambda policy: policy.sources("ada"),
    "measure": measure,
    "revise": revise,
    "state": lambda policy: dr.Policy.from_state(policy.state()).choose("bob", ["inn", "spa"]),
    "unhear": lambda policy: policy.unhear("bob"),
}

ANCHOR_METHODS = {
    "hear": lambda anchor: [anchor.hear(ranking) for ranking in RANKINGS],
    "estimate": lambda anchor: anchor.estimate,
    "information": lambda anchor: anchor.information,
    "fit": lambda anchor: anchor.fit(RANKINGS).estimate,
    "suspects": lambda anchor: anchor.suspects if hasattr(anchor, "suspects") else None,
    "certificate": lambda anchor: anchor.kkt_residual if hasattr(anchor, "kkt_residual") else None,
    "trust": lambda anchor: anchor.trust(RANKINGS) if hasattr(anchor, "trust") else None,
}


def done(name, methods):
    """Return what the methods return, in this order, on a fresh policy or anchor."""
    if name == "kernels":
        return [plain(KERNEL_METHODS[method]()) for method in methods]
    if name in dr.ANCHORS:
        anchor = dr.make_anchor(name, n_objectives=N_OBJECTIVES)
        return [plain(ANCHOR_METHODS[method](anchor)) for method in methods]
    policy = dr.make_policy(name, n_objectives=N_OBJECTIVES)
    policy.add_arms(["inn", "spa"])
    return [plain(play(name) if method == "play" else POLICY_METHODS[method](policy)) for method in methods]


if __name__ == "__main__":
    print(json.dumps([done(name, methods) for name, methods in json.loads(sys.argv[1])]))
