"""How a policy chooses: offers are checked, arms scored, and slates drawn with chances that are known."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np

from druthers._jit import bound
from druthers.errors import InvalidFeedback, InvalidOffer, InvalidSetting
from druthers.policies.arms import LARGEST
from druthers.policies.books import require_id, unfit
from druthers.policies.memory import WHOLE, Memory
from druthers.policies.slates import SHORTLIST, Floor, Outlook, Slate, among_best, by_chance, look_out, tastes
from druthers.policies.steps import score_policy
from druthers.types import Context, Decision, Floats, Integers, Preference

SILENCE = np.empty(0)
NOTHING = np.empty(0, dtype=np.int64)
NO_SCORES = np.empty((4, 0))


class Places(NamedTuple):
    """An offer of known arms, by where they stand among all in order of first sight; each once."""

    places: Integers


class Chooser(Memory):
    """The choosing steps of a policy: one arm, a slate, and with which chance."""

    learns_preference: ClassVar[bool] = False
    noise_per_arm: int = 0
    varies: ClassVar[bool] = False  # whether some parts of a state are None until they are needed

    def _step(self, step: Any, here: Any, *example: Any) -> Callable[..., Any]:
        """Return the machine code of a step for states of this kind, bound on first use."""
        kind = (step, *map(type, here)) if self.varies else step
        entry = self._entries.get(kind)
        if entry is None:
            entry = self._entries[kind] = bound(step, here, *example)
        return entry

    def _score(self, here: Any, row: int, rows: Integers, noise: Floats, out: Floats) -> int:
        n_equal: int = self._step(score_policy, here, 0, NOTHING, SILENCE, NO_SCORES)(here, row, rows, noise, out)
        return n_equal

    @contextmanager
    def in_context(self, context: Context | None) -> Iterator[None]:
        """Choose, learn and believe in the context of a visit: weekday, device, how many they are.

        What is learned of a user within says how the user's weights shift with it, and later visits in the context
        are met so. It is the context of the choice that counts, also for feedback that comes later.

        Parameters
        ----------
        context
            By name, words, true or false, or numbers from -1 to 1; empty or None for a visit as usual.

        Examples
        --------
        >>> from druthers import StatedUCB
        >>> policy = StatedUCB(n_objectives=2)
        >>> with policy.in_context({"device": "phone", "weekend": True}):
        ...     arm = policy.choose("ada", ["inn", "spa"]).arm
        """
        if context:
            raise InvalidSetting(
                f"only policies that learn from contexts can be told one, but {self.name} does not; leave it out, or"
                " choose one that does, such as stated-ucb or fisher-pqucb"
            )
        yield

    def entries(self, user: Hashable) -> tuple[str, ...]:
        """Return the entries of contexts in which a user felt something."""
        return ()

    def utilities_apart(self, user: Hashable, arms: Collection[Hashable]) -> tuple[Floats, dict[str, Floats]]:
        """Return the utilities of known arms in a visit as usual, and by how much entries of contexts shift them."""
        return self.utilities(user, arms), {}

    def utilities(self, user: Hashable, arms: Iterable[Hashable]) -> Floats:
        """Return the estimated utility of known arms for a user, without any bonus."""
        row = self._row_of(user)
        return self._utilities(self._here(row), row, arms)

    def _utilities(self, here: Any, row: int, arms: Iterable[Hashable]) -> Floats:
        ids = as_offer(arms)
        try:
            rows = self._rows_of(ids)
        except (KeyError, TypeError):
            rows = self._known_rows(ids)  # says which it is
        out = np.empty((4, len(rows)))
        noise = np.zeros(len(rows) * self.noise_per_arm)
        self._score(here, row, rows, noise, out)
        utilities: Floats = out[0]
        return utilities

    def choose(
        self,
        user: Hashable,
        offer: Iterable[Hashable] | Places | None = None,
        size: int = 1,
        *,
        shift: Mapping[Hashable, float] | None = None,
    ) -> Decision:
        """Choose a slate of arms for a user, best first; nothing is learned by choosing.

        Parameters
        ----------
        user
            Any hashable id, known or not.
        offer
            The arms that may be chosen; all known arms by default. Arms never seen before become known. Equal scores
            go to the arm that is offered first.
        size
            How many arms to choose.
        shift
            By how much single arms are better or worse for this user than the policy can know.
        """
        if shift:
            require_promises(shift, ())
        ids, rows = self._offered(offer, size, user)
        out, n_equal = self._scored(user, ids, rows, shift)
        if size == 1 and not self.exploration:
            place = int(out[3].argmax())
            return Decision(user, (ids[place],), ids, out, (place,), (1.0 / n_equal if n_equal else math.nan,))
        return self._drawn(user, ids, out, size, n_equal)

    def _drawn(self, user: Hashable, ids: tuple[Hashable, ...], out: Floats, size: int, n_equal: int) -> Decision:
        """Return a slate by score, exploring now and then."""
        floor = self.exploration
        coins = self._coins.random(2 * size).tolist() if floor else [1.0] * (2 * size)
        places, propensities = by_chance(out[3], size, n_equal, floor, coins)
        return Decision(user, tuple([ids[place] for place in places]), ids, out, places, propensities)

    def _scored(
        self, user: Hashable, ids: tuple[Hashable, ...], rows: Integers, shift: Mapping[Hashable, float] | None
    ) -> tuple[Floats, int]:
        """Return the reasons of everything offered, and among how many of the best the choice is random."""
        try:
            row = self._users.rows.get(user, 0)
        except TypeError:
            raise unfit(user) from None
        n_offered = len(ids)
        out = np.empty((4, n_offered))
        noise = self._noise.standard_normal(n_offered * self.noise_per_arm) if self.noise_per_arm else SILENCE
        n_equal = self._score(self._here(row), row, rows, noise, out)
        if shift:
            by = np.zeros(len(self._state.arms.pulls))
            by[[self._arms.rows.get(arm, 0) for arm in shift]] = list(shift.values())
            by = by[rows]  # row 0 is never offered
            (moved,) = by.nonzero()
            for part in (0, 3):
                out[part, moved] += by[moved]
        return out, n_equal

    def choose_slate(
        self,
        user: Hashable,
        offer: Iterable[Hashable] | Places | None = None,
        size: int = 3,
        *,
        shift: Mapping[Hashable, float] | None = None,
        floors: Sequence[Floor] = (),
    ) -> Decision:
        """Choose a slate of which the best arm counts: the first by score, the others for what they add to it.

        Where what the user wants is unsure, arms that are right for different tastes stand side by side; where it is
        sure, or where the policy learns no preferences, they are the best by score.

        Parameters
        ----------
        user, offer, size, shift
            As `choose` has them; an offer of many may tell `Places`.
        floors
            Shares of slates that groups of arms get at least, for which the last place is used; together at most 1.

        Examples
        --------
        >>> from druthers import StatedUCB
        >>> policy = StatedUCB(n_objectives=2)
        >>> for arm, reward in {"inn": [0.9, 0.2], "pub": [0.8, 0.2], "spa": [0.2, 0.85]}.items():
        ...     policy.learn("shop", arm, reward)
        >>> policy.choose("ada", size=2).arms, policy.choose_slate("ada", size=2).arms
        (('inn', 'spa'), ('inn', 'spa'))
        """
        require_promises(shift, floors)
        if size == 1 and not (self.exploration or floors):
            return self.choose(user, offer, size, shift=shift)
        ids, rows = self._offered(offer, size, user)
        slate, out, n_equal = self._slate_of(user, ids, rows, size, shift, floors)
        if slate is None:
            return self._drawn(user, ids, out, size, n_equal)
        coins = self._coins.random(3 * size).tolist() if self.exploration or floors else [1.0] * (3 * size)
        places, propensities, best = slate.draw(coins)
        chosen = tuple([ids[place] for place in places])
        return Decision(user, chosen, ids, out, places, propensities, None if floors else best)

    def slate_chances(
        self,
        user: Hashable,
        offer: Iterable[Hashable],
        before: Sequence[Hashable] = (),
        size: int = 3,
        *,
        shift: Mapping[Hashable, float] | None = None,
        floors: Sequence[Floor] = (),
    ) -> Floats:
        """Return with which chance each offered arm stands next in a slate, after the ones before; NaN if unknown."""
        require_promises(shift, floors)
        known = self._arms.listing()[0] if offer is None else offer
        whole = known if isinstance(known, Places) else as_offer(known)
        among = self._placed(whole.places)[0] if isinstance(whole, Places) else whole
        stand = as_offer(before)
        if sum(arm in stand for arm in among) < len(stand) or (isinstance(size, WHOLE) and len(stand) >= size):
            law = "the arms before must be of the offer, each once, and fewer than the slate holds"
            raise InvalidOffer(f"{law}, but got {before!r} before a place of {size!r}")
        ids, rows = self._offered(whole, size, user)
        slate, _, _ = self._slate_of(user, ids, rows, size, shift, floors)
        if slate is None:
            return np.full(len(ids), math.nan)
        place = {arm: k for k, arm in enumerate(ids)}
        return slate.chances(tuple([place[arm] for arm in stand]))

    def _slate_of(
        self,
        user: Hashable,
        ids: tuple[Hashable, ...],
        rows: Integers,
        size: int,
        shift: Mapping[Hashable, float] | None,
        floors: Sequence[Floor],
    ) -> tuple[Slate | None, Floats, int]:
        """Return a slate to draw, None where chance is the policy's own, with all scores and how many are equal."""
        out, n_equal = self._scored(user, ids, rows, shift)
        if n_equal != 1:
            if floors:
                raise InvalidOffer(
                    f"shares of groups need a policy whose choice is certain, but {self.name} draws its own"
                )
            return None, out, n_equal
        members = [
            (np.isin(rows, [self._arms.rows.get(arm, -1) for arm in floor.arms]), floor.share) for floor in floors
        ]
        places = among_best(out[3], max(SHORTLIST, 2 * size))
        outlook = self._outlook(user, rows, places, out) if self.learns_preference and size > 1 else None
        leaders = places[(-out[3, places]).argsort(kind="stable")[: 2 * size]]
        unseen = leaders[:size][~self._state.arms.pulls[rows[leaders[:size]]].any(axis=1)]
        slate = Slate(out[3], leaders.tolist(), outlook, size, self.exploration, members, unseen.tolist())
        return slate, out, n_equal

    def _outlook(self, user: Hashable, rows: Integers, places: Integers, out: Floats) -> Outlook:
        """Return what the offered arms at some places are worth to tastes that a user may have."""
        row = self._row_of(user)
        believed = self._preference(row)
        apart = tastes(believed.weights, self._doubt(row) ** 2 * believed.covariance) - believed.weights
        outlook: Outlook = look_out(places, out, self._slopes(believed.weights, rows[places]), apart)
        return outlook

    def _doubt(self, row: int) -> float:
        """Return how far slates go to serve other tastes than the likeliest one, in what is believed possible."""
        return 1.0

    def _slopes(self, weights: Floats, rows: Integers) -> Floats:
        """Return by how much the utility of arms (n, D) rises with each weight; the mean of all where it is unknown."""
        known, means = self._state.arms.pulls[rows] > 0.0, self._state.arms.means[rows]
        counts = known.sum(axis=0)
        typical = np.divide((means * known).sum(axis=0), counts, out=np.zeros(self.n_objectives), where=counts > 0)
        slopes: Floats = np.where(known, means, typical)
        return slopes

    def _preference(self, row: int) -> Preference:
        raise NotImplementedError

    def _offered(
        self, offer: Iterable[Hashable] | Places | None, size: int, user: Hashable = None
    ) -> tuple[tuple[Hashable, ...], Integers]:
        """Check an offer and the size of a slate from it, make new arms known, and return ids and rows."""
        rows = NOTHING
        if offer is None:
            ids, rows = self._arms.listing()
        elif isinstance(offer, Places):
            ids, rows = self._placed(offer.places)
        else:
            ids = as_offer(offer)
        if not ids:
            known = "no arm is known; offer some or add them" if offer is None else "got none"
            raise InvalidOffer(f"an offer must hold at least one arm, but {known}")
        if not isinstance(size, WHOLE) or not 1 <= size <= len(ids):
            raise InvalidOffer(f"a slate must hold 1 to {len(ids)} of the offered arms, but got size {size!r}")
        if len(rows):
            return ids, rows
        require_distinct(ids)
        try:
            return ids, self._rows_of(ids)
        except KeyError:
            self._row_of(user)  # whoever has no id gets nothing, and makes no arm known
            self.add_arms(ids)
            return ids, self._rows_of(ids)

    def _placed(self, places: Integers) -> tuple[tuple[Hashable, ...], Integers]:
        """Return the ids and rows of arms that stand at places."""
        ids, rows = self._arms.listing()
        if np.any((places < 0) | (places >= len(ids))) or len(np.unique(places)) < len(places):
            raise InvalidOffer(f"places must be of the {len(ids)} arms that are known, each once, but got {places!r}")
        return tuple([ids[place] for place in places.tolist()]), rows[places]

    def _rows_of(self, arms: Collection[Hashable]) -> Integers:
        return np.fromiter(map(self._arms.rows.__getitem__, arms), np.int64, len(arms))


