"""One door for whatever a person types: what was understood, what was done, and an answer.

A message is split into acts. Each becomes a turn, and what handles its kind drafts an answer: `DOING` while the message
is taken in, `TELLING` once it is. The rest of the answers, what they recommend, is found out after that too.
"""

from collections.abc import Sequence
from dataclasses import replace

from druthers.advisor import events
from druthers.advisor.acts import find_acts
from druthers.advisor.answers import Reply
from druthers.advisor.doing import DISLIKED, DOING, rate
from druthers.advisor.gathering import Gathering, find_drafts, find_message, find_reply, message_event, reply_event
from druthers.advisor.kinds import CHANGING
from druthers.advisor.messages import ERASING, POINTING, STATED, Kind, Message
from druthers.advisor.naming import several
from druthers.advisor.operations import ATTEMPTS, Operations
from druthers.advisor.said import MOST_LETTERS
from druthers.advisor.steps import CatchUp, Operation, Read
from druthers.advisor.telling import TELLING
from druthers.advisor.turns import Draft, Next, Turn, answering, at_their_places, context_of, put_right, remember
from druthers.advisor.understanding import Understanding
from druthers.advisor.wording import listed, lost_in_words, relaxed_in_words
from druthers.errors import Contradiction, InvalidSetting, NothingFits, UnknownUser
from druthers.stores import Event

SIZE = 3
UNREAD = f"Limits are read in the first {MOST_LETTERS:,} letters alone: say what comes after them in another message."
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
                reply = yield from find_reply(self.ask, user, id)
                if reply is not None:
                    return reply
                drafts = yield from find_drafts(self.ask, message)  # its answer broke off
                return (yield from self._answer(user, drafts, id, claimed=message.position))
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
        turns = yield from _turns(ask, user, text, size)
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

    def _act(self, turn: Turn) -> Operation[Draft]:
        """Take in what one act of a message says."""
        message, tells = turn.message, turn.message.kind in TELLING
        pointed = [turn.at[place] for place in message.places if place < len(turn.at)]
        if message.kind in POINTING and not (pointed or turn.shown or turn.about):
            pointed = list(turn.at)  # none of them is left
        turned_down = [turn.at[place] for place in message.rejected]
        gone = [item.name for item in (*pointed, *turned_down) if item not in turn.shown]
        noted = "" if tells else "; nothing was noted"
        if gone and message.kind not in (*STATED, Kind.UNCLEAR):
            return turn.draft(f"{listed(gone)} {'is' if len(gone) == 1 else 'are'} no longer there{noted}.")
        if turn.namesakes and message.kind in (*CHANGING, Kind.COMPARE):
            return turn.draft(f"{several(turn.namesakes, turn.shown)}{noted}.", about=turn.namesakes)
        for item in turned_down:
            yield from rate(turn, item, DISLIKED, {})
        if tells:
            return replace(turn.draft(""), asked=turn.text)
        if message.kind in ERASING:
            return (yield from self._forget_me(turn))
        return (yield from DOING[message.kind](turn))

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

    def _answer(
        self, user: str, drafts: Sequence[Draft], id: str | None, *, claim: Sequence[Event] = (), claimed: int = 0
    ) -> Operation[Reply]:
        """Answer what was taken in, or what only asks; what comes of that is written at once."""
        asking = Gathering(self.ask)
        replies = []
        for draft in drafts:
            reply = yield from _finish(asking, user, draft)
            replies.append(reply)
        reply = replies[0] if len(replies) == 1 else _joined(replies)
        kept = [] if id is None or not (claim or claimed) else [reply_event(user, id, reply, claimed)]
        if not (asking.events or kept) or (yield from asking.write(before=claim, after=kept)):
            return reply
        # Somebody else answered it meanwhile, or the user was erased, who is not brought back by an answer.
        if claim and id is not None:
            yield from find_message(self.ask, user, claim[0].body["text"], id)  # refuses another one with this id
        before = None if id is None else (yield from find_reply(self.ask, user, id))
        return before or replace(reply, recommendation=None)


def _turns(ask: Operations, user: str, text: str, size: int) -> Operation[list[Turn]]:
    """Return what a message says, act by act."""
    person = yield from ask.find(user)
    decision, ids = ("", []) if person is None else person.shown
    at = yield from at_their_places(ask, decision, ids)
    columns = ask.columns
    context = yield from context_of(ask, person, at)
    acts: tuple[Message, ...] = yield Read(
        lambda: find_acts(Understanding(ask.parser, ask.limit_reader(columns), columns), text, context)
    )
    latest = at[context.latest] if at else None
    rated = ("", "") if person is None else person.rated
    turns = []
    for place, message in enumerate(acts):
        about = tuple(item for item in (context.reach[one] for one in message.places) if item.id in ask.fold.items)
        about = (*about, *message.items) if message.kind == Kind.COMPARE else about or message.items
        beside = any(act.kind in RECOMMENDING for act in acts[place + 1 :])
        turns.append((yield from put_right(Turn(ask, user, message, decision, at, about, size, latest, beside, rated))))
    return turns


def _finish(ask: Operations, user: str, draft: Draft) -> Operation[Reply]:
    """Answer an act of a message."""
    turn, reply = draft.turn, draft.reply
    if draft.asked is not None and turn is None:  # read again by who finishes what broke off
        turns = yield from _turns(ask, user, draft.asked, SIZE)
        turn = next((one for one in turns if one.message.kind in TELLING), None)
    if draft.asked is not None and turn is not None:
        turn = yield from answering(turn, ask)
        told = TELLING[turn.message.kind](turn)
        told = told if isinstance(told, Reply) else (yield from told)
        reply = replace(told, text=f"{told.text} {reply.text}".strip())  # that its end was not read
    elif draft.next is not None:
        reply = yield from _recommend(ask, user, reply, draft.next)
    if turn is not None:
        remember(turn, reply)
    return reply


def _recommend(ask: Operations, user: str, reply: Reply, next: Next) -> Operation[Reply]:
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


def _joined(replies: Sequence[Reply]) -> Reply:
    """Return the answers to the acts of one message as one, of the kind of the first."""
    text = " ".join(one.text for one in replies if one.text)
    items = next((one.items for one in replies if one.items), ())
    heard = next((one.heard for one in replies if one.heard is not None), None)
    made = next((one.recommendation for one in reversed(replies) if one.recommendation is not None), None)
    return Reply(replies[0].kind, text, items, heard, made)
