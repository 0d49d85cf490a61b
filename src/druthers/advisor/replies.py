"""One door for whatever a person types: what was understood, what was done, and an answer."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from druthers.advisor import events
from druthers.advisor.acts import Act, find_acts
from druthers.advisor.answers import Heard, Recommendation, Reply
from druthers.advisor.comparing import NAME
from druthers.advisor.finding import ordered
from druthers.advisor.gathering import Gathering
from druthers.advisor.kinds import CHANGING
from druthers.advisor.messages import ERASING, STATED, Kind, Message, Opinion
from druthers.advisor.operations import ATTEMPTS, Operations
from druthers.advisor.picking import asked_between, pick
from druthers.advisor.pointing import at_their_places, context_of, put_right, remember, spoken_of_now
from druthers.advisor.rating import feedback
from druthers.advisor.repeating import find_drafts, find_message, find_reply, message_event, reply_event
from druthers.advisor.said import MOST_LETTERS
from druthers.advisor.sayings import called
from druthers.advisor.steps import CatchUp, Operation, Read
from druthers.advisor.telling import TELLING, what_to_say
from druthers.advisor.there_is import several
from druthers.advisor.turns import Draft, Next, Turn, joined
from druthers.advisor.understanding import Understanding
from druthers.advisor.unsaying import take_back
from druthers.advisor.wording import (
    aspects_in_words,
    grade,
    listed,
    lost_in_words,
    relaxed_in_words,
    understood_in_words,
)
from druthers.catalogs import Item
from druthers.errors import Contradiction, InvalidSetting, NothingFits, UnknownUser
from druthers.limits import Stated, Where, merge
from druthers.limits.words import fold
from druthers.stores import Event

SIZE = 3
UNREAD = f"Limits are read in the first {MOST_LETTERS:,} letters alone: say what comes after them in another message."
# What "not that one", "I take that one" and "more like that" say of an item.
DISLIKED, CHOSEN, LIKED = -0.4, 0.4, 0.6
# What ends in a recommendation.
RECOMMENDING = (*STATED, Kind.FEEDBACK, Kind.REJECT, Kind.LIKE, Kind.OTHER, Kind.FORGET_THAT)


class Conversation:
    """Answers messages by an advisor's operations.

    Parameters
    ----------
    operations
        What can be done.
    erases
        Whether a person may have herself erased by a message.
    """

    def __init__(self, operations: Operations, *, erases: bool = True) -> None:
        self.ask = operations
        self.erases = erases
        self._asked_to_erase: set[str] = set()

    def reply(self, user: str, text: str, *, size: int = SIZE, id: str | None = None) -> Operation[Reply]:
        """Answer a message of a user; with an id, it may come again: it is taken in once and answered alike."""
        events.as_id(user, "a user")
        if not isinstance(text, str):
            raise InvalidSetting(f"a message must be a text, but got {text!r}; what is ranked goes to `hear`")
        for _ in range(ATTEMPTS):
            message = None if id is None else (yield from find_message(self.ask, user, text, id))
            if message is not None and id is not None:
                return (yield from self._answer_again(message, user, id))
            person = yield from self.ask.find(user)
            saying = Gathering(self.ask)
            drafts = yield from self._say(saying, user, text, size)
            claim = [] if id is None else [message_event(user, text, id, drafts, person)]
            if not saying.events:
                gone = self.erases and any(draft.reply.kind in ERASING for draft in drafts)  # nobody is brought back
                return (yield from self._answer(user, drafts, id, claim=[] if gone else claim))
            if last := (yield from saying.write(before=claim)):
                there = last - len(saying.events)
                drafts = [draft.placed(there) for draft in drafts]
                return (yield from self._answer(user, drafts, id, claimed=there))
            yield CatchUp()  # something came meanwhile that it has to be understood beside
        raise Contradiction("too much is said at once to understand this beside it; try again")

    def _say(self, ask: Operations, user: str, text: str, size: int) -> Operation[list[Draft]]:
        """Take in a message: return what can be answered before that is known."""
        turns = yield from self._turns(ask, user, text, size)
        drafts = []
        for turn in turns:
            if turn.message.kind == Kind.UNCLEAR and len(turns) > 1:
                drafts.append(turn.draft(lost_in_words([turn.text])))
            else:
                drafts.append((yield from self._act(turn)))
        if len(text) > MOST_LETTERS:
            reply = drafts[-1].reply
            drafts[-1] = replace(drafts[-1], reply=replace(reply, text=f"{reply.text} {UNREAD}".strip()))
        return drafts

    def _answer(
        self, user: str, drafts: Sequence[Draft], id: str | None, *, claim: Sequence[Event] = (), claimed: int = 0
    ) -> Operation[Reply]:
        """Answer what was taken in, or what only asks; what comes of that is written at once."""
        answering = Gathering(self.ask)
        replies = []
        for draft in drafts:
            reply = yield from self._finish(answering, user, draft)
            replies.append(reply)
        reply = replies[0] if len(replies) == 1 else joined(replies)
        kept = [] if id is None or not (claim or claimed) else [reply_event(user, id, reply, claimed)]
        if not (answering.events or kept) or (yield from answering.write(before=claim, after=kept)):
            return reply
        # Somebody else answered it meanwhile, or the user was erased, who is not brought back by an answer.
        if claim and id is not None:
            yield from find_message(self.ask, user, claim[0].body["text"], id)  # refuses another one with this id
        before = None if id is None else (yield from find_reply(self.ask, user, id))
        return before or replace(reply, recommendation=None)

    def _answer_again(self, message: Event, user: str, id: str) -> Operation[Reply]:
        """Answer a message that was taken in as it was answered, or finish that if it broke off."""
        reply = yield from find_reply(self.ask, user, id)
        if reply is not None:
            return reply
        drafts = yield from find_drafts(self.ask, message)
        return (yield from self._answer(user, drafts, id, claimed=message.position))

    def _finish(self, ask: Operations, user: str, draft: Draft) -> Operation[Reply]:
        """Answer an act of a message."""
        turn, reply = draft.turn, draft.reply
        if draft.asked is not None and turn is None:  # read again by who finishes what broke off
            turns = yield from self._turns(ask, user, draft.asked, SIZE)
            turn = next((one for one in turns if one.message.kind in TELLING), None)
        if draft.asked is not None and turn is not None:
            turn = replace(turn, spoken_of=spoken_of_now(self.ask, user, turn))
            reply = yield from TELLING[turn.message.kind](ask, turn)
            reply = replace(reply, text=f"{reply.text} {draft.reply.text}".strip())  # that its end was not read
        elif draft.next is not None:
            reply = yield from self._recommend(ask, user, draft.reply, draft.next)
        if turn is not None:
            remember(self.ask, turn, reply)
        return reply

    def _turns(self, ask: Operations, user: str, text: str, size: int) -> Operation[list[Turn]]:
        """Return what a message says, act by act."""
        person = yield from ask.find(user)
        decision, ids = ("", []) if person is None else person.shown
        shown = [ask.fold.items[id] for id in ids if id in ask.fold.items]
        at = yield from at_their_places(ask, decision, ids)
        columns = ask.columns
        context = yield from context_of(ask, person, at)
        acts: tuple[Act, ...] = yield Read(
            lambda: find_acts(Understanding(ask.parser, ask.limit_reader(columns), columns), text, context)
        )
        turns = []
        for place, (said, message) in enumerate(acts):
            about = tuple(item for item in (context.reach[one] for one in message.places) if item.id in ask.fold.items)
            about = (*about, *message.items) if message.kind == Kind.COMPARE else about or message.items
            beside = any(act.message.kind in RECOMMENDING for act in acts[place + 1 :])
            latest = at[context.latest] if at else None
            rated = ("", "") if person is None else person.rated
            turn = Turn(ask, user, said, message, decision, shown, about, size, at, latest, beside, rated)
            turns.append((yield from put_right(ask, turn)))
        return turns

    def _act(self, turn: Turn) -> Operation[Draft]:
        """Take in what one act of a message says."""
        message = turn.message
        pointed = [turn.at[place] for place in message.places if place < len(turn.at)] or turn.vanished
        turned_down = [turn.at[place] for place in message.rejected]
        gone = [item.name for item in (*pointed, *turned_down) if item not in turn.shown]
        if gone and message.kind not in (*STATED, Kind.UNCLEAR):
            noted = "" if message.kind in TELLING else "; nothing was noted"
            return turn.draft(f"{listed(gone)} {'is' if len(gone) == 1 else 'are'} no longer there{noted}.")
        if turn.namesakes and message.kind in (*CHANGING, Kind.COMPARE):
            noted = "" if message.kind in TELLING else "; nothing was noted"
            return turn.draft(f"{several(turn.namesakes, turn.shown)}{noted}.", about=turn.namesakes)
        for item in turned_down:
            there = yield from self._decision(turn, item)
            yield from feedback(turn.ask, there, item=item.id, utility=DISLIKED)
        if message.kind in TELLING:
            return replace(turn.draft(""), asked=turn.text)
        return (yield from _ANSWERS[message.kind](self, turn))

    @property
    def _costs(self) -> set[str]:
        """Names of objectives of which less is better."""
        return {one.name for one in self.ask.catalog.objectives if one.less_is_better}

    def _hear(self, turn: Turn) -> Operation[Draft]:
        if turn.message.forgotten:  # "I didn't say cheap, I said clean"
            yield from take_back(turn.ask, turn.user, turn.message.forgotten, part=turn.message.forgotten_part)
        person = yield from turn.ask.find(turn.user)
        known = turn.ask.standing(person)
        unsaid = person is None or not person.queries  # what matters is asked once
        heard = yield from self._heard(turn)
        unsaid = unsaid or bool(heard.ranking)
        asked = unsaid and heard.reading is not None and bool(heard.reading.question)  # one at a time
        text = f"{_taken_back(turn.message)} " if turn.message.forgotten else ""
        text += understood_in_words(heard, asks=unsaid, before=known.limits, hoped=known.hopes, costs=self._costs)
        only = self._foremost(turn, turn.ask.standing(person).limits) if turn.message.most else None
        return turn.draft(text, heard=heard, asks=not asked, only=only)

    def _foremost(self, turn: Turn, limits: Where) -> list[str] | None:
        """Return as many items as are recommended, of those within limits the ones with the most of what is wished."""
        fitting = [self.ask.fold.items[id] for id in self.ask.columns.eligible(limits)]
        return [item.id for item in ordered(self.ask, turn, fitting)[1][: turn.size]] or None

    def _heard(self, turn: Turn) -> Operation[Heard]:
        assert turn.message.reading is not None
        read = replace(turn.message.reading, text=turn.text), turn.message.limits
        heard: Heard = yield from turn.ask.hear(turn.user, turn.text, read=read)
        return heard

    def _recommend(self, ask: Operations, user: str, reply: Reply, next: Next) -> Operation[Reply]:
        """Return an answer with what it recommends."""
        if not ask.fold.items:  # what was said counts, once there is something
            return replace(reply, text=f"{reply.text} There is nothing to recommend yet.".strip())
        person = yield from ask.find(user)
        offer = next.only
        if next.without:
            fitting = ask.columns.eligible({} if person is None else person.wishes.limits)
            latest = () if person is None else person.shown[1]
            offer = [id for id in fitting if id not in next.without] or [id for id in fitting if id not in latest]
            if not offer:
                return replace(reply, text=f"{reply.text} There is nothing else that fits.".strip())
        try:
            made = yield from ask.recommend(user, size=next.size, offer=offer, asks=next.asks)
        except NothingFits as error:
            return replace(reply, text=f"{reply.text} {relaxed_in_words(error.relaxations)}".strip())
        return replace(reply, text=reply.text.strip(), recommendation=made)

    def _feedback(self, turn: Turn) -> Operation[Draft]:
        message, told = turn.message, []
        common = None if message.utility is None else Opinion([message.utility], message.aspects)
        opinions = message.opinions or dict.fromkeys(message.places, common)
        if (not opinions and common is None) or None in opinions.values():
            return turn.draft("Was that good or bad? Nothing was noted yet: say so in a word.")
        for item, opinion in zip(turn.about, list(opinions.values()) or [common] * len(turn.about), strict=True):
            assert opinion is not None
            felt = opinion.aspects
            utility = opinion.utility if message.opinions else message.utility
            yield from self._learn(turn, item, self._rewards(felt), utility)
            told.append(f"{item.name} was {grade(utility)}{aspects_in_words(felt)}")
        wrong = turn.instead
        stays = f" What you said of {wrong.name} stays: say how it was, if it was not so." if wrong else ""
        return turn.draft(f"Noted: {'; '.join(told)}.{stays}", asks=True)

    def _rewards(self, aspects: Mapping[str, float]) -> dict[str, float]:
        """Return how single objectives of an item were, from -1 to 1, in their own units."""
        objectives = {one.name: one for one in self.ask.catalog.objectives}
        return {name: objectives[name].to_value(0.5 + 0.45 * worth) for name, worth in aspects.items()}

    def _learn(self, turn: Turn, item: Item, rewards: Mapping[str, float], utility: float | None) -> Operation[None]:
        """Take in how an item was: a utility in place of the one told before, where that is put right."""
        before = [one for one in turn.made_in(item) if one != turn.decision]
        if before and utility is not None:
            yield from feedback(turn.ask, before[0], item=item.id, utility=utility)
            utility = None
        if rewards or utility is not None:
            decision = yield from self._decision(turn, item, rewards)
            yield from feedback(turn.ask, decision, item=item.id, rewards=rewards, utility=utility)

    def _decision(self, turn: Turn, item: Item, aspects: Collection[str] = ()) -> Operation[str]:
        """Return the decision that an item belongs to; one that the person met otherwise gets one of its own."""
        for decision in turn.made_in(item):
            told = yield from turn.ask.told.recall(decision)
            if not set(told.rewards.get(item.id, {})) & set(aspects):
                return decision  # else what was said of it first stands in that decision
        made: Recommendation = yield from turn.ask.recommend(turn.user, offer=[item.id], aside=True)
        return made.id

    def _rated(self, turn: Turn, utility: float) -> Operation[Sequence[Item]]:
        """Rate what a message is about, in single objectives too where it tells of one item, and return it."""
        items, rewards = turn.pointed, self._rewards(turn.message.aspects)
        for item in items:
            decision = yield from self._decision(turn, item, rewards)
            yield from feedback(turn.ask, decision, item=item.id, rewards=rewards, utility=utility)
        return items

    def _taken(self, turn: Turn) -> Operation[Draft]:
        taken = yield from self._picked(turn)
        names = listed([item.name for item in taken])
        return turn.draft(f"Good: you took {names.removesuffix('.')}. Tell me how it was when you know.", about=taken)

    def _picked(self, turn: Turn) -> Operation[Sequence[Item]]:
        """Return what was taken: one of several items shown is a choice among them; all else only says it is liked."""
        items = turn.pointed
        pair = (yield from asked_between(turn.ask, turn.decision)) if len(items) == 1 else ()
        # By its name it is one of the two; a number is that of an item shown.
        plain = " ".join(fold(turn.text).split())
        by_name = len(items) == 1 and (bool(turn.message.items) or called(plain, items[0]) >= 0)
        answers = by_name and items[0].id in pair
        if answers or (len(items) == 1 and items[0] in turn.shown and len(turn.shown) > 1):
            try:
                yield from pick(turn.ask, turn.decision, items[0].id, offer=pair if answers else None)
                return items
            except Contradiction:  # another one was taken first
                pass
        return (yield from self._rated(turn, CHOSEN))

    def _reject(self, turn: Turn) -> Operation[Draft]:
        felt = turn.message.utility
        gone = yield from self._rated(turn, DISLIKED if felt is None else felt)
        names = [item.name for item in gone]
        called = Counter(item.name for item in turn.ask.columns.items)
        if alone := [name for name in names if called[name] == 1]:  # a limit on the name would keep others away
            away = Stated(NAME, {"not": alone}, turn.text, 0, len(turn.text))  # it stays away, until that is taken back
            limits, reading = turn.message.limits, turn.message.reading or turn.ask.parser.read("")
            limits = replace(limits, where=merge(limits.where, {NAME: away.limit}), stated=(*limits.stated, away))
            turn = replace(turn, message=replace(turn.message, reading=reading, limits=limits))
        text, heard = yield from self._heard_beside(
            turn, f"Without {listed(names)}{aspects_in_words(turn.message.aspects)}, then."
        )
        return turn.draft(text, heard=heard, about=gone, without=[item.id for item in gone])

    def _like(self, turn: Turn) -> Operation[Draft]:
        liked = yield from self._rated(turn, LIKED)
        names = listed([item.name for item in liked])
        text, heard = yield from self._heard_beside(turn, f"More like {names}{aspects_in_words(turn.message.aspects)}.")
        return turn.draft(text, heard=heard, about=liked, without=[item.id for item in liked])

    def _other(self, turn: Turn) -> Operation[Draft]:
        person = yield from turn.ask.find(turn.user)
        seen = [] if person is None else list(person.seen)
        text, heard = yield from self._heard_beside(turn, "Something else:" if seen else "")
        nothing_said = person is None or not (person.queries or person.wishes.limits)
        if turn.ask.fold.items and not seen and heard is None and nothing_said:
            begun = f"Here is something to begin with: I do not know yet what you want. {what_to_say(turn.ask)}"
            text = f"{text} {begun}".strip()
        return turn.draft(text, heard=heard, without=seen)

    def _heard_beside(self, turn: Turn, text: str) -> Operation[tuple[str, Heard | None]]:
        """Hear what is wished beside pointing at items, and word it before a text."""
        reading = turn.message.reading
        if reading is None or not (
            reading.ranking or reading.dismissed or turn.message.limits.where or turn.message.limits.hopes
        ):
            return f"{lost_in_words(turn.message.limits.unmatched)} {text}".strip(), None
        known = turn.ask.standing((yield from turn.ask.find(turn.user)))
        heard = yield from self._heard(turn)
        told = replace(heard, limits=tuple(one for one in heard.limits if one.name != NAME))
        more = reading.ranking or reading.dismissed or told.limits or told.hopes
        before, hoped = known.limits, known.hopes
        words = understood_in_words(told, before=before, hoped=hoped, costs=self._costs) if more else ""
        return f"{words} {text}".strip(), heard

    def _forget_that(self, turn: Turn) -> Operation[Draft]:
        names = turn.message.forgotten
        person = yield from turn.ask.find(turn.user)
        if person is not None and person.rated[0] and not names:
            return turn.draft("What you felt about an item stays: say how it was instead, or name what to take back.")
        if not (yield from take_back(turn.ask, turn.user, names, part=turn.message.forgotten_part)):
            return turn.draft("There is nothing to take back.")
        text = _taken_back(turn.message) if names else "What you said last is taken back."
        return turn.draft(text, asks=True)

    def _forget_all(self, turn: Turn) -> Operation[Draft]:
        if not (yield from take_back(turn.ask, turn.user, everything=True)):
            return turn.draft("There is nothing to take back.")
        return turn.draft("All that you said is taken back; what you felt about items stays.")

    def _forget_me(self, turn: Turn) -> Operation[Draft]:
        if not self.erases:
            return turn.draft("Who runs this service can erase you: ask there to have all that is known of you erased.")
        if turn.message.kind == Kind.FORGET_ME:
            self._asked_to_erase.add(turn.user)
            return turn.draft("This erases all that is known of you, for good. Say “yes, forget me” to do it.")
        if turn.user not in self._asked_to_erase:  # a message that comes again is no second word
            return turn.draft("To have all that is known of you erased, for good, say “forget me” first.")
        self._asked_to_erase.discard(turn.user)
        try:
            yield from turn.ask.forget(turn.user)
        except UnknownUser:
            return turn.draft("Nothing was known of you.")
        return turn.draft("All that was known of you is erased.")


def _taken_back(message: Message) -> str:
    """Return what a message takes back, in words."""
    part = {"": "", "wishes": "the wish for ", "limits": "the limit on "}[message.forgotten_part]
    return f"Taken back: {part}{listed(message.forgotten)}."


_ANSWERS = {
    Kind.WISH: Conversation._hear,
    Kind.LIMIT: Conversation._hear,
    Kind.DISMISSAL: Conversation._hear,
    Kind.FEEDBACK: Conversation._feedback,
    Kind.TAKEN: Conversation._taken,
    Kind.FORGET_THAT: Conversation._forget_that,
    Kind.FORGET_ALL: Conversation._forget_all,
    Kind.FORGET_ME: Conversation._forget_me,
    Kind.FORGET_ME_YES: Conversation._forget_me,
    Kind.OTHER: Conversation._other,
    Kind.REJECT: Conversation._reject,
    Kind.LIKE: Conversation._like,
}
