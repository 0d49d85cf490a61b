"""Who asks for the opposite of what counts as good wishes for nothing that can be looked for: "a loud bar, please"."""

import re
from collections.abc import Sequence

from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.words import Mention
from druthers.language.text.tokens import Token

OPPOSITE = "the opposite is asked for"
_MARKS = frozenset(",.;:!?|()\n")
_FARTHEST = 8  # words before and after a mention
_NO = (
    r"(?:not|no|never|nothing|without|less|least|nor|neither|hardly|un\w+|low|little|minimal|reduced|free|too|hate|sick"
    r"|than|from|against|away|avoid|escape|safe|fewer|stop|keep|block)"
)
_GAP = rf"(?: (?!{_NO}\b)[\w-]+){{0,4}}"
_WANTED = re.compile(
    r"\b(?:(?:i|we|he|she|they)(?: really| just| also| do| would| both| all| actually)*"
    r" (?:love|like|want|prefer|enjoy|adore|need)s?|looking for|something|somewhere)"
    rf"(?! (?:to|it if|that|when)\b){_GAP}$"
)
_DENIED = re.compile(rf"\b{_NO}\b")
_PLEASE = re.compile(rf"^{_GAP} ?please\b")
_MOST = re.compile(r"\b(?:the|as)(?: most| more)?$")
_POSSIBLE = re.compile(r"^(?: [\w-]+){0,4} as (?:possible|can be|it gets|they come|i can get)\b")
_THE_MORE = re.compile(r"^(?: [\w-]+){0,3} ,? ?the (?:better|merrier)\b")
_BETTER = re.compile(
    r"^ (?:is|are|would be|sounds) (?:(?:even|much) )?(?:better|best|good|great|perfect|nice|what (?:i|we) want)\b"
)
_ALONE = re.compile(r"(?:(?:no|ok|well|actually|rather|something|now|then)\b ?,? ?)*")
_LESS = re.compile(
    r"\b(?:low|little|minimal|bearable|reduced|away|outside|less|out|down|protection|kept|barrier|proof\w*|cancel\w*"
    r"|insulat\w*|reduc\w*|block\w*)\b"
)
_LOVED = re.compile(r"\b(?:i|we)(?: really| just| do| all)* (?:love|like|enjoy|adore)(?: the| a lot of| some)?$")
_HATED = re.compile(
    r"\b(?:hate|hates|detest|dislike|loathe|can not stand|can not bear|sick of|tired of)"
    r"(?: (?:the|a|it|when|is|too|so|these|those|all)\b)*$"
)
_NOT_GOOD = re.compile(
    r"\b(?:not|never)(?: (?:want|need|like|have|it|a|an|to|be|any|have to|particularly|really|all that)\b)*$"
)
# Names that say what is good by themselves.
_PRAISED = frozenset({"quiet", "silence", "silent", "calm", "peaceful", "peace"})


def is_opposite(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether what is bad is asked for, or what is good is not wanted: "the louder the better", "not quiet".

    Examples
    --------
    >>> from druthers.language import make_parser
    >>> parser = make_parser("lexicon", objectives=["price", "quiet"])
    >>> [parser.read(text).names for text in ("expensive please", "the louder the better", "I hate quiet bars")]
    [(), (), ()]
    >>> [parser.read(text).names for text in ("nothing expensive please", "loud places drive me mad", "no noise")]
    [('price',), ('quiet',), ('quiet',)]
    """
    begin, end = mention.first, mention.last
    while begin > 0 and mention.first - begin < _FARTHEST and tokens[begin - 1].text not in _MARKS:
        begin -= 1
    while end < len(tokens) and end - mention.last < _FARTHEST and tokens[end].text not in _MARKS:
        end += 1
    before = " ".join(token.text for token in tokens[begin : mention.first])
    after = "".join(f" {token.text}" for token in tokens[mention.last : end])
    said = tokens[mention.first].text
    if mention.kind is Kind.GOOD or said in _PRAISED:
        return _HATED.search(before) is not None or (said in _PRAISED and _NOT_GOOD.search(before) is not None)
    if mention.kind is not Kind.BAD and not (mention.kind is Kind.NOUN and mention.less_is_better):
        return False
    if mention.kind is Kind.NOUN:  # "I love noise"
        return _LOVED.search(before) is not None
    if _DENIED.search(before) or _LESS.search(after):
        return False
    most = _MOST.search(before) is not None
    if (
        not after
        and mention.last == len(tokens)
        and _ALONE.fullmatch(" ".join(one.text for one in tokens[: mention.first]))
    ):
        return True  # "no, expensive"
    return bool(
        _BETTER.search(after)
        or _WANTED.search(before)
        or _PLEASE.search(after)
        or (most and (_POSSIBLE.search(after) or _THE_MORE.search(_on(tokens, mention))))
    )


def _on(tokens: Sequence[Token], mention: Mention) -> str:
    """Return the words after a mention, marks between them too."""
    return "".join(f" {token.text}" for token in tokens[mention.last : mention.last + _FARTHEST])
