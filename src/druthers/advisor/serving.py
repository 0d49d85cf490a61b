"""The fold and the policy that an advisor starts with."""

import logging
from collections.abc import Mapping
from typing import Any

from druthers.advisor.editions import Editions
from druthers.advisor.fold import Fold
from druthers.advisor.predicting import Predictor
from druthers.anchors import Mixture
from druthers.catalogs import Catalog
from druthers.errors import InvalidSetting
from druthers.own import own_parts
from druthers.policies import Policy, find_policy, make_policy
from druthers.stores import Store

_log = logging.getLogger(__name__)


@own_parts()
def start_fold(
    store: Store, editions: Editions, policy: str, settings: Mapping[str, Any], population: bool = True
) -> Fold:
    """Return a fold of a journal as far as a snapshot has it; the rest is to be read on."""
    fold = Fold(editions, make_served(policy, editions.catalog, settings), population=population)
    snapshot = store.snapshot(fold.name)
    if snapshot is not None:
        try:
            fold.load(snapshot)
        except Exception as problem:  # whatever is wrong with it: it only saves time
            _log.warning("a snapshot is damaged, and is made anew from the whole journal: %s", problem)
            fold = fold.fresh()
    if "seed" not in settings:
        fold.policy.reseed()
    return fold


def make_served(name: str, catalog: Catalog, settings: Mapping[str, Any]) -> Policy:
    """Return a policy that knows what rewards and utilities are here: from 0 to 1, and at most 1."""
    params = {**find_policy(name).service_defaults(catalog.n_objectives, settings), **settings}
    policy = make_policy(name, n_objectives=catalog.n_objectives, **params)
    if policy.population:
        raise InvalidSetting(
            "a served policy must learn of each person by that person's own events, for not everybody is in memory, but"
            f" got {name} with population=True; leave it out"
        )
    return policy


@own_parts()
def compile_steps(policy: Policy, catalog: Catalog) -> None:
    """Take every step once with a policy of the same kind, so that all machine code is there."""
    scratch = type(policy)(**policy.params)
    scratch.add_arms(["a", "b"])
    scratch.hear("a", range(scratch.n_objectives))
    for _ in range(2 * scratch.n_objectives):
        scratch.learn("a", "a", [0.5] * scratch.n_objectives, 0.5)
    scratch.choose_slate("a", size=2)
    if scratch.learns_preference:
        scratch.preference("a")
        scratch.interval("a")
        scratch.revise("a", "a", 0.4, before=0.5)
        if scratch.learns_choices:
            scratch.learn_choice("a", "a", ["a", "b"])
        scratch.utility_weight("a", "b")
        scratch.sources("a")
    _ask(scratch)
    if scratch.learns_contexts:
        with scratch.in_context({"a": 1.0}):
            scratch.learn("a", "a", [0.5] * scratch.n_objectives, 0.5)
            scratch.choose_slate("a", size=2)
            _ask(scratch)
            scratch.revise("a", "a", 0.4, before=0.5)
            if scratch.learns_choices:
                scratch.learn_choice("a", "a", ["a", "b"])
        scratch.utilities_apart("a", ["a"])
    Predictor(scratch, catalog.objectives).compile()
    _ = Mixture(n_objectives=scratch.n_objectives).fit([(0,)]).responsibilities


def _ask(policy: Any) -> None:
    """Weigh what to ask somebody known, and a stranger."""
    for user in ("a", "b") if policy.values_answers else ():
        policy.ask(user, price=0.0, offer=["a", "b"])
