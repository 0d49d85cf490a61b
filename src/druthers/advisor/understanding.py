"""What is a message? Rules by what it says first; a model of how people say things where they do not know."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import replace
from functools import partial

from druthers.advisor.comparing import NAME, with_items
from druthers.advisor.kinds import guess, sounds_good
from druthers.advisor.messages import Context, Kind, Message
from druthers.advisor.opinions import FELT, find_opinion
from druthers.advisor.said import BARE, CLAUSE, LETS, Said
from druthers.advisor.sayings import NEGATION, feeling, table, ways, whole_words
from druthers.advisor.taking_back import find_taken_back, in_force
from druthers.catalogs import Item
from druthers.denials import find_denials
from druthers.language import Parser, is_english
from druthers.language.models.encoders import Encoder
from druthers.limits import Columns, LimitReader, Limits, Stated
from druthers.limits.quantities import find_quantities, plain_number
from druthers.types import Reading

# How probable what the model says must be where no rule knows, where a wish was read, and to hear no wish at all.
LIKELY, SURE, CERTAIN = 0.5, 0.8, 0.9
CLEARLY = 0.35  # how far from even odds what sounds good or bad must be
MOST_WORDS = 6  # of a name
SAME_SIZE = 5.0  # times a number, or a part of it: what may be meant in its place
UNDECIDED = re.compile(r"\b(?:if|unless|whether|almost|nearly|until)\b")  # "I'm almost sold on the first one"
# Between two items: which one?
PAIRED = re.compile(r"\b(?:which|who|versus|vs?|against|between|torn|compared?)\b")
MET = re.compile(r"\b(?:already|been|seen|before)\b")
REQUEST = re.compile(r"(?:can|could|may|shall) (?:i|we)\b")
# Where something is: "in Atlantis", "hotels in New Gotham please", and in small letters where nothing else is said.
IN_A_PLACE = re.compile(r"\b(?P<place>[Ii]n (?:[Tt]he )?[A-Z][^\W\d_A-Z]{2,}(?: [A-Z][^\W\d_A-Z]+)*)\b")
SOMEWHERE = re.compile(
    r"\W*(?:(?:some(?:thing|where)|any(?:thing|where)|one|please)\s+)*(?P<place>in (?:the )?[^\W\d_]{3,})"
    r"(?:,? please)?\W*",
    re.I,
)
# What may be said of some items while others are turned down.
BESIDE = (Kind.TAKEN, Kind.COMPARE, Kind.FEEDBACK, Kind.LIKE, Kind.DETAIL)
# "book it": what was spoken of.
SPOKEN_OF = re.compile(r"\b(?:it|this|that|these|those|them|one)\b")
NOTHING = Context()


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
        said = Said.of(text, context)
        if said.small_talk is not None:
            return Message(said.small_talk)
        if ways("no").fullmatch(said.plain):
            return Message(Kind.NO)
        if (apart := said.apart) is not None and not MET.search(said.plain):  # "avoid 1 and compare 2 and 3"
            rejected, rest = apart
            other = self.read(rest, context)
            if other.kind in BESIDE and (other.kind != Kind.FEEDBACK or other.opinions or other.utility is not None):
                return replace(other, rejected=tuple(sorted(set(rejected) - set(other.places))))
            wish = other if other.kind in (Kind.WISH, Kind.LIMIT, Kind.DISMISSAL) else Message(Kind.REJECT)
            return Message(Kind.REJECT, rejected, reading=wish.reading, limits=wish.limits)
        ways_ = self._forgetting, self._asking, self._picking, self._feeling, self._another_number, self._asking_of
        found = next((message for way in ways_ if (message := way(said)) is not None), None)
        return self._guessed(said, found or self._wishing(said))

    def _guessed(self, said: Said, message: Message) -> Message:
        """Return what a message is that no rule knows, or that was read with doubts: the model may know better."""
        reading = message.reading
        encoder = self._model(said) if _is_doubtful(said, message) else None
        if encoder is None:
            return message
        name, chance = guess(said.text, encoder, [item.name for item in said.context.shown])
        kind = Kind(name)
        lost = message.kind in (Kind.UNCLEAR, Kind.DETAIL, Kind.FEEDBACK)
        if kind == message.kind or chance < (LIKELY if lost else SURE) or kind in (Kind.WISH, Kind.LIMIT):
            return message
        if reading is None:
            return (None if kind in (Kind.DISMISSAL, Kind.UNCLEAR) else self._as(kind, said, message)) or message
        if kind == Kind.DISMISSAL:
            turned = len(reading.ranking) == 1 and not reading.dismissed and not message.limits.where
            gone = replace(reading, ranking=(), confidences=(), strengths=(), dismissed=reading.ranking)
            return Message(kind, reading=gone, limits=message.limits) if turned else message
        if kind == Kind.UNCLEAR:
            return Message(kind) if chance >= CERTAIN else message
        return self._as(kind, said, message) or message

    def _as(self, kind: Kind, said: Said, message: Message) -> Message | None:
        """Return a message as one of a kind, if it has what that needs."""
        shown, reading = said.context.shown, message.reading
        if kind == Kind.THANKS and whole_words("insult").search(said.plain):
            return None
        if kind == Kind.FORGET_THAT:
            names = in_force(said.core, said.context, self.parser, self.limits)
            only = (*said.context.wished, *said.context.limits)
            return Message(kind, forgotten=names or only) if names or len(only) == 1 else None
        if kind == Kind.FEEDBACK:
            return self._feeling(said, surely=True) if shown else None
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
        if kind in (Kind.TAKEN, Kind.REJECT, Kind.LIKE):
            enough = enough and bool(said.places or named or SPOKEN_OF.search(said.core))
        return Message(kind, said.places, named) if enough else None

    def _forgetting(self, said: Said) -> Message | None:
        return find_taken_back(said, self.parser, self.limits)

    def _feeling(self, said: Said, *, surely: bool = False) -> Message | None:
        named = () if said.places else self._named(said.plain)
        return find_opinion(said, self.parser, named, partial(self._sound, said), surely=surely)

    def _model(self, said: Said) -> Encoder | None:
        """Return the sentence model, if a message is in a language that it knows."""
        return self.parser.encoder() if re.search(r"\w\w", said.plain) and is_english(said.text) else None

    def _sound(self, said: Said, text: str) -> float | None:
        """Return how good a part of a message sounds, from -1 to 1; None where that is not clear."""
        encoder = self._model(said)
        chance = 0.5 if encoder is None else sounds_good(text, encoder, [item.name for item in said.context.shown])
        return None if abs(chance - 0.5) < CLEARLY else math.copysign(FELT, chance - 0.5)

    def _asking(self, said: Said) -> Message | None:
        """Return a question about items, about the person or about what can be said."""
        if said.has("help") and (said.asks or self._wishing(said).kind not in (Kind.WISH, Kind.LIMIT)):
            return Message(Kind.HELP)
        if said.has("profile") and (said.asks or said.has("profile_told")):
            return Message(Kind.PROFILE)
        shown = said.context.shown
        if said.picks and not said.rejects:
            return None
        both = len(said.places) > 1 and said.has("compare")  # "pros and cons of 1 and 2"
        if said.has("why") and not both and (shown or re.match(r"\w+\W*$", said.core)):
            return Message(Kind.WHY, said.places)
        pair = len(said.places) > 1 and (said.asks or (PAIRED.search(said.core) and not said.rejects))
        if (said.has("compare") or pair) and len(shown) > 1 and (said.asks or not said.past.search(said.core)):
            return Message(Kind.COMPARE, said.places)
        telling = LETS.search(said.plain) is None and ways("detail").match(said.core)
        asked = said.question
        turned_down = said.places and said.rejects  # "I don't want the first one. What else is there?"
        if turned_down or not (said.asks or telling or ways("find").match(asked)):
            return None
        if said.has("best"):
            reading = self.parser.read(said.text)
            if reading.ranking or reading.dismissed:  # "which barks least?"
                reading = replace(reading, ranking=reading.ranking or reading.dismissed, dismissed=())
                return Message(Kind.BEST, said.places, reading=reading, shown=said.has("shown"))
        limits = self.limits.read(said.text)
        if ways("find").match(asked) and limits.where and not said.places:
            return Message(Kind.FIND, said.places, limits=limits)
        named = () if said.places else self._named(said.plain)
        one = said.places or named or (shown and (limits.where or re.search(r"\b(?:it|that|this|they)\b", said.core)))
        if one and ways("detail").match(asked):
            return Message(Kind.DETAIL, said.places, named, self.parser.read(limits.rest), limits)
        return None

    def _asking_of(self, said: Said) -> Message | None:
        """Return a question about an item in words that no rule knows: "can I park at the first one?"."""
        named = () if said.places else self._named(said.plain)
        if not said.asks or not (said.places or named) or re.search(r"\bthan\b", said.plain):
            return None
        limits = self.limits.read(said.text)
        return Message(Kind.DETAIL, said.places, named, self.parser.read(limits.rest), limits)

    def _picking(self, said: Said) -> Message | None:
        """Return what points at some of the items shown, or away from them."""
        if not said.context.shown:
            return Message(Kind.OTHER) if said.has("other") and self._wishing(said).kind == Kind.UNCLEAR else None
        words = re.findall(r"[^\W_]+", said.plain)
        called = self.columns.by_name.get(" ".join(words[words[:1] == ["the"] :]))
        if called is not None:  # nothing but a name, as an answer to "which of the two?"
            return Message(Kind.TAKEN, said.places, () if said.places else (called,))
        other = said.has("other")
        # "do I get a paddle with the first?" picks nothing
        wonders = said.asks and not said.picks and REQUEST.match(said.core) is None
        picked = said.picks or (said.has("choose") and not wonders)
        chosen = said.places and picked and not said.rejects
        if said.places and _is_settled(said.core):
            return Message(Kind.TAKEN, said.places)
        if chosen and not said.past.search(said.core) and feeling(said.core) is None:  # "ok, book 3" praises nothing
            return Message(Kind.TAKEN, said.places)
        felt = find_opinion(said, self.parser, ()) if said.places else None
        gone = said.rejects and not MET.search(said.plain)  # "ugh, not 3"; not "we already had 3, lovely"
        if felt is not None and felt.kind == Kind.FEEDBACK and not said.has("like") and not gone:
            return replace(felt, kind=Kind.REJECT) if other and (felt.utility or 0.0) < 0.0 else felt
        named = () if said.places else self._named(said.plain)
        if said.rejects or (other and said.places and not said.has("like")):
            wish = None if said.places else self._wishing(said)  # "battery life? I don't need it"
            if wish is not None and wish.kind == Kind.DISMISSAL:
                return wish
            beside = self._wishing(said.beside("reject")) if said.places else None
            reading, limits = (None, Limits()) if beside is None else (beside.reading, beside.limits)
            bad = None if felt is None or (felt.utility or 0.0) >= 0.0 else felt.utility
            return Message(Kind.REJECT, said.places, named, reading, limits, utility=bad)
        if said.has("like"):
            wish = self._wishing(said.beside("like"))
            return Message(Kind.LIKE, said.places, named, wish.reading, wish.limits)
        if other:
            wish = self._wishing(said)
            return Message(Kind.OTHER, reading=wish.reading, limits=wish.limits)
        bare = said.places and _is_bare(said.core)
        return Message(Kind.TAKEN, said.places) if bare or chosen else None

    def _another_number(self, said: Said) -> Message | None:
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
        if len(quantities) != 1 or not bounds or not (_corrects(said, quantities[0].numbers[0], current)):
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

    def _wishing(self, said: Said) -> Message:
        """Return wishes, limits and dismissals, or small talk and whatever else nothing is understood of."""
        limits = with_items(said.text, self.limits.read(said.text), self.parser, self.columns, said.context.shown)
        limits = self._without_strange_places(limits)
        reading = self.parser.read(limits.rest)
        if limits.where:  # what is left of a limit's sentence is no guess at a wish: "Kent or Surrey, nowhere else"
            reading = _without_guesses(reading)
        kinds = {
            Kind.WISH: set(reading.names) - set(limits.where),
            Kind.LIMIT: limits.where or (limits.dropped and not reading.dismissed),
            Kind.DISMISSAL: reading.dismissed,
        }
        if set(limits.where) == {NAME} and not kinds[Kind.WISH] and not reading.dismissed:  # "not the Birch Inn"
            named = {name for one in limits.stated if one.name == NAME for name in one.limit["not"]}
            return Message(Kind.REJECT, items=tuple(item for item in self.columns.items if item.name in named))
        denied = " ".join(
            match["what"] or "" for match in find_denials(said.plain)
        )  # "I didn't say cheap, I said clean"
        gone = in_force(denied, said.context, self.parser, self.limits) if denied else ()
        most = len(reading.names) == 1 and not limits.where and ways("superlative").fullmatch(said.core) is not None
        for kind, found in kinds.items():
            if found:
                return Message(kind, said.places, reading=reading, limits=limits, forgotten=gone, most=most)
        if gone:
            return Message(Kind.FORGET_THAT, forgotten=gone)
        for kind in (Kind.THANKS, Kind.GREETING):
            if whole_words(kind.value).search(said.plain):
                return Message(kind)
        return Message(Kind.UNCLEAR, said.places, reading=reading, limits=limits)

    def _without_strange_places(self, limits: Limits) -> Limits:
        """Return limits with places that no item is at among what fits nothing: they are no guess at a wish."""
        rest = limits.rest
        if not self.limits.places or not is_english(rest):
            return limits
        found = [match for match in (SOMEWHERE.fullmatch(rest), *IN_A_PLACE.finditer(rest)) if match is not None]
        for match in found[:1]:
            start, end = match.span("place")
            if self.parser.read(match["place"]).confidence < SURE:
                unmatched = *limits.unmatched, match["place"]
                return replace(limits, unmatched=unmatched, rest=rest[:start] + " " * (end - start) + rest[end:])
        return limits

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


def _without_guesses(reading: Reading) -> Reading:
    """Return a reading with those wishes only that it is more sure of than not."""
    sure = [place for place, confidence in enumerate(reading.confidences) if confidence >= LIKELY]
    if len(sure) == len(reading.ranking):
        return reading
    ranking = tuple(reading.ranking[place] for place in sure)
    confidences = tuple(reading.confidences[place] for place in sure)
    strengths = tuple(reading.strengths[place] for place in sure)
    return replace(reading, ranking=ranking, confidences=confidences, strengths=strengths, question=None)


def _is_doubtful(said: Said, message: Message) -> bool:
    """Tell whether the model may know better: nothing was understood, or wishes in doubt or beside items."""
    reading = message.reading
    if message.limits.unmatched and not re.search(r"[^\W_]", message.limits.rest):
        return False
    if message.kind in (Kind.WISH, Kind.LIMIT, Kind.DISMISSAL) and reading is not None:
        return bool(said.places) or reading.confidence < SURE or bool(reading.leftover)
    if message.kind == Kind.TAKEN:
        return re.search(r"[^\W\d_]{3,}", whole_words(*BARE).sub(" ", said.core)) is not None and not said.has(
            "settled"
        )
    if message.kind == Kind.DETAIL:
        return reading is not None and not (reading.names or reading.dismissed or message.limits.where)
    return message.kind == Kind.UNCLEAR or (message.kind == Kind.FEEDBACK and message.utility is None)


def _corrects(said: Said, number: float, current: Collection[float]) -> bool:
    """Tell whether a number takes the place of another: it is said so, or it is of its size: "ok then 200"."""
    if whole_words("instead").search(said.plain):
        return True
    near = any(one / SAME_SIZE <= number <= one * SAME_SIZE for one in current)
    return near and not said.places and re.match(rf"(?:{'|'.join(table()['lead'])})\W", said.plain) is not None


def _is_bare(core: str) -> bool:
    """Tell whether a text says nothing beside which item is meant."""
    return re.search(r"[^\W\d_]{3,}", whole_words(*BARE).sub(" ", core)) is None


def _is_settled(core: str) -> bool:
    """Tell whether one item is picked in so many words, and nothing in them takes it back."""
    match = ways("settled").search(core)
    if match is None or UNDECIDED.search(core) or (feeling(core) or 1.0) < 0.0:
        return False
    return NEGATION.search(CLAUSE.split(core[: match.start()])[-1] + match.group()) is None
