"""Policies that weigh all objectives alike: S-UCB and S-MOSS."""

from typing import Any

import numpy as np

from druthers._jit import implements, kernel
from druthers.errors import require
from druthers.own import settings
from druthers.policies.arms import NEVER_SEEN, never_seen, observe
from druthers.policies.base import Policy
from druthers.policies.steps import learn_policy, score_policy
from druthers.types import Floats, Integers


@settings
class WidthPolicy(Policy, told="width unseen_bonus"):
    """A policy that learns about arms alone, and is optimistic about each of them by some width."""

    width: float = 1.0
    unseen_first: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.width >= 0, "width must not be negative", self.width)
        self._start()

    def _derived(self) -> dict[str, float]:
        return {"unseen_bonus": NEVER_SEEN if self.unseen_first else 0.0}


class SUCB(WidthPolicy, told="width unseen_bonus"):
    """Scalarized UCB: the sum over objectives of mean + width sqrt(2 ln(t + 2) / N).

    A baseline for users who all want the same thing. It does not hear and learns no preference.

    Parameters
    ----------
    width
        Multiplier of the confidence width.
    unseen_first
        Whether an arm never seen comes before all others; if not, it counts as seen once with reward 0, as in the
        authors' experiments.

    Examples
    --------
    >>> policy = SUCB(n_objectives=2)
    >>> policy.choose("ada", offer=["inn", "spa"]).arm
    'inn'

    References
    ----------
    Drugan and Nowe (2013), as in appendix "Baseline Details" of the paper.
    """

    name = "s-ucb"


@settings
class SMOSS(WidthPolicy, told="width horizon unseen_bonus"):
    """Scalarized MOSS: the sum over objectives of mean + width sqrt(4 max(0, ln(T / (K N))) / N).

    As S-UCB, but exploration ends once an arm has had its share T/K of the horizon.

    Parameters
    ----------
    width
        Multiplier of the confidence width.
    horizon
        Number of rounds T that the policy will play.
    unseen_first
        As in `SUCB`.

    References
    ----------
    Audibert and Bubeck (2009), as in appendix "Baseline Details" of the paper.
    """

    name = "s-moss"

    horizon: int = 10_000

    def __post_init__(self) -> None:
        require(self.horizon >= 1, "horizon must be at least 1", self.horizon)
        super().__post_init__()


@kernel
def _add_widths(state: Any, offer: Integers, numerator: float, share: float, out: Floats) -> int:
    """Write the sums of means and of widths sqrt(numerator / N) or, with a share T/K, sqrt(4 max(0, ln(share/N))/N)."""
    for j in range(offer.shape[0]):
        arm = offer[j]
        utility = 0.0
        bonus = 0.0
        seen = -1.0
        width = 0.0
        for k in range(state.arms.means.shape[1]):
            utility += state.arms.means[arm, k]
            if state.arms.pulls[arm, k] != seen:  # mostly, all objectives of an arm were seen equally often
                seen = state.arms.pulls[arm, k]
                pulls = max(seen, 1.0)
                over = 4.0 * max(np.log(share / pulls), 0.0) if share > 0.0 else numerator
                width = np.sqrt(over / pulls)
            bonus += width
        bonus *= state.settings.width
        if state.settings.unseen_bonus > 0.0 and never_seen(state.arms, arm):
            bonus = state.settings.unseen_bonus
        out[0, j] = utility
        out[1, j] = bonus
        out[2, j] = 0.0
        out[3, j] = utility + bonus
    return 1


@implements(score_policy, SUCB.State)
@kernel
def _score_ucb(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    return _add_widths(state, offer, 2.0 * np.log(state.clock[0] + 2.0), 0.0, out)


@implements(score_policy, SMOSS.State)
@kernel
def _score_moss(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    return _add_widths(state, offer, 0.0, state.settings.horizon / max(state.clock[1], 1.0), out)


@implements(learn_policy, WidthPolicy.State)
@kernel
def learn_arms(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    """Learn about the arm alone."""
    filled = np.empty(reward.shape[0])
    observe(state.arms, state.clock, arm, reward, filled)
    state.users.feedbacks[user] += 1.0
