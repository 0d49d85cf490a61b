"""What a policy remembers: which row is whose, what is in the rows, and how all of it is written down and read."""

import functools
from collections import namedtuple
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from druthers.anchors import Anchor
from druthers.errors import DamagedState, InvalidSetting, UnknownArm, UnknownUser, require
from druthers.own import Part, made_for, settings
from druthers.policies.arms import Arms, NoUsers
from druthers.policies.books import Books, unfit
from druthers.policies.rows import (
    STATE_VERSION,
    arrays,
    check_version,
    flatten,
    grown,
    lively,
    ours,
    overwrite,
    plain,
    require_bytes,
    same_kind,
    unflatten,
    wholeness_of,
)
from druthers.policies.steps import State
from druthers.types import Integers

M = TypeVar("M", bound="Memory")
WHOLE = (int, np.integer)


@settings
class Memory(Part):
    """The arrays of a policy, one row an arm or a user, around which `Policy` puts its steps."""

    n_objectives: int
    seed: int = 0
    exploration: float = 0.0

    # What of a user's memory comes from feedback; all the rest comes from words.
    felt: ClassVar[tuple[str, ...]] = ("feedbacks", "products", "response", "root", "gram", "choices", "sites")
    State: ClassVar[type[Any]] = State
    Users: ClassVar[Any] = NoUsers
    Settings: ClassVar[Any]

    def __init_subclass__(cls, *, told: str | None = None, keeps: str = "") -> None:
        """Give a class that has kernels of its own a class of states for them, and one of what they are told.

        Both are listed by name: what they are `told`, and what it `keeps` of each user beside what its parent does.
        """
        super().__init_subclass__()
        if keeps:
            cls.Users = made_for(cls, namedtuple("Users", (*cls.Users._fields, *keeps.split())))
        if told is not None:
            cls.Settings = made_for(cls, namedtuple("Settings", told))
            if "State" not in vars(cls):
                cls.State = made_for(cls, type("State", (cls.State,), {"__doc__": cls.State.__doc__}))

    def __post_init__(self) -> None:
        size, share = self.n_objectives, self.exploration
        require(isinstance(size, WHOLE) and size >= 1, "n_objectives must be a whole number of at least 1", size)
        require(0.0 <= share <= 1.0, "exploration must lie between 0 and 1", share)
        self.n_objectives = int(size)
        self.reseed(self.seed)
        self._users = Books()
        self._arms = Books()
        self._entries: dict[Any, Callable[..., Any]] = {}  # machine code of steps, by the kind of state
        self._retired: dict[Hashable, None] = {}  # late feedback must not bring them back; a dict, for its order

    def _require(self, *, positive: str = "", not_negative: str = "", inside: str = "") -> None:
        """Refuse settings, listed by name, that are not positive (where given), negative, or not between 0 and 1."""
        for name in positive.split():
            value = getattr(self, name)
            require(value is None or 0 < value < np.inf, f"{name} must be positive", value)
        for name in not_negative.split():
            require(getattr(self, name) >= 0, f"{name} must not be negative", getattr(self, name))
        for name in inside.split():
            require(0.0 < getattr(self, name) < 1.0, f"{name} must lie between 0 and 1", getattr(self, name))

    def _start(self) -> None:
        """Make the first, empty state; the last line of every constructor. Row 0 is for those never seen."""
        self._state: Any = self.State(
            settings=self._settings(),
            clock=np.zeros(2),
            arms=self._fresh_arms(8),
            users=self._fresh_users(2),
        )

    def _settings(self) -> Any:
        """Return what the kernels are told, a NamedTuple of floats: the derived ones, and settings by their names."""
        derived = self._derived()
        names = self.Settings._fields
        return self.Settings(*(float(derived[name] if name in derived else getattr(self, name)) for name in names))

    def _derived(self) -> dict[str, float]:
        """Return what the kernels are told that is no setting, or not as it was given."""
        return {}

    def _fresh_arms(self, n_arms: int) -> Any:
        """Return rows for arms never seen."""
        shape = (n_arms, self.n_objectives)
        return Arms(pulls=np.zeros(shape), means=np.zeros(shape))

    def _fresh_users(self, n_users: int) -> Any:
        """Return rows for users never seen."""
        return self.Users(feedbacks=np.zeros(n_users))

    @property
    def users(self) -> tuple[Hashable, ...]:
        """The users who said or felt anything."""
        return tuple(self._users.rows)

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The arms that may be chosen, in order of first sight."""
        return tuple(self._arms.rows)

    def add_arms(
        self, arms: Iterable[Hashable], features: ArrayLike | Mapping[Hashable, ArrayLike] | None = None
    ) -> None:
        """Make arms known; those already known stay as they are. Features are for policies with `learns_features`."""
        if features is not None:
            raise InvalidSetting(
                f"only policies that learn from features can take them, but {self.name} does not;"
                " leave them out, or choose one that does, such as fisher-pqucb"
            )
        for arm in self._arms.ids(arms):
            if arm not in self._arms:
                self._new_arm(arm)

    def add_users(self, users: Iterable[Hashable]) -> None:
        """Make room for users; those already known stay as they are."""
        for user in self._users.ids(users):
            self._user_row(user)

    def retire_arm(self, arm: Hashable) -> None:
        """Forget an arm; if it is ever offered or added again, it is new. Feedback that comes late is refused."""
        if arm not in self._arms:
            raise UnknownArm(f"an arm must be known to retire, but {arm!r} is not")
        self._retired[arm] = None
        overwrite(self._state.arms, self._arms.remove(arm))
        self._state.clock[1] = len(self._arms)

    def forget_user(self, user: Hashable) -> None:
        """Forget everything about a user; what was learned about arms stays."""
        if user not in self._users:
            raise UnknownUser(f"a user must be known to be forgotten, but {user!r} is not")
        overwrite(self._state.users, self._users.remove(user))

    def unhear(self, user: Hashable) -> None:
        """Forget what a user said and keep what the user felt; for a user never seen, nothing happens."""
        row = self._users.find(user)
        if row is not None:
            overwrite(self._state.users, row, keep=self.felt)

    def export_user(self, user: Hashable) -> bytes:
        """Return all that is known of a user, for a policy with the same settings to take in."""
        row = self._users.find(user)
        if row is None:
            raise UnknownUser(f"a user must be known to be exported, but {user!r} is not")
        return b"".join(array[row].tobytes() for _, array in arrays(self._state.users))

    def _here(self, row: int, *, learns: bool = False) -> Any:
        """Return the state in which a step is taken for a user's row: that of the visit."""
        return self._state

    @functools.cached_property
    def _row_size(self) -> int:
        """How many bytes a user's row has, whoever it is."""
        return sum(array[0].nbytes for _, array in arrays(self._state.users))

    def check_user(self, known: bytes) -> None:
        """Refuse what no policy with the same settings exported of a user."""
        require_bytes(known)
        if len(known) != self._row_size:
            raise DamagedState(f"an exported user of this policy has {self._row_size} bytes, but got {len(known)}")

    def import_user(self, user: Hashable, known: bytes) -> None:
        """Take in what another policy with the same settings exported; what was known of the user is replaced."""
        self.check_user(known)
        row = self._user_row(user)
        start = 0
        for _, array in arrays(self._state.users):
            size = array[0].nbytes
            array[row] = np.frombuffer(known[start : start + size], array.dtype).reshape(array[0].shape)
            start += size

    def reseed(self, seed: int | None = None) -> None:
        """Start the policy's own chance anew: from a seed, or from the machine's own chance."""
        whole = isinstance(seed, WHOLE) and not isinstance(seed, bool) and seed >= 0
        require(seed is None or whole, "a seed must be a whole number of at least 0", seed)
        # Two streams, so that each is consumed at a rate that does not depend on the other.
        noise, coins = np.random.SeedSequence(seed).spawn(2)
        self._noise = np.random.Generator(np.random.PCG64(noise))
        self._coins = np.random.Generator(np.random.PCG64(coins))

    def state(self, *, users: bool = True) -> dict[str, Any]:
        """Return all this policy knows, its chance included, as arrays and plain values; without users on request."""
        known = self._users if users else Books()
        return {
            "version": STATE_VERSION,
            "policy": self.name,
            "params": {key: plain(value) for key, value in self.params.items()},
            "users": known.state(),
            "arms": self._arms.state(),
            "retired": list(self._retired),
            "noise": self._noise.bit_generator.state,
            "coins": self._coins.bit_generator.state,
            "clock": self._state.clock.copy(),
            **flatten("user", self._state.users, known.n_rows),
            **flatten("arm", self._state.arms, self._arms.n_rows),
        }

    @classmethod
    def from_state(cls: type[M], state: dict[str, Any], *, anchor: type[Anchor] | None = None) -> M:
        """Return a policy that continues exactly where the one that gave this state stood.

        Called on `Policy` itself, it finds the class among ours by the name in the state. An anchor of your own is made
        of the class that is told.
        """
        check_version(state)
        if not hasattr(cls, "name"):
            from druthers.policies import POLICIES

            family: Any = ours(POLICIES, state, "policy")
            return family.from_state(state, anchor=anchor)  # type: ignore[no-any-return]
        if state["policy"] != cls.name:
            raise DamagedState(f"a state of {cls.name} is needed, but got one of {state['policy']!r}")
        policy = cls(**{name: lively(value, anchor) for name, value in state["params"].items()})
        policy.restore(state)
        with wholeness_of(cls.name):
            policy._noise.bit_generator.state = state["noise"]
            policy._coins.bit_generator.state = state["coins"]
        return policy

    def restore(self, state: dict[str, Any]) -> None:
        """Know what the policy knew that gave this state, and nothing else; settings and chance stay one's own."""
        check_version(state)
        if state["policy"] != self.name:
            raise DamagedState(f"a state of {self.name} is needed, but got one of {state['policy']!r}")
        with wholeness_of(self.name):
            known_users, known_arms = Books.from_state(state["users"]), Books.from_state(state["arms"])
            users = unflatten("user", self._fresh_users(known_users.n_rows), state)
            arms = unflatten("arm", self._fresh_arms(known_arms.n_rows), state)
            clock = same_kind("clock", state["clock"], self._state.clock)
            retired = dict.fromkeys(state.get("retired", ()))
        self._users, self._arms, self._retired = known_users, known_arms, retired
        self._state = self._state._replace(clock=clock, users=users, arms=arms)

    def _new_arm(self, arm: Hashable) -> int:
        self._retired.pop(arm, None)
        row = self._arms.add(arm)
        if row >= len(self._state.arms.pulls):
            self._state = self._state._replace(arms=grown(self._state.arms, self._fresh_arms(row)))
        self._state.clock[1] = len(self._arms)
        return row

    def _arm_row(self, arm: Hashable) -> int:
        row = self._arms.find(arm)
        if row is None:
            raise UnknownArm(
                f"feedback must be about a known arm, but {arm!r} was never offered or added, or has retired"
            )
        return row

    def _known_rows(self, arms: Iterable[Hashable]) -> Integers:
        """Return the rows of arms that are known, or say which is not."""
        ids = self._arms.ids(arms)
        for arm in ids:
            if arm not in self._arms.rows:
                raise UnknownArm(
                    f"an arm must be known to be looked up, but {arm!r} was never offered or added, or has retired"
                )
        return np.array([self._arms.rows[arm] for arm in ids], dtype=np.int64)

    def _cannot(self, what: str, such: str) -> InvalidSetting:
        """Return what to raise where only other policies can do something."""
        return InvalidSetting(
            f"only some policies {what}, but {self.name} does not; choose one that does, such as {such}"
        )

    def _user_row(self, user: Hashable) -> int:
        try:
            row = self._users.rows.get(user)
        except TypeError:
            raise unfit(user) from None
        return self._new_user(user) if row is None else row

    def _row_of(self, user: Hashable) -> int:
        """Return the row of a user, 0 for one never seen."""
        return self._users.find(user) or 0

    def _new_user(self, user: Hashable) -> int:
        row = self._users.add(user)
        if row >= len(self._state.users.feedbacks):
            self._state = self._state._replace(users=grown(self._state.users, self._fresh_users(row)))
        return row
