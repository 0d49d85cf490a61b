"""People who really chose, replayed task by task: the slate they saw, then what they picked."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from druthers.environments.reviews import DATA_VARIABLE, read_rows
from druthers.errors import InvalidSetting
from druthers.rankings import as_ranking
from druthers.types import Floats, Integers

CHOICES, RANKINGS = "choices.csv", "rankings.csv"


class Person(NamedTuple):
    """One person's choices in the order in which they were made."""

    id: str
    slates: Floats  # what was offered (n, K, D)
    picked: Integers  # the place in the slate of what was picked (n,)


@dataclass(frozen=True, eq=False)
class People:
    """A study's people and their choices, one person after the other."""

    name: str  # of the study
    objectives: tuple[str, ...]
    slates: Floats  # what was offered (n, K, D)
    picked: Integers  # the place of what was picked (n,)
    starts: Integers  # where each person's choices start (N + 1,)
    ids: tuple[str, ...]
    ties: int = 0  # how often nothing was picked; such tasks are left out

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.ids)

    def __getitem__(self, number: int) -> Person:
        """Return a person by number."""
        rows = slice(self.starts[number], self.starts[number + 1])
        return Person(self.ids[number], self.slates[rows], self.picked[rows])

    def __iter__(self) -> Iterator[Person]:
        """Go through the people in their order."""
        return (self[number] for number in range(len(self)))

    def standardized(self) -> "People":
        """Return the same people with objectives centered in each slate, and of unit variance within slates.

        The deviation is taken over all slates and uses no answer. What lies on both sides of a comparison, such as the
        mean of a slate, tells nothing about a choice.
        """
        centered = self.slates - self.slates.mean(axis=1, keepdims=True)
        n_options = self.slates.shape[1]
        scale = np.sqrt((centered**2).mean(axis=(0, 1)) * n_options / (n_options - 1))
        if not np.all(scale > 0.0):
            same = ", ".join(name for name, value in zip(self.objectives, scale, strict=True) if not value > 0.0)
            raise InvalidSetting(f"options must differ in every objective somewhere, but never do in {same}")
        return replace(self, slates=np.ascontiguousarray(centered / scale))

    def part(self, numbers: Sequence[int] | Integers) -> "People":
        """Return some of the people, by number, in the order given."""
        rows = np.concatenate([np.arange(self.starts[i], self.starts[i + 1]) for i in numbers]).astype(np.int64)
        lengths = np.diff(self.starts)[np.asarray(numbers, dtype=np.int64)]
        starts, ids = np.concatenate([[0], np.cumsum(lengths)]), tuple(self.ids[i] for i in numbers)
        return replace(self, slates=self.slates[rows], picked=self.picked[rows], starts=starts, ids=ids)


class Listener(Protocol):
    """Whatever foretells choices: a belief, a policy, a model of your own."""

    def foretell(self, person: str, slate: Floats) -> Floats:
        """Return how likely each option (K, D) is to be picked."""

    def hear(self, person: str, slate: Floats, picked: int) -> None:
        """Take in what was picked."""


def replay(people: People, listener: Listener, order: Sequence[int] | Integers | None = None) -> Floats:
    """Let people come one after the other and choose as they did; return what was foretold before each choice (n, K).

    The listener foretells each choice, then hears it. People come in an order by number, as in the study by default;
    rows of the result stay those of `people`.

    Examples
    --------
    >>> class Undecided:
    ...     def foretell(self, person, slate):
    ...         return np.full(len(slate), 1.0 / len(slate))
    ...
    ...     def hear(self, person, slate, picked): ...
    >>> people = People("two", ("a",), np.zeros((2, 2, 1)), np.array([0, 1]), np.array([0, 1, 2]), ("ada", "bob"))
    >>> replay(people, Undecided())
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    foretold = np.empty(people.slates.shape[:2])
    for number in range(len(people)) if order is None else order:
        for row in range(people.starts[number], people.starts[number + 1]):
            slate = people.slates[row]
            foretold[row] = listener.foretell(people.ids[number], slate)
            listener.hear(people.ids[number], slate, int(people.picked[row]))
    return foretold


def people_home() -> Path:
    """Return where data sets are kept: `DRUTHERS_DATA`, else a folder of this user's."""
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return Path(os.environ.get(DATA_VARIABLE) or home / "druthers")


def read_people(study: str | Path) -> People:
    """Return the people of a study, by name where data sets are kept, or from a folder.

    The folder holds choices.csv: the columns person, task, option and picked, then the objectives. Each person and task
    has one line for each option, of which one has `picked` 1, or none for a tie.
    """
    path = _find(study, CHOICES)
    names, lines = _lines(path, ("person", "task", "option", "picked"))
    tasks: dict[tuple[str, str], list[list[str]]] = {}
    for line in lines:
        tasks.setdefault((line[0], line[1]), []).append(line[3:])
    sizes = {len(options) for options in tasks.values()}
    if len(sizes) != 1 or min(sizes) < 2:
        raise InvalidSetting(f"every slate must have the same number of options, two or more, but {path} has {sizes}")
    by_person: dict[str, list[list[list[str]]]] = {}
    for (person, _), options in tasks.items():
        marks = [option[0] for option in options]
        if not set(marks) <= {"0", "1"} or marks.count("1") > 1:
            raise InvalidSetting(f"one option of a slate is picked, 1, and others are not, 0, but {path} has {marks}")
        if "1" in marks:
            by_person.setdefault(person, []).append(options)
    try:
        numbers = np.array([options for slates in by_person.values() for options in slates], dtype=np.float64)
    except ValueError as error:
        raise InvalidSetting(f"objectives must be numbers, but {path}: {error}") from None
    if not len(numbers) or not np.all(np.isfinite(numbers)):
        raise InvalidSetting(f"choices must have finite numbers, at least one choice, but {path} does not")
    lengths = [len(slates) for slates in by_person.values()]
    return People(
        path.parent.name,
        tuple(names[4:]),
        np.ascontiguousarray(numbers[:, :, 1:]),
        numbers[:, :, 0].argmax(axis=1).astype(np.int64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        tuple(by_person),
        len(tasks) - sum(lengths),
    )


def read_rankings(study: str | Path, objectives: Sequence[str]) -> list[Integers]:
    """Return what each person of a values study ranked first, second and so on, as numbers of the objectives.

    The folder holds rankings.csv: the columns person and country, then one column for each place.
    """
    path = _find(study, RANKINGS)
    _, lines = _lines(path, ("person", "country"))
    number = {name: place for place, name in enumerate(objectives)}
    unknown = sorted({name for line in lines for name in line[2:]} - set(number))
    if unknown:
        raise InvalidSetting(f"rankings must name objectives ({', '.join(objectives)}), but {path} has {unknown[0]!r}")
    return [as_ranking([number[name] for name in line[2:]], len(objectives)) for line in lines]


def _find(study: str | Path, file: str) -> Path:
    folders = [Path(study), people_home() / str(study)]
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    raise InvalidSetting(
        f"a study must be in a folder that holds {file}, but neither {folders[0]} nor {folders[1]} does;"
        f" bring it with: druthers data people {Path(study).name}"
    )


def _lines(path: Path, first: tuple[str, ...]) -> tuple[list[str], list[list[str]]]:
    names, *lines = read_rows(path) or [[]]
    if tuple(names[: len(first)]) != first or len(names) <= len(first):
        raise InvalidSetting(f"the first columns must be {', '.join(first)}, then more, but {path} has {names}")
    if not all(len(line) == len(names) for line in lines):
        raise InvalidSetting(f"every line must have {len(names)} fields as the first has, but {path} has others")
    return names, lines
