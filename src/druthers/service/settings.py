"""Settings of the service: from a file, the environment and the command line, checked before anything starts.

Written by hand for its words: pydantic-settings merges its sources before it checks them, so it could not say who made
a mistake (DRUTHERS_PORT, --port, or port in a file), nor what a name that is no setting was meant to be.
"""

import dataclasses
import difflib
import ipaddress
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from druthers.drafts import read_value
from druthers.errors import DruthersError, InvalidSetting, choices
from druthers.language import PARSERS
from druthers.own import is_own, settings_of
from druthers.policies import POLICIES, find_policy
from druthers.service.logs import redact

PREFIX = "DRUTHERS_"
CONFIG = PREFIX + "CONFIG"
KEYS = ("auto", "required", "off")
LEVELS = ("debug", "info", "warning", "error")
# Settings of a policy that come from elsewhere: the objectives from the catalog, exploration from a field of its own.
FROM_ELSEWHERE = ("n_objectives", "exploration")


class Law(NamedTuple):
    """What a setting must be, as a test and in words, after "must be"; the choices, where they are few.

    The environment holds a text as it is, without quotes.
    """

    holds: Callable[[Any], bool]
    says: str
    known: tuple[str, ...] = ()
    is_text: bool = False


def whole(low: int, high: int) -> Law:
    """Return the law of whole numbers in a range.

    Examples
    --------
    >>> [whole(1, 9).holds(value) for value in (9, 10, 3.0, True, "3")]
    [True, False, False, False, False]
    """
    return Law(lambda value: type(value) is int and low <= value <= high, f"a whole number from {low} to {high}")


def number(low: float, high: float) -> Law:
    """Return the law of numbers in a range."""
    return Law(
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high,
        f"a number from {low:g} to {high:g}",
    )


FLAG = Law(lambda value: isinstance(value, bool), "true or false")


def one_of(names: Iterable[str], *, or_own: bool = False) -> Law:
    """Return the law of a few names, or of those and of files of your own."""
    known = tuple(names)
    says = f"one of {', '.join(known)}" + (", or FILE.py:Class for your own" if or_own else "")
    return Law(
        lambda value: isinstance(value, str) and (value in known or (or_own and is_own(value))),
        says,
        known,
        is_text=True,
    )


def like(pattern: str, says: str) -> Law:
    """Return the law of texts that match a pattern as a whole."""
    return Law(lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value)), says, is_text=True)


