"""One door for whatever a person types: what was understood, what was done, and an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from druthers.advisor import decisions, events
from druthers.advisor.answers import Heard, Recommendation, Reply
from druthers.advisor.asking import CHOICE, Asked
from druthers.advisor.messages import Context, Kind, Message, Opinion
from druthers.advisor.operations import Operations
from druthers.advisor.person import Person
from druthers.advisor.picking import pick
from druthers.advisor.rating import feedback
from druthers.advisor.reasons import number
from druthers.advisor.sayings import called
from druthers.advisor.steps import Look, Operation, Read
from druthers.advisor.understanding import Understanding
from druthers.advisor.wording import count, fact_in_words, grade, limit_in_words, listed, understood_in_words
from druthers.catalogs import Item
from druthers.errors import Contradiction, NothingFits, UnknownUser
from druthers.language import not_understood
from druthers.language.lexicon.concepts import adjectives
from druthers.limits import speaks_of_money
from druthers.limits.words import fold, stems
from druthers.stores import Event

SIZE = 3
SAME_FAMILY = 4  # letters that the shorter one of two words has
REVERSED = re.compile(r"\b(?:most expensive|pric(?:i)?est|dearest|worst|least|teuerste|mas car[oa]|plus cher)", re.I)
MOST_FOUND = 5
# What "not that one", "I take that one" and "more like that" say of an item.
DISLIKED, CHOSEN, LIKED = -0.4, 0.4, 0.6


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

    def reply(self, user: str, text: str, *, size: int = SIZE) -> Operation[Reply]:
        """Answer a message of a user."""
        events.as_id(user, "a user")
        person = yield from self.ask.find(user)
        decision, ids = ("", []) if person is None else person.shown
        shown = [self.ask.fold.items[id] for id in ids if id in self.ask.fold.items]
        columns = self.ask.columns
        context = self._context(person, shown, (yield from self._taken_before(decision)) if shown else None)
        message: Message = yield Read(
            lambda: Understanding(self.ask.parser, self.ask.limit_reader(columns), columns).read(text, context)
        )
        about = tuple(shown[place] for place in message.places) or message.items
        answer = _ANSWERS[message.kind]
        made: Reply = yield from answer(self, _Turn(user, text, message, decision, shown, about, size))
        return made

    def _taken_before(self, decision: str) -> Operation[str | None]:
        """Return what was picked after a decision, from its items or in answer to its question."""
        for key in (events.choice_key(decision), events.answer_key(decision)):
            event: Event | None = yield Look(partial(self.ask.store.find, key))
            if event is not None:
                return str(event.body["picked"] or "") or None
        return None

    def _context(self, person: Person | None, shown: Sequence[Item], picked: str | None) -> Context:
        if person is None:
            return Context(shown)
        names = [one.name for one in self.ask.catalog.objectives]
        felt = picked or next(reversed(person.felt), None)
        latest = next((place for place, item in enumerate(shown) if item.id == felt), 0)
        return Context(shown, [names[k] for k in person.wishes.draws], dict(person.wishes.limits), latest)

    def _small_talk(self, turn: _Turn) -> Operation[Reply]:
        yield from ()
        if turn.message.kind == Kind.THANKS:
            return turn.reply("You are welcome.")
        wanted = ", ".join(one.name for one in self.ask.catalog.objectives[:4])
        return turn.reply(f"Hello. Tell me what matters to you: {wanted}, or a limit such as a price.")

    def _unclear(self, turn: _Turn) -> Operation[Reply]:
        yield from ()
        names = [one.name for one in self.ask.catalog.objectives]
        reading = turn.message.reading
        if reading is not None and not_understood() in reading.notes:
            return turn.reply(f"Sorry, {not_understood()}. Nothing was changed.")
        lost = listed([f"“{piece}”" for piece in turn.message.limits.unmatched]) or "this"
        return turn.reply(
            f"I did not understand {lost}: nothing was changed. I know about {listed(names)};"
            " say which of these matters, set a limit, tell how one was, or ask why."
        )

    def _hear(self, turn: _Turn) -> Operation[Reply]:
        heard = yield from self._heard(turn)
        person = yield from self.ask.find(turn.user)
        unsaid = bool(heard.ranking) or person is None or not person.wishes.draws  # else it was said before
        asked = unsaid and heard.reading is not None and bool(heard.reading.question)  # one at a time
        text = understood_in_words(heard, asks=unsaid)
        return (yield from self._recommend(turn, text, heard=heard, asks=not asked))

    def _heard(self, turn: _Turn) -> Operation[Heard]:
        assert turn.message.reading is not None
        read = replace(turn.message.reading, text=turn.text), turn.message.limits
        heard: Heard = yield from self.ask.hear(turn.user, turn.text, read=read)
        return heard

    def _recommend(
        self,
        turn: _Turn,
        text: str,
        *,
        heard: Heard | None = None,
        without: Sequence[str] = (),
        asks: bool = True,
    ) -> Operation[Reply]:
        offer = None
        if without:
            person = yield from self.ask.find(turn.user)
            limits = {} if person is None else person.wishes.limits
            fitting = self.ask.columns.eligible(limits)
            latest = {item.id for item in turn.shown}
            offer = [id for id in fitting if id not in without] or [id for id in fitting if id not in latest]
            if not offer:
                return turn.reply(f"{text} There is nothing else that fits.".strip(), heard=heard)
        try:
            made: Recommendation = yield from self.ask.recommend(turn.user, size=turn.size, offer=offer, asks=asks)
        except NothingFits as error:
            return turn.reply(f"{text} Nothing fits: {str(error).partition('; ')[2]}.".strip(), heard=heard)
        return turn.reply(text.strip(), heard=heard, made=made)

    def _feedback(self, turn: _Turn) -> Operation[Reply]:
        message, told = turn.message, []
        common = None if message.utility is None else Opinion([message.utility], message.aspects)
        opinions = message.opinions or dict.fromkeys(message.places, common)
        if (not opinions and common is None) or None in opinions.values():
            return turn.reply("Was that good or bad? Nothing was noted yet: say so in a word.")
        objectives = {one.name: one for one in self.ask.catalog.objectives}
        for item, opinion in zip(turn.about, list(opinions.values()) or [common] * len(turn.about), strict=True):
            assert opinion is not None
            felt = opinion.aspects
            utility = opinion.utility if message.opinions else message.utility
            decision = yield from self._decision(turn, item, felt)
            rewards = {name: objectives[name].to_value(0.5 + 0.45 * worth) for name, worth in felt.items()}
            yield from feedback(self.ask, decision, item=item.id, rewards=rewards, utility=utility)
            parts = [f"{name} {'good' if worth > 0 else 'bad'}" for name, worth in felt.items()]
            told.append(f"{item.name} was {grade(utility)}" + (f" ({', '.join(parts)})" if parts else ""))
        return (yield from self._recommend(turn, f"Noted: {'; '.join(told)}."))

    def _decision(self, turn: _Turn, item: Item, aspects: Collection[str] = ()) -> Operation[str]:
        """Return the decision that an item belongs to; one that the person met otherwise gets one of its own."""
        if item in turn.shown:
            told = yield from self.ask.recall(turn.decision)
            before = {} if told is None else told.rewards.get(item.id, {})
            if not set(before) & set(aspects):  # what was said of it first stands in that decision
                return turn.decision
        made: Recommendation = yield from self.ask.recommend(turn.user, offer=[item.id], aside=True)
        return made.id

    def _rated(self, turn: _Turn, utility: float) -> Operation[Sequence[Item]]:
        """Rate what a message is about, or else the first item shown, and return it."""
        items = turn.about or turn.shown[:1]
        for item in items:
            decision = yield from self._decision(turn, item)
            yield from feedback(self.ask, decision, item=item.id, utility=utility)
        return items

    def _taken(self, turn: _Turn) -> Operation[Reply]:
        taken = yield from self._picked(turn)
        names = listed([item.name for item in taken])
        return turn.reply(f"Good: you took {names}. Tell me how it was when you know.", about=taken)

    def _picked(self, turn: _Turn) -> Operation[Sequence[Item]]:
        """Return what was taken: one of several items shown is a choice among them; all else only says it is liked."""
        items = turn.about or turn.shown[:1]
        pair = (yield from self._asked(turn)) if len(items) == 1 else ()
        # By its name it is one of the two; a number is that of an item shown.
        plain = " ".join(fold(turn.text).split())
        by_name = len(items) == 1 and (bool(turn.message.items) or called(plain, items[0]) >= 0)
        answers = by_name and items[0].id in pair
        if answers or (len(items) == 1 and items[0] in turn.shown and len(turn.shown) > 1):
            try:
                yield from pick(self.ask, turn.decision, items[0].id, offer=pair if answers else None)
                return items
            except Contradiction:  # another one was taken first
                pass
        return (yield from self._rated(turn, CHOSEN))

    def _asked(self, turn: _Turn) -> Operation[Sequence[str]]:
        """Return the items between which the last recommendation asked to choose, if it did and all are there."""
        past = (yield Look(lambda: self.ask.store.find(events.decision_key(turn.decision)))) if turn.decision else None
        question = None if past is None else Asked.from_content(past.body.get("question"))
        if question is None or question.kind != CHOICE or any(id not in self.ask.fold.items for id in question.choices):
            return ()
        return question.choices

    def _reject(self, turn: _Turn) -> Operation[Reply]:
        felt = turn.message.utility
        gone = yield from self._rated(turn, DISLIKED if felt is None else felt)
        names = listed([item.name for item in gone])
        return (yield from self._recommend(turn, f"Without {names}, then.", without=[item.id for item in gone]))

    def _like(self, turn: _Turn) -> Operation[Reply]:
        liked = yield from self._rated(turn, LIKED)
        names = listed([item.name for item in liked])
        text, heard = yield from self._heard_beside(turn, f"More like {names}.")
        return (yield from self._recommend(turn, text, heard=heard, without=[item.id for item in liked]))

    def _other(self, turn: _Turn) -> Operation[Reply]:
        person = yield from self.ask.find(turn.user)
        seen = [] if person is None else list(person.seen)
        text, heard = yield from self._heard_beside(turn, "Something else:" if seen else "")
        return (yield from self._recommend(turn, text, heard=heard, without=seen))

    def _heard_beside(self, turn: _Turn, text: str) -> Operation[tuple[str, Heard | None]]:
        """Hear what is wished beside pointing at items, and word it before a text."""
        reading = turn.message.reading
        if reading is None or not (reading.ranking or reading.dismissed or turn.message.limits.where):
            return text, None
        heard = yield from self._heard(turn)
        return f"{understood_in_words(heard)} {text}", heard

    def _why(self, turn: _Turn) -> Operation[Reply]:
        if not turn.shown:
            return turn.reply("Nothing was recommended yet: say what matters to you.")
        past = yield Look(lambda: self.ask.store.find(events.decision_key(turn.decision)))
        item = (turn.about or turn.shown)[0]
        made = () if past is None else decisions.suggestions(past)
        why = " ".join(one.why for one in made if one.item == item.id)
        others = [one for one in turn.shown if one.id != item.id]
        beside = f" Beside {others[0].name}: {self._differences(item, others[0])}." if others else ""
        return turn.reply(f"{item.name}: {why}{beside}", about=[item])

    def _compare(self, turn: _Turn) -> Operation[Reply]:
        yield from ()
        pair = list(turn.about or turn.shown)[:2]
        if len(pair) < 2:
            pair = list(turn.shown)[:2]
        if len(pair) < 2:
            return turn.reply("There are no two items to compare: say what matters to you first.")
        return turn.reply(f"{pair[0].name} beside {pair[1].name}: {self._differences(*pair)}.", about=pair)

    def _differences(self, one: Item, other: Item) -> str:
        """Return where two items differ, each in the objective's own unit."""
        parts = []
        for objective in self.ask.catalog.objectives:
            mine, theirs = one.values.get(objective.name), other.values.get(objective.name)
            if mine is not None and theirs is not None and mine != theirs:
                parts.append(f"{objective.name} {number(mine)} against {number(theirs)}")
        return ", ".join(parts) or "no difference that is known"

    def _detail(self, turn: _Turn) -> Operation[Reply]:
        yield from ()
        item = (turn.about or turn.shown)[0]
        asked = set(stems(turn.text))
        reading = turn.message.reading
        named = () if reading is None else (*reading.names, *reading.dismissed_names)
        names = [name for name in self.ask.columns.names if _asks_for(name, asked) or name in named]
        if "where" in asked:
            names += [name for name in ("city", "district", "location", "address") if name in item.details]
        facts = {**item.details, **item.values}
        told = [
            f"{name} {fact_in_words(facts[name])}" if name in facts else f"{name} is not known"
            for name in dict.fromkeys(names or facts)
        ]
        return turn.reply(f"{item.name}: {', '.join(told) or 'nothing more is known'}.", about=[item])

    def _find(self, turn: _Turn) -> Operation[Reply]:
        yield from ()
        where = turn.message.limits.where
        ids = self.ask.columns.eligible(where)
        names = [self.ask.fold.items[id].name for id in ids[:MOST_FOUND]]
        what = " and ".join(f"{name} {limit_in_words(limit)}" for name, limit in where.items())
        rest = f", and {len(ids) - MOST_FOUND} more" if len(ids) > MOST_FOUND else ""
        return turn.reply(f"With {what}: {listed(names) + rest if names else 'none'}.")

    def _best(self, turn: _Turn) -> Operation[Reply]:
        """Tell which item is the best in what was asked about: of those shown, or of all."""
        yield from ()
        assert turn.message.reading is not None
        columns, name = self.ask.columns, turn.message.reading.names[0]
        upward = next(one for one in self.ask.catalog.objectives if one.name == name).less_is_better
        price = self.ask.limit_reader(columns).price
        if price is not None and speaks_of_money(turn.text):  # the price itself, where it is known
            name, upward = price, True
        if REVERSED.search(turn.text):
            upward = not upward
        values = dict(zip(columns.ids, columns.numbers(name).tolist(), strict=True))
        among = turn.about or (turn.shown if turn.message.shown else ()) or columns.items
        known = [item for item in among if not math.isnan(values[item.id])]
        if not known:
            return turn.reply(f"The {name} of none of these is known.")
        ordered = sorted(known, key=lambda item: values[item.id] if upward else -values[item.id])
        found = ordered[: 1 if len(known) < MOST_FOUND else SIZE]
        told = [f"{item.name}, {name} {number(values[item.id])}" for item in found]
        then = f"; then {'; '.join(told[1:])}" if told[1:] else ""
        return turn.reply(f"{told[0]}{then}.", about=found)

    def _help(self, turn: _Turn) -> Operation[Reply]:
        yield from ()
        names = [one.name for one in self.ask.catalog.objectives]
        details = [name for name in self.ask.columns.names if name not in names]
        limits = f" Limits can also be on {listed(details)}." if details else ""
        return turn.reply(
            f"I go by {listed(names)}: say which of these matter to you, or which do not.{limits} Tell me how one was,"
            " ask why or how two of them compare, or take back what you said."
        )

    def _profile(self, turn: _Turn) -> Operation[Reply]:
        person = yield from self.ask.find(turn.user)
        if person is None:
            return turn.reply("Nothing yet: you have not told me anything.")
        names = [one.name for one in self.ask.catalog.objectives]
        said = []
        if self.ask.fold.policy.learns_preference:
            card = yield from self.ask.preference(turn.user)
            weights = ", ".join(f"{one.objective} {one.weight:.2f}" for one in card.weights)
            said.append(f"How much things count for you: {weights}.")
        if person.wishes.dismissed:
            said.append(f"Set aside: {listed([names[k] for k in person.wishes.dismissed])}.")
        if person.wishes.limits:
            limits = [f"{name} {limit_in_words(limit)}" for name, limit in person.wishes.limits.items()]
            said.append(f"Limits: {', '.join(limits)}.")
        said.append(f"From {count(person.queries, 'message')} and {count(person.feedbacks, 'rating')}.")
        return turn.reply(" ".join(said))

    def _forget_that(self, turn: _Turn) -> Operation[Reply]:
        names = turn.message.forgotten
        person = yield from self.ask.find(turn.user)
        if person is not None and person.rated and not names:
            return turn.reply("What you felt about an item stays: say how it was instead, or name what to take back.")
        if not (yield from self.ask.take_back(turn.user, names)):
            return turn.reply("There is nothing to take back.")
        text = f"Taken back: {listed(names)}." if names else "What you said last is taken back."
        return (yield from self._recommend(turn, text))

    def _forget_all(self, turn: _Turn) -> Operation[Reply]:
        if not (yield from self.ask.take_back(turn.user, everything=True)):
            return turn.reply("There is nothing to take back.")
        return turn.reply("All that you said is taken back; what you felt about items stays.")

    def _forget_me(self, turn: _Turn) -> Operation[Reply]:
        if not self.erases:
            return turn.reply("Who runs this service can erase you: ask there to have all that is known of you erased.")
        if turn.message.kind == Kind.FORGET_ME:
            return turn.reply("This erases all that is known of you, for good. Say “yes, forget me” to do it.")
        try:
            yield from self.ask.forget(turn.user)
        except UnknownUser:
            return turn.reply("Nothing was known of you.")
        return turn.reply("All that was known of you is erased.")


