"""A journal's catalog: how it begins, and what another catalog would change in it."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from druthers.advisor import events
from druthers.advisor.editions import Editions
from druthers.catalogs import Catalog, Item
from druthers.catalogs.scales import drift, scale, with_scales
from druthers.errors import Contradiction, InvalidSetting, choices
from druthers.stores import Store
from druthers.types import Objective

FEW = 3
AT_ONCE = 1_000  # events in a transaction
MEASURES = ("low", "high", "less_is_better")
# Mean change of the items' rewards in an objective from which on its scale is taken anew.
MUCH = 0.1


@dataclass(frozen=True, slots=True)
class Changes:
    """What a catalog would change in a journal; false if nothing."""

    catalog: Catalog | None  # objectives and what the catalog is called, from then on; None where all of that stays
    renamed: Mapping[str, str]  # names of objectives before, and from then on
    put: tuple[Item, ...]  # items that are new, or known differently from then on
    retired: tuple[str, ...]  # items that are no longer there
    lines: tuple[str, ...]  # all of it in words; and what stays though the catalog does not have it

    def __bool__(self) -> bool:
        return self.catalog is not None or bool(self.put or self.retired)


def first_catalog(store: Store) -> str | None:
    """Return what to put into a journal if nobody named a catalog: hotels into an empty one, else nothing."""
    return None if store.last() else "hotels"


def open_journal(store: Store, catalog: Catalog | None) -> Editions:
    """Return the catalog of a journal with its past, after writing a given one into a new journal.

    One that is given for an old journal may differ from it only if the journal's was ever called the same: it is then
    another version of it, and the journal counts.
    """
    editions = Editions.of(store)
    if editions is None:
        if catalog is None:
            raise InvalidSetting("a new journal needs a catalog, but got none; name one, such as 'hotels'")
        # Whoever comes second finds the key taken, and adds no item either.
        _begin(store, catalog)
        editions = Editions.of(store)
        assert editions is not None
    known = editions.catalog
    names = {edition.catalog.name for edition in editions.all}
    if catalog is not None and catalog.name not in names and _measures(catalog) != _measures(known):
        raise InvalidSetting(
            f"a journal stays with its catalog, {known.name!r} with {_names(known)}, but got {catalog.name!r} with"
            f" {_names(catalog)}; leave the catalog out, start another journal, or see what it would change here:"
            " druthers catalog diff"
        )
    return editions


def _begin(store: Store, catalog: Catalog) -> None:
    scaled = with_scales(catalog.objectives, [item.values for item in catalog.items])
    start = [events.opening(replace(catalog, objectives=scaled))]
    start += [events.item(item)._replace(key=f"{events.ITEM}:{item.id}") for item in catalog.items]
    store.append(start, together=True)


def items_of(store: Store, editions: Editions) -> dict[str, Item]:
    """Return the items of a journal, without folding all the rest."""
    items: dict[str, Item] = {}
    kinds = (store.walk(kind=kind) for kind in (events.ITEM, events.RETIREMENT))
    for event in heapq.merge(*kinds, key=lambda event: event.position):
        if event.kind == events.ITEM:
            item = Item(**editions.today(events.check(event)).body["item"])
            items[item.id] = item
        else:
            items.pop(events.check(event).body["item"], None)
    return items


def find_changes(
    known: Catalog,
    items: Mapping[str, Item],
    wanted: Catalog,
    *,
    renamed: Mapping[str, str] | None = None,
    retire: bool = False,
    rescale: bool = False,
) -> Changes:
    """Return what a catalog would change in a journal.

    Parameters
    ----------
    known, items
        What the journal has.
    wanted
        What it should have.
    renamed
        Objectives that get other names: those before, and from then on. Without it, one goes and another one comes.
    retire
        Whether items that the wanted catalog lacks are taken out.
    rescale
        Whether the scales of all objectives are taken anew from the items, not only where the items or what is measured
        changed much.
    """
    renamed = find_renamed(known, wanted, renamed or {})
    carried = {id: _carried(item, wanted, renamed) for id, item in items.items()}
    offered = {item.id: item for item in wanted.items}
    after = offered if retire else {**carried, **offered}
    lines, objectives = _compare_objectives(known, wanted, renamed, after, rescale)
    put = tuple(item for item in wanted.items if carried.get(item.id) != item)
    missing = tuple(id for id in items if id not in offered)
    lines += _compare_items(carried, put, missing, retire)
    catalog = replace(wanted, objectives=objectives, items=())
    same = replace(known, items=()) == catalog
    for part in ("name", "description", "simulated"):
        before, now = getattr(known, part), getattr(catalog, part)
        lines += [f"{part} of the catalog: {before!r} becomes {now!r}"] if before != now else []
    return Changes(None if same else catalog, renamed, put, missing if retire else (), tuple(lines))


def apply_changes(store: Store, editions: Editions, changes: Changes) -> None:
    """Write changes into a journal; whoever follows it folds it anew if what is measured changed.

    Every part is safe to repeat: what is interrupted is found again as a smaller change.
    """
    if changes.catalog is not None:
        (position,) = store.append([events.migration(editions.number + 1, changes.catalog, changes.renamed)])
        if not position:
            raise Contradiction("a catalog must not change twice at once, but somebody else changed it; look again")
    more = [events.item(item) for item in changes.put]
    more += [events.make(events.RETIREMENT, {"item": id}) for id in changes.retired]
    for start in range(0, len(more), AT_ONCE):
        store.append(more[start : start + AT_ONCE])


def _names(catalog: Catalog) -> list[str]:
    return [objective.name for objective in catalog.objectives]


def _measures(catalog: Catalog) -> list[Any]:
    return [(one.name, one.low, one.high, one.less_is_better) for one in catalog.objectives]


def find_renamed(known: Catalog, wanted: Catalog, renamed: Mapping[str, str]) -> dict[str, str]:
    """Return which objectives get other names, without those that have them already; so a change may be repeated.

    Names that are not there before, or not there after, are refused.
    """
    before, after = _names(known), _names(wanted)
    left = {old: new for old, new in renamed.items() if old in {*before, *after} or new not in {*before} & {*after}}
    for old, new in left.items():
        if old not in before:
            raise InvalidSetting(
                f"an objective must be there to get another name, but {old!r} is not; {choices(old, before)}"
            )
        if new not in after or new in before:
            raise InvalidSetting(
                f"a new name must be one that only the new catalog has, but {new!r} is not; {choices(new, after)}"
            )
        if old in after:
            raise InvalidSetting(f"an objective that gets another name must lose its own, but {old!r} is still there")
    if len(set(renamed.values())) != len(renamed):
        raise InvalidSetting(f"no two objectives may get the same name, but got {dict(renamed)!r}")
    return left


def _carried(item: Item, wanted: Catalog, renamed: Mapping[str, str]) -> Item:
    """Return an item as it reads with the wanted objectives."""
    known = {one.name: one for one in wanted.objectives}
    values, counts = (
        {now: one for name, one in told.items() if (now := renamed.get(name, name)) in known}
        for told in (item.values, item.counts)
    )
    values = {name: min(max(value, known[name].low), known[name].high) for name, value in values.items()}
    return replace(item, values=values, counts=counts)


def _compare_objectives(
    known: Catalog, wanted: Catalog, renamed: Mapping[str, str], items: Mapping[str, Item], rescale: bool
) -> tuple[list[str], tuple[Objective, ...]]:
    lines: list[str] = []
    before = {renamed.get(one.name, one.name): one for one in known.objectives}
    objectives = []
    values = [item.values for item in items.values()]
    for one in wanted.objectives:
        old = before.get(one.name)
        if old is None:
            told = f"{one.low:g} to {one.high:g}: not known of items, not named so far"
            lines.append(f"objective {one.name!r} is new, {told}")
        else:
            lines += _compare_objective(old, one)
        fresh = replace(one, scale=scale(one, [value[one.name] for value in values if one.name in value]))
        if old is not None and fresh.scale != old.scale:
            measured_alike = all(getattr(old, part) == getattr(one, part) for part in MEASURES)
            stays = replace(one, scale=old.scale) if measured_alike and not rescale else None
            if stays is not None and drift([stays], [fresh], values) <= MUCH:
                fresh = stays
            else:
                lines.append(f"objective {one.name!r}: its scale is taken anew from the items")
        objectives.append(fresh)
    gone = [name for name in before if name not in _names(wanted)]
    for name in gone:
        lines.append(f"objective {name!r} goes: what was said of it stays in the journal and no longer counts")
    new = [one.name for one in wanted.objectives if one.name not in before]
    if gone and new:
        lines.append(f"(if {new[0]!r} is only another name of {gone[0]!r}, say so: --rename {gone[0]}={new[0]})")
    kept = [name for name in before if name in _names(wanted)]
    if kept != [name for name in _names(wanted) if name in before]:
        lines.append("the objectives come in another order")
    return lines, tuple(objectives)


def _compare_objective(old: Objective, new: Objective) -> Iterable[str]:
    if old.name != new.name:
        yield f"objective {old.name!r} is called {new.name!r}"
    for part in (field.name for field in fields(Objective) if field.name not in ("name", "scale")):
        before, after = getattr(old, part), getattr(new, part)
        if before != after and isinstance(after, tuple):
            fresh = [f"+{text!r}" for text in after if text not in before]
            gone = [f"-{text!r}" for text in before if text not in after]
            yield f"objective {new.name!r}: {part} {' '.join([*fresh, *gone]) or 'in another order'}"
        elif before != after:
            yield f"objective {new.name!r}: {part} {before!r} becomes {after!r}"


def _compare_items(
    carried: Mapping[str, Item], put: tuple[Item, ...], missing: tuple[str, ...], retire: bool
) -> Iterable[str]:
    new, changed = [], []
    for item in put:
        if (before := carried.get(item.id)) is None:
            new.append(item.id)
        else:
            parts = ("name", "description", "values", "details", "counts")
            others = [part for part in parts if getattr(item, part) != getattr(before, part)]
            changed.append(f"{item.id} ({', '.join(others)})")
    if new:
        yield f"{_counted(len(new))} new: {_few(new)}"
    if changed:
        yield f"{_counted(len(changed))} changed: {_few(changed)}"
    if missing and retire:
        yield f"{_counted(len(missing))} taken out: {_few(missing)}"
    elif missing:
        yield f"({_counted(len(missing))} not in the catalog and kept: {_few(missing)}; --retire takes them out)"


def _counted(number: int) -> str:
    return "1 item is" if number == 1 else f"{number:,} items are"


def _few(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:FEW]) + (", ..." if len(every) > FEW else "")