def _plain(value: object) -> bool:
    """See whether a value is made of what TOML and JSON both hold, and of finite numbers."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _plain(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


TABLE = Law(lambda value: isinstance(value, Mapping) and _plain(value), "a table of texts and finite numbers")


def _setting(default: Any, law: Law, about: str) -> Any:
    notes = {"law": law, "about": about}
    if default is dict:
        return dataclasses.field(default_factory=dict, metadata=notes)
    return dataclasses.field(default=default, metadata=notes)


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """Everything that a service is told; `load_settings` gathers it. What breaks a law is refused, all of it at once.

    Each field says what it is in its metadata: `about` in a line, and its `law`.

    Examples
    --------
    >>> Settings(port=9000).keys_required, Settings(host="0.0.0.0").keys_required
    (False, True)
    >>> Settings(port=0, max_slate=5000)
    Traceback (most recent call last):
    druthers.errors.InvalidSetting: the service cannot start with these settings, 2 problems:
      port must be a whole number from 1 to 65535, but got 0
      max_slate must not be above max_offer, but got 5000 and 1000; a slate is chosen from an offer
    """

    store: str = _setting(
        "sqlite:druthers.db",
        like(r"[a-z][a-z0-9+]*:.*", "an address such as sqlite:FILE, postgresql://HOST/NAME or memory:"),
        "Where the journal lives: sqlite:FILE, postgresql://HOST/NAME or memory:.",
    )
    ledger: str = _setting(
        "", like(r".*", "a file"), "File that notes what was erased and revoked; beside a journal in SQLite by itself."
    )
    catalog: str = _setting(
        "",
        like(r"(?:\S(?:.*\S)?)?", "a name or a file"),
        "Catalog of a new journal, a name or a file; hotels if empty.",
    )
    policy: str = _setting("stated-ucb", one_of(POLICIES, or_own=True), "Policy that chooses.")
    policy_settings: Mapping[str, Any] = _setting(dict, TABLE, "Settings of the policy.")
    population: bool = _setting(True, FLAG, "Whether who has said nothing is met with what others want.")
    question_price: float = _setting(0.05, number(0, 10), "What a question to a user costs, in units of utility.")
    question_budget: int = _setting(2, whole(0, 10**6), "Who has told as much is not asked; 0 for never asking.")
    parser: str = _setting("default", one_of(PARSERS), "Parser that reads what users say.")
    parser_settings: Mapping[str, Any] = _setting(dict, TABLE, "Settings of the parser: model, base_url... of llm.")
    reading_seconds: float = _setting(10.0, number(0.1, 600), "Seconds that reading a sentence may take.")
    exploration: float = _setting(0.0, number(0, 1), "Share of decisions left to chance, for evaluation from logs.")
    host: str = _setting("127.0.0.1", like(r"[0-9A-Za-z.:_-]+", "an address or a name"), "Address to listen at.")
    port: int = _setting(8000, whole(1, 65535), "Port to listen at.")
    workers: int = _setting(1, whole(1, 256), "Number of processes.")
    keys: str = _setting("auto", one_of(KEYS), "API keys: required, off, or auto (off on a loopback address only).")
    max_connections: int = _setting(1_000, whole(1, 10**6), "Most connections at a time, for each process.")
    arrival_seconds: float = _setting(20.0, number(0.1, 3600), "Seconds for headers, and then a body, to arrive.")
    max_header_bytes: int = _setting(16_384, whole(1024, 2**20), "Largest headers of a request, in bytes.")
    max_body_bytes: int = _setting(65_536, whole(1024, 2**30), "Largest body of a request, in bytes.")
    max_text: int = _setting(2_000, whole(1, 10**6), "Longest text of a user, in characters.")
    max_offer: int = _setting(1_000, whole(1, 10**6), "Most items in an offer.")
    max_slate: int = _setting(100, whole(1, 10**6), "Most items in a slate.")
    max_batch: int = _setting(100, whole(1, 10**6), "Most entries in a batch.")
    max_items: int = _setting(100_000, whole(1, 10**7), "Most items in the catalog.")
    ranking_adds_items: bool = _setting(False, FLAG, "Whether a rank of Personalizer adds items that are missing.")
    rate: float = _setting(
        1_000.0, number(0, 1e9), "Requests and entries per second for each key and process; 0 for no limit."
    )
    burst: int = _setting(1_000, whole(1, 10**9), "Requests and entries that a key may send at once.")
    snapshot_every: int = _setting(25_000, whole(1, 10**9), "Events between two snapshots.")
    resident_users: int = _setting(100_000, whole(1, 10**8), "Most users kept in memory.")
    follow_seconds: float = _setting(0.2, number(0.01, 60), "Seconds between two looks at what other processes wrote.")
    results: str = _setting("results", like(r".+", "a folder"), "Folder whose reports the page lists and adds to.")
    log_level: str = _setting("info", one_of(LEVELS), "Least level that is logged.")

    def __post_init__(self) -> None:
        refuse({field.name: Found(getattr(self, field.name), field.name) for field in dataclasses.fields(self)})
        for table in ("policy_settings", "parser_settings"):
            object.__setattr__(self, table, dict(getattr(self, table)))

    def __repr__(self) -> str:
        """Return what differs from the defaults; passwords stay hidden."""
        return redact(f"Settings({', '.join(f'{key}={value!r}' for key, value in self.changed().items())})")

    def changed(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults."""
        return {name: getattr(self, name) for name, usual in DEFAULTS.items() if getattr(self, name) != usual}

    @property
    def keys_required(self) -> bool:
        """Whether callers must show a key."""
        return self.keys == "required" or (self.keys == "auto" and not is_loopback(self.host))


class Found(NamedTuple):
    """A value, and the name by which its owner knows it."""

    value: Any
    name: str


LAWS: dict[str, Law] = {field.name: field.metadata["law"] for field in dataclasses.fields(Settings)}
DEFAULTS: dict[str, Any] = {
    field.name: field.default if field.default is not dataclasses.MISSING else {}
    for field in dataclasses.fields(Settings)
}
ABOUT: dict[str, str] = {field.name: field.metadata["about"] for field in dataclasses.fields(Settings)}


