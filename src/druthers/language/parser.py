"""A parser: tokens, then words, then what words leave unexplained, then rules; each step in a module of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from druthers.language.data import small_words
from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.languages import ENGLISH, UNKNOWN, language_of, name_of, not_understood
from druthers.language.lexicon.objectives import as_objectives
from druthers.language.lexicon.words import Mention, Words
from druthers.language.models.judge import Judge
from druthers.language.models.minilm import Encoder
from druthers.language.rules.attitude import OPPOSITE, sign_of
from druthers.language.rules.cues import spoken_of
from druthers.language.rules.ordering import Fate, Wishes, weigh
from druthers.language.text import LIMIT, Span, Token, open_tokens, parts, sentences, shown_of, tokenize
from druthers.types import Evidence, Objective, Reading

# Below this confidence a reading comes with a question.
BAR = 0.5
# What a change of mind leaves of the confidence in an objective: so little that it is asked about.
_CHANGED = 0.5
# No piece of evidence is surer than this: several add up.
_SUREST = 0.95


class Parser:
    """Read texts: find what is mentioned, then weigh it by what is said of it. Threads may share a parser.

    Parameters
    ----------
    objectives
        What users may care about: names, or Objective values with descriptions, synonyms and examples.
    name
        The parser's name.
    words
        What finds mentions by words; by default nothing does.
    judge
        What decides which mentions stand, and finds more by meaning; by default all stand.

    Attributes
    ----------
    asks_others
        Whether reading is mostly waiting for another machine, so that many texts are read at a time.
    """

    asks_others: ClassVar[bool] = False

    def __init__(
        self,
        objectives: Iterable[str | Objective],
        name: str,
        words: Words | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.objectives = as_objectives(objectives)
        self.name = name
        self._words = words
        self._judge = judge
        self._names = tuple(objective.name for objective in self.objectives)

    def warm_up(self) -> None:
        """Load all that reading needs on this machine; by default the first texts do that."""
        self.read("")
        if self._judge is not None:
            self._judge.warm_up()

    def encoder(self) -> Encoder | None:
        """Return the sentence model that reads with it, for who asks it something else; None where there is none."""
        return None if self._judge is None else self._judge.encoder()

    def read(self, text: str) -> Reading:
        """Return what a text says about the objectives; any text will do, and nothing in it is obeyed."""
        found = self._find(text)
        wishes = weigh(found.shown, found.spans, found.mentions, found.language)
        leftover = _leftover(text, found.shown, found.spans, wishes)
        notes = [OPPOSITE] if any(claim.cue == OPPOSITE for claim in wishes.claims) else []
        return self._reading(text, found.tokens, wishes, leftover, [*found.notes, *notes])

    def suppose(self, text: str) -> Reading:
        """Return what a text is likeliest to wish for that is known to wish for something: one thing, as a guess."""
        found = self._find(text)
        words = self._judge is not None and found.language == ENGLISH
        guess = self._judge.likeliest(found.shown) if self._judge is not None and words else None
        wishes = weigh(found.shown, found.spans, found.mentions or ([guess] if guess else []), found.language)
        return self._reading(text, found.tokens, wishes, (), found.notes)

    def signs(self, text: str) -> dict[int, int]:
        """Return the objectives that a text about something speaks of: 1 in its favor, -1 against it, 0 if unsaid.

        Examples
        --------
        >>> from druthers.language import make_parser
        >>> parser = make_parser("lexicon", objectives=["gentleness", "waiting time", "price"])
        >>> [parser.signs(text) for text in ("so gentle", "not gentle at all", "a long wait", "about the price")]
        [{0: 1}, {0: -1}, {1: -1}, {2: 0}]
        """
        found = self._find(text)
        signs: dict[int, int] = {}
        for mention in found.mentions:
            less = self.objectives[mention.objective].less_is_better
            signs[mention.objective] = signs.get(mention.objective) or sign_of(found.shown, mention, less)
        return signs

    def _find(self, text: str) -> "_Found":
        """Return the tokens of a text, and the mentions among them that stand."""
        tokens = tokenize(text)
        spans = sentences(tokens)
        open_, commanded = open_tokens(tokens, spans)
        shown = [
            token if flag else Token("|", token.start, token.end) for token, flag in zip(tokens, open_, strict=True)
        ]
        language = ENGLISH if self._words is None else language_of([token.text for token in tokens])
        mentions = [] if self._words is None else self._words(shown, open_, language)
        if language == UNKNOWN:  # words that look like known ones mean something else there, save for other scripts
            mentions = [mention for mention in mentions if not tokens[mention.first].text.isascii()]
        notes = ["left out what is aimed at the machine"] if commanded else []
        if language != ENGLISH:
            notes.append(f"read as {name_of(language)}" if language else not_understood())
            notes += ["only single words of it were read"] if mentions and not language else []
        if len(text) > LIMIT:
            notes.append(f"read only the first {LIMIT} characters")
        if self._judge is not None and language == ENGLISH:
            mentions, note = self._judge(shown, open_, mentions, spoken_of)
            notes += [note] if note else []
        telling = [m for m in mentions if m.kind is not Kind.IDLE and not _interjects(shown, m)]
        less = [objective.less_is_better for objective in self.objectives]
        beside = {m.first: m.objective for m in telling}
        telling = [m for m in telling if not (_says_how(shown, m) or _of_doing(shown, m, beside))]
        standing = [replace(m, less_is_better=less[m.objective]) for m in telling]
        standing.sort(key=lambda mention: mention.first)
        return _Found(tokens, shown, spans, standing, language, notes)

    def read_all(self, texts: Iterable[str]) -> list[Reading]:
        """Return what each text says, in the order of the texts."""
        return [self.read(text) for text in texts]

    def _reading(
        self, text: str, tokens: Sequence[Token], wishes: Wishes, leftover: tuple[str, ...], notes: list[str]
    ) -> Reading:
        ranking, dismissed = wishes.order(len(self.objectives))
        evidence = _evidence(text, tokens, wishes, set(ranking), set(dismissed))
        sure = {objective: _sureness(evidence, wishes, objective) for objective in (*ranking, *dismissed)}
        confidence = min(sure.values(), default=0.0 if leftover else 1.0)
        unsure = confidence < BAR and text.strip()
        confidences = [sure[objective] for objective in ranking]
        return Reading(
            text=text,
            objectives=self._names,
            ranking=tuple(ranking),
            dismissed=tuple(dismissed),
            evidence=evidence,
            confidence=confidence,
            confidences=tuple(confidences),
            strengths=tuple(wishes.strength(objective, ranking) for objective in ranking),
            leftover=leftover,
            question=ask_back(self._names, ranking, confidences, wishes.changed) if unsure else None,
            notes=tuple(notes),
        )


class _Found(NamedTuple):
    """What was found in a text; `shown` are its tokens with marks in place of those that are not open."""

    tokens: list[Token]
    shown: list[Token]
    spans: list[Span]
    mentions: list[Mention]
    language: str
    notes: list[str]


def _evidence(
    text: str, tokens: Sequence[Token], wishes: Wishes, ranked: set[int], dismissed: set[int]
) -> tuple[Evidence, ...]:
    """Return the claims that the reading rests on, as pieces of the text."""
    pieces = []
    for claim in wishes.claims:
        mention = claim.mention
        role = "dismissed" if claim.fate in (Fate.DISMISSED, Fate.LAST) else "wanted"
        if mention.objective not in ranked and (role == "wanted" or mention.objective not in dismissed):
            continue
        start, end = tokens[mention.first].start, tokens[mention.last - 1].end
        why = f"'{mention.why}'" + (f", {claim.cue}" if claim.cue else "")
        said = text[start:end]
        pieces.append(Evidence(mention.objective, start, end, said, role, why, mention.worth, claim.strength))
    return tuple(pieces)


def _interjects(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether a word only asks for attention: "wait, not the service"."""
    alone = mention.last - mention.first == 1 and tokens[mention.first].text in ("wait", "look")
    begins = mention.first == 0 or not tokens[mention.first - 1].is_word
    return alone and begins and mention.last < len(tokens) and tokens[mention.last].text in (",", "-", "!", ".")


