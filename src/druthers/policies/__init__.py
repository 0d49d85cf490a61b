"""Policies: one file per family, one line each in `POLICIES`."""

from typing import Any

from druthers.anchors import as_anchor
from druthers.own import check_settings, find_class
from druthers.policies.base import Policy
from druthers.policies.conucb import ConUCB
from druthers.policies.fisher import FisherPQUCB, FisherUCB
from druthers.policies.linear import MOOFUL
from druthers.policies.pareto import ParetoTS, ParetoUCB
from druthers.policies.plain import PlainPolicy
from druthers.policies.pqucb import MOPQUCB, MOPQUCBGL, PRUCB, Greedy
from druthers.policies.recipes import MOPQUCBGLRecipe, MOPQUCBRecipe, PRUCBRecipe
from druthers.policies.scalarized import SMOSS, SUCB
from druthers.policies.stated import StatedUCB
from druthers.policies.trust import FisherPQUCBRobust
from druthers.policies.yardsticks import Oracle, Random

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        SUCB,
        SMOSS,
        ParetoUCB,
        ParetoTS,
        MOOFUL,
        ConUCB,
        PRUCB,
        MOPQUCB,
        MOPQUCBGL,
        FisherPQUCB,
        FisherPQUCBRobust,
        FisherUCB,
        StatedUCB,
        PRUCBRecipe,
        MOPQUCBRecipe,
        MOPQUCBGLRecipe,
        Random,
        Greedy,
        Oracle,
    )
}


def find_policy(name: str) -> type[Policy]:
    """Return the class of a policy: one of ours by its name, or anyone's by FILE.py:Class."""
    found: type[Policy] = find_class(name, POLICIES, Policy, "policy")
    return found


def make_policy(name: str, *, n_objectives: int, seed: int = 0, **params: Any) -> Policy:
    """Build a policy by its name, or one of your own by FILE.py:Class; an anchor may be given by its name too.

    Examples
    --------
    >>> make_policy("s-ucb", n_objectives=2, width=0.5)
    SUCB(n_objectives=2, seed=0, exploration=0.0, width=0.5, unseen_first=True)
    >>> make_policy("ucb", n_objectives=2)
    Traceback (most recent call last):
    druthers.errors.UnknownName: unknown policy 'ucb'; known: s-ucb, s-moss, pareto-ucb, pareto-ts, ...
    """
    policy = find_policy(name)
    check_settings(policy, params, name)
    if "anchor" in params:
        params["anchor"] = as_anchor(params["anchor"])
    return policy(n_objectives=n_objectives, seed=seed, **params)


__all__ = [
    "MOOFUL",
    "MOPQUCB",
    "MOPQUCBGL",
    "POLICIES",
    "PRUCB",
    "SMOSS",
    "SUCB",
    "ConUCB",
    "FisherPQUCB",
    "FisherPQUCBRobust",
    "FisherUCB",
    "Greedy",
    "MOPQUCBGLRecipe",
    "MOPQUCBRecipe",
    "Oracle",
    "PRUCBRecipe",
    "ParetoTS",
    "ParetoUCB",
    "PlainPolicy",
    "Policy",
    "Random",
    "StatedUCB",
    "find_policy",
    "make_policy",
]
