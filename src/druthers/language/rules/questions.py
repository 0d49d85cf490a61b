"""What to ask back when a reading is not sure."""

from collections.abc import Sequence


def ask_back(names: Sequence[str], ranking: Sequence[int], sure: Sequence[float], changed: set[int]) -> str:
    """Return one question whose answer would settle the reading.

    Examples
    --------
    >>> ask_back(["price", "location", "service"], [0, 1], [0.4, 0.3], set())
    'Is it the price or the location that matters more?'
    >>> ask_back(["price", "location", "service"], [], [], set())
    'What matters most to you: price, location or service?'
    """
    for objective in sorted(changed):
        return f"Does the {names[objective]} matter to you?"
    if len(ranking) >= 2:
        first, second = (names[index] for index in ranking[:2])
        return f"Is it the {first} or the {second} that matters more?"
    if ranking:
        return f"Is it the {names[ranking[0]]} that matters to you?"
    listed = ", ".join(names[:-1]) + (" or " if len(names) > 1 else "") + names[-1]
    return f"What matters most to you: {listed}?" if len(names) > 1 else f"Does the {listed} matter to you?"