def is_loopback(host: str) -> bool:
    """See whether only this machine can reach a host.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.7", "::1", "0.0.0.0", "druthers.example")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def load_settings(
    config: str | Path | None = None, *, environ: Mapping[str, str] | None = None, **overrides: Any
) -> Settings:
    """Return the settings of a TOML file, then of the environment, then of the command line: the later one holds.

    The file is by default the one that DRUTHERS_CONFIG names, if any. The environment has DRUTHERS_PORT for `port`, and
    so on, numbers and tables as in TOML. Overrides that are None are not given.

    Examples
    --------
    >>> load_settings(environ={"DRUTHERS_PORT": "9000", "DRUTHERS_STORE": "memory:"}, store="sqlite:a.db")
    Settings(store='sqlite:a.db', port=9000)
    >>> load_settings(environ={"DRUTHERS_PROT": "9000"})
    Traceback (most recent call last):
    druthers.errors.InvalidSetting: the service cannot start with these settings, 1 problem:
      DRUTHERS_PROT is not a setting; did you mean DRUTHERS_PORT?
    """
    environ = os.environ if environ is None else environ
    source = config if config is not None else environ.get(CONFIG) or None
    problems: list[str] = []
    found = _from_file(Path(source), problems) if source is not None else {}
    found |= _from_environment(environ, problems)
    given = {name: value for name, value in overrides.items() if value is not None}
    problems += [f"--{_dashed(name)} is not a setting; {choices(name, LAWS)}" for name in given if name not in LAWS]
    found |= {name: Found(value, f"--{_dashed(name)}") for name, value in given.items() if name in LAWS}
    refuse(found, problems)
    return Settings(**{name: entry.value for name, entry in found.items()})


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _from_file(path: Path, problems: list[str]) -> dict[str, Found]:
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        problems.append(f"settings must be a file that can be read, but {path}: {error.strerror}")
        return {}
    except (ValueError, RecursionError) as error:
        problems.append(f"settings must be written in TOML, but {path} is not: {error}")
        return {}
    problems += [f"{key} in {path} is not a setting; {choices(key, LAWS)}" for key in content if key not in LAWS]
    return {key: Found(value, f"{key} in {path}") for key, value in content.items() if key in LAWS}


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, Found]:
    """Return what the environment sets; a name that is nearly a setting is a problem, others are not ours."""
    found = {}
    for variable, text in environ.items():
        name = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX) or variable == CONFIG:
            continue
        if name in LAWS:
            found[name] = Found(text if LAWS[name].is_text else read_value(text), variable)
        elif close := difflib.get_close_matches(name, LAWS, n=1, cutoff=0.75):
            problems.append(f"{variable} is not a setting; did you mean {PREFIX}{close[0].upper()}?")
    return found


def refuse(found: Mapping[str, Found], problems: list[str] | None = None) -> None:
    """Raise everything that is wrong with some settings, after the problems that were found before."""
    problems = list(problems or ())
    values = dict(DEFAULTS)
    for name, law in LAWS.items():
        if name not in found:
            continue
        value, called = found[name]
        if law.holds(value):
            values[name] = value
            continue
        close = difflib.get_close_matches(str(value), law.known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        problems.append(f"{called} must be {law.says}, but got {_shown(value)}{hint}")
    problems += _disagreements(values, checks_policy="policy" not in found or found["policy"].value == values["policy"])
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InvalidSetting("\n  ".join([f"the service cannot start with these settings, {count}:", *problems]))


def _disagreements(values: Mapping[str, Any], *, checks_policy: bool) -> list[str]:
    problems = _policy_problems(values["policy"], values["policy_settings"]) if checks_policy else []
    if values["keys"] == "off" and not is_loopback(values["host"]):
        problems.append(
            f"keys must not be off where others can reach the service, but host is {_shown(values['host'])};"
            " leave keys at auto, or host at 127.0.0.1"
        )
    if values["max_slate"] > values["max_offer"]:
        problems.append(
            f"max_slate must not be above max_offer, but got {values['max_slate']} and {values['max_offer']};"
            " a slate is chosen from an offer"
        )
    if values["workers"] > 1 and values["store"].partition(":")[0] == "memory":
        problems.append(
            f"a journal in memory is that of one process, but workers is {values['workers']};"
            " use sqlite:FILE or postgresql://HOST/NAME"
        )
    return problems


def _policy_problems(policy: str, settings: Mapping[str, Any]) -> list[str]:
    try:
        known = [name for name in settings_of(find_policy(policy)) if name not in FROM_ELSEWHERE]
    except DruthersError as error:  # a file of someone's own that is not there, or without the class
        return [f"policy: {error}"]
    return [
        f"{_shown(name)} is not a setting of {policy}; {choices(name, known)}" for name in settings if name not in known
    ]


def _shown(value: object) -> str:
    text = redact(f'"{value}"' if isinstance(value, str) else repr(value))
    return text if len(text) <= 60 else text[:57] + "..."
