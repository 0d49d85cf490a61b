"""What things are called: names of columns in words, and what words of other languages mean, from `glossary.toml`."""

import re
import tomllib
from functools import cache, cached_property, lru_cache, reduce
from importlib import resources
from typing import Any

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
# What words of a language end in that their other forms do not have, and what is left of a word at least.
_ENDINGS = {
    "de": r"innen|in|(?:er)?(?:en|em|er|es|e|n|s)",
    "fr": r"e?[sx]|e",
    "es": r"[aeo]?s?",
    "it": r"h?[aeio]",
    "pt": r"[aeo]?s?",
    "nl": r"en|e|s",
}
_LEFT = 4
_SUFFIX = re.compile(r"(?:artig|ig?keit|igst|lich|haft|heit|ung|los|frei|arm)")  # what makes another word of one
# Languages that write compounds as one word, and how many letters a part of one has at least, and the only known one.
_COMPOUNDING, _PART, _ONLY = ("de", "nl"), 3, 5

# Where a word of a name that was run together begins: "pricePerKidEUR", "covM2L", and not within "iPhone" or "kWh".
_JOINED = re.compile(r"(?<![A-Za-z\d])[a-z]{2,}\d*(?:[A-Z][A-Za-z\d]*)+(?![A-Za-z\d])")
_BEGINS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LOUD = re.compile(r"[A-Z\d]+(?:_[A-Z\d]+)+|[A-Z]{5,}")  # a name in capitals alone
_FLAG = re.compile(r"(?i)(?<=\w)[ _](?:y ?n|yes ?no|flag|bool|ind)$")  # how the name of a yes and no may end
# What names of columns measure their numbers in.
_UNITS = re.compile(
    r"(?:eur|euros?|usd|gbp|chf|ct|cents?|[kcm]?m|mi|[km]?g|lbs?|oz|m?l|h|hrs?|mins?|secs?|m?s|d|days|yrs?|years|mo|months|weeks|pct"
    r"|percent|kwh?|w|db|[gm]?hz|[gmt]b|[km]bps|sqm|m2|hp|kcal|c|stars|\w*\d\w*)",
    re.IGNORECASE,
)


class Wordings:
    r"""Lists of ways to say things, from a TOML file: patterns, in which `<name>` stands for any of another list.

    Examples
    --------
    >>> Wordings("druthers.limits", "words.toml").pattern(r"\b<soft>\b").search("ideally in vienna").group()
    'ideally'
    """

    def __init__(self, package: str, name: str) -> None:
        self._file = resources.files(package).joinpath(name)
        self.pattern, self.ways = cache(self._compiled), cache(self._ways)

    @cached_property
    def table(self) -> dict[str, Any]:
        """All lists."""
        return tomllib.loads(self._file.read_text("utf-8"))

    def any_of(self, *path: str) -> str:
        """Return the template of a pattern for any entry of a list."""
        entries: Any = reduce(lambda part, name: part[name], path, self.table)
        return f"(?:{'|'.join(entries)})"

    def _ways(self, *names: str) -> re.Pattern[str]:
        """Return a pattern for any of the ways of some lists."""
        return self.pattern("|".join(f"<{name}>" for name in names))

    def _compiled(self, template: str) -> re.Pattern[str]:
        while (filled := re.sub(r"(?<!\?P)<(\w+)>", lambda one: self.any_of(one[1]), template)) != template:
            template = filled
        return re.compile(template)


def in_words(name: str) -> str:
    """Return the name of a column as people would write it.

    Examples
    --------
    >>> in_words("minPlayers"), in_words("monthly_fee"), in_words("arr_time"), in_words("iPhone case")
    ('min players', 'monthly fee', 'arrival time', 'iPhone case')
    >>> in_words("cap_kg"), in_words("cap"), in_words("pricePerKidEUR"), in_words("SWIVEL_YN")
    ('capacity kg', 'cap', 'price per kid eur', 'swivel')
    >>> in_words("fuelPer100Km")
    'fuel per 100 Km'
    """
    name = re.sub(
        r"^(?:has|is|with)(?=\d)|[a-z](?=24h)", lambda match: f"{match.group()} ", name
    )  # `has5G`, `access24h`
    name = re.sub(r"(?<=[a-z][Pp]er)(\d+)", r" \1 ", name).strip()  # `fuelPer100Km`
    loud = name.lower() if _LOUD.fullmatch(name) else name
    parted = _FLAG.sub("", _JOINED.sub(lambda match: _quiet(_BEGINS.sub(" ", match.group())), loud))
    known = _listed()["short"] | ({} if parted == name and "_" not in name else _listed()["parts"])
    return re.sub(r"[^\W_]+", lambda word: known.get(word.group(), word.group()), parted.replace("_", " "))


def _quiet(words: str) -> str:
    """Return words in small letters, but what is all in capitals and no single letter, such as "USB"."""
    parts = words.split()
    return " ".join(
        one if one.isupper() and len(one) > 2 and not _UNITS.fullmatch(one) else one.lower() for one in parts
    )


