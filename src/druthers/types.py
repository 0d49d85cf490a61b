"""The values that pass between the parts: frozen, plain, and the same everywhere."""

import math
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidFeedback, InvalidSetting, require

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
# What is told of a visit, by name: words, true or false, or numbers from -1 to 1.
Context: TypeAlias = Mapping[str, str | bool | float]
RankingLike: TypeAlias = "Sequence[int] | NDArray[Any]"


class Decision(NamedTuple):
    """What a policy chose, and why: the slate, best first, and the reasons of all that was offered."""

    user: Hashable  # whom it is for
    arms: tuple[Hashable, ...]  # the slate, best first
    offer: tuple[Hashable, ...]  # what could have been chosen
    reasons: Floats  # utility, reward bonus, preference bonus and score (4, n_offered) of everything offered
    places: tuple[int, ...]  # where the slate's arms stand in the offer
    # For each place of the slate, the chance that the policy would have put this arm there, given the places before it;
    # NaN where it is unknown (Thompson sampling).
    propensities: tuple[float, ...]
    # For each place of the slate, where in the offer the arm stands that would be there without chance, given the
    # places before it; None where that is not known, or not all there is to know.
    best: tuple[int, ...] | None = None

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
class Objective:
    """One thing that matters: what it is called, what people say when they mean it, and how it is measured.

    Measured values run from `low` to `high` in a unit of their own, stars or euros; rewards run from 0 to 1, and more
    is always better.

    Examples
    --------
    >>> price = Objective("price", synonyms=("cheap", "cost"), low=50, high=300, less_is_better=True)
    >>> price.to_reward(120)
    0.72
    >>> price.to_value(0.72)
    120.0
    """

    name: str  # in one or two words
    description: str = ""  # one sentence about it
    synonyms: tuple[str, ...] = ()  # other words for it
    examples: tuple[str, ...] = ()  # sentences of users who care about it
    low: float = 0.0  # the range of its values
    high: float = 1.0
    less_is_better: bool = False  # for costs: prices, distances, waiting times
    # Knots of value and reward between which rewards are straight; by default the straight line over the range.
    # `druthers.catalogs.scales` takes them from what is on offer.
    scale: tuple[tuple[float, float], ...] = ()
    # How many ratings a value must rest on to be believed half, where items say how many theirs do; 0 for values that
    # are what they are, such as prices.
    doubt: float = 0.0
    typical: float | None = None  # what is believed of an item as far as its value is not; by default the middle

    def __post_init__(self) -> None:
        require(isinstance(self.name, str) and self.name.strip(), "an objective must have a name", self.name)
        for field in ("synonyms", "examples"):
            texts = getattr(self, field)
            fits = not isinstance(texts, str) and all(isinstance(text, str) and text.strip() for text in texts)
            require(fits, f"{field} of {self.name!r} must be a sequence of texts", texts)
            object.__setattr__(self, field, tuple(texts))
        object.__setattr__(self, "scale", tuple((float(value), float(reward)) for value, reward in self.scale))
        if not -np.inf < self.low < self.high < np.inf:
            raise InvalidSetting(
                f"the range of {self.name!r} must be finite with low below high, but got {self.low!r} to {self.high!r}"
            )
        law = f"doubt of {self.name!r} must be a number of ratings from 0 on"
        require(0.0 <= self.doubt < np.inf, law, self.doubt)
        law = f"what is typical of {self.name!r} must lie between {self.low:g} and {self.high:g}"
        require(self.typical is None or self.low <= self.typical <= self.high, law, self.typical)

    def believed(self, value: float, count: float) -> float:
        """Return what a value that rests on so many ratings lets one believe.

        Examples
        --------
        >>> rating = Objective("rating", low=1, high=5, doubt=9, typical=4)
        >>> rating.believed(5.0, 1), rating.believed(4.8, 900)
        (4.1, 4.792079207920792)
        """
        if not self.doubt:
            return value
        typical = 0.5 * (self.low + self.high) if self.typical is None else self.typical
        return (count * value + self.doubt * typical) / (count + self.doubt)

    def to_reward(self, value: float) -> float:
        """Return the reward of a value: 0 at the bad end of the range, 1 at the good end; NaN stays NaN."""
        if not (self.low <= value <= self.high or math.isnan(value)):
            raise InvalidFeedback(
                f"{self.name!r} must lie between {self.low:g} and {self.high:g}, but got {value!r};"
                " correct the value or widen the range"
            )
        if self.scale:
            return _along(self.scale, float(value))
        gain = self.high - value if self.less_is_better else value - self.low
        return float(gain / (self.high - self.low))

    def to_value(self, reward: float) -> float:
        """Return the value that has this reward; beyond the range for a reward below 0 or above 1, as estimates may."""
        if self.scale:
            scale = reversed(self.scale) if self.less_is_better else self.scale
            return _along([(known, value) for value, known in scale], float(reward))
        gain = reward * (self.high - self.low)
        return float(self.high - gain if self.less_is_better else self.low + gain)

    def with_deviation(self, reward: float, deviation: float) -> tuple[float, float]:
        """Return the value of an uncertain reward within the scale, and one standard deviation of it.

        Examples
        --------
        >>> Objective("price", low=50, high=300, less_is_better=True).with_deviation(0.72, 0.1)
        (120.0, 25.0)
        """
        ends = [self.to_value(min(max(reward + side * deviation, 0.0), 1.0)) for side in (-1.0, 1.0)]
        return self.to_value(reward), abs(ends[1] - ends[0]) / 2.0