@dataclass(frozen=True)
class _Turn:
    """A message, and what it is about."""

    user: str
    text: str
    message: Message
    decision: str
    shown: Sequence[Item]
    about: Sequence[Item]
    size: int

    def reply(
        self, text: str, *, heard: Heard | None = None, made: Recommendation | None = None, about: Sequence[Item] = ()
    ) -> Reply:
        """Return the answer to this message."""
        return Reply(self.message.kind.value, text, tuple(item.id for item in about or self.about), heard, made)


_ANSWERS = {
    Kind.GREETING: Conversation._small_talk,
    Kind.THANKS: Conversation._small_talk,
    Kind.WISH: Conversation._hear,
    Kind.LIMIT: Conversation._hear,
    Kind.DISMISSAL: Conversation._hear,
    Kind.FEEDBACK: Conversation._feedback,
    Kind.TAKEN: Conversation._taken,
    Kind.WHY: Conversation._why,
    Kind.COMPARE: Conversation._compare,
    Kind.DETAIL: Conversation._detail,
    Kind.FIND: Conversation._find,
    Kind.PROFILE: Conversation._profile,
    Kind.BEST: Conversation._best,
    Kind.HELP: Conversation._help,
    Kind.FORGET_THAT: Conversation._forget_that,
    Kind.FORGET_ALL: Conversation._forget_all,
    Kind.FORGET_ME: Conversation._forget_me,
    Kind.FORGET_ME_YES: Conversation._forget_me,
    Kind.OTHER: Conversation._other,
    Kind.REJECT: Conversation._reject,
    Kind.LIKE: Conversation._like,
    Kind.UNCLEAR: Conversation._unclear,
}


def _asks_for(name: str, asked: Collection[str]) -> bool:
    """Tell whether a question names something, if only by a word of its family: "can I park there" asks for parking."""
    pairs = [(part, word) for part in stems(name) for word in asked]
    if any(part == word or word in adjectives(part) for part, word in pairs):
        return True
    long = [pair for pair in pairs if min(map(len, pair)) >= SAME_FAMILY]
    return any(part.startswith(word) or word.startswith(part) for part, word in long)
