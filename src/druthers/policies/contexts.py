"""Policies that are told the context of a visit: the steps around the shifts of weights."""

import json
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np

from druthers.errors import DamagedState, InvalidSetting
from druthers.policies.base import Policy
from druthers.policies.belief import Posterior
from druthers.policies.rows import require_bytes, same_kind, wholeness_of
from druthers.policies.shifts import Visit, fresh_visit
from druthers.types import Context, Floats

# Entries of contexts that count for a user, the first ones something was felt in: costs grow with their square.
MOST_ENTRIES = 8
LONGEST_NAME = 80
LONGEST_ENTRY = 2 * LONGEST_NAME + 2  # a name, and a word after a colon


class Shifts(NamedTuple):
    """What a user felt in contexts: the names of their entries, and the sums that `Visit` has."""

    names: tuple[str, ...]
    sums: Floats
    sites: Floats


def as_entries(context: Context | None, *, longest: int = LONGEST_NAME) -> dict[str, float]:
    """Return the entries of a context as numbers: a word is 1 in an entry of that word, true is 1 and false 0.

    Names have at most `longest` letters: LONGEST_ENTRY where they may be entries already.

    Examples
    --------
    >>> as_entries({"device": "phone", "weekend": True, "party": -0.5})
    {'device: phone': 1.0, 'weekend': 1.0, 'party': -0.5}
    """
    told = as_told(context, longest=longest)
    return {f"{name}: {one}" if isinstance(one, str) else name: _number(one) for name, one in told.items()}


def as_told(context: Context | None, *, longest: int = LONGEST_NAME) -> dict[str, str | bool | float]:
    """Return a context as it was told, with plain values that every journal can hold, or refuse it."""
    if not isinstance(context, Mapping | None):
        raise InvalidSetting(f"a context must tell words and numbers by name, but got {context!r}")
    plain: dict[str, str | bool | float] = {}
    for name, told in (context or {}).items():
        if not isinstance(name, str) or not 0 < len(name) <= longest:
            raise InvalidSetting(f"what a context tells must have a name of 1 to {longest} letters, but got {name!r}")
        one = told.item() if isinstance(told, np.generic) else told
        if isinstance(one, str) and not 0 < len(one) <= LONGEST_NAME:
            raise InvalidSetting(f"a word of a context must have 1 to {LONGEST_NAME} letters, but got {one!r}")
        if not isinstance(one, str) and (not isinstance(one, int | float) or not -1.0 <= one <= 1.0):
            raise InvalidSetting(
                f"a context must tell words, true or false, or numbers from -1 to 1, but {name!r} is {told!r};"
                " scale the number, or say it in a word"
            )
        plain[name] = one
    return plain


def _number(told: str | bool | float) -> float:
    return 1.0 if isinstance(told, str) else float(told)


