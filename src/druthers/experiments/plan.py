"""An experiment: which policies play where, how long and how often; read from TOML and checked before anything runs."""

import dataclasses
import itertools
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from druthers.anchors import as_anchor
from druthers.environments import Environment, find_environment
from druthers.errors import DruthersError, InvalidExperiment, UnknownName, choices, require_known
from druthers.own import is_own, settings_of
from druthers.policies import Policy, find_policy

HERE = Path(__file__).parent

# So many pairs of a policy and a run are listed before the first is played, in some seconds, and kept in a file each.
MOST_PAIRS = 100_000
MOST_ROUNDS = 10**9

# What the lab sets itself: sizes come from the environment, chance from the run, the truth from the tape.
SET_BY_THE_LAB = {"n_objectives", "seed", "preferences", "rewards"}

NAME = re.compile(r"[^/\\\0]*[^/\\\0. ]")
Law = tuple[str, Callable[[Any], bool]]


def _whole(least: int, most: float = math.inf) -> Law:
    law = f"a whole number of at least {least}" + (f" and at most {most:,.0f}" if most < math.inf else "")
    return law, lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


TEXT: Law = ("a text", lambda value: isinstance(value, str))
# What the fields of an experiment must be, beside the tables of its environment and policies.
LAWS: dict[str, Law] = {
    "name": ("a name that a folder can have", lambda value: isinstance(value, str) and bool(NAME.fullmatch(value))),
    "title": TEXT,
    "about": TEXT,
    "horizon": _whole(1, MOST_ROUNDS),
    "runs": _whole(1),
    "seed": _whole(0),
    "points": _whole(1, MOST_ROUNDS),
    "vary": ("a table of lists and ranges", lambda value: isinstance(value, Mapping)),
    "samples": ("a whole number of at least 1", lambda value: value is None or _whole(1)[1](value)),
}


@dataclass(frozen=True)
class Row:
    """One line of an experiment's table: a policy with its settings, in an environment with its settings."""

    label: str  # its name in the table, different for each row
    group: str  # the name of its policy in the experiment, the same for all values of what is varied
    policy: str
    params: dict[str, Any]  # the settings that the experiment gives the policy
    environment: dict[str, Any]
    horizon: int
    varied: dict[str, Any]  # the values of what is varied, by short name
    defaults: dict[str, Any] = dataclasses.field(default_factory=dict)  # all that the policy takes, where none is given

    @property
    def world(self) -> str:
        """What rows share that play the same tapes."""
        return json.dumps([self.environment, self.horizon], sort_keys=True, default=repr)

    @property
    def own(self) -> list[str]:
        """The parts of this row that are someone's own, each FILE.py:Class."""
        anchor = self.params.get("anchor")
        names = (self.policy, self.environment["name"], anchor.get("name") if isinstance(anchor, Mapping) else anchor)
        return [name for name in names if is_own(name)]

    def make_environment(self) -> Environment:
        """Return the environment of this row."""
        settings = dict(self.environment)
        family = find_environment(settings.pop("name"))
        return family(**settings)

    def make_policy(self, n_objectives: int, seed: int = 0, **truth: Any) -> Policy:
        """Return a fresh policy of this row; `truth` is for policies that know it."""
        family = find_policy(self.policy)
        params = {key: as_anchor(value) for key, value in self.params.items()} | truth
        if "horizon" in settings_of(family):
            params.setdefault("horizon", self.horizon)
        return family(n_objectives=n_objectives, seed=seed, **params)


