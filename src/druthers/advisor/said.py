"""A message in its forms, by the ways to say things of `messages.toml`: what it points at, and how it feels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from druthers.advisor.messages import Context, Kind
from druthers.catalogs import Item
from druthers.glossary import Wordings
from druthers.language.data import contractions
from druthers.limits.words import blanked, fold, pattern

OF_NONE = r"(?<!\ba )(?<!\ban )"  # before the name of an item: "a sea view" is not the Sea View
PLACES = ("first", "second", "third", "fourth", "fifth")
WORDINGS = Wordings("druthers.advisor", "messages.toml")
table, ways = WORDINGS.table, WORDINGS.ways
CLAUSE = re.compile(r"[.;:!?,]|\b(?:but|and|though|although|while|yet|however|aber|und|pero|y|mais|et|ma|maar|en)\b")
PARTS = re.compile(r"(\s*[.;:!?,]\s*(?:(?:and|but|so|then)\b\s*)?|\s+(?:but|and|though|while|yet|so|instead)\s+)")
BARE = (*PLACES, "last", "both", "numbered", "courtesy", "lead")  # of what says only which item is meant
NUMERAL = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|hundred"
RATING = re.compile(
    rf"(?<![\w.,])(?P<given>{NUMERAL})"
    r"(?:(?:\s*(?:stars?|points?))?\s*(?:/|\bout of\b)\s*(?P<of>5|10|100|five|ten|hundred)\b|\s*stars?\b)"
    r"|(?:^|\s)(?P<drawn>[*★]{1,5})(?:\s|$)"
)
NUMERALS = dict(zip(NUMERAL.split("|")[1:], (*range(1, 11), 100), strict=True))
SENTENCES = re.compile(r"(?<=[.;!?])\s+")
MOST_LETTERS = 2_000
# "dont", "whats", "youre", "im": how many letters of an ending lack their mark, by what it stands for.
ENDINGS = {"not": 1, "is": 1, "am": 1, "us": 1, "are": 2, "have": 2}


@cache
def whole_words(*names: str) -> re.Pattern[str]:
    """Return a pattern for whole words of these lists."""
    return re.compile(rf"(?<!\w)(?:{ways(*names).pattern})(?!\w)")


@cache
def _feelings(abroad: bool) -> list[tuple[re.Pattern[str], float]]:
    """Return words with how they feel, the longest first."""
    tables = (*table["feeling"].items(), *(table["feeling_abroad"].items() if abroad else ()))
    words = [(word, float(value)) for value, listed in tables for word in listed]
    return [(re.compile(rf"\b{word}\b"), value) for word, value in sorted(words, key=lambda pair: -len(pair[0]))]


def feeling(text: str, *, abroad: bool = False) -> float | None:
    """Return how a clause feels, from -1 to 1; None if it does not say; `abroad` tells that it is not in English.

    Examples
    --------
    >>> feeling("it was filthy"), feeling("not bad at all"), feeling("we went there")
    (-1.0, 0.35, None)
    >>> feeling("das gefallt mir nicht", abroad=True)
    -0.7
    """
    found = []
    for word, value in _feelings(abroad):
        while match := word.search(text):
            negated = ways("negation").search(text[max(0, match.start() - 18) : match.start()]) is not None
            found.append(-0.5 * value if negated else value)
            text = blanked(text, match.span())
    return sum(found) / len(found) if found else None


def without_feelings(text: str) -> str:
    """Return a text without the words that tell how something felt.

    Examples
    --------
    >>> without_feelings("we loved it").split()
    ['we', 'it']
    """
    for word, _ in _feelings(False):
        text = word.sub(" ", text)
    return text


def called(text: str, item: Item) -> int:
    """Return where a text, in small plain letters, calls an item by its name; -1 where it does not.

    Examples
    --------
    >>> called("sea view it is", Item("a", "Sea View")), called("one with a sea view", Item("a", "Sea View"))
    (0, -1)
    """
    name = re.sub(r"^the\s+", "", fold(item.name))
    found = re.search(rf"{OF_NONE}{re.escape(name)}", text) if len(name) > 2 and name in text else None
    return -1 if found is None else found.start()


def without_items(text: str) -> str:
    """Return a text without what points at items by number or ordinal, every other letter where it was.

    Examples
    --------
    >>> without_items("how many rooms does 2 have?")
    'how many rooms does   have?'
    """
    return blanked(text, *(match.span() for match in ways("pointing").finditer(fold(text))))


def references(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return which of the items shown a text is about: by number, by ordinal or by name, in the order of the text.

    Examples
    --------
    >>> references("compare 1 and the last one", [Item("a"), Item("b"), Item("c")])
    (0, 2)
    """
    return tuple(place for place in _places(text, shown) if 0 <= place < len(shown))


