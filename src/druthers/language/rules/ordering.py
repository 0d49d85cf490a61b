"""From mentions and cues to one order: what is wanted, what is not, and which comes first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise

from druthers.language.data import small_words
from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.languages import ENGLISH
from druthers.language.lexicon.words import Mention
from druthers.language.models.judge import bar
from druthers.language.rules.attitude import OPPOSITE, WAYS, is_opposite, pole, ways, without_reasons
from druthers.language.rules.cues import Effect, Group, Match, find_cues, grouped, numbered, praised
from druthers.language.text import Span, Token, spoken
from druthers.types import Strength

# "I'd rather not be in the blazing sun": so many words before what is refused.
_NEAR = 6

# How early a wish comes of which a cue says so; others stand at 0, and equals in the order of the text. Only the order
# of these numbers counts, and that there is room between them.
LEVELS = {
    Effect.FIRST: -20.0,
    Effect.SECOND: -19.0,
    Effect.THIRD: -18.0,
    Effect.FOURTH: -17.0,
    Effect.STRONG: -5.0,
    Effect.FAINT: 4.0,
    Effect.BONUS: 8.0,
}
_COUNTED = (Effect.SECOND, Effect.THIRD, Effect.FOURTH)
_BY_LEVEL = (Effect.FIRST, Effect.MORE, *_COUNTED, Effect.STRONG, Effect.BONUS, Effect.FAINT)
_DISMISSING = (Effect.DISMISS, Effect.UNNEEDED, Effect.DENY, Effect.ACCEPT)
# Cues that speak of all that was said so far.
_ORDERS = Effect.ABOVE, Effect.BELOW, Effect.INSTEAD
_OF_ALL = (Effect.RESET, Effect.REVERSE, Effect.ALONE)


class Fate(Enum):
    """What becomes of a mention."""

    WANTED = auto()
    DISMISSED = auto()
    LAST = auto()
    DROPPED = auto()


@dataclass(frozen=True, slots=True)
class Claim:
    """A mention, what became of it, by which cue, and how much it is meant."""

    mention: Mention
    fate: Fate
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
        first = self.wanted.get(objective, (0.0, 0))[0] == LEVELS[Effect.FIRST]
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


def weigh(
    tokens: Sequence[Token], spans: Sequence[Span], mentions: Sequence[Mention], language: str = ENGLISH
) -> Wishes:
    """Read sentence after sentence and keep the books of what is wanted."""
    wishes = Wishes()
    mentions = without_reasons(tokens, spans, mentions)
    supported = {mention.objective for mention in mentions if mention.stands_alone}
    for start, end in spans:
        inside = [mention for mention in mentions if start <= mention.first < end]
        for first, last in _parts(tokens, start, end, inside, language):
            groups = grouped(tokens, [mention for mention in inside if first <= mention.first < last], language)
            matches = find_cues(numbered(tokens, first, last, groups), language=language)
            done = {match.cue.does for match in matches}
            turned = Effect.REVERSE in done
            before = dict(wishes.wanted), set(wishes.dismissed)
            if corrected := Effect.RESET in done and not turned:
                wishes.reset()
            ready = len(wishes.wanted) > 1
            if turned and ready:
                wishes.reverse()
            _apply(wishes, tokens, groups, [m for m in matches if m.cue.does not in _OF_ALL], supported)
            if corrected and not wishes.wanted and set(wishes.dismissed) - before[1]:
                # "cheap and close by, no wait, forget the price" leaves what is not spoken of
                wishes.wanted = {one: at for one, at in before[0].items() if one not in wishes.dismissed}
            if Effect.ALONE in done:
                wishes.strengths |= dict.fromkeys(wishes.wanted, Strength.ONLY)
            if turned and not ready:
                wishes.reverse()
    return wishes


def _parts(tokens: Sequence[Token], start: int, end: int, mentions: Sequence[Mention], language: str) -> list[Span]:
    """Cut a sentence where the speaker corrects himself, so that what comes before can be forgotten."""
    sentence = spoken(tokens[start:end])
    for match in find_cues(sentence, only=Effect.RESET, language=language):
        at = start + len(sentence[: match.start].split())
        if any(mention.first < at for mention in mentions):
            return [(start, at), (at, end)]
    return [(start, end)]


def _apply(
    wishes: Wishes, tokens: Sequence[Token], groups: Sequence[Group], matches: Sequence[Match], supported: set[int]
) -> None:
    """Let the cues of one sentence act on its groups, in the order of the text."""
    held = {match.x for match in matches if match.cue.does is Effect.HOLD}
    given_up = {match.y for match in matches if match.cue.does is Effect.INSTEAD}
    touched = {number for match in matches for number in (match.x, match.y) if number is not None}
    spoken_of = {mention.objective for number in touched for mention in groups[number].mentions}
    gone: set[int] = set()
    turned: set[int] = set()
    for number, group in enumerate(groups):
        bad = {mention.objective for mention in group.mentions if pole(mention) < 0}  # "and not pay a fortune"
        praised_ahead = {one.objective for ahead in groups[:number] for one in ahead.mentions if one.kind is Kind.GOOD}
        for index, mention in enumerate(group.mentions):
            listed = len(group.mentions) > 1 and mention.kind is not Kind.WEAK
            if not _counts(tokens, mention, number in touched or listed, supported):
                continue
            acting = [match for match in matches if match.x == number and _reaches(tokens, match, group, index)]
            if mention.objective not in bad:
                acting = [match for match in acting if match.cue.does is not Effect.CASE]
            waived = number in given_up and mention.objective not in bad and (group.linked or index == 0)
            fate, level, cue = _fate(mention, acting, number in held, waived)
            if fate is Fate.DISMISSED and mention.objective in wishes.wanted and _is_extreme(tokens, mention):
                continue  # "cheap, but not the cheapest"
            if fate is Fate.WANTED and mention.objective not in spoken_of and _sounds_given_up(tokens, mention):
                fate, cue = Fate.DISMISSED, "sounds given up"
            if fate is Fate.WANTED and (mention.objective in turned or is_opposite(tokens, mention)):
                fate, cue = Fate.DROPPED, OPPOSITE
                turned.add(mention.objective)  # "far from the center please"
            accepted = any(match.cue.does is Effect.ACCEPT for match in acting)
            if fate is Fate.DISMISSED and accepted and mention.objective in praised_ahead:
                continue  # "a strong one, it may smell, too"
            if fate is Fate.DISMISSED:
                gone.add(mention.objective)
            if fate is not Fate.WANTED or mention.objective not in gone:
                _carry_out(wishes, mention, fate, level, acting)
            strength = wishes.strengths.get(mention.objective, Strength.PLAIN)
            wishes.claims.append(Claim(mention, fate, cue, strength))
    for match in matches:
        if match.cue.does in _ORDERS and match.x is not None and match.y is not None:
            upper, lower = (match.y, match.x) if match.cue.does is Effect.BELOW else (match.x, match.y)
            wishes.above.extend(
                (a.objective, b.objective)
                for a in groups[upper].mentions
                for b in groups[lower].mentions
                if a.objective != b.objective
            )


def _is_extreme(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether only the most of something is spoken of."""
    before = tokens[mention.first - 1].text if mention.first else ""
    return before in ("the", "very") and tokens[mention.first].text.endswith("est")


