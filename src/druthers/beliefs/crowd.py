"""People side by side: what each of them prefers, with what people have in common behind it."""

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from druthers.beliefs.choices import choice_site, condition, predict_choice, resite
from druthers.beliefs.population import Law, first_law, learn_law, next_look
from druthers.errors import InvalidFeedback, InvalidOffer, InvalidSetting, UnknownUser
from druthers.types import Floats, Preference

# How many choices are kept to be heard again; of older ones stays what they said.
KEPT = 64
# Before anyone is known, the population is believed three times as much as the law before anyone was known.
FIRST_WORTH = (3.0, 1.0)
# A person's choices are heard again at these counts, and when there are so many times as many people.
AGAIN = (16, 64)
AGAIN_GROWTH = 1.25


class _Choice(NamedTuple):
    """A choice, and the factors that stand for it under both laws: (2, D, D) and (2, D)."""

    offer: Floats
    picked: int
    sites: Floats
    pulls: Floats


@dataclass
class _Person:
    """One person under the law of all people and, beside it, under the first law: [0] and [1] of each array."""

    information: Floats
    pull: Floats
    mean: Floats
    covariance: Floats
    worth: Floats  # log-chances of all that was chosen, under both
    kept: list[_Choice] = field(default_factory=list)
    count: int = 0


