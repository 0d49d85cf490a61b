"""Numbers as people write them, in figures and in words: 1,500, 2 grand, a couple hundred."""

import re

from druthers.limits.words import table

GROUPED = "|".join(rf"\d{{1,3}}(?:{mark}\d{{3}})+(?!\d)" for mark in (" ", ",", r"\.", "'"))
GLUED = r"(?=(?:-?ish|kg|g|km|cm|mm|m|gb|mb|tb|h|min|ml|l|lbs?|oz|w|am|pm|a\.m|p\.m)\b)"  # "300g"
NUMBER = rf"(?:[$€£¥]\s?)?(?:{GROUPED}|\d+(?:[.,]\d+)?)(?:\s?k?(?!\w)|{GLUED})(?:\s?[$€£¥])?"
TENS = r"(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty[\s-]<numbers>|<numbers>)"  # not "the old one three years ago"
SOME = r"an?\s+<some>(?:\s+of)?(?=\s+<powers>\b)"  # "a couple hundred"
COUNTED = rf"(?:half an?|(?:a|three) quarters? of an?|{SOME}|an?(?=\s+(?:<powers>|<whole>)\b)|{TENS})"
HALF = r"(?:\s+and\s+a\s+half)?"
SPELLED = COUNTED + rf"{HALF}(?:\s+<powers>(?:\s+(?:and\s+)?{TENS}(?!\s+<powers>\b)\b)?)?{HALF}"
ANY_NUMBER = rf"(?:{NUMBER}(?:\s+<powers>\b)?|\b{SPELLED}\b)"
FIRST_YEAR, LAST_YEAR = 1900, 2100


def is_year(number: float) -> bool:
    """Tell whether a number can be a year of our time."""
    return FIRST_YEAR <= number <= LAST_YEAR and number == int(number)


def value_of(text: str) -> float:
    """Return a number in figures or words.

    Examples
    --------
    >>> [
    ...     value_of(text)
    ...     for text in ("1,500", "2 grand", "two and a half thousand", "three and a half", "half an", "twenty-five")
    ... ]
    [1500.0, 2000.0, 2500.0, 3.5, 0.5, 25.0]
    >>> [value_of(text) for text in ("two hundred and fifty", "a couple of hundred", "half a grand", "a quarter of an")]
    [250.0, 200.0, 500.0, 0.25]
    >>> value_of("three quarters of an")
    0.75
    """
    powers: dict[str, float] = table()["powers"]
    names: dict[str, float] = {**table()["numbers"], **table()["some"], "half": 0.5, "quarter": 0.25}
    if text.startswith("three quarters"):
        return 0.75
    spelled = [word for word in re.split(r"[\s-]+", text) if word not in ("and", "of")]
    if spelled and spelled[0] in (*names, "a", "an"):
        whole = counted = 0.0
        for word in spelled:
            if word in powers:
                whole, counted = whole + (counted or 1.0) * powers[word], 0.0
            counted += names.get(word, 0.0)
        return whole + counted or 1.0
    for word in spelled[1:]:
        if word in powers:
            return value_of(spelled[0]) * powers[word]
    plain = re.sub(r"[$€£¥\s]", "", text)
    thousand = 1000.0 if plain.endswith("k") else 1.0
    plain = plain.rstrip("k")
    if re.fullmatch(r"\d{1,3}(?:[,.']\d{3})+", plain):
        return float(re.sub(r"[,.']", "", plain)) * thousand
    return float(plain.replace(",", ".").replace("'", "")) * thousand


def ends(low: str, high: str) -> tuple[float, float]:
    """Return the ends of a range: what the second one counts in, the first one does too.

    Examples
    --------
    >>> ends("one", "two hundred"), ends("2", "3k"), ends("80", "1 hundred")
    ((100.0, 200.0), (2000.0, 3000.0), (80.0, 100.0))
    """
    first, second = value_of(low), value_of(high)
    power = 1000.0 if high.endswith("k") else max((table()["powers"].get(word, 1) for word in high.split()), default=1)
    return (first * power if first < power and first * power < second else first), second


def plain_number(number: float) -> float:
    """Return a whole number as one."""
    return int(number) if number == int(number) else number