def _sounds_given_up(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether the clause of a mention sounds so, where no cue speaks of it; what is refused is not given up."""
    before = spoken(tokens[max(0, mention.first - _NEAR) : mention.first])
    return ways("refused").search(before) is None and mention.leaning > bar("lean")


def _carry_out(wishes: Wishes, mention: Mention, fate: Fate, level: Effect | None, acting: Sequence[Match]) -> None:
    """Enter in the books what becomes of a mention."""
    objective, place = mention.objective, mention.first
    if fate is Fate.DROPPED:
        wishes.wanted.pop(objective, None)
    elif fate is Fate.DISMISSED:
        wishes.dismiss(objective, place)
    elif fate is Fate.LAST:
        wishes.rank_last(objective, place)
    else:
        _want(wishes, objective, place, level)
        strength = _strength(acting, level)
        if strength is not None:
            wishes.strengths[objective] = strength


def _strength(acting: Sequence[Match], level: Effect | None) -> Strength | None:
    """Return how much a mention is meant by its cues, the strongest of them; None where nothing is said of that."""
    said = {match.cue.strength for match in acting} - {None}
    if Strength.PLAIN in said:
        said -= {Strength.ABOVE_ALL}
    return next((each for each in Strength if each in said), Strength.FAINT if level is Effect.FAINT else None)


def _want(wishes: Wishes, objective: int, place: int, level: Effect | None) -> None:
    if level is Effect.MORE:
        lowest = min((key[0] for other, key in wishes.wanted.items() if other != objective), default=0.0)
        wishes.want(objective, min(lowest, 0.0) - 1.0, place)
        return
    if level in _COUNTED:
        for other, (old, at) in wishes.wanted.items():
            if LEVELS[Effect.FOURTH] < old <= 0.0 and at < place and other != objective:
                wishes.wanted[other] = (LEVELS[level] - 0.5 + old / 1000, at)
    wishes.want(objective, None if level is None else LEVELS[level], place)


def _counts(tokens: Sequence[Token], mention: Mention, touched: bool, supported: set[int]) -> bool:
    """Tell whether a weak or doubtful word counts here."""
    if mention.kind is not Kind.WEAK and (not mention.doubtful or mention.objective in supported):
        return True
    return touched or praised(tokens, mention)


def _reaches(tokens: Sequence[Token], match: Match, group: Group, index: int) -> bool:
    """Tell whether a cue about a list reaches one of its members."""
    last = index == len(group.mentions) - 1
    if len(group.mentions) == 1:
        return True
    pairs = pairwise(group.mentions[: index + 1])
    gaps = [{token.text for token in tokens[one.last : two.first]} for one, two in pairs]
    if match.before and match.cue.does is Effect.DENY:  # "not too loud, and clean"
        contrary = pole(group.mentions[0]) * pole(group.mentions[index]) < 0
        if contrary or any({",", "and"} <= gap for gap in gaps):
            return False
    if (
        match.before
        and match.cue.does is Effect.DISMISS
        and any("," in gap and gap & small_words("praise") for gap in gaps)
    ):
        return False  # "don't care about looks, good sound and cheap"
    if match.before:
        whole = match.cue.does in _DISMISSING and match.cue.does is not Effect.DENY
        return whole or group.linked or index == 0
    if match.cue.strength is Strength.FAINT and not last and _set_apart(tokens, group, index):
        return False
    if match.cue.does in (Effect.LAST, *_COUNTED):
        plural = group.linked and any(f" {verb} " in match.text for verb in ("are", "come", "go", "matter"))
        return plural or last
    return group.linked or last


def _set_apart(tokens: Sequence[Token], group: Group, index: int) -> bool:
    """Tell whether a comma sets a member apart from the last: "cheap and clean, quiet if possible"."""
    pairs = list(pairwise(group.mentions))
    gaps = [{token.text for token in tokens[one.last : two.first]} for one, two in pairs]
    comma = max((n for n, gap in enumerate(gaps) if "," in gap), default=-1)
    return comma >= index and (len(gaps) == 1 or any("and" in gap for gap in gaps[:comma]))


def _fate(mention: Mention, acting: Sequence[Match], held: bool, given_up: bool) -> tuple[Fate, Effect | None, str]:
    """Return what becomes of a mention, its level and the cue."""
    if mention.kind is Kind.GIVES_UP and not held:
        return Fate.DISMISSED, None, "a concession"
    if given_up:
        return Fate.DISMISSED, None, "another instead"
    accepted = False
    for match in acting:
        if match.cue.does in (Effect.DROP, Effect.CASE):
            return Fate.DROPPED, None, match.cue.why
        if match.cue.does in _DISMISSING and not held:
            if _gives_up(mention, match):
                return Fate.DISMISSED, None, match.cue.why
            accepted = accepted or match.cue.does is Effect.ACCEPT
    for match in acting:
        if match.cue.does is Effect.LAST and not held:
            return Fate.LAST, None, match.cue.why
    for level in _BY_LEVEL:
        for match in acting:
            if match.cue.does is level:
                return Fate.WANTED, level, match.cue.why
    return Fate.WANTED, Effect.FAINT if accepted else None, "would be accepted" if accepted else ""


def _gives_up(mention: Mention, match: Match) -> bool:
    """Tell whether a cue of not caring gives a mention up, by the kind of its word: what is good is only accepted."""
    if match.cue.does is Effect.DISMISS:  # "neither too far out nor too loud" wants both to be otherwise
        too = mention.why.startswith("too ") or match.text.split()[-2:-1] == ["too"]
        return not (too and mention.kind is Kind.BAD and match.text.startswith(("neither ", "nor ")))
    if match.cue.does is Effect.UNNEEDED:
        wants = mention.kind in (Kind.NOUN, Kind.SAYS, Kind.MEANS) and " want" in match.text
        # "it hardly needs any watering", "where I don't have to wait"
        meant = mention.named or mention.kind is Kind.MEANS or ways("burden").search(match.text) is not None
        meant = meant or ways("much").search(match.text) is not None  # "it shouldn't use much fuel"
        little = ways("low").search(match.text) or " for " in match.text
        lessened = mention.less_is_better and meant and mention.kind is not Kind.GOOD and not little
        return mention.kind is not Kind.BAD and not wants and not lessened
    if match.cue.does is Effect.DENY:  # "no noise" wants less of it
        return mention.kind is Kind.GOOD or (mention.named and not mention.less_is_better)
    if mention.kind is not Kind.BAD and mention.leaning < bar("allow"):  # "it can be washed"
        return False
    # "the service is fine", but "barking is fine", and "a manual is fine"
    burden = (mention.less_is_better and mention.concept != "price") or mention.leaning > bar("lean")
    liked = match.text.split()[-1] in WAYS.table["fine"] or ways("would_like").match(match.text)
    fine = mention.kind is Kind.NOUN and liked and not burden
    return mention.kind is not Kind.GOOD and not fine
