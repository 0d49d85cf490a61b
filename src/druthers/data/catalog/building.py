"""From a table of items, or of ratings of items, to a catalog: what was guessed, and what is doubtful about it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from druthers.catalogs import Catalog, Item
from druthers.data.catalog import roles
from druthers.data.catalog.cells import DATE, FLAG, HALF, LIST, MOST, NUMBER, Cells, read_cells
from druthers.data.catalog.identity import ids_of
from druthers.data.catalog.measures import Mask, find_doubt, find_range, impossible, outliers
from druthers.data.catalog.roles import COST, GAIN, Asked, Roles, direction, find_roles, has, is_called, tidy, tokens
from druthers.data.catalog.sheets import FEW, SIGNS, Sheet, counted, few, read_sheet
from druthers.data.catalog.units import PAID, Hints, is_told
from druthers.data.reviews.estimates import means_of_items
from druthers.data.reviews.reading import as_text
from druthers.errors import InvalidSetting, choices
from druthers.types import Floats, Objective

LONGEST_NAME, LONGEST_DESCRIPTION = 200, 2000
MIDDLE = (5.0, 95.0)
MOST_UNSTEADY = 0.05  # share of items of which ratings tell different things


@dataclass(frozen=True)
class Built:
    """A catalog, what was guessed on the way, and what is doubtful: lines to be read by who made the table."""

    catalog: Catalog
    guesses: tuple[str, ...]
    doubts: tuple[str, ...]


def build_catalog(path: Path, asked: Asked | None = None, *, like: Catalog | None = None) -> Built:
    """Return the catalog of a table in CSV, Parquet or JSON; what is not `asked` is guessed from names and cells.

    It has a row for each item; or a row for each rating of an item by a person, of which means are taken, with how far
    they can be believed. Where an earlier catalog of the same things is given by `like`, its objectives stay as they
    are, but for ranges that became too narrow.
    """
    sheet = read_sheet(path)
    asked = asked or Asked()
    chosen = asked.objectives is not None
    if like is not None and not chosen:
        ways = tuple((one.name, COST if one.less_is_better else GAIN) for one in like.objectives)
        asked = replace(asked, objectives=ways)
        missing = [name for name, _ in ways if not any(is_called(header, name) for header in sheet.names)]
        if missing:
            raise InvalidSetting(
                f"a table must have the objectives of the earlier catalog (--like), but {path.name} has no column"
                f" {missing[0]!r}; {choices(missing[0], sheet.names)}; add it, or say what matters now: --objectives"
            )
    columns = _read(sheet, asked, like)
    doubts = list(sheet.doubts)
    try:
        found = find_roles(columns, asked, path.name)
        return _Builder(sheet, columns, found, like, doubts, chosen).built(path)
    except InvalidSetting as error:
        for header, cells in columns.items():
            doubts += _doubts_of(header, cells) if direction(header) or asked.is_objective(header) else []
        told = (f"doubt          {doubt}" for doubt in dict.fromkeys(doubts))
        raise InvalidSetting("\n".join([str(error), *told])) from None


def _read(sheet: Sheet, asked: Asked, like: Catalog | None) -> dict[str, Cells]:
    """Return the columns of a table; where one leaves open what a comma is, the others decide."""
    plain = dict(zip(sheet.names, roles.with_currencies(sheet.names, sheet.columns), strict=True))

    def read(header: str, usual: str = "") -> Cells:
        cells, said = plain[header], tokens(header)
        hints = Hints(
            tidy(header)[1] or _unit_before(header, like),
            money=roles.is_money(header),
            counted=roles.counts_ratings(header),
            rated=has(said, "opinions"),
            lasting=has(said, "durations"),
            usual=usual,
            semicolons=sheet.form.endswith(SIGNS[";"]),
        )
        least = HALF if direction(header) or asked.is_objective(header) else MOST
        lists = not has(said[-1:], "descriptions")
        return read_cells(cells, least, answers=not roles.tells_apart(header, cells), lists=lists, hints=hints)

    columns = {header: read(header) for header in sheet.names}
    marks = Counter(cells.mark for cells in columns.values() if cells.mark in (".", ","))
    usual = marks.most_common(1)[0][0] if marks["."] != marks[","] else ""
    again = {header: read(header, usual) for header, cells in columns.items() if usual and cells.mark == "?"}
    return columns | again


def _unit_before(header: str, like: Catalog | None) -> str:
    """Return the unit that an earlier catalog has an objective in, which tonight's numbers must keep."""
    name = tokens(tidy(header)[0])
    told = (one.description for one in like.objectives if tokens(one.name) == name) if like else ()
    found = re.search(r" in ([^.]+)\.$", next(iter(told), ""))
    return found[1] if found else ""


