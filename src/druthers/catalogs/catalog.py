"""A catalog: what can be recommended and what matters about it."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from druthers.catalogs.checking import FORMAT, ITEM_FIELDS, find_mistakes, grouped
from druthers.catalogs.standins import beers, hotels
from druthers.drafts import replaced, to_json, to_toml
from druthers.errors import InvalidCatalog, InvalidFeedback, UnknownArm, UnknownName, choices
from druthers.types import Floats, Objective

Fact: TypeAlias = str | float | bool
Detail: TypeAlias = Fact | Sequence[Fact]

# The catalogs that come along, made when they are asked for; all of them are simulated.
CATALOGS = {"hotels": hotels, "beers": beers}


@dataclass(frozen=True, slots=True)
class Item:
    """Something that can be recommended."""

    id: str  # what it is known by, never to change
    name: str = ""  # what it is called; its id by default
    description: str = ""  # one sentence about it
    # What is known of it: objective name to measured value, in the objective's own range; the rest is left out.
    values: Mapping[str, float] = field(default_factory=dict)
    # Further facts, such as a city: texts, numbers, true or false, or lists of these. None may have the name of an
    # objective: what is known there are values.
    details: Mapping[str, Detail] = field(default_factory=dict)
    # How many ratings a value is the mean of, by objective; left out where it is no mean.
    counts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.id)
        for table in ("values", "details", "counts"):
            entries = dict(getattr(self, table)).items()
            frozen = {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in entries}
            object.__setattr__(self, table, MappingProxyType(frozen))

    def content(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}

    def __hash__(self) -> int:
        """Items are equal only if their ids are."""
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what copies and pickles are made from; a read-only table can be neither."""
        return type(self), (
            *(self.id, self.name, self.description),
            *(dict(table) for table in (self.values, self.details, self.counts)),
        )


