"""From a package's files to the table of a study: costs turned, so that more is better."""

import csv
import gzip
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from druthers.data.folders import csv_text
from druthers.errors import needs
from druthers.types import Floats, Integers


class Table(NamedTuple):
    """A study's table as it is written: the names of its columns, objectives last, its lines, and other files."""

    columns: tuple[str, ...]
    rows: list[list[object]]
    other: dict[str, str] = {}  # noqa: RUF012 - a NamedTuple's default; nobody writes it

    def as_csv(self) -> str:
        """Return the table as text, the same bytes for the same numbers."""
        return csv_text(self.columns, self.rows)


# Reads another file of the package.
More = Callable[[str], bytes]
# From a file's bytes, those of the package's other files by path, and the names of the objectives.
Reader = Callable[[bytes, More, Sequence[str]], Table]


def of_choices(people: Sequence[object], slates: Floats, picked: Integers, names: Sequence[str]) -> Table:
    """Return the table of choices from slates (n, K, D), one person and one place in the slate each; -1 for a tie."""
    rows: list[list[object]] = []
    tasks: dict[object, int] = {}
    for person, slate, place in zip(people, slates.tolist(), picked.tolist(), strict=True):
        task = tasks[person] = tasks.get(person, 0) + 1
        rows += [
            [person, task, option + 1, int(option == place), *(f"{value + 0.0:.10g}" for value in values)]
            for option, values in enumerate(slate)
        ]
    return Table(("person", "task", "option", "picked", *names), rows)


def _csv(raw: bytes) -> dict[str, list[str]]:
    lines = list(csv.reader(io.StringIO(gzip.decompress(raw).decode("utf-8"))))
    return {name: [line[place] for line in lines[1:]] for place, name in enumerate(lines[0])}


def _numbers(columns: dict[str, list[str]], *names: str) -> Floats:
    return np.array([[float(value) for value in columns[name]] for name in names]).T