class Crowd:
    """What each of many people prefers, from what they choose, with the law of all their weights behind it.

    A newcomer is met with what people are like. The law before anyone is known, N(0, 8/D), is kept beside it, and each
    person's own choices weigh both: over a person's whole life the log-loss is never more than ln 4 above that of
    the first law alone, before earlier people have shown which is better.

    Parameters
    ----------
    n_objectives
        Number of objectives D. They should be centered and of comparable scale within an offer.
    population
        Whether people have anything in common. Without it everybody starts from the first law, and nobody's choices
        move what is believed of another.

    Examples
    --------
    >>> crowd = Crowd(n_objectives=2)
    >>> cheap_or_quiet = [[1.0, 0.0], [0.0, 1.0]]
    >>> for person in range(8):
    ...     for _ in range(5):
    ...         crowd.learn_choice(person, 0, cheap_or_quiet)
    >>> bool(crowd.predict("ada", cheap_or_quiet)[0] > 0.7)
    True
    """

    def __init__(self, *, n_objectives: int, population: bool = True) -> None:
        if n_objectives < 1:
            raise InvalidSetting(f"n_objectives must be at least 1, but got {n_objectives!r}")
        self.n_objectives = n_objectives
        self.population = population
        self._people: dict[Hashable, _Person] = {}
        self._first = first_law(n_objectives)
        self._keep_law(self._first)
        self._worth = np.array(FIRST_WORTH)
        self._next, self._next_again = 1, 1

    @property
    def people(self) -> tuple[Hashable, ...]:
        """Those who chose anything."""
        return tuple(self._people)

    @property
    def law(self) -> Law:
        """What people are like, as of the latest look at all of them."""
        return self._law

    def predict(self, person: Hashable, offer: ArrayLike) -> Floats:
        """Return how likely each option (K, D) is to be picked, averaged over what is believed of the person."""
        options = self._options(offer)
        if person not in self._people:
            self._look()
        known = self._people.get(person) or self._newcomer()
        predicted: Floats = self._shares(known) @ self._foretell(known, options)
        return predicted

    def learn_choice(self, person: Hashable, picked: int | None, offer: ArrayLike) -> None:
        """Take in what a person picked, as a place in the offer (K, D); None is none of these, which is worth 0."""
        options = self._options(offer)
        place = -1 if picked is None else picked
        if not -1 <= place < len(options) or (picked is not None and place < 0):
            raise InvalidFeedback(f"what was picked must be a place in the offer of {len(options)}, but got {picked!r}")
        if person not in self._people:
            self._look()
            self._people[person] = self._newcomer()
        known = self._people[person]
        sites, pulls = np.zeros((2, *known.information.shape[1:])), np.zeros((2, self.n_objectives))
        chances = self._foretell(known, options if place >= 0 else np.vstack([options, np.zeros(self.n_objectives)]))
        for law in self._laws():
            known.worth[law] += np.log(max(chances[law, place], 1e-300))
            choice_site(known.mean[law], known.covariance[law], options, place, sites[law], pulls[law])
        known.information += sites
        known.pull += pulls
        known.count += 1
        known.kept.append(_Choice(options, place, sites, pulls))
        del known.kept[:-KEPT]
        if known.count in AGAIN:
            self._hear_again(known, self._laws())
        self._condition(known)

    def forget(self, person: Hashable) -> None:
        """Forget a person at once, and in what people have in common at the next look, which comes now."""
        if person not in self._people:
            raise UnknownUser(f"a person must be known to be forgotten, but {person!r} is not")
        del self._people[person]
        self._next = self._next_again = 0
        self._look()

    def preference(self, person: Hashable) -> Preference:
        """Return mean and covariance of a person's weights, the doubt between both laws included."""
        known = self._people.get(person) or self._newcomer()
        shares = self._shares(known)
        mean: Floats = shares @ known.mean
        off = known.mean - mean
        covariance: Floats = np.einsum("l,lij->ij", shares, known.covariance) + (shares * off.T) @ off
        return Preference(weights=mean, covariance=covariance)

    def _options(self, offer: ArrayLike) -> Floats:
        options = np.array(offer, dtype=np.float64, order="C")  # a copy: it is kept
        if options.ndim != 2 or not len(options) or options.shape[1] != self.n_objectives:
            raise InvalidOffer(f"an offer must have {self.n_objectives} numbers for each option, but got {offer!r}")
        if not np.isfinite(options).all():
            raise InvalidOffer(f"an offer must hold finite numbers, but got {offer!r}")
        return options

    def _laws(self) -> range:
        return range(0 if self.population else 1, 2)

    def _newcomer(self) -> _Person:
        size = self.n_objectives
        mean = np.stack([self._law.mean, self._first.mean])
        covariance = np.stack([self._law.newcomer, self._first.covariance])
        nothing = np.zeros((2, size, size)), np.zeros((2, size))
        return _Person(*nothing, mean, covariance, np.zeros(2))

    def _shares(self, known: _Person) -> Floats:
        """Return how much a person is believed to follow each of the two laws."""
        if not self.population:
            return np.array([0.0, 1.0])
        return _normalized(np.log(self._worth) + known.worth)

    def _foretell(self, known: _Person, options: Floats) -> Floats:
        """Return the chances of options under both laws (2, K)."""
        chances = np.zeros((2, len(options)))
        for law in self._laws():
            predict_choice(known.mean[law], known.covariance[law], options, chances[law])
        return chances

    def _keep_law(self, law: Law) -> None:
        """Keep a law of all people, and how what is known of a person goes together with it and with the first one."""
        self._law = law
        self._precisions = np.linalg.inv([law.newcomer, self._first.covariance])
        self._drawn = np.einsum("lij,lj->li", self._precisions, [law.mean, self._first.mean])

    def _condition(self, known: _Person) -> None:
        information, pull = self._precisions + known.information, self._drawn + known.pull
        for law in self._laws():
            condition(information[law], pull[law], known.mean[law], known.covariance[law])

    def _look(self) -> None:
        """Learn the law of all people anew, if there are enough more of them."""
        n_people = len(self._people)
        if not self.population or n_people < self._next:
            return
        if n_people >= self._next_again:
            for known in self._people.values():  # under the law that changed; the other one is what it was
                self._hear_again(known, range(1))
            self._next_again = max(n_people + 1, int(np.ceil(AGAIN_GROWTH * n_people)))
        known_people = list(self._people.values())
        informations = np.array([known.information[0] for known in known_people])
        pulls = np.array([known.pull[0] for known in known_people])
        self._keep_law(learn_law(informations, pulls) if known_people else self._first)
        self._worth = np.array(FIRST_WORTH)
        for known in known_people:
            self._worth += _normalized(np.log(FIRST_WORTH) + known.worth)
        self._next = next_look(n_people)
        for known in known_people:
            self._condition(known)

    def _hear_again(self, known: _Person, laws: range) -> None:
        """Renew the factors of a person's kept choices under some of the laws of now."""
        size = self.n_objectives
        work = np.empty((size + 1, size))
        for law in laws:
            mean, covariance, _ = self._law if law == 0 else self._first
            prior = np.linalg.inv(covariance)
            information, pull = prior + known.information[law], prior @ mean + known.pull[law]
            for _, same in itertools.groupby(known.kept, lambda choice: choice.offer.shape):
                choices = list(same)
                offers = np.array([choice.offer for choice in choices])
                picked = np.array([choice.picked for choice in choices])
                sites = np.array([choice.sites[law] for choice in choices])
                pulls = np.array([choice.pulls[law] for choice in choices])
                resite(offers, picked, sites, pulls, information, pull, work)
                for choice, site, drawn in zip(choices, sites, pulls, strict=True):
                    choice.sites[law], choice.pulls[law] = site, drawn
            known.information[law] = information - prior
            known.pull[law] = pull - prior @ mean


def _normalized(logs: Floats) -> Floats:
    shares = np.exp(logs - logs.max())
    normalized: Floats = shares / shares.sum()
    return normalized
