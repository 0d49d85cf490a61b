"""What is a message? Rules by what it says first; a model of how people say things where they do not know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from druthers.advisor.comparing import NAME, with_items
from druthers.advisor.kinds import guess
from druthers.advisor.messages import Context, Kind, Message, Opinion
from druthers.advisor.sayings import NEGATION, PLACES, feeling, references, table, ways, whole_words
from druthers.catalogs import Item
from druthers.language import Parser, is_english
from druthers.limits import Columns, LimitReader, Limits, Stated
from druthers.limits.quantities import find_quantities, plain_number
from druthers.limits.sentences import speaks_of_money
from druthers.limits.words import fold, pattern, stems

CLAUSE = re.compile(r"[.;:!?,]|\b(?:but|and|though|although|while|yet|however|aber|und|pero|y|mais|et|ma|maar|en)\b")
NUMERAL = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|hundred"
RATING = re.compile(
    rf"(?<![\w.,])(?P<given>{NUMERAL})"
    r"(?:(?:\s*(?:stars?|points?))?\s*(?:/|\bout of\b)\s*(?P<of>5|10|100|five|ten|hundred)\b|\s*stars?\b)"
    r"|(?:^|\s)(?P<drawn>[*★]{1,5})(?:\s|$)"
)
# Words that tell how something was; and those that do so only of an item pointed at, not in "I looked for a hotel".
WAS = (
    r"(?:was|were)(?! (?:looking|hoping|thinking|wondering|after))|wasn't|weren't|had been|loved|hated|liked|enjoyed"
    r"|disappointed|war|waren|fue|era|etait"
)
DID = (
    r"felt|tasted|smelled|smelt|looked|sounded|turned out|ended up|broke|lasted|arrived|kept|gave|left us|took"
    r"|didn'?t|couldn'?t"
)
PAST = re.compile(rf"\b(?:{WAS})\b")
PAST_OF_ONE = re.compile(rf"\b(?:{WAS}|{DID})\b")
# How probable what the model says must be where no rule knows, where a wish was read, and to hear no wish at all.
LIKELY, SURE, CERTAIN = 0.5, 0.8, 0.9
FELT = 0.7  # how good is what is only said to be "gentle", and how bad what is "late"
NUMERALS = dict(zip(NUMERAL.split("|")[1:], (*range(1, 11), 100), strict=True))
MOST_LETTERS = 2_000
MOST_WORDS = 6  # of a name
SAME_WORD = 4  # letters that two words of one family begin with: "Italien", "Italy"
UNTRUE = re.compile(
    r"\b(?:or|otherwise|else),? (?:just |you can |we can )?forget\b|"  # "at least 5 years, otherwise forget it"
    r"(?:\b(?:never|not|nicht|no|ne)|n't)\s+(?:ever |just )?(?:forget|drop|ignore|delete|erase|remove|cancel|clear)\b"
)
HAVING = re.compile(r"(?:'ve|'s|\bhave|\bhas) got\b")  # "we've got three kids" tells of nothing that was shown
UNDECIDED = re.compile(r"\b(?:if|unless|whether|almost|nearly|until)\b")  # "I'm almost sold on the first one"
LETS = re.compile(r"\blet'?s\b")  # "let's do number 1" asks nothing
NOTHING = Context()
BARE = (*PLACES, "last", "both", "numbered", "courtesy", "lead")


class Understanding:
    """Tells what messages are.

    Parameters
    ----------
    parser
        Reads wishes.
    limits
        Reads limits.
    columns
        All items: whoever is called by name is found.
    """

    def __init__(self, parser: Parser, limits: LimitReader, columns: Columns) -> None:
        self.parser = parser
        self.limits = limits
        self.columns = columns

    def read(self, text: str, context: Context = NOTHING) -> Message:
        """Return what a message is."""
        plain = " ".join(fold(text[:MOST_LETTERS]).split()).strip(" .!")
        talk = _small_talk(plain)
        if talk is not None:
            return Message(talk)
        core = _core(plain)
        said = _Said(text, plain, core, references(RATING.sub(" ", plain), context.shown), context)
        ways_ = self._forgetting, self._asking, self._picking, self._feeling, self._another_number, self._asking_of
        for way in ways_:
            message = way(said)
            if message is not None:
                return message
        return self._guessed(said, self._wishing(said))

    def _guessed(self, said: _Said, message: Message) -> Message:
        """Return what a message is that no rule knows, or that was read with doubts: the model may know better."""
        reading = message.reading
        clear = message.kind != Kind.UNCLEAR and (
            reading is None or (reading.confidence >= SURE and not reading.leftover)
        )
        asked = not clear and re.search(r"\w\w", said.plain) and is_english(said.text)  # the model knows no other
        encoder = self.parser.encoder() if asked else None
        if encoder is None or reading is None:
            return message
        name, chance = guess(said.text, encoder)
        kind = Kind(name)
        if chance < (LIKELY if message.kind == Kind.UNCLEAR else SURE) or kind in (Kind.WISH, Kind.LIMIT):
            return message
        if kind == Kind.DISMISSAL:
            turned = len(reading.ranking) == 1 and not reading.dismissed and not message.limits.where
            gone = replace(reading, ranking=(), confidences=(), strengths=(), dismissed=reading.ranking)
            return Message(kind, reading=gone, limits=message.limits) if turned else message
        if kind == Kind.UNCLEAR:
            return Message(kind) if chance >= CERTAIN else message
        return self._as(kind, said, message) or message

    def _as(self, kind: Kind, said: _Said, message: Message) -> Message | None:
        """Return a message as one of a kind, if it has what that needs."""
        shown, reading = said.context.shown, message.reading
        if kind == Kind.FORGET_THAT:
            names = self._in_force(said.core, said.context)
            only = (*said.context.wished, *said.context.limits)
            return Message(kind, forgotten=names or only) if names or len(only) == 1 else None
        if kind == Kind.FEEDBACK:
            return Message(kind, said.places) if shown else None
        if kind == Kind.BEST:
            return (
                Message(kind, said.places, reading=reading, shown=said.has("shown"))
                if message.kind == Kind.WISH
                else None
            )
        if kind == Kind.FIND:
            return Message(kind, limits=message.limits) if message.limits.where else None
        named = () if said.places else self._named(said.plain)
        if kind == Kind.DETAIL:
            return Message(kind, said.places, named, reading, message.limits) if said.places or named else None
        about_shown = (Kind.WHY, Kind.COMPARE, Kind.TAKEN, Kind.REJECT, Kind.LIKE, Kind.OTHER)
        enough = len(shown) > (kind == Kind.COMPARE) or kind not in about_shown
        return Message(kind, said.places, named) if enough else None

    def _forgetting(self, said: _Said) -> Message | None:
        """Return what takes back something said before."""
        if ways("forget_me_yes").fullmatch(said.plain):
            return Message(Kind.FORGET_ME_YES)
        verb = whole_words("forget").search(said.core)
        if verb is not None and UNTRUE.search(said.plain):  # "I'd never forget that place"
            return None
        if said.has("forget_me"):
            return Message(Kind.FORGET_ME)
        if said.has("forget_all"):
            return Message(Kind.FORGET_ALL)
        if verb is None:
            return None
        about = whole_words("forget").sub(" ", said.core)
        names = self._in_force(about, said.context)
        if names and not pattern(r"\b<dismissing>").search(about):
            return Message(Kind.FORGET_THAT, forgotten=names)
        return Message(Kind.FORGET_THAT) if said.has("forget_last") else None

    def _in_force(self, text: str, context: Context) -> tuple[str, ...]:
        """Return which of the things said before a text is about."""
        words = stems(text)
        numbers = {number for one in find_quantities(text) for number in one.numbers}
        about = set(words) - {"max", "min"}
        known = {name: _facts(limit) for name, limit in context.limits.items()}
        found = [
            name
            for name, facts in known.items()
            if about & set(stems(name))
            or (name == self.limits.price and speaks_of_money(text))
            or any(fact in numbers if isinstance(fact, float) else _same(fact, words) for fact in facts)
        ]
        if not found and about & {"limit", "restriction", "budget", "filter", "cap", "ceiling", "condition"}:
            found = list(known)
        if context.wished and not found:
            reading = self.parser.read(text)
            found += [name for name in (*reading.names, *reading.dismissed_names) if name in context.wished]
        return tuple(dict.fromkeys(found))

    def _asking(self, said: _Said) -> Message | None:
        """Return a question about items, about the person or about what can be said."""
        if said.has("help") and (said.asks or self._wishing(said).kind not in (Kind.WISH, Kind.LIMIT)):
            return Message(Kind.HELP)
        if said.has("profile") and (said.asks or said.has("profile_told")):
            return Message(Kind.PROFILE)
        shown = said.context.shown
        if said.has("why") and (shown or re.match(r"\w+\W*$", said.core)):
            return Message(Kind.WHY, said.places)
        pair = said.asks and len(said.places) > 1
        if (said.has("compare") or pair) and len(shown) > 1 and (said.asks or not said.past.search(said.core)):
            return Message(Kind.COMPARE, said.places)
        telling = LETS.search(said.plain) is None and ways("detail").match(said.core)
        if not (said.asks or telling or ways("find").match(said.core)):
            return None
        if said.has("best"):
            reading = self.parser.read(said.text)
            if reading.ranking:
                return Message(Kind.BEST, said.places, reading=reading, shown=said.has("shown"))
        limits = self.limits.read(said.text)
        if ways("find").match(said.core) and limits.where and not said.places:
            return Message(Kind.FIND, said.places, limits=limits)
        named = () if said.places else self._named(said.plain)
        one = said.places or named or (shown and (limits.where or re.search(r"\b(?:it|that|this|they)\b", said.core)))
        if one and ways("detail").match(said.core):
            return Message(Kind.DETAIL, said.places, named, self.parser.read(limits.rest), limits)
        return None

    def _asking_of(self, said: _Said) -> Message | None:
        """Return a question about an item in words that no rule knows: "can I park at the first one?"."""
        named = () if said.places else self._named(said.plain)
        if not said.asks or not (said.places or named) or re.search(r"\bthan\b", said.plain):
            return None
        limits = self.limits.read(said.text)
        return Message(Kind.DETAIL, said.places, named, self.parser.read(limits.rest), limits)

    def _picking(self, said: _Said) -> Message | None:
        """Return what points at some of the items shown, or away from them."""
        if not said.context.shown:
            return Message(Kind.OTHER) if said.has("other") and self._wishing(said).kind == Kind.UNCLEAR else None
        words = re.findall(r"[^\W_]+", said.plain)
        called = self.columns.by_name.get(" ".join(words[words[:1] == ["the"] :]))
        if called is not None:  # nothing but a name, as an answer to "which of the two?"
            return Message(Kind.TAKEN, said.places, () if said.places else (called,))
        other = said.has("other")
        chosen = said.places and said.has("choose") and not said.has("reject")
        if said.places and _is_settled(said.core):
            return Message(Kind.TAKEN, said.places)
        if chosen and not said.past.search(said.core) and feeling(said.core) is None:  # "ok, book 3" praises nothing
            return Message(Kind.TAKEN, said.places)
        felt = self._feeling(said) if said.places else None
        if felt is not None and felt.kind == Kind.FEEDBACK and not said.has("like"):
            return replace(felt, kind=Kind.REJECT) if other and (felt.utility or 0.0) < 0.0 else felt
        named = () if said.places else self._named(said.plain)
        if said.has("reject") or (other and said.places and not said.has("like")):
            wish = None if said.places else self._wishing(said)  # "battery life? I don't need it"
            if wish is not None and wish.kind == Kind.DISMISSAL:
                return wish
            return Message(Kind.REJECT, said.places, named)
        if said.has("like"):
            wish = self._wishing(said.beside("like"))
            return Message(Kind.LIKE, said.places, named, wish.reading, wish.limits)
        if other:
            wish = self._wishing(said)
            return Message(Kind.OTHER, reading=wish.reading, limits=wish.limits)
        bare = said.places and not re.search(r"[^\W\d_]{3,}", whole_words(*BARE).sub(" ", said.core))
        return Message(Kind.TAKEN, said.places) if bare or (said.places and said.has("choose")) else None

    def _another_number(self, said: _Said) -> Message | None:
        """Return a number that takes the place of a limit said before: "make that 40"."""
        quantities = find_quantities(said.plain)
        bounds = {
            name: bound
            for name, limit in said.context.limits.items()
            if isinstance(limit, dict) and len(limit) == 1
            for bound in limit
            if bound in ("min", "max")
        }
        current = {said.context.limits[name][bound] for name, bound in bounds.items()}
        while len(quantities) > 1 and quantities[0].numbers[0] in current:  # "100 is too tight, let's say 200"
            start, end = quantities[0].start, quantities[0].end
            said = replace(said, plain=said.plain[:start] + " " * (end - start) + said.plain[end:])
            quantities = find_quantities(said.plain)
        if len(quantities) != 1 or not bounds or not whole_words("instead").search(said.plain):
            return None
        if quantities[0].units:  # "make that 45 euros": of what is measured so
            amount = said.plain[quantities[0].start : quantities[0].end]
            meant = {**self.limits.read(f"at most {amount}").where, **self.limits.read(f"at least {amount}").where}
            bounds = {name: bound for name, bound in bounds.items() if name in meant}
        rest = whole_words("instead", "too_tight", "courtesy", "lead").sub(" ", said.plain[: quantities[0].start])
        rest += whole_words("instead", "too_tight", "courtesy", "lead").sub(" ", said.plain[quantities[0].end :])
        if not bounds or re.search(r"[^\W\d_]{3,}", rest):
            return None
        name = list(bounds)[-1]
        limit = {bounds[name]: plain_number(quantities[0].numbers[0])}
        stated = Stated(name, limit, said.text.strip(), 0, len(said.text))
        reading = replace(self.parser.read(""), text=said.text)
        return Message(Kind.LIMIT, reading=reading, limits=Limits({name: limit}, (stated,)))

    def _wishing(self, said: _Said) -> Message:
        """Return wishes, limits and dismissals, or small talk and whatever else nothing is understood of."""
        limits = with_items(said.text, self.limits.read(said.text), self.parser, self.columns, said.context.shown)
        reading = self.parser.read(limits.rest)
        kinds = {
            Kind.WISH: set(reading.names) - set(limits.where),
            Kind.LIMIT: limits.where or (limits.dropped and not reading.dismissed),
            Kind.DISMISSAL: reading.dismissed,
        }
        if set(limits.where) == {NAME} and not kinds[Kind.WISH] and not reading.dismissed:  # "not the Birch Inn"
            gone = {name for one in limits.stated if one.name == NAME for name in one.limit["not"]}
            return Message(Kind.REJECT, items=tuple(item for item in self.columns.items if item.name in gone))
        for kind, found in kinds.items():
            if found:
                return Message(kind, said.places, reading=reading, limits=limits)
        for kind in (Kind.THANKS, Kind.GREETING):
            if whole_words(kind.value).search(said.plain):
                return Message(kind)
        return Message(Kind.UNCLEAR, said.places, reading=reading, limits=limits)

    def _named(self, plain: str) -> tuple[Item, ...]:
        """Return items that a text calls by their names."""
        words = re.findall(r"[^\W_]+", plain)
        found = {}
        for start in range(len(words)):
            for length in range(min(MOST_WORDS, len(words) - start), 0, -1):
                item = self.columns.by_name.get(" ".join(words[start : start + length]))
                if item is not None:
                    found[item.id] = item
        return tuple(found.values())

    def _feeling(self, said: _Said) -> Message | None:
        """Return feedback about something shown or named: it points at one, or tells of the past."""
        plain, places = said.plain, said.places
        named = () if places else self._named(plain)
        took = said.has("took") and not HAVING.search(said.core)
        about = PAST_OF_ONE if places or named else PAST
        told = took or about.search(plain) or ways("tells").search(said.core)
        past = PAST.search(plain) and re.match(r"(?:it|that|they|this|the|there|we|i)\b", said.core)
        if said.asks or not (places or named or (said.context.shown and (took or past))):
            return None
        rating = _rating(plain)
        at = places[0] if places else said.context.latest
        opinions: dict[int, Opinion] = {}
        if rating is not None:
            opinions[at] = Opinion([rating], {})
        for clause in CLAUSE.split(plain):
            about_items = references(RATING.sub(" ", clause), said.context.shown)
            at = about_items[0] if about_items else at
            felt = feeling(clause)
            signs = self.parser.signs(clause) if felt is not None or told else {}
            if felt is None and not any(signs.values()):
                continue
            aspects = {self.parser.objectives[k].name: _judged(felt, sign) for k, sign in signs.items()}
            for place in about_items if len(about_items) > 1 else (at,):
                opinion = opinions.setdefault(place, Opinion([], {}))
                opinion.aspects.update({name: worth for name, worth in aspects.items() if worth is not None})
                if felt is not None and not aspects:
                    opinion.whole.append(felt)
        if not opinions and ways("tells").search(said.core) and not took and places:
            # What is said of an item is no wish: it is asked whether that is good or bad.
            return Message(Kind.FEEDBACK, places) if self.parser.signs(plain) else None
        if not opinions:
            return Message(Kind.TAKEN, places, named) if took and (places or named or plain.endswith("it")) else None
        if len(opinions) > 1:  # of each its own
            return Message(Kind.FEEDBACK, tuple(opinions), opinions=opinions)
        (opinion,) = opinions.values()
        found = () if named else tuple(opinions) if len(places) < 2 else places
        return Message(Kind.FEEDBACK, found, named, utility=opinion.utility, aspects=opinion.aspects)


@dataclass(frozen=True)
class _Said:
    """A message in its forms: as written, in small plain letters, and from its point on; what it points at."""

    text: str
    plain: str
    core: str
    places: tuple[int, ...]
    context: Context

    def has(self, name: str) -> bool:
        """Tell whether it says something in one of the ways of a list."""
        return ways(name).search(self.core) is not None

    def beside(self, name: str) -> _Said:
        """Return what it says beside something of a list and apart from items: "cheaper" of "like 2 but cheaper"."""
        clauses = CLAUSE.split(ways(name).sub(" ", self.core))
        rest = ", ".join(clause for clause in clauses if not references(clause, self.context.shown))
        return replace(self, text=rest, plain=rest, core=rest, places=())

    @property
    def past(self) -> re.Pattern[str]:
        """What tells of the past in it."""
        return PAST_OF_ONE if self.places else PAST

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        if pattern(r"\b<dismissing>").search(self.core):  # "how it looks does not matter", "shade? not important"
            return False
        if self.text.rstrip(" !").endswith("?"):
            return True
        return whole_words("question").match(self.core) is not None and LETS.search(self.plain) is None


def _is_settled(core: str) -> bool:
    """Tell whether one item is picked in so many words, and nothing in them takes it back."""
    match = ways("settled").search(core)
    if match is None or UNDECIDED.search(core) or (feeling(core) or 1.0) < 0.0:
        return False
    return NEGATION.search(CLAUSE.split(core[: match.start()])[-1] + match.group()) is None


def _judged(felt: float | None, sign: int) -> float | None:
    """Return how an objective was: by a word of its own, as much as it was felt; else as all of it felt."""
    if not sign or (felt is not None and felt * sign > 0.0):
        return felt
    return FELT * sign


def _small_talk(plain: str) -> Kind | None:
    """Return thanks or a greeting, if a message is nothing else."""
    if re.search(r"[^\W\d_]", whole_words("greeting", "thanks", "courtesy").sub(" ", plain)):
        return None
    for kind in (Kind.THANKS, Kind.GREETING):
        if whole_words(kind.value).search(plain):
            return kind
    return None


def _rating(plain: str) -> float | None:
    """Return stars or points in a message, from -1 to 1; None if there are none.

    Examples
    --------
    >>> [_rating(text) for text in ("5 stars", "two out of five", "9/10", "a room for 2", "7 stars")]
    [1.0, -0.5, 0.7777777777777777, None, None]
    """
    match = RATING.search(plain)
    if match is None:
        return None
    given, most = (
        float(text) if text.isdigit() else float(NUMERALS[text])
        for text in (match["given"] or str(len(match["drawn"])), match["of"] or "5")
    )
    return 2.0 * (max(given, 1.0) - 1.0) / (most - 1.0) - 1.0 if given <= most else None


def _core(plain: str) -> str:
    """Return a message from its point on: "ok, please forget that" is "forget that"."""
    return re.sub(rf"^(?:(?:{'|'.join(table()['lead'])})(?!\w)[ ,.!:;-]*)+", "", plain) or plain


def _facts(limit: Any) -> list[float | str]:
    """Return the numbers and texts of a limit."""
    if isinstance(limit, dict):
        return [fact for part in limit.values() for fact in _facts(part)]
    if isinstance(limit, list | tuple):
        return [fact for part in limit for fact in _facts(part)]
    return [] if isinstance(limit, bool) else [float(limit) if isinstance(limit, int | float) else str(limit)]


def _same(fact: float | str, words: Sequence[str]) -> bool:
    """Tell whether words name a text, or one of its family."""
    parts = stems(str(fact))
    return bool(parts) and all(
        any(part == word or (len(part) > SAME_WORD and part[:SAME_WORD] == word[:SAME_WORD]) for word in words)
        for part in parts
    )
