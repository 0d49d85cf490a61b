"""What was understood of a query, as its event keeps it: told again, it is told as it was."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from druthers.advisor.answers import Heard
from druthers.advisor.messages import guessed
from druthers.advisor.wishes import DRAWS, sureness
from druthers.limits import Limits, Stated, check_shape
from druthers.limits.stated import joined
from druthers.stores import Event
from druthers.types import Evidence, Reading, Strength


def content(reading: Reading, limits: Limits, lost: Sequence[str]) -> dict[str, Any]:
    """Return what a text says, as the journal keeps it: what counts, and behind it all that its teller is told.

    A text cannot be read again as it was: by then other items may be shown, other limits hold, and readers know more.
    """
    guesses = guessed(reading)
    told = zip(reading.names, reading.strengths, reading.confidences, strict=True)
    draws = [DRAWS[strength] * sureness(at, guessed=name in guesses) for name, strength, at in told]
    return {
        "text": reading.text,
        "ranking": list(reading.names),
        **({"guessed": list(guesses)} if guesses else {}),
        "dismissed": list(reading.dismissed_names),
        "confidence": reading.confidence,
        "limits": check_shape(limits.where, math.inf),  # a journal takes nothing that cannot be decided with
        **({"hopes": check_shape(joined(limits.hopes), math.inf)} if limits.hopes else {}),
        "dropped": list(limits.dropped),
        "draws": draws,
        "only": Strength.ONLY in reading.strengths,
        "reading": {name: part for name, part in reading.as_dict().items() if name != "text"},
        "stated": [one._asdict() for one in limits.stated],
        "not_understood": list(lost),
    }


def heard_then(event: Event, objectives: Sequence[str]) -> Heard | None:
    """Return what was told of a query when it was heard; None for a text in a journal of before, which lacks it."""
    body, user = event.body, str(event.user)
    ranking = tuple(body["ranking"])
    if "text" not in body:
        return Heard(user, ranking, None, event.position, new=False)
    if "reading" not in body:
        return None
    stated = tuple(Stated(**one) for one in body["stated"])
    reading = _reading({**body["reading"], "text": body["text"]}, objectives)
    dropped, lost = tuple(body["dropped"]), tuple(body["not_understood"])
    hopes = dict(body.get("hopes", {}))
    return Heard(user, ranking, reading, event.position, stated, dropped, lost, hopes, new=False)


def _reading(told: Mapping[str, Any], objectives: Sequence[str]) -> Reading:
    """Return a reading from its plain values; objectives of then that are gone come after those of today."""
    pieces = told["evidence"]
    then = *told["ranking"], *told["dismissed"], *(one["objective"] for one in pieces)
    names = tuple(dict.fromkeys((*objectives, *then)))
    return Reading(
        text=told["text"],
        objectives=names,
        ranking=tuple(map(names.index, told["ranking"])),
        dismissed=tuple(map(names.index, told["dismissed"])),
        evidence=tuple(
            Evidence(**{**one, "objective": names.index(one["objective"]), "strength": Strength(one["strength"])})
            for one in pieces
        ),
        confidence=told["confidence"],
        confidences=tuple(told["confidences"]),
        strengths=tuple(map(Strength, told["strengths"])),
        leftover=tuple(told["leftover"]),
        question=told["question"],
        notes=tuple(told["notes"]),
    )
