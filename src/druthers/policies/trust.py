"""Fisher-PQUCB that doubts what it hears: rankings are trusted as far as they foretell what users feel."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from druthers._jit import implements, kernel
from druthers.anchors import Mixture, require_anchor
from druthers.anchors.base import hear_anchor, is_power_of_two
from druthers.anchors.contamination import honesty, uniform_losses
from druthers.errors import require
from druthers.own import settings
from druthers.policies.base import Policy
from druthers.policies.belief import FIRST_FIT, Posterior, combine, fit_unit
from druthers.policies.choices import in_words
from druthers.policies.feedback import (
    RANKING,
    UTILITY,
    FisherState,
    FisherUsers,
    believe_here,
    believe_user,
    believe_words,
    evidence_of,
    settle,
    state_belief,
    unit_of,
)
from druthers.policies.fisher import FisherPQUCB
from druthers.policies.intervals import Normals, normals_of_readings
from druthers.policies.steps import hear_policy
from druthers.policies.voices import CONTRARY, MAIN, Readings, Rival, mix_readings, weigh_voices
from druthers.rankings import loss
from druthers.types import Floats, Integers, Preference

# A rival is listened to from so many rankings on. Fewer rankings speak against it, but not more than so much: most of
# what is said may be wrong.
LEAST_RIVAL = 3
AGAINST_RIVAL = 4.0
# After so many utilities trust is weighed at every such multiple only.
OFTEN = 64
SELDOM = 8
# Rankings per user that a service keeps for exact refits: its users say less than those of the lab.
SERVED_WINDOW = 32


class DoubtingState(FisherState):
    """All that the policy knows.

    Of users it has as much as `FisherUsers`; and `rival`, who hears the rankings that the main voice does not explain,
    `trust`, `open`, `tempered` and `pulled`, what is made of both (`Readings`), and `noise`, by how much the estimated
    noise is divided.
    """


class Trust(NamedTuple):
    """How a user's rankings are read: the probabilities of four readings, which sum to one.

    `word` takes them at their word, perhaps loosely; `contrary` upside down; `rival` believes those that the others
    contradict; `nothing` ignores them all.
    """

    word: float
    contrary: float
    rival: float
    nothing: float


@settings
class FisherPQUCBRobust(FisherPQUCB, keeps="rival trust open tempered pulled noise"):
    """Fisher-PQUCB for rankings that may be wrong, each, often or always, without being told how often.

    Use it where rankings come from text, from several people or from people who mistake the scale. The `Mixture`
    anchor finds rankings that do not fit the rest; a second one listens to those as a rival voice. What utilities
    reveal then decides between readings: the main voice, the same upside down, the rival, each exact or with some
    slack, or none of them. Readings are weighed by their probability given the utilities, so that honest rankings
    count almost as in `fisher-pqucb`, and rankings that foretell nothing count nothing.

    Parameters
    ----------
    ridge, width, level, unit
        As in `FisherPQUCB`.
    anchor
        The `Mixture` of the main voice and of the rival; `Mixture(ridge=ridge)` by default.

    Examples
    --------
    >>> policy = FisherPQUCBRobust(n_objectives=2)
    >>> policy.add_arms(["inn"])
    >>> policy.hear("ada", (0, 1))
    >>> rewards, utilities = [[1, 5], [5, 1], [2, 4], [4, 2], [0, 5], [5, 0]], [26, 10, 21, 13, 26, 5]
    >>> for reward, utility in zip(rewards, utilities, strict=True):
    ...     policy.learn("ada", "inn", reward, utility)
    >>> bool(np.argmax(policy.preference("ada").weights) == 1)
    True
    """

    name = "fisher-pqucb-robust"
    State: ClassVar[Any] = DoubtingState

    guarantee: bool = field(init=False, default=False)
    population: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        require_anchor(self.anchor)
        if self.anchor is None:
            self.anchor = Mixture(ridge=self.ridge)
        law = "the anchor of a policy that doubts must be a Mixture"
        require(isinstance(self.anchor, Mixture), law, self.anchor)
        super().__post_init__()

    @classmethod
    def service_defaults(cls, n_objectives: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings for rewards and utilities of at most 1, and an anchor that keeps fewer rankings."""
        anchor = Mixture(ridge=settings.get("ridge", 0.5), window=SERVED_WINDOW)
        return {**super().service_defaults(n_objectives, settings), "anchor": anchor}

    def _fresh_users(self, n_users: int) -> Any:
        plain: FisherUsers = super()._fresh_users(n_users)
        trust, taken = np.zeros((n_users, 4)), np.zeros((n_users, 2))
        trust[:, MAIN] = taken[:, MAIN] = 1.0
        assert self.anchor is not None
        return self.Users(
            *plain,
            rival=self.anchor.rows(n_users, self.n_objectives),
            trust=trust,
            open=taken,
            tempered=np.zeros((n_users, self.n_objectives, self.n_objectives)),
            pulled=np.zeros((n_users, self.n_objectives)),
            noise=np.ones(n_users),
        )

    def _anytime_preference(self, row: int) -> Preference:
        return Policy._anytime_preference(self, row)  # of readings that are averaged no such interval is known

    def _normals(self, row: int) -> Normals:
        users = self._state.users
        return normals_of_readings(evidence_of(self._state, row), rival_of(users, row), float(users.unit[0]))

    def _told(self, row: int) -> Floats:
        users = self._state.users
        told: Floats = users.open[row].sum() * super()._told(row) + users.tempered[row]
        return told

    def trust(self, user: Hashable) -> Trust:
        """Return how the rankings of a user are read.

        Examples
        --------
        >>> FisherPQUCBRobust(n_objectives=2).trust("ada")
        Trust(word=1.0, contrary=0.0, rival=0.0, nothing=0.0)
        """
        word, contrary, rival, nothing = self._state.users.trust[self._row_of(user)].tolist()
        return Trust(word, contrary, rival, nothing)


