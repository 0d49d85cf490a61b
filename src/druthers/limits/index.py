"""What a catalog calls things: the words by which sentences name its details, their texts, and what has numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from druthers.glossary import without_units
from druthers.limits.attributes import Attribute
from druthers.limits.clauses import LONGEST
from druthers.limits.columns import Column, Columns, canonical
from druthers.limits.days import WEEK, by_month, month_of
from druthers.limits.hours import Clock, spans_of
from druthers.limits.spelling import Key, Vocabulary, add, cut_short, firsts, heads
from druthers.limits.where import MOST, hour_of, is_day
from druthers.limits.words import (
    SMALL_WORDS,
    WORDINGS,
    also_called,
    demonyms,
    foreign,
    speaks_of_money,
    stems,
    table,
    words,
)
from druthers.types import Objective

FOR = ("with", "for", "around", "w")
MOST_VALUES = 20_000  # different texts under one name; more are no kinds of things, but names of their own

CHANGES = frozenset({"stop", "change", "transfer", "layover", "stopover"})


class Index:
    """The words of a catalog, by their stems.

    Parameters
    ----------
    columns, objectives, title, said
        As for `LimitReader`.
    """

    def __init__(self, columns: Columns, objectives: Sequence[Objective], title: str, said: Vocabulary) -> None:
        self.attributes: list[Attribute] = []
        self.flags: dict[tuple[str, ...], str] = {}
        self.values: dict[Key, dict[str, Any]] = {}
        self.names: dict[tuple[str, ...], str] = {}
        self.days: dict[str, list[str]] = {}
        self.months: dict[str, list[str]] = {}
        self.clocks: dict[str, Clock] = {}
        self.opening: dict[str, dict[str, tuple[float, float]]] = {}
        self.lists: set[str] = set()
        self.countable: set[str] = set()  # numbers of things that may be missing
        self.kinds: dict[Key, dict[str, Any]] = {}
        self.heads: dict[Key, dict[str, Any]] = {}
        self.without: dict[Key, dict[str, Any]] = {}  # "gluten free", by what it is free of
        taken = {word for one in objectives for text in (one.name, *one.synonyms) for word in stems(text)}
        self.taken = taken | SMALL_WORDS
        self.title = general = set(stems(title))
        by_name = {one.name: one for one in objectives}
        own: set[Key] = set()
        for name in columns.names:
            objective = by_name.get(name)
            if objective is not None:
                self.attributes.append(Attribute.of_objective(objective, columns.numbers(name)))
                continue
            self.names[tuple(stems(name))] = name
            column = columns.column(name)
            kinds = column.kinds
            if all(isinstance(canonical(kind), bool) for kind in kinds):
                own |= self._know_flag(name, taken, name)
            elif kinds and all(is_day(str(kind)) for kind in kinds):
                self.days[name] = sorted(map(str, kinds))
                for spelled, inside in by_month(self.days[name]).items():
                    self.values.setdefault((spelled,), {})[name] = inside[-MOST:]  # of many years the last
            elif kinds and all(map(hour_of, kinds)):
                self.clocks[name] = Clock.of([hour_of(kind) for kind in kinds])
            elif spans := spans_of(kinds):
                self.opening[name] = spans
            elif kinds and all(month_of(str(kind)) for kind in kinds):
                self.months[name] = sorted(map(str, kinds), key=month_of)
                for kind in self.months[name]:
                    for spelled in table()["months"][month_of(kind) - 1]:
                        self.values.setdefault((spelled,), {})[name] = kind
            elif np.isfinite(column.numbers).sum() >= 0.9 * column.known.sum():
                self._know_numbers(name, columns, taken)
            elif len(kinds) <= MOST_VALUES:
                own |= self._know_texts(name, column, taken, general, said)
        for key in own & self.values.keys():  # a language "French" goes before what comes from France
            exact = {name: kind for name, kind in self.values[key].items() if tuple(stems(str(kind))) == key}
            self.values[key] = exact or self.values[key]
        # Words of other languages that are English words too: "rot" is a color, and what happens to wood.
        self.ambiguous = {
            key for key in foreign() - own - self.without.keys() if len(key) == 1 and key[0] in said.words
        }
        shorter = self.heads | self.kinds
        self.kinds = {key: owners for key, owners in shorter.items() if key not in {*self.values, *self.names}}

    def _know_numbers(self, name: str, columns: Columns, taken: set[str]) -> None:
        """Learn a detail that has numbers: what it measures or counts, and whether they are times of the day."""
        column = columns.column(name)
        kinds = column.kinds
        self.attributes.append(Attribute.of_detail(name, column.numbers, columns.names))
        if self.attributes[-1].counts_things:  # "with a window", of how many there are
            self.countable.add(name)
            self._know_flag(self.attributes[-1].thing, taken, name)
        if "floor" in self.attributes[-1].words:  # "the ground floor"
            floors = {number for number in kinds if not isinstance(number, bool)}
            levels = enumerate(("ground", *table()["ordinals"]))
            self.values |= {(level, "floor"): {name: number} for number, level in levels if number in floors}
        if (clock := Clock.of_numbers(name, column.numbers)) is not None:
            self.clocks[name] = clock

    def _know_texts(self, name: str, column: Column, taken: set[str], general: set[str], said: Vocabulary) -> set[Key]:
        """Learn the texts of a detail, and what else they are called; return these texts."""
        kinds, own = column.kinds, set[Key]()
        self.lists |= {name} if column.has_lists else set()
        also: dict[Key, Any] = {}
        for kind in (*kinds, *column.wholes):
            parts = tuple(stems(str(kind)))
            if 0 < len(parts) <= LONGEST and not (len(parts) == 1 and parts[0] in taken | general):
                spelled = " ".join(parts)
                comes = () if "language" in stems(name) else demonyms().get(spelled, ())  # no country is a language
                others = *((word,) for word in comes), *also_called().get(spelled, ())
                ends = ("en", "ern", "y")[: 3 if len(spelled) > 3 else 2] if len(parts) == 1 else ()
                made = ((f"{spelled}{end}",) for end in ends)  # "wooden", "glossy", but not "many" for a man
                also |= dict.fromkeys((*others, *made), kind)
                self.values.setdefault(parts, {})[name] = kind
                own.add(parts)
                if parts[-1] == "free" and len(parts) > 1:
                    self.without.setdefault(parts[:-1], {})[name] = kind
            if canonical(kind) is False:  # "no contract"
                self.without.setdefault(tuple(stems(name)), {})[name] = kind
        add(self.values, also, name)
        if column.has_lists:
            add(self.values, cut_short(kinds), name)
            add(self.heads, heads(kinds, taken | general | set(said.wishes)), name)
        else:
            add(self.kinds, firsts(kinds, taken | general, general | set(stems(name))), name)
        return own

    def there(self, name: str, *, there: bool = True) -> Any:
        """Return the limit that something must be there, or must not: of what is counted, one at least or none."""
        return ({"min": 1} if there else {"max": 0}) if name in self.countable else there

    def _know_flag(self, called: str, taken: set[str], name: str) -> set[Key]:
        """Learn what a detail of yes and no is called; return its own names."""
        parts = tuple(stems(called))
        core = tuple(part for part in parts if part not in words("flag_verbs"))
        known: set[Key] = {parts} if not core or (len(core) == 1 and core[0] in taken) else {parts, core}
        if len(parts) > 1 and parts[0] not in taken | words("flag_verbs"):
            known |= {(parts[0], "friendly")}  # "kid friendly" of a kids menu
        if len(core) == 2 and "".join(core) not in taken:  # "goto", of `hasGoTo`
            known |= {("".join(core),)}
        if len(parts) > 1 and parts[0] in words("owners"):  # "a women's area"
            known |= {(parts[0], "s", *parts[1:])}
        if "24h" in parts or "24" in parts:
            known |= set(also_called()["24h"])
        if not words("requiring").isdisjoint(parts):  # "I'm not going to paint it", of what needs painting
            verbs = [part.removesuffix("ing") for part in core if part.endswith("ing") and len(part) > 5]
            known |= {(form,) for verb in verbs for form in (verb, f"{verb}e") if form not in taken}
        made = parts[0].removesuffix("ed")
        if len(parts) == 1 and made != parts[0] and len(made) > 3:  # "I need a seat", of what is seated
            known |= {(one,) for one in (made, f"{made}e", f"{made}ing") if one not in taken}
        if "safe" in parts:  # "nothing poisonous"
            self.without |= {(bad,): {name: True} for bad in words("unsafe") - taken}
        if parts[-1] == "free" and len(parts) > 1:  # "no steps", of what is step-free
            for bad in (parts[:-1], *also_called().get(" ".join(parts[:-1]), ())):
                self.without.setdefault(bad, {})[name] = True
        if parts[-1].endswith("less") and len(parts[-1]) > len("unless"):  # "no cord", of what is cordless
            for lacking in ((parts[-1][:-4],), *also_called().get(parts[-1][:-4], ())):
                self.without.setdefault(lacking, {})[name] = True
        if day := next(
            (part for part in parts if part in WEEK or (len(parts) == 2 and part in words("dayparts") - taken)), ""
        ):  # "works on Sundays"
            known |= {(day,)}
        if len(parts) > 1:  # `sat_open`
            known |= {one for part in parts for one in also_called().get(part, ()) if one[0] in WEEK}
        fits: list[Key] = []
        if len(parts) > 2 and parts[0] in words("fitting") and parts[1] in FOR:  # "get along with my cat"
            things = (parts[2:], *also_called().get(" ".join(parts[2:]), ()))
            ways = [(*head, link) for head in ((), parts[:1]) for link in FOR]
            fits = [(*way, *whose, *thing) for way in ways for whose in ((), ("my",), ("our",)) for thing in things]
            known |= {one for one in fits if parts[1] in one and one[-1] == parts[-1]}
        others = fits + [other for one in known for other in also_called().get(" ".join(one), ())]
        self.flags = dict.fromkeys(others, name) | self.flags | dict.fromkeys(known, name)
        return known

    @cached_property
    def price(self) -> str | None:
        """The name of what is paid for an item; None where nothing is called like it."""
        return next((one.name for one in self.attributes if speaks_of_money(one.name)), None)

    @cached_property
    def nothings(self) -> dict[str, re.Pattern[str]]:
        """How it is said that there must be nothing of something, by the names of that of which there can be none."""
        found = {}
        for one in self.attributes:
            paid, changes = one.measures("money"), bool(CHANGES & one.words)
            if one.lowest != 0.0 or (one.objective and not (one.less_is_better and (paid or changes))):
                continue
            name = r"\W+".join(rf"{re.escape(word)}\w{{0,2}}" for word in stems(without_units(one.name)))
            title = "|".join(rf"{re.escape(word)}\w{{0,2}}" for word in self.title) or "one"
            ways = ["no_fee", *["free_of_charge"] * (one.name == self.price), *["direct_only"] * changes]
            spelled = "|".join(map(WORDINGS.any_of, ways)).replace("NAME", name).replace("TITLE", title)
            found[one.name] = re.compile(spelled)
        return found

    @cached_property
    def places(self) -> list[str]:
        """The names of details that tell where an item is."""
        return [name for parts, name in self.names.items() if set(parts) & words("places")]

    @cached_property
    def limitable(self) -> dict[tuple[str, ...], str]:
        """Everything that a limit can be on, by the stems of its name."""
        return {**self.names, **{tuple(stems(one.name)): one.name for one in self.attributes}}

    @cached_property
    def telling(self) -> dict[Key, str]:
        """Details by single words that no other one has, nor any objective, and by what they are called elsewhere."""
        counts = Counter(part for parts in self.names for part in set(parts))
        alone = ((part, name) for parts, name in self.names.items() for part in parts if counts[part] == 1)
        single: dict[Key, str] = {(part,): name for part, name in alone}
        for parts, name in self.names.items():
            single |= {other: name for other in also_called().get(" ".join(parts), ()) if other not in self.ambiguous}
        return {key: name for key, name in single.items() if not {*key} & self.taken}
