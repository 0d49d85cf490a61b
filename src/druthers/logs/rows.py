"""Logs from plain rows, which a journal, a spreadsheet or a test writes down, and from a policy that plays a tape."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from druthers.environments import Tape
from druthers.errors import InvalidLog, InvalidSetting, choices
from druthers.logs.table import NONE_PICKED, NOT_TOLD, Log
from druthers.policies import Policy
from druthers.policies.contexts import LONGEST_ENTRY, as_entries
from druthers.simulation import take_steps
from druthers.types import Decision, Floats

KEYS = (
    *("round", "time", "user", "offer", "ranking", "arm", "propensity", "chances", "reward", "utility", "picked"),
    *("policy", "context"),
)
REQUIRED = ("user", "offer", "arm")
# The columns of a log and their kinds; what differs in length from row to row, and what counts it.
KINDS: dict[str, Any] = {
    **dict.fromkeys(("users", "offers", "places", "picks", "policies"), np.int32),
    **dict.fromkeys(("propensities", "rewards", "utilities", "chances"), float),
    **{"rounds": np.int64, "times": "datetime64[us]", "rankings": np.int16},
}
PARTS = {"offer": "sizes", "ranking": "lengths"}
# Contexts are a table of decisions by entries: so many numbers at most, which take 400 MB.
MOST_NUMBERS = 50_000_000


# Over sixty lines with its documentation: a log has many columns, and each is named where it is read.
def from_rows(rows: Iterable[Mapping[str, Any]], objectives: Sequence[str]) -> Log:
    """Make a log from decisions as plain values, in the order they were made, and the names of the objectives.

    Each row has `user`, `offer` (a list of arms) and `arm`, and where known `round` (else the row's number), `time` (a
    datetime or ISO text; without a zone it is UTC), `ranking` (objectives by name or number, most important first),
    `propensity`, `chances` (one for each offered arm), `reward` (a list with None for what is missing, or by name),
    `utility`, `picked` (the arm that the user picked from the offer, None for none of these), `policy` and `context`
    (what was so about the visit, by name: words, true or false, or numbers from -1 to 1; decisions times different
    entries are 50 million at most).

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
    ids: dict[str, dict[Hashable, int]] = {"users": {}, "offers": {}, "policies": {}}
    columns: dict[str, list[Any]] = defaultdict(list)

    def number_of(what: str, name: Hashable) -> int:
        return ids[what].setdefault(name, len(ids[what]))

    for number, row in enumerate(rows):
        _check_keys(number, row)
        offer = list(row["offer"])
        if row["arm"] not in offer:
            raise InvalidLog(f"the chosen arm must be in the offer, but row {number} has {row['arm']!r} of {offer!r}")
        ranking = [_objective(number, item, names) for item in row.get("ranking") or ()]
        chances = row.get("chances")
        columns["rounds"].append(int(row.get("round", number)))
        columns["times"].append(_time(number, row.get("time")))
        columns["users"].append(number_of("users", row["user"]))
        columns["offers"] += [number_of("offers", arm) for arm in offer]
        columns["sizes"].append(len(offer))
        columns["rankings"] += ranking
        columns["lengths"].append(len(ranking))
        columns["places"].append(offer.index(row["arm"]))
        columns["propensities"].append(_number(number, "propensity", row.get("propensity")))
        columns["chances"] += _numbers(
            number, "chances", [None] * len(offer) if chances is None else chances, len(offer)
        )
        columns["rewards"].append(_reward(number, row.get("reward"), names))
        columns["utilities"].append(_number(number, "utility", row.get("utility")))
        columns["picks"].append(_pick(number, row, offer))
        columns["contexts"].append(_entries(number, row.get("context")))
        columns["policies"].append(number_of("policies", str(row.get("policy") or "logged")))
    arrays: dict[str, Any] = {name: np.array(columns[name], dtype=kind) for name, kind in KINDS.items()}
    arrays["rewards"] = arrays["rewards"].reshape(-1, len(names))
    for name, unknown in (("times", np.isnat), ("chances", np.isnan), ("picks", lambda picks: picks == NOT_TOLD)):
        if unknown(arrays[name]).all():
            arrays[name] = None
    users, arms, policies = (tuple(known) for known in ids.values())
    starts = {f"{part}_starts": np.cumsum([0, *columns[count]]) for part, count in PARTS.items()}
    entries, contexts = _contexts(columns["contexts"])
    return Log(
        names, users, arms, tuple(map(str, policies)), entries=entries, contexts=contexts, **arrays, **starts
    ).check()


