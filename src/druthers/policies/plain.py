"""Policies in plain NumPy: three methods, no kernel; they run wherever compiled ones do, only slower."""

import collections
import functools
import inspect
import math
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import implements
from druthers.errors import InvalidSetting
from druthers.own import require_kind
from druthers.policies.arms import NEVER_SEEN, fill_unknown, observe
from druthers.policies.base import Policy
from druthers.policies.steps import State, hear_policy, learn_policy, score_policy
from druthers.types import Floats, Integers, Preference

# What an author writes, under the names of the public steps that check and find rows first.
STEPS = ("hear", "learn", "score", "preference")


class PlainState(State):
    """All that a plain policy knows; its settings are the policy itself, whose methods are the steps."""


class Row:
    """One row of some arrays, or several: `user.points` is this user's, and can be written."""

    __slots__ = ("_row", "_rows")

    def __init__(self, rows: Any, row: int | Integers) -> None:
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_row", row)

    def __getattr__(self, name: str) -> Any:
        """Return this row of an array."""
        return getattr(self._rows, name)[self._row]

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        """Write this row of an array."""
        getattr(self._rows, name)[self._row] = value


class PlainPolicy(Policy):
    """A policy that is written as plain methods: `score`, `learn` if it learns from utilities, `hear` if it hears.

    It runs wherever the others do, with the same checks, slates, saved states and laws, only slower. How often each arm
    was seen and its means are kept for it, and arms never seen come first. Settings are annotated attributes of the
    class.

    - `fresh_user()` returns what is kept of a user, as it is at the start: a dictionary of numbers and arrays.
    - `score(user, arms)` returns the utility of each arm (n,), or a tuple of utility, reward bonus and preference
      bonus; `user` has what is kept of the user, `arms` has `means` and `pulls` (n, D).
    - `learn(user, arm, reward, utility)` is called for each utility that was felt; `reward` (D,) has no gaps.
    - `hear(user, ranking)` takes in an array of objectives, most important first.
    - `preference(user)` returns weights (D,) and their covariance (D, D), if it believes in any.

    `felt` names what of a user comes from `learn`, so that `unhear` can forget the rest.

    Examples
    --------
    >>> class Borda(PlainPolicy):
    ...     name = "borda"
    ...     width: float = 0.1
    ...
    ...     def fresh_user(self):
    ...         return {"points": np.zeros(self.n_objectives)}
    ...
    ...     def hear(self, user, ranking):
    ...         user.points[ranking] += self.n_objectives - np.arange(len(ranking))
    ...
    ...     def score(self, user, arms):
    ...         return arms.means @ user.points, self.width / np.sqrt(1.0 + arms.pulls.sum(axis=1))
    >>> policy = Borda(n_objectives=2, width=0.2)
    >>> policy.learn("eve", "inn", [0.2, 0.9]), policy.learn("eve", "spa", [0.8, 0.1])
    (None, None)
    >>> policy.hear("ada", (0,))
    >>> policy.choose("ada").arm
    'spa'
    """

    State: ClassVar[type[Any]] = PlainState

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {step: vars(cls)[step] for step in STEPS if step in vars(cls)}
        for step, method in own.items():
            setattr(cls, f"_plain_{step}", method)
            delattr(cls, step)
        cls.hears = cls.hears or "hear" in own
        cls.learns_preference = cls.learns_preference or "preference" in own
        keyword = inspect.Parameter.KEYWORD_ONLY
        settings = [inspect.Parameter(key, keyword, default=value) for key, value in cls._declared().items()]
        given = list(inspect.signature(Policy).parameters.values())
        cls.__signature__ = inspect.Signature([*given, *settings])  # type: ignore[attr-defined]

    @classmethod
    def _declared(cls) -> dict[str, Any]:
        """Return the settings with their defaults: what subclasses of this class annotate and give a value."""
        classes = [part for part in reversed(cls.__mro__) if issubclass(part, PlainPolicy) and part is not PlainPolicy]
        names = [name for part in classes for name in inspect.get_annotations(part)]
        return {name: getattr(cls, name) for name in names if not name.startswith("_") and hasattr(cls, name)}

    def __init__(self, *, n_objectives: int, seed: int = 0, exploration: float = 0.0, **settings: Any) -> None:
        super().__init__(n_objectives=n_objectives, seed=seed, exploration=exploration)
        if type(self)._plain_score is PlainPolicy._plain_score:
            raise InvalidSetting(f"a plain policy must have a method score, but {type(self).__name__} has none")
        declared = self._declared()
        for name, value in settings.items():
            if name not in declared:
                raise InvalidSetting(f"a setting of {self.name} must be one of {list(declared)}, but got {name!r}")
            if value is not declared[name]:
                kinds = [inspect.get_annotations(part).get(name) for part in type(self).__mro__]
                require_kind(name, next(kind for kind in kinds if kind is not None), value)
        for name, value in {**declared, **settings}.items():
            setattr(self, name, value)
        self._start()

    def fresh_user(self) -> dict[str, ArrayLike]:
        """Return what is kept of a user, as it is at the start."""
        return {}

    def _settings(self) -> Any:
        return self

    def _fresh_users(self, n_users: int) -> Any:
        fresh = {"feedbacks": 0.0, **self.fresh_user()}
        row = _users_class(tuple(fresh))
        return row(*(np.repeat(np.asarray(value, np.float64)[None], n_users, axis=0) for value in fresh.values()))

    def preference(self, user: Hashable, *, anytime: bool = False) -> Any:
        """Return what the policy believes the user wants; inside `score`, what the policy's own method says."""
        return self._plain_preference(user) if isinstance(user, Row) else super().preference(user, anytime=anytime)

    def _preference(self, row: int) -> Preference:
        weights, covariance = self._plain_preference(Row(self._state.users, row))
        return Preference(weights=np.array(weights, float), covariance=np.array(covariance, float))

    def _plain_preference(self, user: Any) -> tuple[ArrayLike, ArrayLike]:
        raise NotImplementedError

    def _plain_score(self, user: Any, arms: Any) -> ArrayLike | tuple[ArrayLike, ...]:
        raise NotImplementedError

    def _plain_learn(self, user: Any, arm: Any, reward: Floats, utility: float) -> None:
        """Learn nothing of users."""

    def _plain_hear(self, user: Any, ranking: Integers) -> None:
        """Hear nothing."""