@implements(believe_user, DoubtingState)
@kernel
def _believe_user(state: Any, user: int) -> Posterior:
    """Return what is believed of a user's weights, all readings averaged."""
    users, told = state.users, evidence_of(state, user)
    anchor, information = told.anchor, told.information
    size = anchor.shape[0]
    estimate, root = np.empty(size), np.empty((size, size))
    unit, straight, turned = users.unit[user], users.open[user, MAIN], users.open[user, CONTRARY]
    scale = 1.0 / (unit * unit)
    for k in range(size):
        value = told.pull * anchor[k]
        for j in range(size):
            value += information[k, j] * anchor[j]
            root[k, j] = (straight + turned) * scale * information[k, j] + users.tempered[user, k, j]
        estimate[k] = (straight - turned) * value / unit + users.pulled[user, k]
    return combine(told, told.variance / users.noise[user], unit, scale * told.ridge, estimate, root)


@implements(state_belief, DoubtingState)
@kernel
def _state_belief(state: Any, user: int, of_words: bool, estimate: Floats, covariance: Floats) -> bool:
    """Write mean and covariance of a user's weights over readings and units; False where nothing was felt yet."""
    users = state.users
    if not users.feedbacks[user] > users.feedbacks[0]:
        return False
    rival = rival_of(users, user)
    return mix_readings(evidence_of(state, user), rival, users.unit[0], of_words, estimate, covariance)


@implements(believe_words, DoubtingState)
@kernel
def _believe_words(state: Any, user: int, weights: Floats, covariance: Floats) -> None:
    """Take the unit that the score takes: to average over all units in every reading would take milliseconds."""
    in_words(believe_here(state, user), unit_of(state, user), weights, covariance)


@kernel
def rival_of(users: Any, user: int) -> Rival:
    """Return what the rival voice of a user says."""
    odds = odds_of_rival(users.anchor, users.rival, user)
    return Rival(users.rival.estimate[user], users.rival.information[user], odds)


