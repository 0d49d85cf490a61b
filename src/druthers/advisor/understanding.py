"""What is a message? A model of how people say things tells how likely each kind is; the likeliest is tried first."""

import re
from collections.abc import Mapping
from dataclasses import replace

from druthers.advisor.comparing import NAME
from druthers.advisor.kinds import CHANGING, LIKELY, chances, told_of_items
from druthers.advisor.meant import flag_asked
from druthers.advisor.messages import STATED, Context, Kind, Message, as_dismissed, guessed
from druthers.advisor.opinions import find_opinion, find_verdict
from druthers.advisor.other_numbers import another_number
from druthers.advisor.questions import find_question, flags_asked
from druthers.advisor.said import Said, without_counts
from druthers.advisor.sayings import beyond, ways, whole_words, without_items
from druthers.advisor.stating import stated_in, without_guesses
from druthers.advisor.strangers import told
from druthers.advisor.taking_back import declines, find_new_start, find_taken_back, in_force
from druthers.advisor.there_is import values_in
from druthers.advisor.wishes import SURE as COUNTS
from druthers.advisor.wording import worth_telling
from druthers.catalogs import Item
from druthers.denials import find_denials
from druthers.language import Parser, is_english
from druthers.limits import Columns, LimitReader, Limits
from druthers.limits.words import fold, stems
from druthers.types import Reading, Strength