@functools.cache
def _users_class(fields: tuple[str, ...]) -> Any:
    return collections.namedtuple("PlainUsers", fields)


@implements(score_policy, PlainState)
def _score(state: PlainState, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    given = state.settings._plain_score(Row(state.users, user), Row(state.arms, offer))
    out[:3] = 0.0
    try:
        for k, part in enumerate(given if isinstance(given, tuple) else (given,)):
            out[:3][k] = part
    except (IndexError, TypeError, ValueError) as problem:
        raise InvalidSetting(
            f"score must return one number for each of {len(offer)} arms, or a tuple of utility, reward bonus and"
            f" preference bonus of each, but got {given!r}"
        ) from problem
    if np.isnan(out[:3]).any():
        arms, rows = state.settings._arms.rows, offer[np.isnan(out[:3]).any(axis=0)]
        odd = [arm for arm, row in arms.items() if row in rows]
        raise InvalidSetting(
            f"score must return numbers, and 0 where nothing is known, but got NaN for {odd[0]!r}: {given!r}"
        )
    out[1, ~state.arms.pulls[offer].any(axis=1)] = NEVER_SEEN
    out[3] = out[:3].sum(axis=0)
    return 1


@implements(learn_policy, PlainState)
def _learn(state: PlainState, user: int, arm: int, reward: Floats, utility: float) -> None:
    filled = np.empty(len(reward))
    if not observe(state.arms, state.clock, arm, reward, filled):
        fill_unknown(state.arms, arm, filled)
    if not math.isnan(utility):
        state.users.feedbacks[user] += 1.0
        state.settings._plain_learn(Row(state.users, user), Row(state.arms, arm), filled, utility)


@implements(hear_policy, PlainState)
def _hear(state: PlainState, user: int, ranking: Integers) -> None:
    state.settings._plain_hear(Row(state.users, user), ranking)