@kernel
def fall_silent(rival: Any, user: int) -> None:
    """Make a rival as one who heard nothing; whatever else its row holds is written anew by what it hears."""
    rival.estimate[user] = rival.estimate[0]
    rival.information[user] = rival.information[0]
    rival.corruption[user] = rival.corruption[0]
    rival.queries[user] = rival.queries[0]
    rival.total_length[user] = rival.total_length[0]
    rival.shortest[user] = rival.shortest[0]
    rival.kept[user] = rival.kept[0]
    rival.refitted[user] = rival.refitted[0]
    rival.mixture_estimate[user] = rival.mixture_estimate[0]
    rival.mixture_corruption[user] = rival.mixture_corruption[0]
    rival.folded_information[user] = rival.folded_information[0]
    rival.folded_response[user] = rival.folded_response[0]
    rival.folded_cross[user] = rival.folded_cross[0]
    rival.folded_clean[user] = rival.folded_clean[0]
    rival.folded_corrupted[user] = rival.folded_corrupted[0]
    rival.folded_tilt[user] = rival.folded_tilt[0]
    rival.folded_gain[user] = rival.folded_gain[0]
    rival.plain_estimate[user] = rival.plain_estimate[0]
    rival.plain_information[user] = rival.plain_information[0]
    rival.plain_response[user] = rival.plain_response[0]


@implements(hear_policy, DoubtingState)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    users = state.users
    hear_anchor(users.anchor, user, ranking)
    anchor = users.anchor
    if anchor.corruption[user] <= 0.0:
        if users.rival.queries[user] > 0:  # the gate has closed again: nothing is left for a rival to explain
            fall_silent(users.rival, user)
        return
    # The newest ranking; or, where the gate has just opened, all that are kept: the rival catches up.
    uniforms = uniform_losses(anchor.estimate.shape[1])
    first = anchor.kept[user] - 1 if users.rival.queries[user] > 0 else 0
    order = np.empty(anchor.estimate.shape[1], dtype=np.int64)
    for row in range(max(first, 0), anchor.kept[user]):
        size = anchor.lengths[user, row]
        for place in range(order.shape[0]):
            order[place] = anchor.orders[user, row, place]
        fit = loss(order, size, anchor.estimate[user])
        if honesty(fit, float(uniforms[size]), anchor.corruption[user]) < 0.5:
            hear_anchor(users.rival, user, order[:size])


@kernel
def odds_of_rival(anchor: Any, rival: Any, user: int) -> float:
    """Return the log-odds that the rival speaks for the user, from how many rankings each explains.

    These are the odds that the share of the rival, of the rankings that one of both explains, is above one half; by
    the normal approximation of its posterior.
    """
    if rival.queries[user] < LEAST_RIVAL:
        return -np.inf
    others = (1.0 - rival.corruption[user]) * rival.queries[user]
    own = (1.0 - anchor.corruption[user]) * anchor.queries[user]
    lead = (own - others) / np.sqrt(max(own + others, 1.0))
    tail = 0.5 * math.erfc(abs(lead) / math.sqrt(2.0))
    odds = max(np.log(max(tail, 1e-300)) - np.log(1.0 - tail), -AGAINST_RIVAL)
    return float(odds if lead > 0.0 else -odds)


@implements(settle, DoubtingState)
@kernel
def _settle(state: Any, user: int, told: int) -> None:
    """Weigh the readings of a user's words anew, after the first utilities and choices and some of the later ones.

    Now and then after a utility the unit is fitted too: another must explain more than a change of trust does.
    """
    users = state.users
    if told == RANKING or users.anchor.queries[user] == 0:
        return
    count = int(users.feedbacks[user] if told == UTILITY else users.choices[user])
    refit = told == UTILITY and count >= FIRST_FIT and is_power_of_two(count)
    if not (refit or count <= OFTEN or count % SELDOM == 0):
        return
    users.kept.due[user] = 0.0
    evidence, rival, usual = evidence_of(state, user), rival_of(users, user), users.unit[0]
    readings = Readings(users.trust[user], users.open[user], users.tempered[user], users.pulled[user])
    divisor, gain = weigh_voices(evidence, rival, usual if refit else users.unit[user], readings)
    if refit:
        users.unit[user] = fit_unit(evidence, usual, gain)
        if users.unit[user] != usual:
            divisor, gain = weigh_voices(evidence, rival, users.unit[user], readings)
    users.noise[user] = divisor
