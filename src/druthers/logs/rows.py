"""Logs from plain rows: what a service's journal, a spreadsheet or a test writes down."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from druthers.errors import InvalidLog, InvalidSetting, choices
from druthers.logs.table import NONE_PICKED, NOT_TOLD, Log
from druthers.policies.contexts import LONGEST_ENTRY, as_entries
from druthers.types import Floats

KEYS = (
    *("round", "time", "user", "offer", "ranking", "arm", "propensity", "chances", "reward", "utility", "picked"),
    *("policy", "context"),
)
REQUIRED = ("user", "offer", "arm")
# Contexts are a table of decisions by entries: so many numbers at most, which take 400 MB.
MOST_NUMBERS = 50_000_000


def from_rows(rows: Iterable[Mapping[str, Any]], objectives: Sequence[str]) -> Log:
    """Make a log from decisions as plain values, in the order they were made.

    Parameters
    ----------
    rows
        Each with `user`, `offer` (a list of arms) and `arm`, and where known `round` (else the row's number), `time`
        (a datetime or ISO text; without a zone it is UTC), `ranking` (objectives by name or number, most important
        first), `propensity`, `chances` (one for each offered arm), `reward` (a list with None for what is missing, or
        by name), `utility`, `picked` (the arm that the user picked from the offer, None for none of these), `policy`
        and `context` (what was so about the visit, by name: words, true or false, or numbers from -1 to 1; decisions
        times different entries are 50 million at most).
    objectives
        Names of the objectives.

    Examples
    --------
    >>> log = from_rows(
    ...     [
    ...         {"user": "ada", "offer": ["inn", "spa"], "arm": "spa", "propensity": 0.9, "ranking": ["quiet"]},
    ...         {"user": "ben", "offer": ["inn", "spa"], "arm": "inn", "propensity": 0.1, "reward": {"quiet": 0.2}},
    ...     ],
    ...     objectives=["clean", "quiet"],
    ... )
    >>> log
    Log(2 decisions, 2 users, 2 arms, 2 objectives, policies: logged)
    >>> log.outcome("quiet").tolist()
    [nan, 0.2]
    """
    names = tuple(objectives)
    users: dict[Hashable, int] = {}
    arms: dict[Hashable, int] = {}
    policies: dict[Hashable, int] = {}
    columns: dict[str, list[Any]] = {key: [] for key in (*KEYS, "place", "size", "length")}
    for number, row in enumerate(rows):
        _check_keys(number, row)
        offer = list(row["offer"])
        if row["arm"] not in offer:
            raise InvalidLog(f"the chosen arm must be in the offer, but row {number} has {row['arm']!r} of {offer!r}")
        ranking = [_objective(number, item, names) for item in row.get("ranking") or ()]
        chances = row.get("chances")
        columns["round"].append(int(row.get("round", number)))
        columns["time"].append(_time(number, row.get("time")))
        columns["user"].append(users.setdefault(row["user"], len(users)))
        columns["offer"] += [arms.setdefault(arm, len(arms)) for arm in offer]
        columns["size"].append(len(offer))
        columns["ranking"] += ranking
        columns["length"].append(len(ranking))
        columns["place"].append(offer.index(row["arm"]))
        columns["propensity"].append(_number(number, "propensity", row.get("propensity")))
        columns["chances"] += _numbers(
            number, "chances", [None] * len(offer) if chances is None else chances, len(offer)
        )
        columns["reward"].append(_reward(number, row.get("reward"), names))
        columns["utility"].append(_number(number, "utility", row.get("utility")))
        columns["picked"].append(_pick(number, row, offer))
        columns["context"].append(_entries(number, row.get("context")))
        columns["policy"].append(policies.setdefault(str(row.get("policy") or "logged"), len(policies)))
    return _assembled(names, users, arms, policies, columns).check()


def _assembled(
    names: tuple[str, ...],
    users: dict[Hashable, int],
    arms: dict[Hashable, int],
    policies: dict[Hashable, int],
    columns: dict[str, list[Any]],
) -> Log:
    times = np.array(columns["time"], dtype="datetime64[us]")
    chances = np.array(columns["chances"], dtype=float)
    picks = np.array(columns["picked"], dtype=np.int32)
    entries, contexts = _contexts(columns["context"])
    return Log(
        objectives=names,
        user_ids=tuple(users),
        arm_ids=tuple(arms),
        policy_names=tuple(map(str, policies)),
        rounds=np.array(columns["round"], dtype=np.int64),
        times=None if np.isnat(times).all() else times,
        users=np.array(columns["user"], dtype=np.int32),
        offer_starts=np.cumsum([0, *columns["size"]]),
        offers=np.array(columns["offer"], dtype=np.int32),
        ranking_starts=np.cumsum([0, *columns["length"]]),
        rankings=np.array(columns["ranking"], dtype=np.int16),
        places=np.array(columns["place"], dtype=np.int32),
        propensities=np.array(columns["propensity"], dtype=float),
        rewards=np.array(columns["reward"], dtype=float).reshape(-1, len(names)),
        utilities=np.array(columns["utility"], dtype=float),
        policies=np.array(columns["policy"], dtype=np.int32),
        chances=None if np.isnan(chances).all() else chances,
        picks=None if (picks == NOT_TOLD).all() else picks,
        entries=entries,
        contexts=contexts,
    )


def _contexts(told: Sequence[Mapping[str, float]]) -> tuple[tuple[str, ...], Floats | None]:
    """Return the entries of all contexts, and the table (n, E) of their numbers; None where there are none."""
    places: dict[str, int] = {}
    for context in told:
        for name in context:
            places.setdefault(name, len(places))
    if len(told) * len(places) > MOST_NUMBERS:
        raise InvalidLog(
            f"contexts must hold at most {MOST_NUMBERS:,} numbers, decisions times different entries, but "
            f"{len(told):,} decisions have {len(places):,} entries; leave out words "
            "that hardly come twice, such as ids of sessions"
        )
    table = np.zeros((len(told), len(places)))
    for row, context in enumerate(told):
        for name, number in context.items():
            table[row, places[name]] = number
    return tuple(places), table if places else None


def _check_keys(number: int, row: Mapping[str, Any]) -> None:
    for key in row:
        if key not in KEYS:
            raise InvalidLog(f"unknown key {key!r} in row {number}; {choices(key, KEYS)}")
    for key in REQUIRED:
        if row.get(key) is None:
            raise InvalidLog(f"a decision must have {', '.join(REQUIRED)}, but row {number} has no {key}")


def _objective(number: int, item: Any, names: tuple[str, ...]) -> int:
    if isinstance(item, str) and item in names:
        return names.index(item)
    if isinstance(item, int | np.integer) and 0 <= item < len(names):
        return int(item)
    raise InvalidLog(f"an objective must be one of {names!r} or its number, but row {number} has {item!r}")


def _entries(number: int, context: Any) -> dict[str, float]:
    try:
        return as_entries(context, longest=LONGEST_ENTRY)  # a log tells entries
    except (AttributeError, InvalidSetting) as problem:
        raise InvalidLog(f"a context must tell words and numbers by name, but in row {number}: {problem}") from None


def _pick(number: int, row: Mapping[str, Any], offer: list[Any]) -> int:
    if "picked" not in row:
        return NOT_TOLD
    if row["picked"] is None:
        return NONE_PICKED
    if row["picked"] not in offer:
        raise InvalidLog(f"the picked arm must be in the offer, but row {number} has {row['picked']!r} of {offer!r}")
    return offer.index(row["picked"])


def _number(number: int, what: str, value: Any) -> float:
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError):
        raise InvalidLog(f"{what} must be a number or left out, but row {number} has {value!r}") from None


def _numbers(number: int, what: str, values: Sequence[Any], length: int) -> list[float]:
    if len(values) != length:
        raise InvalidLog(f"{what} must hold {length} numbers, but row {number} has {values!r}")
    return [_number(number, what, value) for value in values]


def _reward(number: int, reward: Any, names: tuple[str, ...]) -> list[float]:
    if isinstance(reward, Mapping):
        for key in reward:
            if key not in names:
                raise InvalidLog(f"unknown objective {key!r} in the reward of row {number}; {choices(key, names)}")
        reward = [reward.get(name) for name in names]
    return _numbers(number, "reward", [None] * len(names) if reward is None else list(reward), len(names))


def _time(number: int, value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
        return time.astimezone(UTC).replace(tzinfo=None) if time is not None and time.tzinfo else time
    except (AttributeError, ValueError):
        raise InvalidLog(f"a time must be a datetime or ISO text, but row {number} has {value!r}") from None