def _doubts_of(header: str, cells: Cells) -> list[str]:
    """Return what is doubtful about the cells of a column."""
    doubts = [f"{header}: {doubt}" for doubt in cells.doubts]
    if cells.odd:
        some = ", ".join(repr(text[:40]) for text, _ in cells.odd.most_common(FEW))
        count = counted(cells.odd.total(), "cell is", "cells are")
        doubts.insert(0, f"{header}: {count} no {cells.kind} and taken for not known: {some}")
    return doubts


@dataclass
class _Builder:
    """A table on its way to a catalog."""

    sheet: Sheet
    columns: dict[str, Cells]
    roles: Roles
    like: Catalog | None
    doubts: list[str]  # told where building fails, too
    chosen: bool  # whether the user said which columns matter
    told: dict[str, str] = field(default_factory=dict)  # of objectives, in words
    noise: dict[str, float] = field(default_factory=dict)  # variance of ratings one by one, where there are such

    def __post_init__(self) -> None:
        self.called = self._called()

    def _called(self) -> dict[str, str]:
        """Return what objectives and details are called: short, and each by a name of its own."""
        names = [*self.roles.objectives, *self.roles.details]
        known = {" ".join(tokens(one.name)): one.name for one in self.like.objectives} if self.like else {}
        short = {name: tidy(name)[0] for name in self.roles.objectives}
        short = {name: known.get(" ".join(tokens(one)), one) for name, one in short.items()}  # accents or none
        short |= {name: self._detail(name) for name in self.roles.details}
        times = Counter(short.values())
        whole = {name: short[name] if times[short[name]] == 1 else " ".join(tokens(name)) for name in names}
        again = Counter(whole.values())
        return {name: one if again[one] == 1 else name for name, one in whole.items()}

    def _detail(self, header: str) -> str:
        """Return what a detail is called: with its unit, for it has no description to tell it."""
        cells = self.columns[header]
        name, unit = tidy(header, measured=cells.kind == NUMBER)
        if not unit and (is_told(cells.unit) or cells.unit in roles.words()["units"].values()):
            unit = cells.unit
        return f"{name} {unit}".strip()

    def built(self, path: Path) -> Built:
        """Return the catalog, with what was guessed and doubted."""
        rated = self.roles.user is not None
        ids, rows, places = ids_of(self.sheet, self.roles.id, self.roles.name, path, self.doubts, rated=rated)
        if rated:
            self._steady(places)
        numbers = {one: self._numbers(one) for one in self.roles.objectives}
        values, counts = self._measured(numbers, rows, places, len(ids))
        objectives = [self._objective(one, values[one], counts.get(one), ids) for one in self.roles.objectives]
        items = self._items(ids, rows, values, counts)
        for header, cells in self.columns.items():
            if header in self.roles.objectives or header in self.roles.details:
                self.doubts += _doubts_of(header, cells)
        self.doubts += self.roles.doubts
        if len(objectives) == 1:
            self.doubts.append(f"only {objectives[0].name} matters, so there is nothing to weigh: see --objectives")
        catalog = Catalog(as_text(path.name.lstrip(".").partition(".")[0]) or "items", objectives, items)
        if self.like is not None:
            catalog = self._alike(catalog, self.like)
        return Built(catalog, tuple(self._guesses(path)), tuple(self.doubts))

    def _alike(self, catalog: Catalog, like: Catalog) -> Catalog:
        """Return a catalog with what an earlier one says of the same objectives, in ranges that hold both."""
        known = {one.name: one for one in like.objectives}
        objectives = []
        for new in catalog.objectives:
            old = known.get(new.name, new)
            values = [item.values[new.name] for item in catalog.items if new.name in item.values]
            low = old.low if min(values) >= old.low else new.low
            high = old.high if max(values) <= old.high else new.high
            if (low, high) != (old.low, old.high):
                self.doubts.append(f"{new.name}: the range {old.low:g} to {old.high:g} becomes {low:g} to {high:g}")
            objectives.append(replace(old, low=low, high=high))
        return replace(like, objectives=tuple(objectives), items=catalog.items)

    def _steady(self, places: Sequence[int]) -> None:
        """Leave out what differs from rating to rating: it is of the people, and not of the item."""
        for header in filter(None, [*self.roles.details, self.roles.description]):
            told: dict[int, set[str]] = {}
            for place, value in zip(places, self.columns[header].values, strict=True):
                if value is not None:
                    told.setdefault(place, set()).add(str(value))
            if sum(len(values) > 1 for values in told.values()) > MOST_UNSTEADY * len(told):
                self.roles.left_out[header] = "differs between ratings of the same item"
                self.roles.details = [name for name in self.roles.details if name != header]
                if header == self.roles.description:
                    self.roles.description = None

    def _numbers(self, header: str) -> Floats:
        """Return the numbers of a column, NaN where there is none or one that cannot be."""
        cells = self.columns[header]
        numbers = np.array([math.nan if value is None else float(value) for value in cells.values])
        less = self.roles.objectives[header] == COST
        price = less and (roles.is_money(header) or cells.unit in PAID)
        below, zeros, nines = impossible(numbers, opinion=has(tokens(header), "opinions"), cost=less, price=price)
        for mask, what in ((below, "below 0"), (zeros, "0"), (nines, "a row of nines")):
            self._doubt_rows(header, mask, f"{what} and taken for not known")
            numbers[mask] = math.nan
        kept = numbers < 0
        self._doubt_rows(header, kept & (kept.sum() < (numbers > 0).sum()), "below 0 and kept, though most are above")
        return numbers

    def _doubt_rows(self, header: str, mask: Mask, what: str) -> None:
        lines = [self.sheet.lines[row] for row in np.flatnonzero(mask).tolist()]
        if lines:
            self.doubts.append(f"{header}: {counted(len(lines), 'value is', 'values are')} {what}: {few(lines)}")

    def _measured(
        self, numbers: Mapping[str, Floats], rows: Sequence[int], places: Sequence[int], size: int
    ) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the values of items by objective, and how many ratings stand behind them where that is known."""
        values, counts = {}, {}
        if self.roles.user is not None:
            which = np.array(places)
            scores = np.stack(list(numbers.values()), axis=1)[which >= 0]
            means, times, noise = means_of_items(which[which >= 0], scores, size)
            for place, header in enumerate(numbers):
                values[header], counts[header] = means[:, place], times[:, place]
                self.noise[header] = float(noise[place])
            return values, counts
        for header, column in numbers.items():
            values[header] = column[rows]
            if header in self.roles.counts:
                count = np.array([value or 0 for value in self.columns[self.roles.counts[header]].values], dtype=float)
                counts[header] = np.where(np.isnan(values[header]), 0.0, count[rows])
                nobody = (counts[header] == 0.0) & ~np.isnan(values[header])
                if nobody.any():
                    self.doubts.append(
                        f"{header}: {int(nobody.sum()):,} values have no {self.roles.counts[header]} behind them:"
                        " they are believed like one rating"
                    )
                    counts[header][nobody] = 1.0
        return values, counts

    def _objective(self, header: str, values: Floats, counts: Floats | None, ids: Sequence[str]) -> Objective:
        cells, less, name = self.columns[header], self.roles.objectives[header] == COST, self.called[header]
        known = values[~np.isnan(values)]
        if len(known) < 2 or known.min() == known.max():
            found = f"{'one value' if len(known) else 'no values'} in {counted(len(ids), 'item', 'items')}"
            remedy = "leave it out of --objectives" if self.chosen else "mend its cells, or name others: --objectives"
            raise InvalidSetting(f"an objective must tell items apart, but {header!r} has {found}; {remedy}")
        low, high = find_range(known, cells.out_of, opinion=has(tokens(header), "opinions"))
        unit = tidy(header)[1] or cells.unit
        unit = "" if unit in ("stars", "star", "points") else unit
        middle = np.percentile(known, MIDDLE)
        told = f"{'less' if less else 'more'} is better, {low:g} to {high:g}{unit and ' ' + unit}"
        told += f", the middle {MIDDLE[1] - MIDDLE[0]:.0f} % from {middle[0]:.4g} to {middle[1]:.4g}"
        gaps = int(np.isnan(values).sum())
        told += f", {gaps:,} not known" if gaps else ""
        doubt, typical = 0.0, None
        if counts is not None:
            doubt, typical = find_doubt(values, counts, self.noise.get(header))
            typical = min(max(typical, low), high)
            told += f"; half believed from {doubt:g} ratings on, typically {typical:g}"
        self.told[header] = told
        if not (cells.out_of or has(tokens(header), "opinions")):  # within a scale that people rate on nothing is far
            far = outliers(values)
            some = ", ".join(f"{values[place]:g} of {ids[place]}" for place in far[:FEW].tolist())
            count = counted(len(far), "value lies", "values lie")
            doubt_far = f"{header}: {count} far from the others, such as {some}; kept, for scales go by rank"
            self.doubts += [doubt_far] if len(far) else []
        description = f"{name[0].upper()}{name[1:]}{unit and f' in {unit}'}." if unit else ""
        return Objective(name, description, low=low, high=high, less_is_better=less, doubt=doubt, typical=typical)

    def _items(
        self, ids: Sequence[str], rows: Sequence[int], values: Mapping[str, Floats], counts: Mapping[str, Floats]
    ) -> list[Item]:
        names, descriptions = (self._texts(header, rows) for header in (self.roles.name, self.roles.description))
        measured, numbers = (
            [(self.called[header], column.tolist()) for header, column in told.items()] for told in (values, counts)
        )
        details = [(self.called[header], _facts(self.columns[header])) for header in self.roles.details]
        return [
            Item(
                id,
                names[place][:LONGEST_NAME].strip() or id,
                descriptions[place][:LONGEST_DESCRIPTION],
                {name: column[place] for name, column in measured if column[place] == column[place]},
                {name: column[row] for name, column in details if column[row] is not None},
                {name: column[place] for name, column in numbers if column[place] > 0},
            )
            for place, (id, row) in enumerate(zip(ids, rows, strict=True))
        ]

    def _texts(self, header: str | None, rows: Sequence[int]) -> list[str]:
        if header is None:
            return [""] * len(rows)
        cells = self.sheet.columns[self.sheet.names.index(header)]
        return ["" if cells[row] is None else " ".join(str(cells[row]).split()) for row in rows]

    def _guesses(self, path: Path) -> Iterable[str]:
        mine = self.roles
        yield f"{path.name}: {self.sheet.form}, {len(self.sheet.lines):,} rows, {len(self.sheet.names)} columns"
        if mine.user is not None:
            yield f"ratings        by {mine.user}: values are means over people"
        yield f"id             {mine.id or ('made from ' + mine.name if mine.name else 'the number of the row')}"
        yield f"name           {mine.name or 'the id'}"
        if mine.description:
            yield f"description    {mine.description}"
        shown = {header: header if name == header else f"{name} ({header})" for header, name in self.called.items()}
        for header, told in self.told.items():
            count = mine.counts.get(header)
            yield f"objective      {shown[header]}: {told}{f', by {count}' if count else ''}"
        for header in mine.details:
            yield f"detail         {shown[header]}: {_told(self.columns[header])}"
        for header, why in mine.left_out.items():
            yield f"left out       {header}: {why}"


def _facts(cells: Cells) -> list[Any]:
    """Return the cells of a column as details; a whole number as one."""
    if cells.kind == NUMBER:
        return [int(value) if value is not None and value.is_integer() else value for value in cells.values]
    if cells.kind == LIST:
        return [value and [part.strip() if isinstance(part, str) else part for part in value] for value in cells.values]
    return cells.values


def _told(cells: Cells) -> str:
    """Return what a detail is like, in words."""
    known = cells.known
    gaps = len(cells.values) - len(known)
    tail = f", {gaps:,} not known" if gaps else ""
    if not known:
        return "nowhere known"
    if cells.kind == FLAG:
        return f"yes or no, {sum(known):,} yes{tail}"
    if cells.kind == NUMBER:
        return f"numbers, {min(known):g} to {max(known):g}{cells.unit and ' ' + cells.unit}{tail}"
    if cells.kind == DATE:
        return f"dates, {min(known)} to {max(known)}{tail}"
    parts = Counter(part for value in known for part in (value if cells.kind == LIST else [value]))
    some = ", ".join(str(part)[:30] for part, _ in parts.most_common(FEW)) + (", ..." if len(parts) > FEW else "")
    return f"{'lists' if cells.kind == LIST else 'texts'} of {counted(len(parts), 'kind', 'kinds')} ({some}){tail}"