class ContextPolicy(Policy):
    """A policy whose users' weights may shift with the context of a visit. Its state has a `visit`, None without one.

    Nothing is kept of contexts for users who never felt anything in one, and for them all is as without.
    """

    learns_contexts = True
    varies = True
    # What is believed of a user beside the weights.
    moods: ClassVar[int] = 0

    def _start(self) -> None:
        super()._start()
        self._context: dict[str, float] = {}
        self._shifts: dict[int, Shifts] = {}  # by row

    def _fresh_visit(self, n_entries: int) -> Visit:
        return fresh_visit(n_entries, self.n_objectives + self.moods, self.n_objectives)

    @contextmanager
    def in_context(self, context: Context | None) -> Iterator[None]:
        """Choose, learn and believe in the context of a visit; see `Chooser.in_context`."""
        with self._within(as_entries(context)):
            yield

    @contextmanager
    def _within(self, entries: dict[str, float]) -> Iterator[None]:
        self._context, before = entries, self._context
        try:
            yield
        finally:
            self._context = before

    def entries(self, user: Hashable) -> tuple[str, ...]:
        """Return the entries of contexts in which a user felt something, in the order in which they came."""
        known = self._shifts.get(self._row_of(user))
        return () if known is None else known.names

    def shifts(self, user: Hashable) -> dict[str, Floats]:
        """Return by how much each entry of a context shifts a user's weights (D,), of all something was felt in.

        Examples
        --------
        >>> from druthers import StatedUCB
        >>> policy = StatedUCB(n_objectives=2)
        >>> for reward in ([0.9, 0.1], [0.1, 0.9]):
        ...     policy.learn("shop", str(reward), reward)
        >>> for day in range(20):
        ...     with policy.in_context({"weekend": day % 2 == 0}):
        ...         policy.learn("ada", "[0.9, 0.1]", utility=0.8 if day % 2 else -0.8)
        >>> policy.shifts("ada")["weekend"].round(1)
        array([-0.5,  0.5])
        """
        found = self._shifts_of(self._row_of(user))[:, : self.n_objectives]
        return dict(zip(self.entries(user), found, strict=True))

    def utilities_apart(self, user: Hashable, arms: Collection[Hashable]) -> tuple[Floats, dict[str, Floats]]:
        """Return the utilities of known arms in a visit as usual, and by how much entries of contexts shift them."""
        row = self._row_of(user)
        with self._within({}):
            here = self._here(row)
            usual = self._utilities(here, row, arms)
        if here.visit is None or not here.visit.shifts.any():  # by the belief that utilities come from
            return usual, {}
        rows, names = self._rows_of(arms), self.entries(user)
        if np.all(self._state.arms.pulls[rows] > 0.0):
            slopes = self._slopes(self._posterior_in(here, row).estimate[: self.n_objectives], rows)
            by = here.visit.shifts @ np.c_[slopes, np.ones((len(slopes), self.moods))].T
            return usual, dict(zip(names, by, strict=True))
        shifts = {}  # what an unknown value counts for may depend on the weights
        for name in names:
            with self._within({name: 1.0}):
                shifts[name] = self.utilities(user, arms) - usual
        return usual, shifts

    def _posterior_in(self, here: Any, row: int) -> Posterior:
        """Return what is believed of a user in a state, with its visit or without."""
        raise NotImplementedError

    def _shifts_of(self, row: int) -> Floats:
        """Return by how much each entry shifts the weights of a user (q, n), and what else is believed of the user.

        All 0 as long as none is believed: then beliefs are those without contexts, bit for bit.
        """
        here = self._here(row)
        if here.visit is None:
            return np.zeros((0, self.n_objectives + self.moods))
        self._posterior_in(here, row)
        shifts: Floats = here.visit.shifts
        return shifts

    def _here(self, row: int, *, learns: bool = False) -> Any:
        known = self._shifts.get(row)
        if learns and self._context:
            known = self._with_names(known or Shifts((), *self._fresh_visit(0)[1:3]))
        if known is None or not known.names:
            return self._state
        self._shifts[row] = known
        context = np.array([self._context.get(name, 0.0) for name in known.names])
        shifts = np.zeros((len(known.names), self.n_objectives + self.moods))
        return self._state._replace(visit=Visit(context, known.sums, known.sites, shifts))

    def _imagined(self, user: Hashable) -> Any:
        """Return the state in which a user, who may be unknown, is the only one, to tell things that stay untold."""
        row = self._row_of(user)
        users = type(self._state.users)(*(array[row : row + 1].copy() for array in self._state.users))
        known = self._shifts.get(row)
        if self._context:
            known = self._with_names(known or Shifts((), *self._fresh_visit(0)[1:3]))
        if known is None or not known.names:
            return self._state._replace(users=users)
        context = np.array([self._context.get(name, 0.0) for name in known.names])
        visit = Visit(context, known.sums.copy(), known.sites.copy(), self._fresh_visit(len(known.names)).shifts)
        return self._state._replace(users=users, visit=visit)

    def _with_names(self, known: Shifts) -> Shifts:
        """Return what is known with room for new entries of the context, in the order of their names."""
        new = sorted(name for name, told in self._context.items() if told and name not in known.names)
        names = (*known.names, *new)[:MOST_ENTRIES]
        if len(names) == len(known.names):
            return known
        fresh = self._fresh_visit(len(names))
        fresh.sums[: len(known.sums)] = known.sums
        fresh.sites[: len(known.sites)] = known.sites
        return Shifts(names, fresh.sums, fresh.sites)

    def forget_user(self, user: Hashable) -> None:
        """Forget everything about a user; what was learned about arms stays."""
        self._shifts.pop(self._row_of(user), None)
        super().forget_user(user)

    def export_user(self, user: Hashable) -> bytes:
        """Return all that is known of a user, for a policy with the same settings to take in."""
        known = super().export_user(user)
        shifts = self._shifts.get(self._users.rows[user])
        if shifts is None:
            return known
        return known + shifts.sums.tobytes() + shifts.sites.tobytes() + json.dumps(shifts.names).encode()

    def check_user(self, known: bytes) -> None:
        """Refuse what no policy with the same settings exported of a user."""
        require_bytes(known)
        start = self._row_size
        super().check_user(known[:start])
        self._read_shifts(known[start:])

    def import_user(self, user: Hashable, known: bytes) -> None:
        """Take in what another policy with the same settings exported; what was known of the user is replaced."""
        require_bytes(known)
        start = self._row_size
        shifts = self._read_shifts(known[start:])
        super().import_user(user, known[:start])
        self._shifts.pop(self._users.rows[user], None)
        if shifts is not None:
            self._shifts[self._users.rows[user]] = shifts

    def _read_shifts(self, known: bytes) -> Shifts | None:
        if not known:
            return None
        for count in range(1, MOST_ENTRIES + 1):
            fresh = self._fresh_visit(count)
            size = fresh.sums.nbytes + fresh.sites.nbytes
            try:
                names = json.loads(known[size:])
            except ValueError:  # of numbers, which are no text
                continue
            if isinstance(names, list) and len(names) == count:
                sums, sites = known[: fresh.sums.nbytes], known[fresh.sums.nbytes : size]
                fresh.sums[:] = np.frombuffer(sums).reshape(fresh.sums.shape)
                fresh.sites[:] = np.frombuffer(sites).reshape(fresh.sites.shape)
                return Shifts(tuple(map(str, names)), fresh.sums, fresh.sites)
        raise DamagedState(f"what a user felt in contexts must be whole, but {len(known)} bytes are not")

    def state(self, *, users: bool = True) -> dict[str, Any]:
        """Return all this policy knows, its chance included, as arrays and plain values; without users on request."""
        known = super().state(users=users)
        shifts = self._shifts if users else {}
        known["shifts"] = [[row, list(one.names)] for row, one in shifts.items()]
        for row, one in shifts.items():
            known[f"shifts.{row}.sums"], known[f"shifts.{row}.sites"] = one.sums.copy(), one.sites.copy()
        return known

    def restore(self, state: dict[str, Any]) -> None:
        """Know what the policy knew that gave this state, and nothing else; settings and chance stay one's own."""
        shifts = {}
        with wholeness_of(self.name):
            for row, names in state.get("shifts", ()):  # states from before there were contexts have none
                fresh = self._fresh_visit(len(names))
                sums = same_kind(f"shifts.{row}.sums", state[f"shifts.{row}.sums"], fresh.sums)
                sites = same_kind(f"shifts.{row}.sites", state[f"shifts.{row}.sites"], fresh.sites)
                shifts[int(row)] = Shifts(tuple(names), sums, sites)
        super().restore(state)
        self._shifts = shifts