def as_offer(given: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return arms that are given one after the other."""
    try:
        return tuple(given)
    except TypeError as problem:
        raise InvalidOffer(f"arms must come in a list, but got {given!r}") from problem


def require_promises(shift: Mapping[Hashable, float] | None, floors: Sequence[Floor]) -> None:
    """Refuse shifts of arms that are no numbers, and floors that nobody can keep."""
    if shift is not None and not isinstance(shift, Mapping):
        raise InvalidOffer(f"a shift must tell numbers by arm, but got {shift!r}")
    for arm, by in (shift or {}).items():
        as_number(by, f"the shift of {arm!r}")
    for floor in (promised := as_offer(floors)):
        if not isinstance(floor, Floor) or not isinstance(floor.share, int | float | np.number):
            raise InvalidOffer(
                f"floors must each be a Floor of arms and a share, but got {floor!r}; write Floor([...], 0.2), from"
                " druthers.policies.slates"
            )
        for arm in as_offer(floor.arms):
            require_id(arm)
    shares = [floor.share for floor in promised]  # type: ignore[attr-defined]
    if not all(0.0 <= share <= 1.0 for share in shares) or sum(shares) > 1.0:
        raise InvalidOffer(f"shares of groups must lie between 0 and 1 and sum to at most 1, but got {shares}")


def require_distinct(ids: tuple[Hashable, ...]) -> None:
    """Refuse an offer that repeats an arm."""
    try:
        if len(set(ids)) != len(ids):
            raise InvalidOffer(f"an offer must not repeat an arm, but got {ids!r}")
    except TypeError as problem:
        raise InvalidOffer(f"an arm must be hashable, but got the offer {ids!r}") from problem


def as_number(value: Any, what: str) -> float:
    """Return a finite number, or say that `what` must be one."""
    try:
        number = float(value)
    except (TypeError, ValueError) as problem:
        raise InvalidFeedback(f"{what} must be a finite number, but got {value!r}") from problem
    if not abs(number) <= LARGEST:
        raise InvalidFeedback(f"{what} must be a finite number within {LARGEST:g}, but got {value!r}")
    return number


def as_numbers(given: Any) -> Floats:
    """Return an array of numbers, or say that it must be one."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidFeedback(f"numbers must come in a list, but got {given!r}") from problem