def beyond(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return the numbers in a text of items that were not shown, apart from those that count something else.

    Examples
    --------
    >>> beyond("compare 1 and 9", [Item("a"), Item("b")])
    (9,)
    """
    return tuple(place + 1 for place in _places(without_counts(text), shown) if place >= len(shown) > 0)


def _places(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return which places a text speaks of, whether or not anything was shown there."""
    found = [(match.start(2), int(match.group(2)) - 1) for match in ways("place").finditer(text)]
    for place, words in enumerate(table["counts"]):
        alone = rf"^(?!one\b)(?:{words})(?= (?:is|was|looks?|sounds?|seems?) (?!enough|too|plenty)\w)"
        numbered = WORDINGS.pattern(rf"(?<!\w)<numbered>\s*(?:{words})\b(?!-[a-z])|{alone}")
        found += [(match.start(), place) for match in numbered.finditer(text)]
    for match in ways("paired").finditer(text):  # "between one and three"
        for group in (1, 2):
            counted = (place for place, words in enumerate(table["counts"]) if match[group] in words.split("|"))
            found += [(match.start(group), place) for place in counted]
    for match in ways("first_so_many").finditer(text):
        many = 2 if "2" in match.group() or "two" in match.group() else 3
        some = range(many) if match["first"] else range(max(0, len(shown) - many), len(shown))
        found += [(match.start(), place) for place in some]
    for place, name in enumerate(PLACES):
        ordinal = WORDINGS.pattern(rf"<not_ours>\b<{name}>\b<no_item>")
        found += [(match.start(), place) for match in ordinal.finditer(text)]
    found += [(match.start(), len(shown) - 1) for match in ways("the_last").finditer(text)]  # not "last year"
    for match in WORDINGS.pattern(r"\b<both>\b").finditer(text):
        found += [(match.start(), place) for place in range(2 if match.group() == "both" else len(shown))]
    for place, item in enumerate(shown):
        if (at := called(text, item)) >= 0:
            found.append((at, place))
    return tuple(dict.fromkeys(place for _, place in sorted(found)))


@dataclass(frozen=True)
class Said:
    """A message in its forms."""

    text: str  # as it was written
    plain: str  # in small plain letters
    core: str  # the same from its point on
    places: tuple[int, ...]  # which of the items shown it points at
    context: Context  # what it comes after

    @classmethod
    def of(cls, text: str, context: Context) -> "Said":
        """Return a text in its forms."""
        text = ways("tag").sub("", text)
        plain = fold(text[:MOST_LETTERS]).replace("\N{THUMBS UP SIGN}", " thumbs up ")
        plain = " ".join(plain.split()).strip(" .!")
        plain = re.sub(r"\bno\.? ?(?=[1-9]\b(?!-[a-z]))", "number ", plain)
        plain = re.sub(r"^y (?=(?:the|is|not|did|do|this|that|number)\b|\d)", "why ", plain)
        plain = re.sub(r"\b[a-z]+\b(?!')", lambda match: _marked(match.group()), plain)
        places = references(without_counts(plain), context.shown) or _in_short(text, context.shown)
        return cls(text, plain, _core(plain), places, context)

    def has(self, name: str) -> bool:
        """Tell whether it says something in one of the ways of a list."""
        return ways(name).search(self.core) is not None

    def beside(self, name: str) -> "Said":
        """Return what it says beside something of a list and apart from items: "cheaper" of "like 2 but cheaper"."""
        clauses = CLAUSE.split(ways(name).sub(" ", self.core))
        rest = ", ".join(clause for clause in clauses if not references(clause, self.context.shown))
        return replace(self, text=rest, plain=rest, core=rest, places=())

    @property
    def picks(self) -> bool:
        """Whether one of its sentences picks something shown and asks nothing: "we'll have 3. Can you deliver?"."""
        for one in SENTENCES.split(self.plain):
            core = _core(one)
            asks = one.endswith("?") or whole_words("question").match(core)
            if not asks and references(one, self.context.shown) and ways("choose").search(core):
                return True
        return False

    @property
    def decided(self) -> bool:
        """Whether what it picks is taken: not asked about, and not only thought of."""
        return not ways("undecided").search(self.core) and (self.picks or not self.text.rstrip(" !").endswith("?"))

    @property
    def beyond(self) -> bool:
        """Whether it points at an item beyond those shown, and at none of these: "7 was terrible"."""
        further = beyond(self.plain, self.context.shown) or ways("beyond").search(without_counts(self.plain))
        return not self.places and bool(further)

    @property
    def settled(self) -> bool:
        """Whether it picks one item in so many words, and nothing in them takes it back."""
        match = ways("settled").search(self.core)
        if match is None or ways("undecided").search(self.core) or (feeling(self.core) or 1.0) < 0.0:
            return False
        return ways("negation").search(CLAUSE.split(self.core[: match.start()])[-1] + match.group()) is None

    @property
    def bare(self) -> bool:
        """Whether it says nothing beside which item is meant."""
        return bool(self.places) and _is_item(self.core)

    @property
    def rejects(self) -> bool:
        """Whether it turns down something shown: "no to 2" begins with what may stand before the point."""
        return ways("reject").search(self.plain) is not None or "\N{THUMBS DOWN SIGN}" in self.text

    @property
    def apart(self) -> tuple[tuple[int, ...], str] | None:
        """Which items some of its clauses turn down, and the others, if these point at other items.

        Examples
        --------
        >>> from druthers.catalogs import Item
        >>> shown = Context([Item("a"), Item("b"), Item("c")])
        >>> [Said.of(text, shown).apart for text in ("not 1, I'll take 2", "avoid 1 and 2")]
        [((0,), "i'll take 2"), None]
        """
        if len(self.places) < 2 or not self.rejects or "?" in self.text:
            return None
        clauses: list[str] = []
        between = ""
        for place, part in enumerate(PARTS.split(self.plain)):
            if place % 2:
                between = part
            elif clauses and (_goes_on(between, part) or _begins(clauses[-1], between, part)):
                clauses[-1] += between + part
            else:
                clauses.append(part)
        down = [one for one in clauses if ways("reject").search(one)]
        places = references(", ".join(down), self.context.shown)
        rest = ", ".join(one.strip() for one in clauses if one not in down and one.strip())
        others = set(references(rest, self.context.shown)) - set(places)
        return (places, rest) if places and others else None

    @property
    def past(self) -> re.Pattern[str]:
        """What tells of the past in it."""
        return ways("past_of_one" if self.places else "past")

    @property
    def puts_right(self) -> bool:
        """Whether it puts right how something was that was rated last: "sorry, I meant it was great"."""
        again = self.context.rated is not None and ways("corrects").search(self.plain) is not None
        return again and not self.asks and ways("how_it_was").search(self.plain) is not None

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        if ways("best").match(self.core) and self.text.rstrip().endswith("?"):  # "which one matters least?"
            return True
        if pattern(r"\b<dismissing>").search(self.core):  # "how it looks does not matter", "shade? not important"
            return False
        if self.text.rstrip(" !").endswith("?"):
            return True
        return whole_words("question").match(self.core) is not None and ways("lets").search(self.plain) is None

    @property
    def asks_abroad(self) -> bool:
        """Whether what is not in English is a question: what begins with "que sea" is none."""
        return self.asks and ("?" in self.text or ways("such_that").match(self.core) is None)

    @property
    def told(self) -> str:
        """What it says without what it asks, unless it only asks: of what is asked nothing is known.

        Examples
        --------
        >>> [Said.of(text, Context()).told for text in ("2 looks fine, but is it clean? I like 3", "how bad was 1?")]
        ['2 looks fine, i like 3', 'how bad was 1?']
        """
        told = []
        for one in SENTENCES.split(self.plain):
            starts = [0, *(match.end() for match in CLAUSE.finditer(one))] if one.endswith("?") else []
            asked = [at for at in starts if whole_words("question").match(_core(one[at:].strip()))]
            told.append(re.sub(r"\s+(?:but|and|though|yet)\s*$", "", one[: asked[0]]).strip() if asked else one)
        return " ".join(filter(None, told)) or self.plain

    @property
    def small_talk(self) -> Kind | None:
        """Thanks or a greeting, if it is nothing else."""
        if re.search(r"[^\W\d_]", whole_words("greeting", "thanks", "courtesy").sub(" ", self.plain)):
            return None
        return self.courtesy

    @property
    def courtesy(self) -> Kind | None:
        """Thanks or a greeting, whatever else it is."""
        found = (kind for kind in (Kind.THANKS, Kind.GREETING) if whole_words(kind.value).search(self.plain))
        return next(found, None)

    @property
    def rating(self) -> float | None:
        """Stars or points in it, from -1 to 1; None if there are none.

        Examples
        --------
        >>> texts = "5 stars", "two out of five", "9/10", "a room for 2", "7 stars"
        >>> [Said.of(text, Context()).rating for text in texts]
        [1.0, -0.5, 0.7777777777777777, None, None]
        """
        match = RATING.search(self.plain)
        if match is None:
            return None
        given, most = (
            float(text) if text.isdigit() else float(NUMERALS[text])
            for text in (match["given"] or str(len(match["drawn"])), match["of"] or "5")
        )
        return 2.0 * (max(given, 1.0) - 1.0) / (most - 1.0) - 1.0 if given <= most else None


def _in_short(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return which of the items shown a text calls by a part of their names that no other one has: "does Ana drive?".

    Examples
    --------
    >>> _in_short("does Ana teach maths?", [Item("a", "Ana Costa"), Item("b", "Ben Costa")])
    (0,)
    """
    words = [{fold(word) for word in re.findall(r"[^\W\d_]{3,}", item.name)} for item in shown]
    found = []
    for match in ways("in_short").finditer(text):
        having = [place for place, own in enumerate(words) if fold(match["name"]) in own]
        found += having if len(having) == 1 else []
    return tuple(dict.fromkeys(found))


def without_counts(plain: str) -> str:
    """Return a text without points, times, ages and numbers of people: none of them is that of an item."""
    return ways("counted", "ages").sub(" ", ways("spans").sub(",", RATING.sub(" ", plain)))


def _goes_on(between: str, part: str) -> bool:
    """Tell whether a clause only adds an item to the one before: "and 3", not ", 3 please" nor "but 3"."""
    return _is_item(part) and (
        between.strip() == "and" or (between.strip() == "," and not ways("choose").search(part.strip()))
    )


def _begins(clause: str, between: str, part: str) -> bool:
    """Tell whether a clause is only the first of the items that the next one is about: "1 and 3 are out"."""
    return _is_item(clause) and between.strip() in ("and", ", and") and not part.startswith("not ")


def _is_item(clause: str) -> bool:
    return re.search(r"[^\W\d_]{3,}", whole_words(*BARE).sub(" ", clause)) is None


@lru_cache(maxsize=4096)
def _marked(word: str) -> str:
    """Return a word whose contraction has its mark: "dont" is "don't"."""
    opened = contractions().get(word, "").split()
    letters = ENDINGS.get(opened[-1], 0) if len(opened) == 2 and not word.endswith("not") else 0
    return f"{word[:-letters]}'{word[-letters:]}" if letters else word


def _core(plain: str) -> str:
    """Return a message from its point on: "ok, please forget that" is "forget that"."""
    plain = ways("assent").sub("", plain) or plain
    return WORDINGS.pattern(r"^(?:<lead>(?!\w)[ ,.!:;-]*)+").sub("", plain) or plain
