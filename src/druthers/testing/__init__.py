"""The laws that every policy, anchor, parser and store keeps, as functions you can run on your own.

>>> from druthers.policies import make_policy
>>> check_policy(lambda **params: make_policy("s-ucb", **params))

Each check takes a *builder*: for a policy a function of `n_objectives`, `seed` and settings, for an anchor a function
of `n_objectives`, for a parser a function of the objectives, for a store a function that opens a fresh one. A law that
is broken raises AssertionError with what was found.
"""

from druthers.testing.anchors import ANCHOR_CHECKS, BuildAnchor, check_anchor
from druthers.testing.choosing import CHOOSING_CHECKS
from druthers.testing.laws import hold
from druthers.testing.learning import LEARNING_CHECKS
from druthers.testing.parsers import PARSER_CHECKS, BuildParser, Reads, check_parser
from druthers.testing.stores import STORE_CHECKS, check_store
from druthers.testing.worlds import BuildPolicy, World, same_state

__all__ = [
    "ANCHOR_CHECKS",
    "PARSER_CHECKS",
    "POLICY_CHECKS",
    "STORE_CHECKS",
    "BuildAnchor",
    "BuildParser",
    "BuildPolicy",
    "Reads",
    "World",
    "check_anchor",
    "check_parser",
    "check_policy",
    "check_store",
    "same_state",
]

POLICY_CHECKS = [*CHOOSING_CHECKS, *LEARNING_CHECKS]


def check_policy(build: BuildPolicy) -> None:
    """Run every law of policies."""
    hold(POLICY_CHECKS, build)