@dataclass(frozen=True)
class Catalog:
    """Objectives and items, checked: what a service recommends, and what its users may ask for.

    Examples
    --------
    >>> inns = Catalog(
    ...     name="inns",
    ...     objectives=[Objective("clean", low=1, high=5), Objective("price", low=50, high=300, less_is_better=True)],
    ...     items=[Item("mill", "The Mill", values={"clean": 4, "price": 120}), Item("barn", values={"price": 60})],
    ... )
    >>> inns.rewards("mill"), inns.rewards("barn")
    (array([0.75, 0.72]), array([ nan, 0.96]))
    >>> inns.ranking(["price", "clean"])
    (1, 0)
    """

    name: str
    objectives: Sequence[Objective]  # what matters, in the order of rankings and reward vectors
    items: Sequence[Item] = ()
    description: str = ""  # one sentence about it
    simulated: bool = False  # whether its items are invented, which is said wherever they are shown

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", tuple(self.objectives))
        object.__setattr__(self, "items", tuple(self.items))
        items = [{part: getattr(item, part) for part in ITEM_FIELDS} for item in self.items]
        _require_sound({**self._head(), "items": items}, "this is not a catalog")

    @classmethod
    def load(cls, source: str | Path) -> "Catalog":
        """Return a catalog from a TOML or JSON file, or one that comes along by its name, such as "hotels".

        Examples
        --------
        >>> Catalog.load("hotels").items[0].name
        'The Amberwick'
        """
        path = Path(source)
        if str(source) in CATALOGS and path.suffix not in SUFFIXES:
            return cls.from_content(CATALOGS[str(source)]())
        if path.suffix not in SUFFIXES and not path.exists():
            raise UnknownName.of("catalog", str(source), CATALOGS)
        content = read_content(path)
        if isinstance(content, dict):
            content.setdefault("name", path.stem)
        return cls.from_content(content, source=str(source))

    @classmethod
    def from_content(cls, content: Any, *, source: str = "this") -> "Catalog":
        """Return the catalog of a file's content: tables, lists, texts and numbers; `source` names it in errors."""
        _require_sound(content, f"{source} is not a catalog")
        return cls(
            name=content["name"],
            objectives=tuple(Objective(**table) for table in content["objectives"]),
            items=tuple(Item(**table) for table in content.get("items", ())),
            description=content.get("description", ""),
            simulated=content.get("simulated", False),
        )

    def content(self) -> dict[str, Any]:
        """Return what a file of this catalog says; what has its default is left out."""
        return self._head() | ({"items": [_told(item) for item in self.items]} if self.items else {})

    def _head(self) -> dict[str, Any]:
        """Return all but the items."""
        told = {"format": FORMAT, **_told(self), "objectives": [_told(objective) for objective in self.objectives]}
        told.pop("items", None)
        return told

    def save(self, path: str | Path) -> None:
        """Write the catalog to a file whose name ends in .toml or .json; `load` gives an equal one back."""
        write_content(self.content(), Path(path))

    @property
    def n_objectives(self) -> int:
        """How many objectives there are."""
        return len(self.objectives)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the items, in order."""
        return tuple(self._items)

    def item(self, id: str) -> Item:
        """Return the item with this id."""
        if id not in self._items:
            raise UnknownArm(
                f"an item must be in the catalog {self.name!r}, but got {id!r}; {choices(id, self._items)}"
            )
        return self._items[id]

    def index(self, objective: str) -> int:
        """Return the place of an objective, by its name, in rankings and rewards."""
        if objective not in self._places:
            raise UnknownName.of(f"objective of {self.name!r}", objective, self._places)
        return self._places[objective]

    def ranking(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the ranking that lists these objectives, most important first."""
        return tuple(self.index(name) for name in names)

    def rewards(self, id: str) -> Floats:
        """Return what is known of an item as a reward vector: 0 to 1, more is better, NaN where nothing is known."""
        item = self.item(id)
        return self.to_rewards(item.values, item.counts)

    def to_rewards(self, values: Mapping[str, float], counts: Mapping[str, float] | None = None) -> Floats:
        """Return a reward vector from values by objective name; NaN for those left out.

        Of a value that is the mean of so many ratings only so much counts as can be believed.
        """
        rewards = np.full(self.n_objectives, np.nan)
        for name, value in values.items():
            place = self.index(name)
            objective = self.objectives[place]
            believed = objective.believed(value, counts[name]) if counts and name in counts else value
            rewards[place] = objective.to_reward(believed)
        return rewards

    def to_counts(self, counts: Mapping[str, float]) -> Floats:
        """Return how many ratings stand behind each objective; 1 where it is not said."""
        vector = np.ones(self.n_objectives)
        for name, count in counts.items():
            vector[self.index(name)] = count
        return vector

    def to_values(self, rewards: Sequence[float] | Floats) -> dict[str, float]:
        """Return values by objective name from a reward vector; what is NaN is left out."""
        if len(rewards) != self.n_objectives:
            raise InvalidFeedback(f"a reward must have {self.n_objectives} entries, but got {len(rewards)}")
        return {
            objective.name: objective.to_value(float(reward))
            for objective, reward in zip(self.objectives, rewards, strict=True)
            if not np.isnan(reward)
        }

    @cached_property
    def _items(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {objective.name: place for place, objective in enumerate(self.objectives)}


def _told(value: Catalog | Objective | Item) -> dict[str, Any]:
    """Return the fields that do not have their default."""
    told = {}
    for part in fields(value):
        entry = getattr(value, part.name)
        default = part.default_factory() if part.default_factory is not MISSING else part.default
        if entry != default:
            told[part.name] = _plain(entry)
    return told


def _plain(entry: Any) -> Any:
    if isinstance(entry, str | float | int):
        return entry
    if isinstance(entry, dict | MappingProxyType):
        return {key: _plain(value) for key, value in entry.items()}
    return list(entry) if isinstance(entry, tuple) else entry


def _require_sound(content: object, verdict: str) -> None:
    mistakes = find_mistakes(content)
    if mistakes:
        count = "1 problem" if len(mistakes) == 1 else f"{len(mistakes):,} problems"
        lines = grouped(mistakes)
        raise InvalidCatalog("\n  ".join([f"{verdict}, {count}:", *lines]), lines)


SUFFIXES = (".toml", ".json")
TABLES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".gz")  # of which a catalog is made first


def read_content(path: Path) -> Any:
    """Return what a TOML or JSON file says, unchecked."""
    _require_suffix(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        raise InvalidCatalog(f"a catalog must be a file that can be read, but {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidCatalog(f"a catalog must be text in UTF-8, but {path} is not at byte {error.start}") from None
    except RecursionError:
        raise InvalidCatalog(f"a catalog is a few tables deep, but {path} is nested without end") from None
    except ValueError as error:
        kind = path.suffix[1:].upper()
        raise InvalidCatalog(f"a catalog must be written in {kind}, but {path} is not: {error}") from None


def write_content(content: Mapping[str, Any], path: Path) -> None:
    """Write a content that was checked, as TOML or JSON by the file's name: a new file, or the old one as it was."""
    _require_suffix(path)
    text = to_toml(content) if path.suffix == ".toml" else to_json(content)
    try:
        with replaced(path) as draft:
            draft.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise InvalidCatalog(
            f"a catalog must go where files can be written, but {path}: {error.strerror or error}"
        ) from error


def _require_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        table = path.suffix in TABLES
        remedy = f"make one of it with `druthers catalog build {path}`" if table else "name a file that does"
        raise InvalidCatalog(f"a catalog's file must end in {' or '.join(SUFFIXES)}, but got {str(path)!r}; {remedy}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice in a JSON object, as TOML does; plain JSON would forget the first."""
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'the key "{next(key for key in keys if keys.count(key) > 1)}" stands twice in an object')
    return table