# How likely a kind must be to be thought of; a kind, to overrule a wish that was read;
# and small talk or nothing, to overrule one that was read for sure.
POSSIBLE, SURE, CERTAIN = 0.1, 0.8, 0.9
MOST_WORDS = 6  # of a name
FEWEST = 4  # words of a wish whose meaning is guessed at
# Ways to say something that is no wish, and no limit.
OTHERWISE = ("help", "profile", "why", "compare", "find", "best", "other", "like", "took", "forget_me", "forget_all")
# What may be said of some items while others are turned down.
BESIDE = (Kind.TAKEN, Kind.COMPARE, Kind.FEEDBACK, Kind.LIKE, Kind.DETAIL)
PERSON = re.compile(r"\b(?:he|she)\b", re.I)
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
        for kind in (Kind.NO, Kind.FORGET_ME_YES):
            if ways(kind.name.lower()).fullmatch(said.plain):
                return Message(kind)
        if declines(said):
            return Message(Kind.NO)
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
        numbered = re.match(r"(?:please |ok |and )?(?:forget|scrap|drop)\b.*\d", said.plain)  # "forget the 90 euros"
        if numbered or (ways("what_was_said").search(said.plain) and whole_words("forget").search(said.plain)):
            back = find_taken_back(Kind.FORGET_THAT, said, self.parser, self.limits)
            if back is not None and (back.forgotten or said.has("forget_last")):
                return back
        asked = find_question(said, self.parser, self.limits, self.columns, self._named(said.plain))
        return self._begun(said, asked or find_verdict(said, self.parser) or self._likeliest(said))

    def _begun(self, said: Said, message: Message) -> Message:
        """Return a message, or a call for items where somebody begins with nothing but that: "I need a lawn mower"."""
        context = said.context
        begins = not (context.shown or context.wished or context.limits or context.rated)
        nothing = message.kind in (Kind.GREETING, Kind.OTHER) and not (message.reading and message.reading.ranking)
        nothing = nothing or (message.kind == Kind.UNCLEAR and not message.limits.unmatched)
        nothing = nothing or (message.kind == Kind.PROFILE and not said.has("profile"))
        named = set(stems(said.plain)) & set(self.limits.index.title)
        if not (begins and nothing and (named or ways("looking").search(said.plain))):
            return message
        return replace(_courteous(Kind.OTHER, said), kind=Kind.OTHER) if not named else Message(Kind.OTHER)

    def _likeliest(self, said: Said) -> Message:
        """Return the likeliest of the kinds that a message has the parts of."""
        named = () if said.places else self._named(said.plain)
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
            return _as_stated(read, likely)
        pointed = len(said.places) + len(named) == 1 and not said.asks and said.rating is None
        if pointed and ways("part_of").fullmatch(said.plain):
            return self._about_items(Kind.DETAIL, 1.0, said, named, read) or read
        for kind in sorted(odds, key=lambda kind: -odds[kind]):
            if odds[kind] < POSSIBLE:
                break
            if kind == Kind.UNCLEAR and odds[kind] >= LIKELY and _is_guess(read, stated):
                return replace(read, kind=kind)
            found = self._as(kind, odds[kind], said, named, read)
            if found is not None:
                stated_so = found is read and read.kind in STATED
                return replace(_as_stated(read, likely) if stated_so else found, chance=odds[kind])
        if stated >= SURE and not supposed and len(said.plain.split()) >= FEWEST:
            # a wish for sure, or something set aside, but what?
            reading = self.parser.suppose(said.text)
            if likely[Kind.DISMISSAL] >= LIKELY and reading.names + reading.dismissed_names:
                return replace(read, kind=Kind.DISMISSAL, reading=as_dismissed(reading))
            if likely[Kind.WISH] >= LIKELY and reading.ranking and not read.limits.unmatched:
                return replace(read, kind=Kind.WISH, reading=reading)
        return read

    def _as(self, kind: Kind, chance: float, said: Said, named: tuple[Item, ...], read: Message) -> Message | None:
        """Return a message as one of a kind, if it has what that needs."""
        if kind in STATED:
            return None if read.kind == Kind.UNCLEAR else read
        if kind in CHANGING and chance < LIKELY:
            return None
        if kind in (Kind.THANKS, Kind.GREETING, Kind.UNCLEAR, Kind.HELP):
            small_talk = kind in (Kind.THANKS, Kind.GREETING)
            if (
                (read.kind in STATED and (chance < CERTAIN or ((small_talk or read.limits.where) and is_worded(read))))
                or (kind == Kind.THANKS and whole_words("insult").search(said.plain))
                or (small_talk and chance < LIKELY and not whole_words(kind.value).search(said.plain))
                or (small_talk and said.has("forget_me"))
            ):
                return None
            return read if kind == Kind.UNCLEAR and read.kind not in STATED else _courteous(kind, said)
        if kind in (Kind.FORGET_THAT, Kind.FORGET_ALL, Kind.FORGET_ME):
            surely = chance >= LIKELY or said.has("forget_last")
            in_words = ways("forget_all", "forget_last", "forget_me").search(said.core)
            back = whole_words("forget").search(said.plain) and not ways("had_enough").search(said.plain)
            if is_worded(read) and not (in_words or back):
                return None  # "clean loos!!" is no clean slate
            return find_taken_back(kind, said, self.parser, self.limits) if surely else None
        if kind == Kind.PROFILE:
            of_me = is_english(said.text) and ways("of_me").search(said.plain)
            return Message(kind) if of_me or said.has("profile") else None
        if kind in (Kind.FIND, Kind.BEST):
            if not said.asks and (read.most or (read.limits.where and ways("only").search(said.core))):
                return read  # "the cheapest one", "only the ones with a dishwasher"
            asked = said.asks or said.context.shown or ways("best").search(said.core)
            if kind == Kind.BEST and read.kind == Kind.WISH and is_worded(read) and not asked:
                return read  # "the best food in town", of who begins with it
            wished = read.kind in STATED and is_worded(read) and not (said.places or said.has("shown"))
            return self._searching(kind, said) or (read if wished and kind == Kind.FIND and chance >= LIKELY else None)
        if not said.context.shown and not named:
            return self._something_else(said, read) if kind == Kind.OTHER and read.kind == Kind.UNCLEAR else None
        return self._about_items(kind, chance, said, named, read)

    def _searching(self, kind: Kind, said: Said) -> Message | None:
        """Return a question for items: those that have the most of something, or those within limits."""
        _, limits = stated_in(said.text, self.limits, self.parser, self.columns, said.context.shown)
        reading = self.parser.read(said.text)
        ranking = reading.ranking or reading.dismissed  # "which barks least?"
        most = ways("best").search(ways("at_least").sub("", said.core)) or ways("most").search(said.core)
        if ranking and (most or (kind == Kind.BEST and not limits.where)):
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

    def _about_items(
        self, kind: Kind, chance: float, said: Said, named: tuple[Item, ...], read: Message
    ) -> Message | None:
        """Return what is asked, told or done about items that were shown or named."""
        pointed = bool(said.places or named)
        met = kind != Kind.FEEDBACK or said.has("took") or said.past.search(said.plain)
        # What points at no item must be clearer, unless there is only one.
        only = kind == Kind.FEEDBACK and len(said.context.shown) == 1 and ways("spoken_of").search(said.core)
        if kind in (Kind.FEEDBACK, Kind.REJECT, Kind.TAKEN) and not (pointed or only or (met and chance >= SURE)):
            return None
        elsewhere = set(read.limits.where) - {NAME}  # "in Solmara but not Hotel Azurane"
        if kind == Kind.REJECT and read.kind == Kind.LIMIT and (not pointed or (elsewhere and not said.places)):
            return read  # "anywhere except the south coast"
        if kind in CHANGING and not pointed and (said.beyond or ways("elsewhere").search(said.plain)):
            return None  # what is said of something else is said of nothing shown
        if kind == Kind.FEEDBACK:
            found = find_opinion(said, self.parser, named)
            tells = found is not None and (found.utility is not None or found.opinions)
            stated = read.kind in STATED and is_worded(read)
            now = stated and (read.limits.where or not (said.has("took") or said.past.search(said.plain)))
            if not tells and ways("bought").search(said.core) and said.decided:  # "perfect, I've just booked number 2"
                return Message(Kind.TAKEN, said.places, named)
            # "More experienced than Boris and in Linz" tells of no feeling.
            return found if tells or not (now or said.asks) else None
        if kind == Kind.WHY:
            return Message(kind, said.places, named)
        if kind == Kind.COMPARE and read.limits.where and not (pointed or said.has("compare")):
            return read  # "rating >= 4 and price < 90"
        if kind == Kind.COMPARE:
            others = tuple(item for item in self._named(said.plain) if item not in said.context.shown)
            numbers = beyond(without_counts(said.plain), said.context.shown)
            if not (pointed or numbers or said.asks or said.has("compare") or ways("spoken_of").search(said.core)):
                return None  # "the kids are 4 and 8"
            there = len(said.context.shown) > 1 or others or numbers
            return Message(kind, said.places, others) if there else None
        first = _is_first_of_all(read) and not ways("the_very_first").search(said.plain)  # "how loud is the first"
        if kind == Kind.DETAIL and first and not said.text.rstrip().endswith("?"):
            return read  # "how it is made comes first for me"
        if kind == Kind.DETAIL:
            limits = self.limits.read(without_items(said.text))  # the number of an item is no limit
            reading = self.parser.read(limits.rest)
            about = pointed or limits.where or reading.names or ways("spoken_of").search(said.core)
            return Message(kind, said.places, named, reading, limits) if about else None
        if kind == Kind.LIKE and NAME in read.limits.where and read.kind in STATED:
            return read  # "more affordable than 2" is like no other one
        if kind == Kind.OTHER:  # "there are six of us" asks for others only by what it limits
            limited = read.kind in STATED and is_worded(read) and not said.has("other")
            return read if limited else self._something_else(said, read)
        if not (pointed or kind == Kind.LIKE or ways("spoken_of").search(said.core)):
            return None
        if kind == Kind.TAKEN:  # what is only thought of is told about
            return Message(kind if said.decided else Kind.DETAIL, said.places, named)
        beside = said.places or kind == Kind.LIKE  # "something similar, but under 400"
        wish = self._wishing(said.beside(kind.name.lower())) if beside else Message(kind)
        felt = find_opinion(said, self.parser, ()) if len(said.places) == 1 else None
        sign = 1.0 if kind == Kind.LIKE else -1.0  # "not 2, something cheaper" tells of no low price
        told = {} if felt is None else {name: worth for name, worth in felt.aspects.items() if sign * worth > 0.0}
        bad = felt.utility if kind == Kind.REJECT and felt is not None and (felt.utility or 0.0) < 0.0 else None
        return Message(kind, said.places, named, wish.reading, wish.limits, utility=bad, aspects=told)

    def _something_else(self, said: Said, read: Message) -> Message:
        """Return a call for other items, which tells what was not understood: "show me an easier one"."""
        understood = is_worded(read) or (read.reading is not None and read.reading.ranking)
        lost = () if understood or said.has("other") else worth_telling([said.text], self.limits.title)
        return Message(Kind.OTHER, reading=read.reading, limits=told(read.limits, lost))

    def _wishing(self, said: Said) -> Message:
        """Return wishes, limits and dismissals, or small talk and whatever else nothing is understood of."""
        reading, limits = stated_in(said.text, self.limits, self.parser, self.columns, said.context.shown)
        kinds = _parts(reading, limits)
        if set(limits.where) == {NAME} and not kinds[Kind.WISH] and not reading.dismissed:  # "not the Birch Inn"
            named = {name for one in limits.stated if one.name == NAME for name in one.limit["not"]}
            items = [item for item in self.columns.items if item.name in named]
            here = [item for item in said.context.shown if item in items]
            return Message(Kind.REJECT, items=tuple(here or items))
        denied = " ".join(
            match["what"] or "" for match in find_denials(said.plain)
        )  # "I didn't say cheap, I said clean"
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

    def _named(self, plain: str) -> tuple[Item, ...]:
        """Return items that a text calls by their names."""
        words = re.findall(r"[^\W_]+", plain)
        found = {}
        for start in range(len(words)):
            for length in range(min(MOST_WORDS, len(words) - start), 0, -1):
                item = self.columns.by_name.get(" ".join(words[start : start + length]))
                if item is not None and words[start - 1 : start] not in (["a"], ["an"]):
                    found[item.id] = item
        return tuple(found.values())


