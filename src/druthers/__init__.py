"""druthers: personalized multi-objective bandits that listen.

A user says which objectives matter most; a policy hears it, chooses, and learns from what came of the choice.

>>> import druthers as dr
>>> policy = dr.make_policy("fisher-pqucb", n_objectives=3, seed=1)
>>> policy.hear("ada", (2, 0))
>>> decision = policy.choose("ada", offer=["inn", "spa", "loft"])
>>> policy.learn("ada", decision.arm, reward=[0.2, 0.4, 0.9], utility=0.8)
"""

import importlib
import typing

from druthers.anchors import ANCHORS, Anchor, GroupLasso, Likelihood, Mixture, make_anchor
from druthers.catalogs import CATALOGS, Catalog, Item
from druthers.errors import DruthersError
from druthers.policies import (
    MOOFUL,
    MOPQUCB,
    MOPQUCBGL,
    POLICIES,
    PRUCB,
    SMOSS,
    SUCB,
    ConUCB,
    FisherPQUCB,
    FisherPQUCBRobust,
    FisherUCB,
    Greedy,
    MOPQUCBGLRecipe,
    MOPQUCBRecipe,
    Oracle,
    ParetoTS,
    ParetoUCB,
    PlainPolicy,
    Policy,
    PRUCBRecipe,
    Random,
    StatedUCB,
    make_policy,
)
from druthers.rankings import as_ranking, log_likelihood
from druthers.sampling import sample_rankings
from druthers.saving import load, save
from druthers.types import Decision, Objective, Preference, Question, RankingQuestion

if typing.TYPE_CHECKING:
    from druthers.advisor import Advisor

__version__ = "0.1.0"

__all__ = [
    "ANCHORS",
    "CATALOGS",
    "MOOFUL",
    "MOPQUCB",
    "MOPQUCBGL",
    "POLICIES",
    "PRUCB",
    "SMOSS",
    "SUCB",
    "Advisor",
    "Anchor",
    "Catalog",
    "ConUCB",
    "Decision",
    "DruthersError",
    "FisherPQUCB",
    "FisherPQUCBRobust",
    "FisherUCB",
    "Greedy",
    "GroupLasso",
    "Item",
    "Likelihood",
    "MOPQUCBGLRecipe",
    "MOPQUCBRecipe",
    "Mixture",
    "Objective",
    "Oracle",
    "PRUCBRecipe",
    "ParetoTS",
    "ParetoUCB",
    "PlainPolicy",
    "Policy",
    "Preference",
    "Question",
    "Random",
    "RankingQuestion",
    "StatedUCB",
    "as_ranking",
    "load",
    "log_likelihood",
    "make_anchor",
    "make_policy",
    "sample_rankings",
    "save",
]


def __getattr__(name: str) -> typing.Any:
    """Return what is imported only once it is asked for: an advisor brings parsers and stores along."""
    if name == "Advisor":
        return importlib.import_module("druthers.advisor").Advisor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
