"""Taking back what was said: of some objectives and details, the last thing, or all."""

from collections.abc import Collection

from druthers.advisor import events, statements
from druthers.advisor.messages import Part
from druthers.advisor.operations import ATTEMPTS, Operations
from druthers.advisor.steps import CatchUp, Look, Operation
from druthers.errors import Contradiction


def take_back(
    operations: Operations, user: str, names: Collection[str] = (), *, part: Part = "", everything: bool = False
) -> Operation[bool]:
    """Take back what a user said of some objectives and details, or a part of that, the last thing said, or all.

    False if there was none. All that is left is said anew, in place of all that was said: so nothing may have come
    meanwhile.
    """
    events.as_id(user, "a user")
    for _ in range(ATTEMPTS):
        person = yield from operations.find(user)
        before = statements.statements((yield Look(lambda: operations.past(user))))
        after = [] if everything else statements.without(before, names, part) if names else before[:-1]
        if person is None or after == before:
            return False
        body = {"ranking": [], "limitless": True, "said": after}
        event = events.make(events.CORRECTION, body, user=user, latest=person.position)
        if (yield from operations.append(event)):
            return True
        yield CatchUp()  # more came meanwhile, or the user was erased: look again
    raise Contradiction("too much is said at once to take something back; try again")