def _along(points: Sequence[tuple[float, float]], x: float) -> float:
    """Return what `np.interp` returns, in a tenth of its time for a single number and a few points."""
    if math.isnan(x):
        return x
    place = bisect_right(points, x, key=itemgetter(0))
    if not 0 < place < len(points):
        return points[min(place, len(points) - 1)][1]
    (low, first), (high, last) = points[place - 1], points[place]
    return first if x == low else (last - first) / (high - low) * (x - low) + first


@dataclass(frozen=True, slots=True)
class Question:
    """Something a policy would like to know: does this user care about one objective?"""

    user: Hashable
    objective: int


@dataclass(frozen=True, slots=True)
class RankingQuestion(Question):
    """A question about all objectives: which `length` of them matter most, in order?

    It is answered by a ranking, to `policy.hear`. `objective` is -1, none in particular.
    """

    length: int  # how many objectives to rank
    value: float  # how much better the next decision is expected to be for the answer, in units of utility
    named: tuple[int, ...] = ()  # the objectives that are likely to be ranked first, where the policy says so


@dataclass(frozen=True, slots=True)
class ChoiceQuestion(Question):
    """A question about arms: which of these would the user rather have?

    It is answered by `policy.learn_choice`. `objective` is -1, none in particular.
    """

    offer: tuple[Hashable, ...]  # the arms
    value: float  # how much better the next decision is expected to be for the answer, in units of utility


@dataclass(frozen=True, slots=True)
class Preference:
    """What a policy believes a user wants."""

    weights: Floats  # estimated weight of each objective in the user's utility
    # Uncertainty of the weights. For the policies of the paper it is the inverse of the matrix V in which their
    # confidence ellipsoid is drawn, a shape without a scale.
    covariance: Floats


class Strength(StrEnum):
    """How much a wish is meant, strongest first."""

    ONLY = "only"  # and nothing else: "just the cheapest", "all I care about is the price"
    ABOVE_ALL = "above all"  # "first and foremost", "my top priority"
    STRONG = "strong"  # "essential", "a must"
    PLAIN = "plain"
    FAINT = "faint"  # "ideally", "a bonus"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a reading holds an objective: a piece of the text, and how it was understood."""

    objective: int  # its index
    start: int  # where the piece stands: `text[start:end]` of what was read
    end: int
    text: str  # the piece itself
    role: str  # "wanted" or "dismissed"
    why: str  # the word and the cue, in plain English
    confidence: float  # how sure the parser is of this piece, from 0 to 1
    strength: Strength = Strength.PLAIN  # how much it is meant

    @property
    def guessed(self) -> bool:
        """Whether no word tells of the objective: only the meaning of the piece is like that of others which do."""
        return self.why.startswith("'like ")

    def as_dict(self, objectives: Sequence[str]) -> dict[str, Any]:
        """Return plain values, the objective by its name."""
        rounded = {"confidence": round(self.confidence, 3), "strength": str(self.strength)}
        return {**asdict(self), "objective": objectives[self.objective], **rounded}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says about objectives: a ranking, and why."""

    text: str  # what was read
    objectives: tuple[str, ...]  # the names of all objectives
    ranking: tuple[int, ...] = ()  # indices of the wanted ones, most important first; empty where the text says nothing
    dismissed: tuple[int, ...] = ()  # indices of those the user does not care about, or would give up
    evidence: tuple[Evidence, ...] = ()  # the pieces of text behind them, in the order of the text
    confidence: float = 0.0  # how sure the parser is of the whole, from 0 to 1
    confidences: tuple[float, ...] = ()  # how sure it is of each place of the ranking
    # How much each place of the ranking is meant; `Strength.ONLY` of one place is so of all.
    strengths: tuple[Strength, ...] = ()
    leftover: tuple[str, ...] = ()  # pieces of text that were not understood
    question: str | None = None  # what to ask back where the parser is not sure; else None
    notes: tuple[str, ...] = ()  # what happened on the way: text cut off, machine-directed text left out

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
            "strengths": [str(strength) for strength in self.strengths],
            "evidence": [piece.as_dict(self.objectives) for piece in self.evidence],
            "leftover": list(self.leftover),
            "question": self.question,
            "notes": list(self.notes),
        }