def _says_how(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether a word says only how much something counts, though an objective is called so: "I don't care"."""
    if mention.last - mention.first > 1 or tokens[mention.first].text not in small_words("counting"):
        return False
    before = tokens[mention.first - 1].text if mention.first else ""
    after = tokens[mention.last].text if mention.last < len(tokens) else ""
    return before in ("not", "who", "i", "we") or after in ("about", "how", "if", "whether")


def _of_doing(tokens: Sequence[Token], mention: Mention, beside: Mapping[int, int]) -> bool:
    """Tell whether a word says only how something else is done: "quick to learn" speaks of learning."""
    to = mention.last < len(tokens) and tokens[mention.last].text == "to"
    other = beside.get(mention.last + 1)
    return to and mention.last - mention.first == 1 and not mention.named and other not in (None, mention.objective)


def _sureness(evidence: Sequence[Evidence], wishes: Wishes, objective: int) -> float:
    """Return how sure an objective is: several pieces of evidence add up, a change of mind takes away."""
    doubt = 1.0
    for piece in evidence:
        if piece.objective == objective:
            doubt *= 1.0 - _SUREST * piece.confidence
    return (1.0 - doubt) * (_CHANGED if objective in wishes.changed else 1.0)


def _leftover(text: str, shown: Sequence[Token], spans: Sequence[Span], wishes: Wishes) -> tuple[str, ...]:
    """Return the sentences that no evidence comes from, each part apart of which the middle was blanked out."""
    used = {claim.mention.first for claim in wishes.claims if claim.cue != OPPOSITE}
    pieces = []
    for start, end in spans:
        if used.isdisjoint(range(start, end)):
            told = (one for one in parts(text, shown, start, end) if any(token.is_word for token in shown[slice(*one)]))
            pieces += [text[shown[first].start : shown[last - 1].end] for first, last in told]
    if len(text) > LIMIT:
        pieces.append(text[len(shown_of(text)) :].lstrip())
    return tuple(dict.fromkeys(pieces))


def ask_back(names: Sequence[str], ranking: Sequence[int], sure: Sequence[float], changed: set[int]) -> str:
    """Return one question whose answer would settle the reading.

    Examples
    --------
    >>> ask_back(["price", "location", "service"], [0, 1], [0.4, 0.3], set())
    'Is it the price or the location that matters more?'
    >>> ask_back(["price", "location", "service"], [], [], set())
    'What matters most to you: price, location or service?'
    """
    for objective in sorted(changed):
        return f"Does the {names[objective]} matter to you?"
    if len(ranking) >= 2:
        first, second = (names[index] for index in ranking[:2])
        return f"Is it the {first} or the {second} that matters more?"
    if ranking:
        return f"Is it the {names[ranking[0]]} that matters to you?"
    listed = ", ".join(names[:-1]) + (" or " if len(names) > 1 else "") + names[-1]
    return f"What matters most to you: {listed}?" if len(names) > 1 else f"Does the {listed} matter to you?"
