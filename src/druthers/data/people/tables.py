"""The table of a study, as it is written: who, which task, which option, picked or not, and the objectives."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from druthers.types import Floats, Integers


class Table(NamedTuple):
    """A study's table.

    Attributes
    ----------
    columns
        Names, those of the objectives last.
    rows
        Texts and numbers.
    other
        Further files, by name.
    """

    columns: tuple[str, ...]
    rows: list[list[object]]
    other: dict[str, str] = {}  # noqa: RUF012 - a NamedTuple's default; nobody writes it

    def as_csv(self) -> str:
        """Return the table as text, the same bytes for the same numbers."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


def of_choices(people: Sequence[object], slates: Floats, picked: Integers, names: Sequence[str]) -> Table:
    """Return the table of choices from slates (n, K, D), one person and one place in the slate each; -1 for a tie."""
    rows: list[list[object]] = []
    tasks: dict[object, int] = {}
    for person, slate, place in zip(people, slates.tolist(), picked.tolist(), strict=True):
        task = tasks[person] = tasks.get(person, 0) + 1
        rows += [
            [person, task, option + 1, int(option == place), *map(_short, values)]
            for option, values in enumerate(slate)
        ]
    return Table(("person", "task", "option", "picked", *names), rows)


def _short(value: float) -> str:
    return f"{value + 0.0:.10g}"
