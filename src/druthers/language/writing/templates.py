"""Sentences by templates: openings, ways to order, ways to name an objective, closings."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from druthers.errors import InvalidRanking, InvalidSetting, UnknownName
from druthers.language.data import read_data
from druthers.language.lexicon.objectives import as_objectives
from druthers.types import Objective, RankingLike

_T = TypeVar("_T")
STYLES = ("polite", "terse", "chatty")
# Chances of an opening, a closing, a chain instead of a fixed form where there are both, an example where there is one,
# and of capitals in a terse text. Set by hand, for variety.
_OPENING, _CLOSING, _CHAIN, _EXAMPLE, _CAPITALS = 0.5, 0.4, 0.6, 0.5, 0.5
_FIXED = {1: "one", 2: "two", 3: "three"}
_SLOT = re.compile(r"\{([a-z]+)(?::([^|}]*)\|([^}]*))?\}")
# One wants "a low price" rather than "the price".
_WANTING = re.compile(r"\b(?:want|like|need|give me|love|rather have|appreciate|after is|do without|must have)\b", re.I)


class Wish(NamedTuple):
    """What is to be said: as the arguments of `Writer.write`."""

    ranking: RankingLike
    vague: bool = False
    number: int | None = None


class Written(NamedTuple):
    """What was written, and what happened on the way."""

    text: str
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """What every writer does."""

    objectives: tuple[Objective, ...]

    def write(self, ranking: RankingLike, *, vague: bool = False, number: int | None = None) -> str:
        """Return a text that says this ranking, or next to nothing of it."""

    def write_all(self, wishes: Iterable[Wish]) -> list[Written]:
        """Return a text for each wish, in their order."""


def require_whole(what: str, number: object) -> None:
    """Refuse what is not a whole number, zero or more."""
    if not isinstance(number, (int, np.integer)) or number < 0:
        raise InvalidSetting(f"{what} must be a whole number, zero or more, but got {number!r}")


def checked_wish(wish: Wish, n_objectives: int) -> list[int]:
    """Return the ranking of a wish as a list, or say which law it breaks."""
    if wish.number is not None:
        require_whole("the number of a text", wish.number)
    order = _checked(wish.ranking, n_objectives)
    if not order and not wish.vague:
        raise InvalidRanking("a ranking must name an objective to be written, but got (); write it with vague=True")
    return order


def _checked(ranking: RankingLike, n_objectives: int) -> list[int]:
    """Return a ranking as a list, or say which law it breaks."""
    try:
        array = np.asarray(ranking)
    except ValueError as problem:
        raise InvalidRanking(f"a ranking must be a flat list of objective indices, but got {ranking!r}") from problem
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidRanking(f"a ranking must be a flat list of objective indices, but got {ranking!r}")
    order: list[int] = array.tolist()
    if any(not 0 <= index < n_objectives for index in order):
        raise InvalidRanking(f"a ranking must name objectives 0 to {n_objectives - 1}, but got {tuple(order)}")
    if len(set(order)) < len(order):
        raise InvalidRanking(f"a ranking must not repeat an objective, but got {tuple(order)}")
    return order


class _Chance:
    """One source of chance for what is said and one for typing errors, which change letters and nothing else."""

    def __init__(self, sequence: np.random.SeedSequence) -> None:
        self.words, self.slips = map(np.random.default_rng, sequence.spawn(2))

    def pick(self, choices: Sequence[_T]) -> _T:
        """Return one of some choices."""
        return choices[int(self.words.integers(len(choices)))]


class TemplateWriter:
    """Write by templates: openings, ways to order, ways to name an objective, closings, in three styles.

    Names of objectives are enough; synonyms and examples add ways to speak of them.

    Parameters
    ----------
    objectives
        What users may care about.
    seed
        The only source of chance: the same seed and the same calls give the same sentences.
    item
        What is looked for, with its article: "a hotel".
    style
        "polite", "terse" or "chatty"; all of them by turns if None.
    typos
        The chance that a word of four letters or more has a typing error.

    Examples
    --------
    >>> writer = TemplateWriter(["price", "location"], seed=3, item="a hotel", style="polite")
    >>> writer.write([1, 0])
    'I am looking for a hotel. My first priority is the location, followed by price. Many thanks in advance.'
    >>> writer.write([1, 0], vague=True)
    'I would like a hotel for me and my sister, please.'
    """

    def __init__(
        self,
        objectives: Iterable[str | Objective],
        *,
        seed: int = 0,
        item: str | None = None,
        style: str | None = None,
        typos: float = 0.0,
    ) -> None:
        self.objectives = as_objectives(objectives)
        if style is not None and style not in STYLES:
            raise UnknownName.of("style", style, STYLES)
        if not 0.0 <= typos <= 1.0:
            raise InvalidSetting(f"typos must be a chance between 0 and 1, but got {typos!r}")
        if item is not None and not item.strip():
            raise InvalidSetting(f"an item must be named with its article, as in 'a hotel', but got {item!r}")
        require_whole("a seed", seed)
        self._item, self._style, self._typos, self._seed = item, style, typos, seed
        self._chance = _Chance(np.random.SeedSequence(seed))
        self._names = [(each.name.strip(), *each.synonyms) for each in self.objectives]
        self._data: dict[str, Any] = self._lawful(read_data("writing.toml"))
        self._said = [self._ways(index) for index in range(len(self.objectives))]

    def phrases(self, objective: int) -> tuple[str, ...]:
        """Return the ways in which this writer names an objective.

        Examples
        --------
        >>> TemplateWriter(["crema", "price"]).phrases(0)
        ('crema', 'the crema')
        """
        calls, wishes, _ = self._said[objective]
        return tuple(dict.fromkeys((*calls, *wishes)))

    def _ways(self, objective: int) -> tuple[list[str], list[str], list[str]]:
        """Return what an objective is called, what one wants of it, and whole clauses; none names another one."""
        others = [name for index, names in enumerate(self._names) if index != objective for name in names]
        calls = [form for name in self._names[objective] for form in with_article(name.strip())]
        table = read_data("writing.toml")["wishes"]
        wishes = [wish for name in self._names[objective] for wish in table.get(name.strip().lower(), ())]
        examples = [text.strip().rstrip(".!") for text in self.objectives[objective].examples]
        calls, wishes, examples = (
            [text for text in texts if not any(holds(text, name) for name in others)]
            for texts in (calls, wishes, examples)
        )
        return calls or [self._names[objective][0]], wishes, examples

    def write(self, ranking: RankingLike, *, vague: bool = False, number: int | None = None) -> str:
        """Return a sentence or two that say this ranking, or next to nothing of it.

        Parameters
        ----------
        ranking
            Objectives by index, most important first. It may be empty only if the text is vague.
        vague
            Whether to keep the order to oneself; the text then does not depend on the ranking.
        number
            Which text of this writer it is: the same number gives the same text, whatever was written before. By
            default the writer goes on from its last one.
        """
        order = checked_wish(Wish(ranking, vague, number), len(self.objectives))
        chance = self._chance
        if number is not None:
            chance = _Chance(np.random.SeedSequence(self._seed, spawn_key=(2, number)))
        return self._text(order, vague, chance)

    def write_all(self, wishes: Iterable[Wish]) -> list[Written]:
        """Return a text for each wish, in their order."""
        return [Written(self.write(wish.ranking, vague=wish.vague, number=wish.number)) for wish in wishes]

    def _text(self, order: Sequence[int], vague: bool, chance: _Chance) -> str:
        style = self._style or chance.pick(STYLES)
        form = self._data[style]
        pieces = [self._filled(chance.pick(form["vague"]), [], chance) if vague else self._clear(style, order, chance)]
        if chance.words.random() < _OPENING:
            pieces.insert(0, self._filled(chance.pick(form["openings"]), [], chance))
        if chance.words.random() < _CLOSING:
            pieces.append(chance.pick(form["thanks" if vague else "closings"]))
        text = " ".join(pieces)
        if style != "terse" or chance.words.random() < _CAPITALS:
            text = capitalized(text)
        return mistyped(text, self._typos, chance.slips) if self._typos else text

    def _clear(self, style: str, order: Sequence[int], chance: _Chance) -> str:
        fixed = self._data[style].get(_FIXED.get(len(order), ""), ())
        if fixed and (len(order) == 1 or chance.words.random() >= _CHAIN):
            return self._filled(chance.pick(fixed), order, chance)
        chain = chance.pick([chain for chain in self._data["chains"] if chain["style"] == style])
        steps = ["start", *["next"] * (len(order) - 2), "last"]
        text = ""
        for place, (step, objective) in enumerate(zip(steps, order, strict=True)):
            # Who starts with "I want" goes on wanting.
            wanting = _WANTING.search(text) is not None
            text += self._filled(chance.pick(chain[step]), [objective], chance, place, wanting=wanting)
        return text + "."

    def _filled(
        self, template: str, order: Sequence[int], chance: _Chance, place: int = 0, *, wanting: bool = False
    ) -> str:
        """Fill the slots of a template; letters stand for the objectives in their order."""
        wanting = wanting or _WANTING.search(template) is not None
        chosen = {objective: self._named(objective, chance, wanting=wanting) for objective in order}
        slots = {"x": order[0], **dict(zip("abc", order, strict=False))} if order else {}

        def fill(match: re.Match[str]) -> str:
            slot, one, many = match.groups()
            if slot == "s":
                return self._clause(order[0], chance)
            if slot == "item":
                return self._item or "something"
            if slot == "occasion":
                return str(chance.pick(self._data["occasions"]))
            if slot == "n":
                return str(place + 1)
            if slot == "nth":
                return str(dict(enumerate(self._data["ordinals"])).get(place, f"number {place + 1}"))
            text = chosen[slots[slot]]
            return text if one is None else f"{text} {many if is_plural(text) else one}"

        return _SLOT.sub(fill, template)

    def _clause(self, objective: int, chance: _Chance) -> str:
        """Return a whole clause about an objective: one of its examples, or a phrase in a frame."""
        if (examples := self._said[objective][2]) and chance.words.random() < _EXAMPLE:
            text = chance.pick(examples)
            return text if text.split()[0].rstrip("'") in ("I", "I'm", "I'd", "I've") else text[0].lower() + text[1:]
        return self._filled(chance.pick(self._data["clauses"]), [objective], chance)

    def _named(self, objective: int, chance: _Chance, *, wanting: bool) -> str:
        """Return a name of an objective, or, of what is wanted, a wish as far as there is one."""
        calls, wishes, _ = self._said[objective]
        if wanting:
            return chance.pick(wishes or [call for call in calls if not call.startswith("the ")] or calls)
        return chance.pick([*calls, *wishes])

    def _lawful(self, data: Any) -> Any:
        """Return the templates without those that name an objective by accident, or an item that is not known."""
        if isinstance(data, dict):
            return {key: self._lawful(value) for key, value in data.items()}
        if not isinstance(data, list) or not isinstance(data[0], str):
            return [self._lawful(value) for value in data] if isinstance(data, list) else data
        known = [text for text in data if self._item is not None or "{item}" not in text]
        names = [name for names in self._names for name in names]
        plain = {text: _SLOT.sub("_", text.replace("{item}", self._item or "")) for text in known}
        return [text for text in known if not any(holds(plain[text], name) for name in names)] or known[:1]


_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# A number with a dot ends no sentence: "1. price, 2. service".
_SENTENCE = re.compile(r"(?:^|(?<=[^\d][.!?] ))[a-z]")


def with_article(name: str) -> tuple[str, ...]:
    """Return a name as it stands and with "the", unless it has an article of its own."""
    return (name,) if name.lower().startswith(("the ", "a ", "an ")) else (name, f"the {name}")


def holds(text: str, name: str) -> bool:
    """Tell whether a text holds a name, word by word, plural or not.

    Examples
    --------
    >>> holds("spacious rooms", "room"), holds("plenty of legroom", "room")
    (True, False)
    """
    words, wanted = ([word.rstrip("s") for word in _WORD.findall(each.lower())] for each in (text, name))
    size = len(wanted)
    return size > 0 and any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


def is_plural(phrase: str) -> bool:
    """Tell whether a phrase goes with "are" rather than "is", by its last word.

    Examples
    --------
    >>> is_plural("the rooms"), is_plural("cleanliness"), is_plural("a place for kids")
    (True, False, False)
    """
    last = phrase.lower().split()[-1]
    if phrase.lower().startswith(("a ", "an ", "something ")):
        return False
    return last.endswith("s") and not last.endswith(("ss", "us", "is", "'s"))


def capitalized(text: str) -> str:
    """Return a text with a capital at the start of each sentence."""
    return _SENTENCE.sub(lambda match: match.group().upper(), text)


def mistyped(text: str, chance: float, random: np.random.Generator) -> str:
    """Return a text in which each word of four letters or more has a typing error with this chance.

    Two neighbors are swapped, or a letter is missing, or typed twice; first letters and all marks stay.

    Examples
    --------
    >>> mistyped("Clean rooms, please!", 1.0, np.random.default_rng(1))
    'Cllean romos, plese!'
    """

    def slip(match: re.Match[str]) -> str:
        word = match.group()
        drawn, kind, place = random.random(3)
        if drawn >= chance:
            return word
        at = 1 + int(place * (len(word) - 2))
        if kind < 0.4:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return word[:at] + word[at + 1 :] if kind < 0.7 else word[:at] + word[at] + word[at:]

    return re.sub(r"[^\W\d_]{4,}", slip, text)