def _contexts(told: Sequence[Mapping[str, float]]) -> tuple[tuple[str, ...], Floats | None]:
    """Return the entries of all contexts, and the table (n, E) of their numbers; None where there are none."""
    entries = tuple(dict.fromkeys(name for context in told for name in context))
    if len(told) * len(entries) > MOST_NUMBERS:
        raise InvalidLog(
            f"contexts must hold at most {MOST_NUMBERS:,} numbers, decisions times different entries, but "
            f"{len(told):,} decisions have {len(entries):,} entries; leave out words "
            "that hardly come twice, such as ids of sessions"
        )
    table, places = np.zeros((len(told), len(entries))), {name: place for place, name in enumerate(entries)}
    for row, context in enumerate(told):
        table[row, [places[name] for name in context]] = list(context.values())
    return entries, table if entries else None


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


def record(policy: Policy, tape: Tape, objectives: Sequence[str] | None = None, label: str | None = None) -> Log:
    """Let a fresh policy play a tape by single steps and return the log of its decisions.

    Give it some `exploration`, 0.1 say, or the log cannot tell what other policies would be worth. Users and arms
    are called by their numbers on the tape, and so are the objectives where they have no names.

    Examples
    --------
    >>> from druthers import make_policy
    >>> from druthers.environments import Synthetic
    >>> tape = Synthetic(n_arms=6, n_objectives=3, n_users=2, offered=4).tape(seed=1, horizon=50)
    >>> log = record(make_policy("s-ucb", n_objectives=3, exploration=0.2), tape)
    >>> log
    Log(50 decisions, 2 users, 6 arms, 3 objectives, policies: s-ucb)
    >>> sorted(set(log.propensities.round(3).tolist()))
    [0.05, 0.85]
    """
    n_arms, n_objectives = tape.means.shape
    names = tuple(objectives or (f"objective {k + 1}" for k in range(n_objectives)))
    if len(names) != n_objectives:
        raise InvalidLog(f"this tape needs {n_objectives} names of objectives, but got {names!r}")
    chunks = list(tape.chunks())
    rows: list[tuple[Any, ...]] = []
    for taken in take_steps(policy, tape, chunks):
        for one in taken:
            made = one.decision  # not kept whole: its reasons would fill the memory
            known = all_chances(policy, made), one.reward, np.nan if one.utility is None else one.utility
            rows.append((np.array(made.offer, dtype=np.int32), made.places[0], made.propensity, *known))
    offers, places, propensities, all_known, rewards, utilities = zip(*rows, strict=True)
    users, orders, lengths = (
        np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("users", "orders", "lengths")
    )
    chances = np.concatenate(all_known)
    picks = [chunk.picks for chunk in chunks if chunk.picks is not None]
    contexts = [chunk.contexts for chunk in chunks if chunk.contexts is not None]
    return Log(
        objectives=names,
        user_ids=tuple(range(len(tape.preferences))),
        arm_ids=tuple(range(n_arms)),
        policy_names=(label or policy.name,),
        rounds=np.repeat(np.arange(1, tape.horizon + 1), tape.users_per_round),
        times=None,
        users=users.astype(np.int32),
        offer_starts=np.cumsum([0, *map(len, offers)]),
        offers=np.concatenate(offers),
        ranking_starts=np.concatenate([[0], np.cumsum(lengths)]),
        rankings=orders[np.arange(n_objectives) < lengths[:, None]],
        places=np.array(places, dtype=np.int32),
        propensities=np.array(propensities),
        rewards=np.array(rewards),
        utilities=np.array(utilities),
        policies=np.zeros(len(rows), dtype=np.int32),
        chances=None if np.isnan(chances).all() else chances,
        picks=np.concatenate(picks).astype(np.int32) if picks else None,
        entries=tuple(map(str, range(contexts[0].shape[1]))) if contexts else (),
        contexts=np.concatenate(contexts) if contexts else None,
    )


def all_chances(policy: Policy, decision: Decision) -> Floats:
    """Return the chance of each offered arm as far as a decision tells it, NaN where it does not.

    A policy chooses uniformly among its n best and, now and then, among all. The propensity of the chosen arm tells
    n if it was one of the best; a policy without noise of its own has n = 1.
    """
    size, floor = len(decision.offer), policy.exploration
    own = (decision.propensity - floor / size) / (1.0 - floor) if floor < 1.0 else 0.0
    if floor == 1.0 or policy.noise_per_arm == 0:
        n_best = 1
    elif own > 0.5 / size:
        n_best = round(1.0 / own)
    else:
        return np.full(size, np.nan)
    chances = np.full(size, floor / size)
    chances[np.argsort(-decision.reasons[3], kind="stable")[:n_best]] += (1.0 - floor) / n_best
    return chances
