"""What is a message? A model of how people say things tells how likely each kind is; the likeliest is tried first.

Some forms leave no doubt, and are looked at before (`read`). For each kind `AS` has what reads a message as one; it
gives nothing where the message lacks a part that the kind needs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from druthers.advisor.corrections import another_number, find_new_start, find_taken_back, in_force
from druthers.advisor.kinds import CERTAIN, CHANGING, LIKELY, POSSIBLE, SURE, chances, told_of_items
from druthers.advisor.messages import STATED, Context, Kind, Message, as_dismissed
from druthers.advisor.naming import NAME, names_in, values_in
from druthers.advisor.opinions import find_opinion, find_verdict
from druthers.advisor.questions import find_question, flags_asked
from druthers.advisor.said import Said, beyond, ways, whole_words, without_items
from druthers.advisor.stating import as_stated, flag_asked, is_guess, is_worded, parts_of, stated_in
from druthers.advisor.strangers import told
from druthers.advisor.wording import worth_telling
from druthers.catalogs import Item
from druthers.denials import find_denials
from druthers.language import Parser, is_english
from druthers.limits import Columns, LimitReader, Limits
from druthers.limits.words import blanked, fold, stems
from druthers.types import Strength

FEWEST = 4  # words of a wish whose meaning is guessed at
# Ways to say something that is no wish, and no limit.
OTHERWISE = ("help", "profile", "why", "compare", "find", "best", "other", "like", "took", "forget_me", "forget_all")
# What may be said of some items while others are turned down.
BESIDE = (Kind.TAKEN, Kind.COMPARE, Kind.FEEDBACK, Kind.LIKE, Kind.DETAIL)
SMALL_TALK = (Kind.THANKS, Kind.GREETING)
PERSON = re.compile(r"\b(?:he|she)\b", re.I)
NOTHING = Context()


class Case(NamedTuple):
    """A message that may be of a kind."""

    kind: Kind
    chance: float  # how likely it is of this kind
    said: Said
    named: tuple[Item, ...]  # items that it calls by their names
    read: Message  # what it would be as a wish or a limit

    @property
    def pointed(self) -> bool:
        """Whether it points at items."""
        return bool(self.said.places or self.named)

    @property
    def stated(self) -> bool:
        """Whether it states wishes or limits for sure, and in words."""
        return self.read.kind in STATED and is_worded(self.read)

    @property
    def past(self) -> bool:
        """Whether it tells of what was."""
        return self.said.has("took") or self.said.past.search(self.said.plain) is not None

    @property
    def spoken_of(self) -> bool:
        """Whether it speaks of what was shown, as "it" or "them"."""
        return ways("spoken_of").search(self.said.core) is not None

    def about(self, kind: Kind, **parts: Any) -> Message:
        """Return a message of a kind about the items that it points at."""
        return Message(kind, self.said.places, self.named, **parts)


@dataclass(frozen=True)
class Understanding:
    """Tells what messages are."""

    parser: Parser  # reads wishes
    limits: LimitReader  # reads limits
    columns: Columns  # all items: whoever is called by name is found

    def read(self, text: str, context: Context = NOTHING) -> Message:
        """Return what a message is."""
        said = Said.of(text, context)
        if said.small_talk is not None:
            return Message(said.small_talk)
        for way, kind in (("no", Kind.NO), ("declined", Kind.NO), ("forget_me_yes", Kind.FORGET_ME_YES)):
            if ways(way).fullmatch(said.plain):
                return Message(kind)
        if again := find_new_start(said):  # "start over: cheap and central"
            other = self.read(again, replace(context, wished=(), limits={}))
            if other.kind in STATED:
                return replace(other, forgotten=(*context.wished, *context.limits))
        if ways("best_of_all").fullmatch(said.core):
            return Message(Kind.WHY, (0,)) if context.shown else Message(Kind.OTHER)
        if context.known and len(said.places) == 1 and ways("meant_item").fullmatch(said.plain):
            return Message(Kind.TAKEN if context.taken else Kind.FEEDBACK, said.places)
        if len(context.wished) > 1 and ways("turned_order").fullmatch(said.plain):
            reading = self.parser.read(" more than ".join(reversed(context.wished)))
            words = [replace(one, start=0, end=len(text), text=text) for one in reading.evidence]
            return Message(Kind.WISH, reading=replace(reading, text=text, evidence=tuple(words)))
        if (apart := said.apart) is not None and not ways("met").search(said.plain):  # "avoid 1 and compare 2 and 3"
            rejected, rest = apart
            other = self.read(rest, context)
            if other.kind in BESIDE and (other.kind != Kind.FEEDBACK or other.opinions or other.utility is not None):
                return replace(other, rejected=tuple(sorted(set(rejected) - set(other.places))))
            wish = other if other.kind in STATED else Message(Kind.REJECT)
            return Message(Kind.REJECT, rejected, reading=wish.reading, limits=wish.limits)
        numbered = re.match(r"(?:forget|scrap|drop)\b.*\d", said.core)  # "sorry, forget the 90 euros"
        if numbered or (ways("what_was_said").search(said.plain) and whole_words("forget").search(said.plain)):
            back = find_taken_back(Kind.FORGET_THAT, said, self.parser, self.limits)
            if back is not None and (back.forgotten or said.has("forget_last")):
                return back
        if len(said.places) == 1 and ways("seen_again").fullmatch(said.plain):
            return Message(Kind.DETAIL, said.places, reading=self.parser.read(""))
        if was_better := ways("was_better").match(said.plain):
            return self.read(said.plain[was_better.end() :], context)
        asked = find_question(said, self.parser, self.limits, self.columns, self._named(said))
        return self._begun(said, asked or find_verdict(said, self.parser) or self._likeliest(said))

    def _begun(self, said: Said, message: Message) -> Message:
        """Return a message, or a call for items where somebody begins with nothing but that: "I need a lawn mower"."""
        context = said.context
        begins = not (context.shown or context.wished or context.limits or context.rated)
        nothing = (
            (message.kind in (Kind.GREETING, Kind.OTHER) and not (message.reading and message.reading.ranking))
            or (message.kind == Kind.UNCLEAR and not message.limits.unmatched)
            or (message.kind == Kind.PROFILE and not said.has("profile"))
        )
        named = set(stems(said.plain)) & set(self.limits.index.title)
        if not (begins and nothing and (named or ways("looking").search(said.plain))):
            return message
        return Message(Kind.OTHER) if named else _courteous(Kind.OTHER, said)

    def _likeliest(self, said: Said) -> Message:
        """Return the likeliest of the kinds that a message has the parts of."""
        named = () if said.places else self._named(said)
        encoder = self.parser.encoder() if re.search(r"\w\w", said.plain) and is_english(said.text) else None
        asked = PERSON.sub("it", said.text) if said.asks else said.text  # "is she patient?" asks as "is it clean?" does
        likely = chances(asked, encoder, [item.name for item in (*said.context.shown, *named)])
        stated = sum(likely[kind] for kind in STATED)
        odds = {Kind.WISH: stated, **{kind: chance for kind, chance in likely.items() if kind not in STATED}}
        odds |= told_of_items(said, likely)
        supposed = not said.places and ways("supposed").search(said.plain)
        if not supposed and (other := another_number(said, self.parser, self.limits)):
            return other
        read = Message(Kind.UNCLEAR) if supposed else self._wishing(said)
        if read.kind == Kind.DISMISSAL and said.asks:  # "can we sit outside?" sets nothing aside
            read = replace(read, kind=Kind.UNCLEAR)
        small_talk = whole_words("thanks").match(said.core) and not whole_words("wants").search(said.core)
        if small_talk and read.kind in STATED and not (is_worded(read) or said.places):
            return Message(Kind.THANKS)  # "cheers, you've saved a hopeless cook's birthday"
        if not is_english(said.text) and _is_statement(said, read):  # the model knows the words of English alone
            return as_stated(read, likely)
        pointed = len(said.places) + len(named) == 1 and not said.asks and said.rating is None
        if pointed and ways("part_of").fullmatch(said.plain):
            return self._about_items(Case(Kind.DETAIL, 1.0, said, named, read)) or read
        for kind in sorted(odds, key=lambda kind: -odds[kind]):
            if odds[kind] < POSSIBLE:
                break
            if kind == Kind.UNCLEAR and odds[kind] >= LIKELY and is_guess(read, stated):
                return replace(read, kind=kind)
            found = AS[kind](self, Case(kind, odds[kind], said, named, read))
            if found is not None:
                stated_so = found is read and read.kind in STATED
                return replace(as_stated(read, likely) if stated_so else found, chance=odds[kind])
        if stated >= SURE and not supposed and len(said.plain.split()) >= FEWEST:
            # a wish for sure, or something set aside, but what?
            reading = self.parser.suppose(said.text)
            if likely[Kind.DISMISSAL] >= LIKELY and reading.names + reading.dismissed_names:
                return replace(read, kind=Kind.DISMISSAL, reading=as_dismissed(reading))
            if likely[Kind.WISH] >= LIKELY and reading.ranking and not read.limits.unmatched:
                return replace(read, kind=Kind.WISH, reading=reading)
        return read

    def _small_talk(self, case: Case) -> Message | None:
        """Return thanks, a greeting, a call for help or nothing that is understood, if no wish is more than that."""
        kind, chance, said, _, read = case
        courteous = kind in SMALL_TALK
        if read.kind in STATED and (chance < CERTAIN or ((courteous or read.limits.where) and is_worded(read))):
            return None
        if kind == Kind.THANKS and whole_words("insult").search(said.plain):
            return None
        if courteous and (chance < LIKELY and not whole_words(kind.value).search(said.plain)):
            return None
        if courteous and said.has("forget_me"):
            return None
        return read if kind == Kind.UNCLEAR and read.kind not in STATED else _courteous(kind, said)

    def _taking_back(self, case: Case) -> Message | None:
        said = case.said
        in_words = ways("forget_all", "forget_last", "forget_me").search(said.core)
        back = whole_words("forget").search(said.plain) and not ways("had_enough").search(said.plain)
        if is_worded(case.read) and not (in_words or back):
            return None  # "clean loos!!" is no clean slate
        surely = case.chance >= LIKELY or said.has("forget_last")
        return find_taken_back(case.kind, said, self.parser, self.limits) if surely else None

    def _profile(self, case: Case) -> Message | None:
        of_me = is_english(case.said.text) and ways("of_me").search(case.said.plain)
        return Message(case.kind) if of_me or case.said.has("profile") else None

    def _find(self, case: Case) -> Message | None:
        """Return what asks for items within limits."""
        if self._only_limits(case):
            return case.read
        wished = case.stated and not (case.said.places or case.said.has("shown"))
        return self._searching(case) or (case.read if wished and case.chance >= LIKELY else None)

    def _best(self, case: Case) -> Message | None:
        """Return what asks for the items that have the most of something."""
        said = case.said
        asked = said.asks or said.context.shown or ways("best").search(said.core)
        if self._only_limits(case) or (case.read.kind == Kind.WISH and is_worded(case.read) and not asked):
            return case.read  # "the best food in town", of who begins with it
        return self._searching(case)

    def _only_limits(self, case: Case) -> bool:
        """Tell whether what looks for items is a wish: "the cheapest one", "only the ones with a dishwasher"."""
        only = case.read.limits.where and ways("only").search(case.said.core)
        return not case.said.asks and bool(case.read.most or only)

    def _searching(self, case: Case) -> Message | None:
        """Return a question for items: those that have the most of something, or those within limits."""
        said = case.said
        _, limits = stated_in(said.text, self.limits, self.parser, self.columns, said.context.shown)
        reading = self.parser.read(said.text)
        ranking = reading.ranking or reading.dismissed  # "which barks least?"
        most = ways("best").search(ways("at_least").sub("", said.core)) or ways("most").search(said.core)
        if ranking and (most or (case.kind == Kind.BEST and not limits.where)):
            reading = replace(reading, ranking=ranking, dismissed=())
            lost = tuple(one for one in limits.unmatched if not self.parser.read(one).names)
            limits = replace(limits, unmatched=lost)  # "the most expensive one" is no wish, and found nonetheless
            return Message(Kind.BEST, said.places, reading=reading, limits=limits, shown=said.has("shown"))
        if not limits.where:
            flags = flags_asked(said.core, self.limits)
            texts = values_in(said.text, self.columns) if said.asks else {}
            limits = replace(limits, where=flags or texts or flag_asked(said.text, self.limits, self.parser))
        if limits.where and ways("best_of_all").fullmatch(" ".join(fold(limits.rest).split()).strip(" ?.!")):
            return Message(Kind.LIMIT, reading=self.parser.read(""), limits=limits)  # "the best hotel in Graz?"
        reading = self.parser.read(limits.rest)  # "cheap ones with a bar"
        of_these = bool(said.context.shown) and ways("of_these").search(said.core) is not None
        found = Message(Kind.FIND, reading=reading, limits=limits, shown=of_these)
        return found if limits.where and not said.places else None

    def _about_items(self, case: Case) -> Message | None:
        """Return what is asked, told or done about items that were shown or named."""
        kind, chance, said, named, read = case
        if not (said.context.shown or named):
            return None
        if kind in CHANGING:
            # What points at no item must be clearer, unless there is only one.
            only = kind == Kind.FEEDBACK and len(said.context.shown) == 1 and case.spoken_of
            clear = chance >= SURE and (kind != Kind.FEEDBACK or case.past)
            if chance < LIKELY or not (case.pointed or only or clear or kind == Kind.LIKE):
                return None
            elsewhere = set(read.limits.where) - {NAME}  # "in Solmara but not Hotel Azurane"
            limits = kind == Kind.REJECT and read.kind == Kind.LIMIT
            if limits and (not case.pointed or (elsewhere and not said.places)):
                return read  # "anywhere except the south coast"
            if not case.pointed and (said.beyond or ways("elsewhere").search(said.plain)):
                return None  # what is said of something else is said of nothing shown
        return ABOUT_ITEMS[kind](self, case)

    def _feedback(self, case: Case) -> Message | None:
        said = case.said
        found = find_opinion(said, self.parser, case.named)
        if found is not None and (found.utility is not None or found.opinions):
            return found
        if ways("bought").search(said.core) and said.decided:  # "perfect, I've just booked number 2"
            return case.about(Kind.TAKEN)
        # "More experienced than Boris and in Linz" tells of no feeling.
        stated_now = case.stated and (case.read.limits.where or not case.past)
        return None if stated_now or said.asks else found

    def _compare(self, case: Case) -> Message | None:
        said, shown = case.said, case.said.context.shown
        pointed = case.pointed or said.has("compare")
        if case.read.limits.where and not pointed:
            return case.read  # "rating >= 4 and price < 90"
        others = tuple(item for item in self._named(said) if item not in shown)
        numbers = beyond(said.plain, shown)
        if not (pointed or numbers or said.asks or case.spoken_of):
            return None  # "the kids are 4 and 8"
        return Message(Kind.COMPARE, said.places, others) if len(shown) > 1 or others or numbers else None

    def _detail(self, case: Case) -> Message | None:
        said, read = case.said, case.read
        first = read.kind == Kind.WISH and read.reading is not None and Strength.ABOVE_ALL in read.reading.strengths
        first = first and not ways("the_very_first").search(said.plain)  # "how loud is the first"
        if first and not said.text.rstrip().endswith("?"):
            return read  # "how it is made comes first for me"
        names = [(start, end) for start, end, _ in names_in(fold(said.text), self.columns)]
        limits = self.limits.read(without_items(blanked(said.text, *names)))  # what calls an item is no limit
        reading = self.parser.read(limits.rest)
        about = case.pointed or limits.where or reading.names or case.spoken_of
        return case.about(Kind.DETAIL, reading=reading, limits=limits) if about else None

    def _taken(self, case: Case) -> Message | None:
        if not (case.pointed or case.spoken_of):
            return None
        return case.about(Kind.TAKEN if case.said.decided else Kind.DETAIL)  # what is only thought of is told about

    def _turned_down_or_liked(self, case: Case) -> Message | None:
        kind, _, said, _, read = case
        likes = kind == Kind.LIKE
        if likes and NAME in read.limits.where and read.kind in STATED:
            return read  # "more affordable than 2" is like no other one
        if not (case.pointed or likes or case.spoken_of):
            return None
        # "something similar, but under 400"
        wish = self._wishing(said.beside(kind.name.lower())) if said.places or likes else Message(kind)
        felt = find_opinion(said, self.parser, ()) if len(said.places) == 1 else None
        sign = 1.0 if likes else -1.0  # "not 2, something cheaper" tells of no low price
        aspects = {} if felt is None else {name: worth for name, worth in felt.aspects.items() if sign * worth > 0.0}
        bad = felt.utility if felt is not None and not likes and (felt.utility or 0.0) < 0.0 else None
        return case.about(kind, reading=wish.reading, limits=wish.limits, utility=bad, aspects=aspects)

    def _something_else(self, case: Case) -> Message | None:
        """Return a call for other items, which tells what was not understood: "show me an easier one"."""
        said, read = case.said, case.read
        if not (said.context.shown or case.named or read.kind == Kind.UNCLEAR):
            return None
        if case.stated and not said.has("other"):
            return read  # "there are six of us" asks for others only by what it limits
        understood = is_worded(read) or (read.reading is not None and read.reading.ranking)
        lost = () if understood or said.has("other") else worth_telling([said.text], self.limits.title)
        return Message(Kind.OTHER, reading=read.reading, limits=told(read.limits, lost))

    def _wishing(self, said: Said) -> Message:
        """Return wishes, limits and dismissals, or small talk and whatever else nothing is understood of."""
        reading, limits = stated_in(said.text, self.limits, self.parser, self.columns, said.context.shown)
        kinds = parts_of(reading, limits)
        if set(limits.where) == {NAME} and not kinds[Kind.WISH] and not reading.dismissed:  # "not the Birch Inn"
            named = {name for one in limits.stated if one.name == NAME for name in one.limit["not"]}
            items = [item for item in self.columns.items if item.name in named]
            here = [item for item in said.context.shown if item in items]
            return Message(Kind.REJECT, items=tuple(here or items))
        # "I didn't say cheap, I said clean"
        denied = " ".join(match["what"] or "" for match in find_denials(said.plain))
        gone = in_force(denied, said.context, self.parser, self.limits) if denied else ()
        if not gone and len(said.context.wished) == 1 and ways("meant").match(said.plain):
            gone = tuple(name for name in said.context.wished if reading.names and name not in reading.names)
        most = len(reading.names) == 1 and not limits.where and ways("superlative").fullmatch(said.core) is not None
        for kind, found in kinds.items():
            if found:
                return Message(kind, said.places, reading=reading, limits=limits, forgotten=gone, most=most)
        if gone:
            return Message(Kind.FORGET_THAT, forgotten=gone)
        if said.courtesy is not None:
            return _courteous(said.courtesy, said)
        return Message(Kind.UNCLEAR, said.places, reading=reading, limits=limits)

    def _named(self, said: Said) -> tuple[Item, ...]:
        """Return items that a message calls by their names."""
        found = names_in(said.plain, self.columns)
        return tuple(dict.fromkeys(item for start, _, item in found if not re.search(r"\ban?\W+$", said.plain[:start])))


# What reads a message about items as one of a kind, and as one of any kind.
ABOUT_ITEMS: dict[Kind, Callable[[Understanding, Case], Message | None]] = {
    Kind.FEEDBACK: Understanding._feedback,
    Kind.TAKEN: Understanding._taken,
    Kind.REJECT: Understanding._turned_down_or_liked,
    Kind.LIKE: Understanding._turned_down_or_liked,
    Kind.WHY: lambda _, case: case.about(Kind.WHY),
    Kind.COMPARE: Understanding._compare,
    Kind.DETAIL: Understanding._detail,
}
AS: dict[Kind, Callable[[Understanding, Case], Message | None]] = {
    **dict.fromkeys(ABOUT_ITEMS, Understanding._about_items),
    **dict.fromkeys((*SMALL_TALK, Kind.UNCLEAR, Kind.HELP), Understanding._small_talk),
    **dict.fromkeys((Kind.FORGET_THAT, Kind.FORGET_ALL, Kind.FORGET_ME), Understanding._taking_back),
    Kind.WISH: lambda _, case: None if case.read.kind == Kind.UNCLEAR else case.read,
    Kind.PROFILE: Understanding._profile,
    Kind.FIND: Understanding._find,
    Kind.BEST: Understanding._best,
    Kind.OTHER: Understanding._something_else,
}


def _courteous(kind: Kind, said: Said) -> Message:
    """Return small talk, or help, in which a wish that was not understood is not lost: "hi, I'd like a day hike"."""
    lost = [said.text.strip()] if whole_words("wants").search(whole_words("courtesy").sub(" ", said.plain)) else []
    return Message(kind, limits=told(Limits(), lost))


def _is_statement(said: Said, read: Message) -> bool:
    """Tell whether what was read is stated: of nothing shown, not asked, and beside nothing that is a sign of else."""
    other = any(said.has(name) for name in OTHERWISE) or whole_words("forget").search(said.core)
    return read.kind in STATED and is_worded(read) and not (said.asks_abroad or said.places or other)