def electricity(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read four suppliers in four lines, in the order of tasks and options."""
    table = _csv(raw)
    order = np.lexsort(tuple(_numbers(table, "alt", "chid").T))
    slates = _numbers(table, "pf", "cl", "loc", "wk", "tod", "seas")[order].reshape(-1, 4, 6)
    slates[:, :, 0] *= -1.0
    picked = np.array([value.upper() in ("TRUE", "1") for value in table["choice"]])[order].reshape(-1, 4).argmax(1)
    people = np.array(table["id"])[order][::4].tolist()
    return of_choices(people, slates, picked, names)


def train(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read two connections in a line; prices in hundredths of a guilder, times in minutes."""
    table = _csv(raw)
    slates = np.stack(
        [_numbers(table, *(f"{name}{k}" for name in ("price", "time", "change", "comfort"))) for k in (1, 2)], 1
    )
    slates /= -np.array([100.0, 60.0, 1.0, 1.0])
    picked = np.array([int(value.endswith("2")) for value in table["choice"]])
    return of_choices(table["id"], slates, picked, names)


def swissmetro(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read three ways in a line; whoever has a season ticket (GA) pays for the car only."""
    table = _csv(raw)
    kept = np.all(_numbers(table, "TRAIN_AV", "SM_AV", "CAR_AV") == 1.0, axis=1)
    choice = _numbers(table, "CHOICE")[:, 0].astype(np.int64)
    kept &= choice > 0
    paying = 1.0 - _numbers(table, "GA")[:, 0]
    slates = np.zeros((len(choice), 3, 6))
    for place, way in enumerate(("TRAIN", "SM", "CAR")):
        slates[:, place, :2] = _numbers(table, f"{way}_TT", f"{way}_CO") / (-60.0, -100.0)
        if way != "CAR":
            slates[:, place, 1] *= paying
            slates[:, place, 2] = _numbers(table, f"{way}_HE")[:, 0] / -60.0
    slates[:, 1, 3] = _numbers(table, "SM_SEATS")[:, 0]
    slates[:, 0, 4] = slates[:, 2, 5] = 1.0
    people = np.array(table["ID"])[kept].tolist()
    return of_choices(people, slates[kept] + 0.0, choice[kept] - 1, names)


def car(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read six vehicles in a line."""
    table = _csv(raw)
    slates = np.empty((len(table["choice"]), 6, 12))
    scales = np.array([-1.0, 0.01, -1.0, 0.01, -1.0, 1.0, 1.0, -1.0, 1.0])
    measured = ("price", "range", "acc", "speed", "pollution", "size", "space", "cost", "station")
    for k in range(6):
        slates[:, k, :9] = _numbers(table, *(f"{name}{k + 1}" for name in measured)) * scales
        for place, fuel in enumerate(("electric", "cng", "methanol"), start=9):
            slates[:, k, place] = [float(value == fuel) for value in table[f"fuel{k + 1}"]]
    picked = np.array([int(value.removeprefix("choice")) - 1 for value in table["choice"]])
    return of_choices(table["rownames"], slates, picked, names)


def _r(raw: bytes) -> Any:
    """Return what the one variable of a file of R holds: tables as dicts of columns, paired comparisons with labels."""
    rdata = needs("rdata", "people")
    conversion = needs("rdata.conversion", "people")
    classes = {
        **conversion.DEFAULT_CLASS_MAP,
        "data.frame": lambda columns, attributes: columns,
        "paircomp": lambda matrix, attributes: {"compared": np.asarray(matrix, dtype=float), **attributes},
    }
    held = conversion.convert(rdata.parser.parse_data(raw), classes, default_encoding="utf8")
    (variable,) = held.values()
    return variable


def _sides(pairs: dict[str, Any]) -> Integers:
    """Return the numbers of both sides of each paired comparison (n, 2)."""
    return np.array([[int(place) - 1 for place in str(pair).split(":")] for pair in pairs["dimnames"][1]])


def bank(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read pairs: a line holds the first card's levels minus the second's, and 1 where the first was taken."""
    table = _r(raw)["choiceAtt"]
    first = np.array([table[name] for name in table if name not in ("id", "choice")], dtype=float).T
    slates = np.stack([first, np.zeros_like(first)], axis=1)
    return of_choices(np.asarray(table["id"]).tolist(), slates, 1 - np.asarray(table["choice"], dtype=np.int64), names)


def camera(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read slates of five, the fifth none of all: a person has 16 choices, from 1 to 5, and 80 lines of attributes."""
    people = _r(raw)
    slates = np.stack([np.asarray(person["X"], dtype=float).reshape(-1, 5, 10) for person in people])
    slates[..., 9] *= -1.0
    picked = np.stack([np.asarray(person["y"], dtype=np.int64).ravel() - 1 for person in people])
    who = np.repeat(np.arange(1, len(people) + 1), picked.shape[1]).tolist()
    return of_choices(who, slates.reshape(-1, 5, 10), picked.ravel(), names)


def values(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read rankings: the first aim wins its three comparisons, the second two; the rest was not compared."""
    table = _r(raw)
    pairs = table["paircomp"]
    wins = np.zeros((len(pairs["compared"]), 4))
    for (first, second), results in zip(_sides(pairs), pairs["compared"].T, strict=True):
        wins[:, first] += results == 1.0
        wins[:, second] += results == -1.0
    best, next_best = np.argsort(-wins, axis=1, kind="stable")[:, :2].T
    rows = [
        [person + 1, str(country), names[one], names[two]]
        for person, (country, one, two) in enumerate(zip(table["country"], best, next_best, strict=True))
    ]
    return Table(("person", "country", "first", "second"), rows)


def compared(raw: bytes, more: More, names: Sequence[str], *, column: str) -> Table:
    """Read paired comparisons: the first of a pair wins, the second, or none (-1); what was not asked is left out."""
    pairs = _r(raw)[column]
    sides = _sides(pairs)
    people, asked = np.nonzero(~np.isnan(pairs["compared"]))
    results = pairs["compared"][people, asked]
    picked = np.select([results == 1.0, results == -1.0], [0, 1], -1)
    return of_choices((people + 1).tolist(), np.eye(len(names))[sides[asked]], picked, names)


def movielens(raw: bytes, more: More, names: Sequence[str]) -> Table:
    """Read ratings with the genres of the film; films, and the graph of facts about them, in tables of their own."""
    folder = "dataset_example/ml-100k/ml-100k."
    films = _tabbed(more(folder + "item"))
    genres = {film[0]: [int(name in film[3].split(" ")) for name in names] for film in films}
    ratings = _tabbed(raw)
    rows: list[list[object]] = [[user, film, f"{float(score):g}", *genres[film]] for user, film, score, _ in ratings]
    links = {line[0]: line[1] for line in _tabbed(more(folder + "link"))}
    facts = csv_text(("film", "title", "year", "entity"), [[*film[:3], links.get(film[0], "")] for film in films])
    graph = csv_text(("head", "relation", "tail"), _tabbed(more(folder + "kg")))
    return Table(("user", "item", "overall", *names), rows, {"films.csv": facts, "graph.csv": graph})


def _tabbed(raw: bytes) -> list[list[str]]:
    """Return the lines after the first, cut at tabs."""
    return [line.split("\t") for line in raw.decode("utf-8").splitlines()[1:]]


READERS: dict[str, Reader] = {
    **{reader.__name__: reader for reader in (electricity, train, swissmetro, car, bank, camera, values, movielens)},
    "universities": partial(compared, column="preference"),
    "models": partial(compared, column="preference"),
    "parties": partial(compared, column="ordered.pref"),  # in the order in which the two were named
}
