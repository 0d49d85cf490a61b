"""The steps of a policy on its state: what each policy writes a kernel for, and what runs episodes calls."""

from typing import Any, NamedTuple

from druthers._jit import generic
from druthers.types import Floats, Integers

# The place of a choice among none of the offered arms.
NONE_OF_THESE = -1


class State(NamedTuple):
    """All that a policy knows: its settings, counts of rewards and arms, and a row for each arm and each user."""

    settings: Any
    clock: Floats
    arms: Any
    users: Any


@generic
def hear_policy(state: Any, user: int, ranking: Integers) -> None:
    """Take in a checked, non-empty ranking; a policy without a body of its own does not hear."""


@generic
def ask_policy(state: Any, user: int) -> int:
    """Return the objective that this policy would like to ask the user about now, or -1."""
    return -1


@generic
def answer_policy(state: Any, user: int, objective: int, value: float) -> None:
    """Take in the answer to a question about an objective: 1 for yes, 0 for no."""


@generic
def score_policy(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    """Write utility, reward bonus, preference bonus and score of each offered arm into `out` (4, n_offered).

    Returns among how many of the best arms the choice is uniformly random: 1 for none, 0 for unknown.
    """
    raise NotImplementedError


@generic
def learn_policy(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    """Take in feedback: NaN stands for what is missing, in the reward or as the utility."""


@generic
def learn_choice_policy(state: Any, user: int, offer: Integers, place: int) -> None:
    """Take in which place of an offer the user picked, `NONE_OF_THESE` for no arm of it.

    A policy without a body of its own does not learn from choices, and says so by `learns_choices`.
    """