def without_units(name: str) -> str:
    """Return the name of a column in words, without what its numbers are measured in where it was made by a machine.

    Examples
    --------
    >>> without_units("price_eur"), without_units("walkToStation_min"), without_units("bootVolume (l)")
    ('price', 'walk to station', 'boot volume')
    >>> without_units("hours a week"), without_units("days_h")
    ('hours a week', 'days')
    """
    words = in_words(name)
    if words == name and "(" not in name:
        return name
    parts = re.sub(r"\([^)]*\)", " ", words).split()
    while len(parts) > 1 and (_UNITS.fullmatch(parts[-1]) or parts[-1] in ("per", "in")):
        parts.pop()
    bare = parts in ([], ["has"]) or (len(words.split()) > 2 and _UNITS.fullmatch(" ".join(parts)))
    return words if bare else " ".join(parts)  # "has5G" and "eurPerL" would be nothing without them


@cache
def _listed() -> dict[str, Any]:
    """Return all that the file holds."""
    return tomllib.loads(resources.files("druthers").joinpath("glossary.toml").read_text("utf-8"))


@cache
def _entries() -> list[tuple[list[str], list[list[str]]]]:
    """Return for each thing its English words, and those of each other language."""
    entries = [entry.partition(":") for entry in _listed()["words"].split(";") if entry.strip()]
    return [
        ([word.strip() for word in english.split(",")], [part.split() for part in others.split("|")])
        for english, _, others in entries
    ]


@cache
def translations(language: str) -> dict[str, list[str]]:
    """Return what words of a language mean: English words, the likeliest first.

    Examples
    --------
    >>> translations("fr")["paysage"]
    ['scenery', 'landscape', 'views', 'view']
    """
    found: dict[str, list[str]] = {}
    for english, others in _entries():
        for word in dict(zip(LANGUAGES, others, strict=False)).get(language, ()):
            known = found.setdefault(word.replace("_", " "), [])
            known += [one for one in english if one not in known]
    return found


@cache
def called() -> dict[str, list[str]]:
    """Return what English words are in other languages.

    Examples
    --------
    >>> called()["leather"][:3]
    ['leder', 'cuir', 'cuero']
    """
    found: dict[str, list[str]] = {}
    for english, others in _entries():
        for word in english:
            found.setdefault(word, []).extend(one.replace("_", " ") for part in others for one in part)
    return found


def root(word: str, language: str) -> str:
    """Return what the forms of a word have in common; the word itself where little would be left.

    Examples
    --------
    >>> root("ziegen", "de"), root("individuelle", "fr"), root("guitarras", "es"), root("bianche", "it")
    ('zieg', 'individuel', 'guitarr', 'bianc')
    """
    cut = re.sub(rf"(?:{_ENDINGS[language]})$", "", word) if language in _ENDINGS else word
    cut = re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", cut) if language == "fr" else cut
    return cut if len(cut) >= _LEFT else word


@cache
def _roots(language: str) -> dict[str, list[str]]:
    """Return what the roots of single words of a language mean."""
    found: dict[str, list[str]] = {}
    for word, english in translations(language).items():
        if " " not in word:
            known = found.setdefault(root(word, language), [])
            known += [one for one in english if one not in known]
    return found


@cache
def phrases(language: str) -> dict[tuple[str, ...], list[str]]:
    """Return what phrases of a language mean, by their words."""
    split = {tuple(re.findall(r"[^\W_]+", text)): english for text, english in translations(language).items()}
    return {words: english for words, english in split.items() if len(words) > 1}


@cache
def _in_phrases(language: str) -> frozenset[str]:
    """Return the words that phrases of a language are made of."""
    return frozenset(word for words in phrases(language) for word in words)


def knows(word: str, language: str) -> bool:
    """Tell whether a word is one of a language, in any of its forms, or in a phrase.

    Examples
    --------
    >>> knows("ziegen", "de"), knows("bain", "fr"), knows("goats", "de")
    (True, True, False)
    """
    return bool(_simple(word, language)) or word in _in_phrases(language)


@lru_cache(maxsize=8192)
def meanings(word: str, language: str) -> tuple[str, ...]:
    """Return what a word of a language means, in any of its forms; of a compound, what its parts do.

    Examples
    --------
    >>> meanings("ziegenkase", "de"), meanings("baumwollenes", "de"), meanings("rosse", "it"), meanings("and", "de")
    (('goat', "goat's milk", 'goats', 'cheese', 'cheeses'), ('cotton',), ('red',), ())
    """
    simple = _simple(word, language)
    if simple or language not in _COMPOUNDING:
        return tuple(simple)
    cuts = [(word[:cut], word[cut:]) for cut in range(_PART, len(word) - _PART + 1)]
    parts = [(_simple(first, language), _simple(last, language)) for first, last in cuts]
    both = next(([*first, *last] for first, last in parts if first and last), None)
    if both is not None:
        return tuple(both)
    sides = [*cuts, *((last, first) for first, last in cuts)]
    whole = [one for one, rest in sides if len(root(one, language)) >= _ONLY and not _SUFFIX.match(rest)]
    known = [(len(one), _simple(one, language)) for one in whole]
    return tuple(max((pair for pair in known if pair[1]), default=(0, []))[1])


def _simple(word: str, language: str) -> list[str]:
    """Return what a word means as it is listed, or in another of its forms."""
    found = translations(language).get(word) or _roots(language).get(root(word, language), [])
    plain = re.sub("([aou])e", r"\1", word) if language == "de" and not found else word  # "Kueche"
    return found if plain == word else _simple(plain, language)
