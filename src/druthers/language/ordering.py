"""From mentions and cues to one order: what is wanted, what is not, and which comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from druthers.language.clauses import Token
from druthers.language.cues import Group, Match, found, grouped, numbered, praised
from druthers.language.spotting import DOUBTFUL, Mention
from druthers.types import Strength

# How early a wish of each strength comes; wishes of equal strength come in the order of the text.
LEVELS = {"first": -20.0, "2": -19.0, "3": -18.0, "4": -17.0, "strong": -5.0, "faint": 4.0, "bonus": 8.0}
# A mention of which no cue speaks is given up if its clause sounds so, beyond these log odds.
LEANING = 0.7
# Cues that speak of all that was said so far.
_OF_ALL = ("reset", "reverse", "alone")
_DISMISSING = ("dismiss", "unneeded", "accept")
_FINE = ("fine", "ok", "okay", "acceptable", "alright", "right", "tolerable", "problem", "issue", "bearable", "me")


@dataclass(frozen=True, slots=True)
class Claim:
    """A mention, and what became of it."""

    mention: Mention
    role: str
    cue: str
    strength: Strength = Strength.PLAIN


@dataclass
class Wishes:
    """What the text wants so far; later statements win."""

    wanted: dict[int, tuple[float, int]] = field(default_factory=dict)
    strengths: dict[int, Strength] = field(default_factory=dict)
    dismissed: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    above: list[tuple[int, int]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    changed: set[int] = field(default_factory=set)

    def want(self, objective: int, level: float | None, place: int) -> None:
        """Want an objective; an explicit level replaces the one before."""
        if objective in self.dismissed or objective in self.last:
            self.changed.add(objective)
        self.dismissed.pop(objective, None)
        self.last.pop(objective, None)
        old, at = self.wanted.get(objective, (0.0, place))
        self.wanted[objective] = (old if level is None else level, at)

    def dismiss(self, objective: int, place: int) -> None:
        """Give an objective up."""
        if self.wanted.pop(objective, None) is not None:
            self.changed.add(objective)
        self.last.pop(objective, None)
        self.dismissed[objective] = place

    def rank_last(self, objective: int, place: int) -> None:
        """Put an objective at the end."""
        self.wanted.pop(objective, None)
        self.last[objective] = place

    def reset(self) -> None:
        """Forget all wishes so far."""
        self.wanted.clear()
        self.last.clear()
        self.above.clear()

    def reverse(self) -> None:
        """Turn the order so far round."""
        ranking = self._sorted()
        places = sorted((place for _, place in self.wanted.values()), reverse=True)
        self.wanted = {objective: (0.0, place) for objective, place in zip(ranking, places, strict=True)}
        self.above.clear()

    def strength(self, objective: int, ranking: Sequence[int]) -> Strength:
        """Return how much an objective is meant: "only" holds if nothing else is wanted."""
        own = self.strengths.get(objective, Strength.PLAIN)
        if own is not Strength.ONLY or all(self.strengths.get(each) is Strength.ONLY for each in ranking):
            return own
        first = self.wanted.get(objective, (0.0, 0))[0] == LEVELS["first"]
        return Strength.ABOVE_ALL if first else Strength.PLAIN

    def order(self, n_objectives: int) -> tuple[list[int], list[int]]:
        """Return the ranking and what is dismissed.

        An objective that was called the last is dismissed, unless all others are listed: a list that ends with it
        would claim that it beats those not mentioned.
        """
        ranking = self._sorted()
        dismissed = sorted(self.dismissed, key=self.dismissed.__getitem__)
        if len(ranking) + len(self.last) == n_objectives and len(self.last) == 1 and ranking:
            ranking += list(self.last)
        else:
            dismissed += [objective for objective in self.last if objective not in dismissed]
        return ranking, dismissed

    def _sorted(self) -> list[int]:
        """Sort by strength and place, and let no objective come before one that is said to beat it."""
        left = dict(self.wanted)
        edges: list[tuple[int, int]] = []
        for upper, lower in reversed(self.above):
            if upper in left and lower in left and not _leads(edges, lower, upper):
                edges.append((upper, lower))
        ranking: list[int] = []
        while left:
            beaten = {lower for upper, lower in edges if upper in left}
            best = min((key, objective) for objective, key in left.items() if objective not in beaten)[1]
            ranking.append(best)
            del left[best]
        return ranking


def _leads(edges: Sequence[tuple[int, int]], start: int, goal: int) -> bool:
    """Tell whether the edges lead from one objective to another."""
    open_, seen = [start], set()
    while open_:
        node = open_.pop()
        if node == goal:
            return True
        if node not in seen:
            seen.add(node)
            open_.extend(lower for upper, lower in edges if upper == node)
    return False


def weigh(tokens: Sequence[Token], spans: Sequence[tuple[int, int]], mentions: Sequence[Mention]) -> Wishes:
    """Read sentence after sentence and keep the books of what is wanted."""
    wishes = Wishes()
    supported = [mention.objective for mention in mentions if mention.worth > 0.5]
    for start, end in spans:
        inside = [mention for mention in mentions if start <= mention.first < end]
        for first, last in _parts(tokens, start, end, inside):
            part = [mention for mention in inside if first <= mention.first < last]
            groups = grouped(tokens, part)
            sentence = numbered(tokens, first, last, groups)
            matches = found(sentence)
            turned = any(match.does == "reverse" for match in matches)
            if not turned and any(match.does == "reset" for match in matches):
                wishes.reset()
            ready = len(wishes.wanted) > 1
            if turned and ready:
                wishes.reverse()
            _apply(wishes, tokens, groups, [m for m in matches if m.does not in _OF_ALL], supported)
            if any(match.does == "alone" for match in matches):
                wishes.strengths |= dict.fromkeys(wishes.wanted, Strength.ONLY)
            if turned and not ready:
                wishes.reverse()
    return wishes


def _parts(tokens: Sequence[Token], start: int, end: int, mentions: Sequence[Mention]) -> list[tuple[int, int]]:
    """Cut a sentence where the speaker corrects himself, so that what comes before can be forgotten."""
    texts = [token.text for token in tokens[start:end]]
    for match in found(" ".join(texts), only="reset"):
        if match.does == "reset":
            at = start + len(" ".join(texts)[: match.start].split())
            if any(mention.first < at for mention in mentions):
                return [(start, at), (at, end)]
    return [(start, end)]


def _apply(
    wishes: Wishes, tokens: Sequence[Token], groups: Sequence[Group], matches: Sequence[Match], supported: Sequence[int]
) -> None:
    """Let the cues of one sentence act on its groups, in the order of the text."""
    held = {match.x for match in matches if match.does == "hold"}
    touched = {number for match in matches for number in (match.x, match.y) if number is not None}
    spoken_of = {mention.objective for number in touched for mention in groups[number].mentions}
    gone: set[int] = set()
    for number, group in enumerate(groups):
        own = [match for match in matches if match.x == number]
        given_up = {match.y for match in matches if match.does == "instead"}
        for index, mention in enumerate(group.mentions):
            listed = len(group.mentions) > 1 and mention.kind != "weak"
            if not _counts(tokens, mention, number in touched or listed, supported):
                continue
            acting = [match for match in own if _reaches(match, group, index)]
            role, level, cue = _role(mention, acting, number in held, number in given_up)
            if role == "wanted" and mention.objective not in spoken_of and mention.leaning > LEANING:
                role, cue = "dismissed", "sounds given up"
            if role == "dropped":
                wishes.wanted.pop(mention.objective, None)
            elif role == "dismissed":
                gone.add(mention.objective)
                wishes.dismiss(mention.objective, mention.first)
            elif role == "last":
                wishes.rank_last(mention.objective, mention.first)
            elif mention.objective not in gone:
                _want(wishes, mention, level)
                strength = _strength(acting, level)
                if strength is not None:
                    wishes.strengths[mention.objective] = strength
            wishes.claims.append(Claim(mention, role, cue, wishes.strengths.get(mention.objective, Strength.PLAIN)))
    for match in matches:
        if match.does in ("above", "below", "instead") and match.x is not None and match.y is not None:
            upper, lower = (match.y, match.x) if match.does == "below" else (match.x, match.y)
            wishes.above.extend(
                (a.objective, b.objective)
                for a in groups[upper].mentions
                for b in groups[lower].mentions
                if a.objective != b.objective
            )


def _strength(acting: Sequence[Match], level: str | None) -> Strength | None:
    """Return how much a mention is meant by its cues, the strongest of them; None where nothing is said of that."""
    said = {match.strength for match in acting} - {None}
    if Strength.PLAIN in said:
        said -= {Strength.ABOVE_ALL}
    return next((each for each in Strength if each in said), Strength.FAINT if level == "faint" else None)


def _want(wishes: Wishes, mention: Mention, level: str | None) -> None:
    if level == "more":
        lowest = min((key[0] for objective, key in wishes.wanted.items() if objective != mention.objective), default=0)
        wishes.want(mention.objective, min(lowest, 0.0) - 1.0, mention.first)
        return
    if level in ("2", "3", "4"):
        for objective, (old, place) in wishes.wanted.items():
            if LEVELS["4"] < old <= 0.0 and place < mention.first and objective != mention.objective:
                wishes.wanted[objective] = (LEVELS[level] - 0.5 + old / 1000, place)
    wishes.want(mention.objective, None if level is None else LEVELS[level], mention.first)


def _counts(tokens: Sequence[Token], mention: Mention, touched: bool, supported: Sequence[int]) -> bool:
    """Tell whether a weak or doubtful word counts here."""
    if mention.kind == "weak":
        return touched or praised(tokens, mention)
    if mention.worth <= DOUBTFUL:
        return touched or mention.objective in supported or praised(tokens, mention)
    return True


def _reaches(match: Match, group: Group, index: int) -> bool:
    """Tell whether a cue about a list reaches one of its members."""
    size = len(group.mentions)
    if size == 1:
        return True
    if match.before:
        return match.does in _DISMISSING or group.linked or index == 0
    if match.does in ("last", "2", "3", "4"):
        plural = group.linked and any(f" {verb} " in match.text for verb in ("are", "come", "go", "matter"))
        return plural or index == size - 1
    return group.linked or index == size - 1


def _role(mention: Mention, acting: Sequence[Match], held: bool, given_up: bool) -> tuple[str, str | None, str]:
    """Return what becomes of a mention: its role, its level and the cue."""
    if mention.kind == "gives_up" and not held:
        return "dismissed", None, "a concession"
    if given_up and mention.kind != "bad":
        return "dismissed", None, "another instead"
    faint = None
    for match in acting:
        if match.does == "drop":
            return "dropped", None, match.why
        if match.does in _DISMISSING and not held:
            verdict = _verdict(mention, match)
            if verdict == "dismissed":
                return "dismissed", None, match.why
            faint = verdict or faint
    for match in acting:
        if match.does == "last" and not held:
            return "last", None, match.why
    for level in ("first", "more", "2", "3", "4", "strong", "bonus", "faint"):
        for match in acting:
            if match.does == level:
                return "wanted", level, match.why
    return "wanted", faint, "would be accepted" if faint else ""


def _verdict(mention: Mention, match: Match) -> str | None:
    """Return what a cue of not caring says of a mention, by the kind of its word."""
    if match.does == "dismiss":
        return "dismissed"
    if match.does == "unneeded":
        if mention.kind == "bad" or (mention.kind in ("nouns", "says", "means") and " want" in match.text):
            return None
        return "dismissed"
    if mention.kind == "bad":
        return "dismissed"
    if mention.kind == "good" or (mention.kind == "nouns" and match.text.split()[-1] in _FINE):
        return "faint"
    return "dismissed"
