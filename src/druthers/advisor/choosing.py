"""What may be chosen for a person, what single items are to them, why each is recommended, and what is asked back."""

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from druthers.advisor import cards
from druthers.advisor.answers import Suggestion
from druthers.advisor.asking import CHOICE, RANKING, Asked, Asking
from druthers.advisor.fold import NOBODY, Fold
from druthers.advisor.person import Person
from druthers.advisor.reasons import MOST_STRENGTHS, STRENGTH, Fact, Offer, Wanted, sentence
from druthers.advisor.wishes import PLAIN, Statement, Wishes
from druthers.advisor.wording import limit_in_words, limits_in_words
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, InvalidOffer, NothingFits, UnknownArm
from druthers.limits import Columns, Where, check_where
from druthers.policies.choosing import require_distinct
from druthers.policies.questions import MOST_ARMS
from druthers.policies.slates import Floor, by_score
from druthers.types import ChoiceQuestion, Decision, Floats, RankingQuestion

T = TypeVar("T")

# What a person feels beyond what the weights say is partly the item's own worth to that person, and partly chance: this
# is the share of its variance that is the item's own, the most that may be (a standard deviation; what exceeds it, as
# with clicks, is chance, and one click decides nothing), and the optimism about it in standard deviations. An item that
# was rated is less of an unknown than the others; who rates as the weights say has little to find out.
OWN_SHARE = 0.58
OWN_WORTH = 0.35
HOPED = 0.2  # utility of having what would be nice: as much as a fifth of all that matters
OPTIMISM = 0.3
MOST_WORKED_OUT = 4096


