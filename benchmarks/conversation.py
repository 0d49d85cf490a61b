"""How many messages of a file are taken for what they are, and have the effect that their author expected.

    python benchmarks/conversation.py FILE.json [--verbose]

The file has `catalogs` by name and `messages`: the `catalog`, what was said `before`, what is said now (`say`), its
`kind` and its `effect`. Effects are what an onlooker can check: `wanted` and `dismissed` objectives, `limits` that all
that is recommended next keeps, which of the items shown is rated (`rank`, with the `sign` of the utility and of single
`aspects`) or answered about (`ranks`, what an answer `tells`), what is `found` or `best`, that something is `undone`,
`cleared`, `gone`, `new` or like another one, or that `nothing` changes.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from druthers import Catalog
from druthers.advisor import Advisor
from druthers.advisor.answers import Reply
from druthers.advisor.reasons import spaced
from druthers.advisor.wording import fact_in_words
from druthers.errors import DruthersError
from druthers.limits import Columns

USER = "ada"


class Talk:
    """One message after another one, and what became of it."""

    def __init__(self, advisor: Advisor, catalog: Catalog, before: str, say: str) -> None:
        self.advisor, self.catalog = advisor, catalog
        first = advisor.message(USER, before)
        made = first.recommendation  # none where that was not understood: no effect on an item shown is right then
        self.shown = [] if made is None else [one.item for one in made.items]
        self.start = self.card()
        self.reply: Reply = advisor.message(USER, say)
        self.end = self.card()

    def card(self) -> dict[str, Any]:
        """Return what is known of the user."""
        try:
            return self.advisor.preference(USER).as_dict()
        except DruthersError:
            return {"wished": (), "dismissed": (), "limits": {}, "weights": ()}

    def outcomes(self) -> list[dict[str, Any]]:
        """Return what was told of items, and what was picked."""
        kinds = ("feedback", "choice")
        return [{"kind": one.kind, **one.body} for one in self.advisor.store.walk() if one.kind in kinds]

    def obeys(self, items: list[str], where: dict[str, Any]) -> bool:
        """Tell whether all items are within limits."""
        return set(items) <= set(Columns(self.advisor.items).eligible(where))

    def next(self) -> list[str]:
        """Return what is recommended from here on."""
        return [one.item for one in self.advisor.recommend(USER, size=3).items]

    def has(self, name: str, expected: Any) -> bool:
        """Tell whether an effect is there; where nothing was shown, none on an item shown is."""
        try:
            return bool(getattr(self, name)(expected))
        except IndexError:
            return False

    # Each effect, and whether it is there.

    def wanted(self, expected: list[str]) -> bool:
        """Tell whether what is wished for is heard."""
        heard = self.reply.heard
        return heard is not None and set(heard.ranking) == set(expected)

    def dismissed(self, expected: list[str]) -> bool:
        """Tell whether what does not matter is set aside."""
        return set(expected) <= set(self.end["dismissed"])

    def limits(self, expected: dict[str, Any]) -> bool:
        """Tell whether what is recommended next is within the limits, and no others hold."""
        fitting = set(Columns(self.advisor.items).eligible(expected))
        kept = set(Columns(self.advisor.items).eligible(self.end["limits"]))
        return kept == fitting and (not fitting or self.obeys(self.next(), expected))

    def rank(self, expected: int) -> bool:
        """Tell whether one of the items shown was rated or picked."""
        told = self.outcomes()
        return bool(told) and told[-1].get("item", told[-1].get("picked")) == self.shown[expected - 1]

    def sign(self, expected: int) -> bool:
        """Tell whether it was good, or bad."""
        told = self.outcomes()
        return bool(told) and (told[-1].get("utility") or 0.0) * expected > 0

    def aspects(self, expected: dict[str, int]) -> bool:
        """Tell whether single objectives of it were good, or bad."""
        rewards = (self.outcomes() or [{}])[-1].get("rewards") or {}
        return all(name in rewards and self.better(name, rewards[name]) * sign > 0 for name, sign in expected.items())

    def better(self, name: str, value: float) -> float:
        """Return by how much a value is better than that of the middle item."""
        less = next(one for one in self.catalog.objectives if one.name == name).less_is_better
        middle = median(item.values[name] for item in self.catalog.items if name in item.values)
        return middle - value if less else value - middle

    def ranks(self, expected: list[int]) -> bool:
        """Tell whether the answer is about some of the items shown."""
        return not expected or list(self.reply.items) == [self.shown[one - 1] for one in expected]

    def tells(self, expected: str) -> bool:
        """Tell whether the answer tells a fact."""
        item = self.advisor.items[self.reply.items[0]] if self.reply.items else None
        fact = None if item is None else {**item.details, **item.values}.get(expected)
        told = f"{expected} is not known" if fact is None else f"{expected} {fact_in_words(fact)}"
        return spaced(told, [expected]) in self.reply.text

    def found(self, expected: dict[str, Any]) -> bool:
        """Tell whether the answer names items within limits, and no others."""
        fitting = Columns(self.advisor.items).eligible(expected)
        named = [id for id, item in self.advisor.items.items() if item.name in self.reply.text]
        return set(named) <= set(fitting) and len(named) >= min(len(fitting), 3)

    def best(self, expected: str) -> bool:
        """Tell whether the answer names the best item first."""
        values = {id: item.values.get(expected) for id, item in self.advisor.items.items()}
        less = next(one for one in self.catalog.objectives if one.name == expected).less_is_better
        known = {id: value for id, value in values.items() if value is not None}
        return bool(self.reply.items) and self.reply.items[0] == (min if less else max)(known, key=lambda id: known[id])

    def undone(self, _: bool) -> bool:
        """Tell whether nothing is wished for any more."""
        return bool(self.start["wished"]) and not self.end["wished"]

    cleared = undone

    def gone(self, expected: int) -> bool:
        """Tell whether an item shown is not recommended any more."""
        made = self.reply.recommendation
        return made is not None and self.shown[expected - 1] not in [one.item for one in made.items]

    def new(self, _: bool) -> bool:
        """Tell whether all that is recommended is new."""
        made = self.reply.recommendation
        return made is not None and not {one.item for one in made.items} & set(self.shown)

    def like(self, expected: int) -> bool:
        """Tell whether an item is liked, and others are recommended."""
        return self.rank(expected) and self.sign(1) and self.gone(expected)

    def nothing(self, _: bool) -> bool:
        """Tell whether nothing changed."""
        return self.start == self.end and not self.outcomes()


def main() -> None:
    """Play all messages and print how many are right."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--verbose", action="store_true", help="print each message that is not right")
    given = arguments.parse_args()
    content = json.loads(given.file.read_text(encoding="utf-8"))
    catalogs = {name: Catalog.from_content(one) for name, one in content["catalogs"].items()}
    right: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for one in content["messages"]:
        with Advisor(catalogs[one["catalog"]]) as advisor:
            talk = Talk(advisor, catalogs[one["catalog"]], one["before"], one["say"])
            wrong = [name for name, expected in one["effect"].items() if not talk.has(name, expected)]
        kind = {"which is best": "find"}.get(talk.reply.kind, talk.reply.kind) == one["kind"]  # a question for an item
        right[one["kind"]].append((kind, not wrong))
        if given.verbose and (wrong or not kind):
            print(
                f"{one['kind']:14} {one['say']!r}: {talk.reply.kind}, {wrong or 'effect right'}: {talk.reply.text[:99]}"
            )
    for name, found in (*sorted(right.items()), ("all", [one for part in right.values() for one in part])):
        kinds, effects = (sum(column) for column in zip(*found, strict=True))
        share, reached = kinds / len(found), effects / len(found)
        print(f"{name:16}{len(found):4}  kind {kinds:4}  {share:6.1%}  effect {effects:4}  {reached:6.1%}")


if __name__ == "__main__":
    main()
