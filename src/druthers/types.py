"""The values that pass between the parts: frozen, plain, and the same everywhere."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = Sequence[Hashable]
RankingLike: TypeAlias = "Sequence[int] | NDArray[Any]"


class Decision(NamedTuple):
    """What a policy chose, and why: the slate, best first, and the reasons of all that was offered.

    Parameters
    ----------
    user
        Whom it is for.
    arms
        The slate, best first.
    offer
        What could have been chosen.
    reasons
        Utility, reward bonus, preference bonus and score (4, n_offered) of everything offered.
    places
        Where the slate's arms stand in the offer.
    propensities
        For each place of the slate, the chance that the policy would have put this arm there, given the places
        before it; NaN where it is unknown (Thompson sampling).
    """

    user: Hashable
    arms: tuple[Hashable, ...]
    offer: tuple[Hashable, ...]
    reasons: Floats
    places: tuple[int, ...]
    propensities: tuple[float, ...]

    @property
    def arm(self) -> Hashable:
        """The first arm of the slate."""
        return self.arms[0]

    @property
    def propensity(self) -> float:
        """The chance that the policy would have chosen the first arm."""
        return self.propensities[0]

    @property
    def utility(self) -> float:
        """Estimated utility of the first arm for this user."""
        return float(self.reasons[0, self.places[0]])

    @property
    def reward_bonus(self) -> float:
        """Optimism for not knowing the first arm's reward."""
        return float(self.reasons[1, self.places[0]])

    @property
    def preference_bonus(self) -> float:
        """Optimism for not knowing what the user wants, at the first arm."""
        return float(self.reasons[2, self.places[0]])

    @property
    def score(self) -> float:
        """What the first arm was ranked by; mostly the sum of utility and bonuses."""
        return float(self.reasons[3, self.places[0]])

    def explain(self) -> list[dict[str, Any]]:
        """Return the reasons of everything offered, best score first, as plain values.

        Examples
        --------
        >>> decision = Decision("ada", ("b",), ("a", "b"), np.arange(8.0).reshape(4, 2), (1,), (1.0,))
        >>> decision.explain()[0]
        {'arm': 'b', 'utility': 1.0, 'reward_bonus': 3.0, 'preference_bonus': 5.0, 'score': 7.0}
        """
        names = ("utility", "reward_bonus", "preference_bonus", "score")
        order = np.argsort(-self.reasons[3], kind="stable")
        return [
            {"arm": self.offer[j], **dict(zip(names, self.reasons[:, j].tolist(), strict=True))} for j in order.tolist()
        ]


@dataclass(frozen=True, slots=True)
class Question:
    """Something a policy would like to know: does this user care about one objective?"""

    user: Hashable
    objective: int


@dataclass(frozen=True, slots=True)
class Preference:
    """What a policy believes a user wants.

    Parameters
    ----------
    weights
        Estimated weight of each objective in the user's utility.
    covariance
        Uncertainty of the weights. For the policies of the paper it is the inverse of the matrix V in which
        their confidence ellipsoid is drawn, a shape without a scale.
    """

    weights: Floats
    covariance: Floats


@dataclass(frozen=True, slots=True)
class Objective:
    """Something users may care about, with what helps to recognize it in their words.

    Parameters
    ----------
    name
        Its name, as the user would see it: "sleep quality".
    description
        One sentence on what it means.
    synonyms
        Other words for it.
    examples
        What somebody might say who wants it: "I have to get up at five".
    """

    name: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a reading holds an objective: a piece of the text, and how it was understood.

    Parameters
    ----------
    objective
        Its index.
    start, end
        Where the piece stands: `text[start:end]` of what was read.
    text
        The piece itself.
    role
        "wanted" or "dismissed".
    why
        The word and the cue, in plain English.
    confidence
        How sure the parser is of this piece, from 0 to 1.
    """

    objective: int
    start: int
    end: int
    text: str
    role: str
    why: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says about objectives: a ranking, and why.

    Parameters
    ----------
    text
        What was read.
    objectives
        The names of all objectives.
    ranking
        Indices of the wanted ones, most important first; empty where the text says nothing.
    dismissed
        Indices of those the user does not care about, or would give up.
    evidence
        The pieces of text behind them, in the order of the text.
    confidence
        How sure the parser is of the whole, from 0 to 1.
    confidences
        How sure it is of each place of the ranking.
    leftover
        Pieces of text that were not understood.
    question
        What to ask back where the parser is not sure; else None.
    notes
        What happened on the way: text cut off, machine-directed text left out.
    """

    text: str
    objectives: tuple[str, ...]
    ranking: tuple[int, ...] = ()
    dismissed: tuple[int, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 0.0
    confidences: tuple[float, ...] = ()
    leftover: tuple[str, ...] = ()
    question: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the ranking, most important first."""
        return tuple(self.objectives[index] for index in self.ranking)

    @property
    def dismissed_names(self) -> tuple[str, ...]:
        """The names of the dismissed objectives."""
        return tuple(self.objectives[index] for index in self.dismissed)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "text": self.text,
            "ranking": list(self.names),
            "dismissed": list(self.dismissed_names),
            "confidence": round(self.confidence, 3),
            "confidences": [round(value, 3) for value in self.confidences],
            "evidence": [
                {
                    "objective": self.objectives[piece.objective],
                    "role": piece.role,
                    "start": piece.start,
                    "end": piece.end,
                    "text": piece.text,
                    "why": piece.why,
                    "confidence": round(piece.confidence, 3),
                }
                for piece in self.evidence
            ],
            "leftover": list(self.leftover),
            "question": self.question,
            "notes": list(self.notes),
        }