@dataclass(frozen=True)
class Experiment:
    """What is to be played; `load_experiment` reads one from a file."""

    name: str
    environment: dict[str, Any]  # its name and settings
    # Settings of each policy by label; `policy` names it where the label does not. A policy may be told a setting of
    # the environment, whatever it is in a row: `corruption = "environment.corruption"`.
    policies: dict[str, dict[str, Any]]
    title: str = ""  # in a line
    about: str = ""  # in a paragraph
    figure: str = "regret"  # what it shows best; "error" for preference errors over time, "varied" for what is varied
    horizon: int = 2_000  # rounds of a run
    runs: int = 10
    seed: int = 2  # which all runs follow from
    points: int = 75  # about how many rounds of a run are kept
    # Lists of values, or ranges {low, high}, by path: "horizon", "environment.KEY", "policies.LABEL.KEY" or
    # "policies.*.KEY" for all policies that take it.
    vary: dict[str, Any] = dataclasses.field(default_factory=dict)
    samples: int | None = None  # how many combinations of what is varied to draw at random; all of them by default

    FIGURES: ClassVar = ("regret", "error", "varied")

    @classmethod
    def of(cls, content: Mapping[str, Any], name: str) -> "Experiment":
        """Check the content of a file and return the experiment, or say what is wrong with it."""
        known = [field.name for field in dataclasses.fields(cls)]
        _refuse_unknown(content, known, f"experiment {name!r}")
        for key in ("environment", "policies"):
            if not isinstance(content.get(key), Mapping) or not content[key]:
                raise InvalidExperiment(f"an experiment must have a table [{key}], but {name!r} has none")
        experiment = cls(**{"name": name, **content})
        experiment.check()
        return experiment

    def with_settings(self, settings: Mapping[str, Any]) -> "Experiment":
        """Return the same with other values, each at its path (see `vary`)."""
        content = dict(vars(self))
        for path, value in settings.items():
            content = _placed(content, self.full_path(path), value)
        return Experiment.of(content, self.name)

    def only(self, labels: Iterable[str]) -> "Experiment":
        """Return the same with some of its policies, or others at their defaults."""
        chosen: dict[str, dict[str, Any]] = {}
        for label in labels:
            if label not in self.policies:
                find_policy(label)
            chosen[label] = self.policies.get(label, {})
        return dataclasses.replace(self, policies=chosen)

    def full_path(self, path: str) -> str:
        """Return the path that a single word means: that of the environment, or of all policies that take it."""
        if "." in path or path in {field.name for field in dataclasses.fields(self)}:
            return path
        environment_keys = settings_of(_environment_class(self.environment))
        policies = [given.get("policy", label) for label, given in self.policies.items()]
        policy_keys = {key for policy in policies for key in policy_settings(policy)}
        if path in environment_keys:
            return f"environment.{path}"
        if path in policy_keys:
            return f"policies.*.{path}"
        raise UnknownName.of("setting", path, sorted({*environment_keys, *policy_keys}))

    def check(self) -> None:
        """Refuse what could not be played, before anything is."""
        for key, (law, holds) in LAWS.items():
            if not holds(value := getattr(self, key)):
                raise InvalidExperiment(f"{key} must be {law}, but got {value!r}")
        for label, given in self.policies.items():
            if not isinstance(given, Mapping):
                raise InvalidExperiment(f"a policy must be a table of its settings, but {label!r} is {given!r}")
        grid = math.prod(len(values) for values in self.vary.values() if isinstance(values, list))
        pairs = self.runs * len(self.policies) * max(grid if self.samples is None else self.samples, 1)
        if pairs > MOST_PAIRS:
            raise InvalidExperiment(
                f"an experiment must have at most {MOST_PAIRS:,} pairs of a policy and a run, but got {pairs:,}; ask"
                " for fewer runs, or for several seeds with a folder each"
            )
        require_known("figure", self.FIGURES, self.figure)
        if self.figure == "varied" and not self.vary:
            raise InvalidExperiment("a figure of what is varied needs a table [vary]")
        for row in self.rows():
            try:
                # The smallest tape tells the sizes; making both objects lets their own laws speak.
                tape = row.make_environment().tape(seed=self.seed, horizon=1)
                row.make_policy(tape.means.shape[1])
            except (TypeError, ValueError, OverflowError, MemoryError) as error:
                if isinstance(error, DruthersError) or row.own:
                    raise
                given = {**row.environment, **row.params}
                raise InvalidExperiment(
                    f"settings must be of the kind and size that is meant, but of {given}: {error}"
                ) from error

    def rows(self) -> list[Row]:
        """Return every policy with every combination of what is varied that concerns it."""
        rows: dict[str, Row] = {}
        for combination in self._combinations():
            content = dict(vars(self))
            for path, value in combination.items():
                content = _placed(content, path, value)
            for group, given in content["policies"].items():
                params = {key: _told(value, content["environment"]) for key, value in given.items()}
                policy = params.pop("policy", group)
                concerning = [path for path in combination if _concerns(path, group, find_policy(policy))]
                times = Counter(map(_last, concerning))
                varied = {_last(path) if times[_last(path)] == 1 else path: combination[path] for path in concerning}
                label = labeled(group, varied)
                if label in rows and rows[label].varied != varied:  # two that are shown alike
                    label = labeled(group, varied, repr)
                defaults = policy_settings(policy)
                row = Row(label, group, policy, params, content["environment"], content["horizon"], varied, defaults)
                _refuse_unknown(params, defaults, f"policy {group!r}")
                known = settings_of(_environment_class(row.environment))
                _refuse_unknown(row.environment, ["name", *known], "the environment")
                rows[label] = row
        return list(rows.values())

    def _combinations(self) -> Iterator[dict[str, Any]]:
        paths = {self.full_path(path): values for path, values in self.vary.items()}
        for path, values in paths.items():
            if path != "horizon" and not re.fullmatch(r"environment\.[^.]+|policies\..+\..+", path):
                raise InvalidExperiment(
                    "what is varied must be horizon, environment.KEY, policies.LABEL.KEY or policies.*.KEY, but got"
                    f" {path!r}"
                )
            ranged = isinstance(values, Mapping)
            if ranged:
                _refuse_unknown(values, ["low", "high"], f"the range of {path!r}")
                numbers = all(isinstance(end, int | float) and math.isfinite(end) for end in values.values())
                if set(values) != {"low", "high"} or not numbers or not values["low"] < values["high"]:
                    raise InvalidExperiment(f"a range needs low < high, but {path!r} has {dict(values)!r}")
            elif not isinstance(values, list) or not values:
                raise InvalidExperiment(f"what is varied needs a list of values, but {path!r} has {values!r}")
            if ranged and self.samples is None:
                raise InvalidExperiment(f"a range is drawn from at random, so {path!r} needs `samples`, a number")
        if self.samples is None:
            for values in itertools.product(*paths.values()):
                yield dict(zip(paths, values, strict=True))
            return
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(3,)))
        for _ in range(self.samples):
            yield {path: _drawn(values, rng) for path, values in paths.items()}

    def settings(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return dataclasses.asdict(self)


def policy_settings(name: str) -> dict[str, Any]:
    """Return the settings of a policy that an experiment may give, with their defaults."""
    return {key: value for key, value in settings_of(find_policy(name)).items() if key not in SET_BY_THE_LAB}


def experiment_names() -> list[str]:
    """Return the names of the experiments that come with the package."""
    return sorted(path.stem for path in HERE.glob("*.toml"))


def load_experiment(source: str | Path) -> Experiment:
    """Read an experiment by its name or from a file.

    A data folder or a file of your own whose path begins with a dot is looked for from the folder of the file.

    Examples
    --------
    >>> load_experiment("synthetic").horizon
    2000
    """
    path = Path(source)
    if path.suffix != ".toml":
        require_known("experiment", experiment_names(), str(source))
        path = HERE / f"{source}.toml"
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise InvalidExperiment(f"an experiment file must be readable, but {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidExperiment(f"an experiment must be valid TOML, but {path}: {error}") from None
    _place_paths(content, path.parent)
    return Experiment.of(content, path.stem)


def _place_paths(content: dict[str, Any], folder: Path) -> None:
    """Make paths whole that begin with a dot: of the environment and its data, of policies and their anchors."""

    def placed(table: Any, *keys: str) -> None:
        for key in keys:
            if isinstance(table, dict) and str(table.get(key, "")).startswith("."):
                table[key] = str((folder / table[key]).resolve())

    placed(content.get("environment"), "data", "name")
    policies = content.get("policies")
    for label, given in policies.items() if isinstance(policies, dict) else ():
        if isinstance(given, dict) and is_own(label):
            given.setdefault("policy", label)
        placed(given, "policy", "anchor")
        placed(isinstance(given, dict) and given.get("anchor"), "name")


def _refuse_unknown(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    names = list(known)
    for key in given:
        if key not in names:
            raise InvalidExperiment(f"unknown key {key!r} in {where}; {choices(key, names)}")


def _environment_class(settings: Mapping[str, Any]) -> type[Environment]:
    if "name" not in settings:
        raise InvalidExperiment(f"an environment must have a name, but got only {sorted(settings)}")
    return find_environment(settings["name"])


def _told(value: Any, environment: Mapping[str, Any]) -> Any:
    """Return the setting of the environment that "environment.KEY" stands for; anything else as it is."""
    if not isinstance(value, str) or not value.startswith("environment."):
        return value
    key, known = value.partition(".")[2], settings_of(_environment_class(environment))
    require_known("setting of the environment", known, key)
    return environment.get(key, known[key])


def _placed(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of nested tables with a value at a dotted path; * stands for every policy that takes the key."""
    # A name may have dots itself, as FILE.py:Class has.
    known = [name for name in content if path.startswith(f"{name}.")]
    head = max(known, key=len, default=path.partition(".")[0])
    rest = path[len(head) + 1 :]
    if not rest:
        return {**content, head: value}
    if head == "*":
        return {
            label: {**given, rest: value} if rest in settings_of(find_policy(given.get("policy", label))) else given
            for label, given in content.items()
        }
    if not isinstance(content.get(head), Mapping):
        raise UnknownName.of("path", path, [key for key, item in content.items() if isinstance(item, Mapping)])
    return {**content, head: _placed(content[head], rest, value)}


def _concerns(path: str, group: str, family: type[Policy]) -> bool:
    """Tell whether a value at this path changes anything for a policy of an experiment."""
    if not path.startswith("policies."):
        return True
    key = path.removeprefix("policies.")
    return key.startswith(f"{group}.") or (key.startswith("*.") and key[2:] in settings_of(family))


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def short(value: Any) -> str:
    """Return a value as it is shown in a label or a table."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def labeled(group: str, varied: Mapping[str, Any], tell: Callable[[Any], str] = short) -> str:
    """Return the name of a row: of its policy, and the values of what is varied."""
    values = ", ".join(f"{key}={tell(value)}" for key, value in varied.items())
    return f"{group} [{values}]" if varied else group


def _drawn(values: Any, rng: np.random.Generator) -> Any:
    """Draw one of some values, or from a range: whole numbers stay whole, positive ranges are even in the logarithm."""
    if not isinstance(values, Mapping):
        return values[rng.integers(len(values))]
    low, high = values["low"], values["high"]
    if isinstance(low, int) and isinstance(high, int):
        return int(rng.integers(low, high + 1))
    if low > 0:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return float(rng.uniform(low, high))