def _is_first_of_all(message: Message) -> bool:
    """Tell whether a message says in so many words what comes first."""
    reading = message.reading
    return message.kind == Kind.WISH and reading is not None and Strength.ABOVE_ALL in reading.strengths


def _courteous(kind: Kind, said: Said) -> Message:
    """Return small talk, or help, in which a wish that was not understood is not lost: "hi, I'd like a day hike"."""
    lost = [said.text.strip()] if whole_words("wants").search(whole_words("courtesy").sub(" ", said.plain)) else []
    return Message(kind, limits=told(Limits(), lost))


def _is_statement(said: Said, read: Message) -> bool:
    """Tell whether what was read is stated: of nothing shown, not asked, and beside nothing that is a sign of else."""
    other = any(said.has(name) for name in OTHERWISE) or whole_words("forget").search(said.core)
    return read.kind in STATED and is_worded(read) and not (said.asks_abroad or said.places or other)


def _is_guess(message: Message, stated: float) -> bool:
    """Tell whether a wish is only one that something may imply, or is told of anything but wishes."""
    reading = message.reading
    if message.kind != Kind.WISH or reading is None or message.limits.where or reading.dismissed:
        return False
    return len(guessed(reading)) == len(reading.ranking) or stated < POSSIBLE


def is_worded(message: Message) -> bool:
    """Tell whether a message states something for sure, and in words."""
    reading = message.reading
    sure = reading is not None and reading.confidence >= SURE and not guessed(reading)
    return _limits_something(message.limits) or sure