class Choosing:
    """The items of a fold as they can be limited, offered and given reasons for.

    Parameters
    ----------
    fold
        What is known.
    """

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self._columns: tuple[int, Columns, Offer] | None = None
        self._known: set[str] = set()  # items of which something is known: that stays so until the items change

    @property
    def catalog(self) -> Catalog:
        """The objectives; items are in the fold."""
        return self.fold.catalog

    @property
    def columns(self) -> Columns:
        """What items are like, column by column."""
        if self._columns is None or self._columns[0] != self.fold.items_changed:
            columns = Columns(self.fold.items, None if self._columns is None else self._columns[1])
            self._columns = self.fold.items_changed, columns, Offer(columns, self.catalog.objectives)
            self._known.clear()
        return self._columns[1]

    def check_offer(self, offer: Sequence[str] | None, size: int) -> None:
        """Refuse an offer of what is not there, and a slate of nothing."""
        items = self.fold.items
        if offer is not None and (isinstance(offer, str) or not isinstance(offer, Collection)):
            raise InvalidOffer(f"an offer must be a list of ids of items, but got {offer!r}")
        for item in offer or ():
            if not isinstance(item, str) or item not in items:
                raise UnknownArm(f"an offer must hold items of the catalog, but got {item!r}; put it there first")
        if not items:
            raise InvalidOffer(
                "a catalog must have items to recommend one, but there are none yet; put some there first"
            )
        if offer is not None and not offer:
            raise InvalidOffer(
                "an offer must hold at least one item, but this one is empty; leave it out for all items"
            )
        if not _is_whole(size):
            raise InvalidOffer(f"the size of a slate must be a whole number, but got {size!r}")
        if size < 1:
            raise InvalidOffer(f"a slate must hold at least one item, but got size {size}")

    def limitable(self) -> list[str]:
        """Return the names that a limit can be on; what an item is called is one of them."""
        return [*(one.name for one in self.catalog.objectives), *self.columns.names, "name"]

    def check_floors(self, floors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return floors in their plain form; their shares are of one place."""
        checked = [self._check_floor(floor) for floor in floors]
        total = sum(floor["share"] for floor in checked)
        if total > 1.0:
            raise Contradiction(f"shares of slates must sum to at most 1, but these sum to {total:g}; lower some")
        return checked

    def _check_floor(self, floor: Mapping[str, Any]) -> dict[str, Any]:
        """Return a floor: a share, and either items or limits that say which items."""
        share, items, where = floor.get("share"), floor.get("items"), floor.get("where")
        if not isinstance(share, int | float) or not 0.0 <= share <= 1.0:
            raise InvalidOffer(f"a floor must have a share between 0 and 1, but got {share!r}")
        if (items is None) == (where is None):
            raise InvalidOffer(f"a floor must have a share, and either items or where, but got {sorted(floor)}")
        if where is not None:
            return {"share": share, "where": check_where(where, self.limitable())}
        self.check_offer(items, 1)
        return {"share": share, "items": list(items or ())}

    def floor(self, floor: Mapping[str, Any]) -> Floor:
        """Return a floor for the policy."""
        items = floor["items"] if "items" in floor else self.columns.eligible(floor["where"])
        return Floor(items, floor["share"])

    def eligible(
        self, offer: Sequence[str] | None, limits: Where, without: Sequence[str] = ()
    ) -> NDArray[np.int64] | None:
        """Return the rows of what may be chosen, among the items as among the arms of the policy; None for all."""
        if not limits and offer is None and not without:
            return None
        columns = self.columns
        if offer is not None:
            require_distinct(tuple(offer))
            rows = np.array([columns.places[item] for item in offer], dtype=np.int64)
            rows = rows[columns.allowed(limits)[rows]]
        else:
            rows = np.flatnonzero(columns.allowed(limits))
        if not len(rows):
            raise _nothing_fits(columns, limits)
        if without:
            rows = rows[~np.isin(rows, [columns.places[item] for item in without])]
            if not len(rows):
                raise NothingFits(
                    "some item must be new to the user, but all that fit were shown since the last words, which are"
                    f" {len(without)}; say something, or allow repeats",
                    [],
                )
        return rows

    def _hoped(self, person: Person) -> dict[Hashable, float]:
        """Return by how much items are better for a person that have something of what would be nice."""
        if not (hopes := person.wishes.hopes):
            return {}
        columns = self.columns
        met = np.sum([columns.column(name).within(hope) for name, hope in hopes.items()], axis=0)
        return {id: HOPED * count for id, count in zip(columns.ids, met.tolist(), strict=True) if count}

    def _once(self, user: str, what: Hashable, find: Callable[[], T], *, usual: bool = True) -> T:
        """Return what is found of a user: in a usual visit, one without a context, once until anything is learned."""
        if not usual:
            return find()
        known = self.fold.worked_out
        if (user, what) not in known:
            if len(known) >= MOST_WORKED_OUT:
                known.clear()
            known[user, what] = find()
        found: T = known[user, what]
        return found

    def shift(self, user: str, person: Person | None, *, usual: bool = False) -> Mapping[Hashable, float]:
        """Return by how much single items are better or worse for a person than weights can tell.

        What the person felt about an item beyond what the weights say, as far as so many utilities can be believed: one
        bad night lowers a hotel at once, and is not the whole truth.
        """
        if person is None:
            return {}
        return self._once(user, "shift", partial(self._shift, user, person), usual=usual)

    def _shift(self, user: str, person: Person) -> dict[Hashable, float]:
        shifts = self._hoped(person)
        felt = {item: told for item, told in person.felt.items() if item in self.fold.items}
        if not felt:
            return shifts
        expected = self._utilities(user, felt, person.visits).tolist()
        noise = self.fold.policy.utility_noise(user)
        own = min(math.sqrt(OWN_SHARE) * noise, OWN_WORTH)
        doubt = max((1.0 - OWN_SHARE) / OWN_SHARE, (noise / OWN_WORTH) ** 2)
        for (item, (count, total)), utility in zip(felt.items(), expected, strict=True):
            known = 1.0 - math.sqrt(doubt / (count + doubt))
            apart = (total / count - utility) * count / (count + doubt) - OPTIMISM * own * known
            shifts[item] = shifts.get(item, 0.0) + apart
        return shifts

    def _utilities(
        self, user: str, felt: Mapping[str, tuple[int, float]], visits: Mapping[str, Mapping[str, float]]
    ) -> Floats:
        """Return what the weights say of items, on average over the contexts in which they were rated.

        Utilities are linear in the entries of a context; where a value is unknown, as good as that.
        """
        expected, shifts = self.fold.policy.utilities_apart(user, felt)
        for name, shift in shifts.items():
            times = np.array([visits.get(item, {}).get(name, 0.0) / felt[item][0] for item in felt])
            expected += times * shift
        return expected

    def expected(self, item: Item, fact: Fact) -> Fact:
        """Return a fact of which the value is not known with what to expect, and from what."""
        if not self.fold.policy.expects:
            return fact
        place = self.catalog.index(fact.objective)
        means, variances = self.fold.policy.expectations([item.id])
        mean, deviation = float(means[0, place]), math.sqrt(float(variances[0, place]))
        if math.isnan(mean):
            return fact
        value, spread = self.catalog.objectives[place].with_deviation(mean, deviation)
        columns, alike = self.fold.predictor.grounds(item, fact.objective, self.columns)
        return replace(fact, expected=value, deviation=spread, columns=columns, alike=alike)

    def _promises(self, item: Item, dismissed: Sequence[str]) -> list[str]:
        """Return the objectives in which most is expected of an item that nobody knows: none where none is expected."""
        if not self.fold.policy.expects:
            return []
        names = [objective.name for objective in self.catalog.objectives]
        means = self.fold.policy.expectations([item.id])[0][0].tolist()
        found = [(mean, name) for mean, name in zip(means, names, strict=True) if mean > 0.5 and name not in dismissed]
        return [name for _, name in sorted(found, reverse=True)[:MOST_STRENGTHS]]

    def suggest(
        self, decision: Decision, person: Person | None, rows: NDArray[np.int64] | None, *, usual: bool
    ) -> tuple[Suggestion, ...]:
        """Return what was chosen with its figures, and why, among the rows that were on offer."""
        columns = self.columns
        assert self._columns is not None
        offer = self._columns[2] if rows is None else Offer(columns, self.catalog.objectives, rows)
        wanted = Wanted()
        hopes: Where = {}
        if person is not None:
            user, hopes = str(decision.user), person.wishes.hopes
            wanted = self._once(user, "wanted", partial(self._wanted, user, person), usual=usual)
        meeting = {name: columns.column(name).within(hope) for name, hope in hopes.items()}
        suggestions = []
        chosen = zip(decision.arms, decision.places, decision.propensities, self._unseen(decision.arms), strict=True)
        for id, place, chance, unseen in chosen:
            utility, reward_bonus, preference_bonus, score = decision.reasons[:, place].tolist()
            row = columns.places[str(id)]
            item = columns.items[row]
            facts, traded, why = offer.reasons(row, wanted)
            if unseen or any(fact.value is None for fact in facts):
                if unseen and not facts:
                    facts = tuple(Fact(name, STRENGTH, None) for name in self._promises(item, wanted.dismissed))
                facts = tuple(self.expected(item, fact) if fact.value is None else fact for fact in facts)
                why = sentence(facts, offer.objectives, trade_off=traded, unseen=unseen)
            if met := {name: hope for name, hope in hopes.items() if meeting[name][row]}:
                why += f" As you hoped: {limits_in_words(met)}."
            sure = None if math.isnan(chance) else chance
            figures = score, utility, reward_bonus, preference_bonus, sure, why
            suggestions.append(Suggestion(item.id, item.name, *figures, facts, traded))
        return tuple(suggestions)

    def _wanted(self, user: str, person: Person) -> Wanted:
        """Return what a person wants, by words and by ratings."""
        said = person.wishes.standing(self.catalog)
        felt = person.feedbacks and self.fold.policy.learns_preference
        learned = cards.learned(self.fold.policy, self.catalog, user) if felt else ()
        return Wanted(said["wished"], said["guessed"], said["dismissed"], tuple(learned))

    def _unseen(self, arms: Sequence[Hashable]) -> list[bool]:
        """Tell of which items nothing is known."""
        if not self._known.issuperset(arms):
            known = ~np.isnan(self.fold.policy.reward_means(arms)).all(axis=1)
            self._known.update(str(arms[row]) for row in np.flatnonzero(known).tolist())
        return [arm not in self._known for arm in arms]

    def question(
        self, asking: Asking, user: str, person: Person | None, decision: Decision, *, usual: bool
    ) -> Asked | None:
        """Return what to ask somebody for whom this was decided; None where it does not pay.

        It takes as long as all the rest of a decision. In a usual one among all items, without a shift, it depends on
        nothing but what is believed of the person, and is the same for all who said and felt nothing.
        """
        told = 0 if person is None else person.queries + person.feedbacks
        if told >= asking.budget or not self.fold.policy.values_answers:
            return None
        who = NOBODY if person is None or not (person.said or person.feedbacks) else user
        return self._once(who, asking, partial(self._weigh, asking, user, person, decision), usual=usual)

    def _weigh(self, asking: Asking, user: str, person: Person | None, decision: Decision) -> Asked | None:
        policy: Any = self.fold.policy  # of those that value answers, all take what follows
        wishes = Wishes() if person is None else person.wishes
        stated = _after_each(tuple(wishes.draws.items()), tuple(wishes.dismissed), policy.n_objectives)
        offer = [decision.offer[place] for place in by_score(decision.reasons[0], MOST_ARMS)]
        found = policy.ask(user, price=asking.price, offer=offer, stated=stated)
        if isinstance(found, RankingQuestion):
            names = tuple(self.catalog.objectives[k].name for k in found.named)
            return Asked(RANKING, f"What matters most to you: {_either(names)}?", names, names, found.value)
        if isinstance(found, ChoiceQuestion):
            ids = tuple(str(id) for id in found.offer)
            names = tuple(self.fold.items[id].name for id in ids)
            return Asked(CHOICE, f"Which would you rather have: {_either(names)}?", ids, names, found.value)
        return None


# Kept for the latest: somebody mostly comes again with the same wishes, and it takes a quarter of a decision.
@lru_cache(maxsize=1024)
def _after_each(draws: tuple[tuple[int, float], ...], dismissed: tuple[int, ...], size: int) -> list[Any]:
    """Return mean and variance of the weights after each objective was wished for, beside what stands."""
    stated = []
    for objective in range(size):
        then = Wishes(dict(draws), list(dismissed))
        then.hear(Statement((objective,), (PLAIN,)))
        stated.append(then.weights(size))
    return stated


def _either(names: Sequence[str]) -> str:
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def _nothing_fits(columns: Columns, limits: Where) -> NothingFits:
    relaxations = columns.relax(limits)
    ways = [
        f"leave out the limit on {one.name!r} ({one.items} left then)"
        if one.limit is None
        else f"ask for {one.name!r} {limit_in_words(one.limit)} ({one.items} left then)"
        for one in relaxations[:3]
    ]
    advice = "; or ".join(ways) if ways else "relax several of them"
    told = limits_in_words(limits)
    return NothingFits(f"some item must be within the limits, but none has {told}; {advice}", relaxations)