def _limits_something(limits: Limits) -> bool:
    """Tell whether limits are set, widened or taken back."""
    return bool(limits.where or limits.dropped or limits.freed or limits.also or limits.hopes)


def _parts(reading: Reading, limits: Limits) -> dict[Kind, bool]:
    """Return which of the kinds of statements have a part in what was read."""
    return {
        Kind.WISH: bool(set(reading.names) - set(limits.where)),
        Kind.LIMIT: bool(limits.where or limits.hopes) or (_limits_something(limits) and not reading.dismissed),
        Kind.DISMISSAL: bool(reading.dismissed),
    }


def _as_stated(message: Message, likely: Mapping[Kind, float]) -> Message:
    """Return what was read as what it is most likely, of its parts, without guesses beside them."""
    reading, limits = message.reading, message.limits
    if reading is None or message.reading is None:
        return message
    if likely[Kind.DISMISSAL] >= LIKELY and _is_guess(message, 1.0):  # "kilos are not a criterion"
        return replace(message, kind=Kind.DISMISSAL, reading=as_dismissed(reading))
    if (limits.where or reading.dismissed) and likely[Kind.WISH] < LIKELY:
        reading = without_guesses(reading, COUNTS)
        lost = {*message.reading.ranking} - {*reading.ranking}
        worded = [one.text for one in reading.evidence if one.objective in lost and not one.guessed]
        limits = told(limits, worded)
    there = [kind for kind, part in _parts(reading, limits).items() if part]
    kind = max(there, key=lambda kind: likely[kind], default=message.kind)
    return replace(message, kind=kind, reading=reading, limits=limits)
