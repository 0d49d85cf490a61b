"""Phrases around a text or the name of something that make it a limit, or none; `<name>` stands for a list of words."""

SOFT = r"\b(?:<soft>|<optional>)\b"
NOT = (
    r"\bnon-$|(?:\b<not>|n't)(?:\s+(?:<articles>|it|them))*\s+$"
    r"|\b(?:nothing(?:\s+(?:that|which)(?:'s| is| are))?|not)\s+(?:[a-z]+ed|made|run|built|grown|sold"
    r"|containing|coming)\s+(?:by|from|of|with|in|at)(?:\s+<articles>)*\s+$"  # "nothing run by the church"
    r"|\b(?:nobody|no one)\s+(?:may|must|should|can|ever|has|is)(?:\s+[a-z]+){0,3}\s+$"  # "nobody may ever have smoked"
    r"|\brather not\s+[a-z]+(?:\s+<articles>)*\s+$"  # "I'd rather not have a red one"
    r"|\b(?:i|we|he|she|they)(?:'m|'re| am| are| is)?\s+(?:(?:ca|wo|could)n't|cannot|(?:can|will|could) not|never)\s+"
    r"(?:come|go|make it|make|do|be there|attend|manage|visit)(?:\s+(?:on|in|at))?(?:\s+<articles>)*\s+$"
    r"|\b(?:i|we|he|she|they)(?:'m|'s|'re| am| are| is|'ll be| will be)?(?: always)?\s+(?:away|abroad|busy"
    r"|not (?:free|here|available)|(?:work|working|works|at work)(?: late| early| all day)?)"
    r"(?:\s+(?:on|in|during|for|all|most|the whole|of))+(?:\s+<articles>)*\s+$"  # "I'm busy on Fridays"
    r"|\b(?:must|should|may|can|shall|does|do|will|wo|would)(?:\s?not|n't)\s+"
    r"(?!need|have to|require|mind|care|matter|lack|miss|forget|skip|lose)[a-z]+"
    r"(?:\s+<articles>)*\s+$"  # "it must not take dogs"
)
# "senza usare il forno", "niente formaggi affumicati", but not "nicht nur"
NOT_ABROAD = (
    r"\b<not>(?:\s+<articles>)*\s+(?!(?:nur|solo|seulement|solamente|soltanto|mas|piu|plus|mehr|weniger|menos|moins|meno"
    r"|trop|troppo|zu|demasiado|muy|sehr|tres|molto|importa|slechts|alleen)\b)[a-z]{4,}(?:\s+<articles>)*\s+$"
)
ALL_BUT = r"\b(?:any|every|all)\w*(?:\s+[a-z]+){0,2}\s+but(?:\s+<articles>)*\s+$"  # "any color but black"
# What follows a denial that denies nothing: "not only", "doesn't need to have".
NOT_DENIED = (
    r"\s+(?:(?:really|necessarily|actually|particularly|strictly|even) )?(?:only|just|merely|necessarily|need\w*"
    r"|have to|has to|require\w*|mind\w*|car(?:e|ing)|matter\w*|bother\w*|sure|know\w*|picky|fussy|worr\w+|too|very"
    r"|that(?! (?:is|has|are|needs?|requires?|have|comes?|costs?)\b)"
    r"|so|think|believe|allergic|intolerant|more|less|longer|later|earlier|fewer|been|seen|tried|used?|far|afraid)\b"
)
# "I don't need a maths tutor any more", "it doesn't have to be red"
NO_LONGER = (
    r"(?:\b(?:i|we|it)\s+)?(?:\b(?:do(?:es)?\s?n'?t|do(?:es)?\s+not|not)\s+(?:need|require|have to)|\bneed\s?n'?t"
    r"|\bno longer\s+(?:need|want|require)|\bno need for"
    r"|\b(?:never ?mind|nvm|forget)(?: about)?)\s+(?:(?:<articles>|it|them|have)\s+)*$"
)
CORRECTION = r"^\W*(?:no\s*,|actually\b|rather\b|sorry\b|i meant?\b|make (?:it|that)\b)|\binstead\b(?! of)"
# "3 rooms and a balcony" too
HAVING = (
    r"\b<having>(?:\s+(?:me|us))?(?:\s+<articles>)*(?:\s+l'|\s+)$|\b<having>\b.*\band(?:\s+<articles>)*\s+$"
    r"|\b<having>\s+an?\s+(?:[a-z]+[\s-]+){1,2}$"  # "needs a built-in grinder"
    # "they have to be able to move pianos", "they must offer lessons in the evenings"
    r"|\b<modal_verb>\s+(?!not\b|never\b)(?:(?!(?:and|but|or|so|near|close|closer|next|far|away|not)\b)[a-z]+\s+){0,7}$"
    r"|\d[^,.;!?]*\b(?:and|plus)\s+(?:an?|the)\s+$"  # "at least 1% interest and a credit card"
)
HAD = (
    r"[\s-]friendly\b|\s+(?:<modal>\s+)?<had>\b|'s\s+coming(?: along| too| with (?:me|us))?\b"
    r"|(?:\s+[a-z]+)?\s+only(?=\s*(?:(?:please|pls|thanks|thank you)\s*)?(?:$|[.,;!]))"
)
FREE = r"[\s-]free\b"  # "nut-free" is without nuts
BARE_BEFORE = r"(?:^|[,;.!?]|\b(?:an?|the|and|or|be|is|rather|quite|very|ein\w*|une?|uno|una))\s*$"  # "a small one"
ALONE_BEFORE = r"^\s*(?:(?:and|also|but|plus|a|an|the|it|must|has to|should|be)\s+)*$"
ALONE_AFTER = r"\s*(?:(?:please|too|as well)\s*)?(?:$|[.;!,(]|(?:and|or|but)\s)"
THING = r"\s+(?:food|dishes|places?|spots?|style|stuff|kind|type|sort|ones?|versions?|models?)\b"  # "Indian food"
# "a Trek rather than a Cube", "red would be awful": no limit to these
# Who has no dog looks for nothing without dogs.
NOT_MINE = (
    r"\b(?:i|we|he|she|they)(?:'m|'re)?\s+(?:(?:do|did|wo|wi)n't|do not|not|will not|am not|are not|have)\b"
    r".*\b(?:have|own|bring|bringing|got|no)\b"
)
COMPARED = r"\bthan(?:\s+<articles>)*\s+$"
BAD = (
    r"(?:(?:a|an|just|simply|really|far|way|pretty|rather)\s+)*"
    r"(?:too|awful|terrible|horrible|ugly|bad|worse|worst|wrong|overkill|mistake|nightmare|problem|pity|shame)\b"
)
SPURNED = rf"(?:\s+[a-z]+)?\s+would(?:(?:n't| not) be\b| be {BAD})"
OPENED = r"(?:\bopen(?:ed|s)?(?:\s+(?:on|also|even|too|every|an?))*\s*|)$"
CLOSED = r"\b(?:closed|shut|closes)\b[\s\w]{0,12}$"
LINKED_BEFORE, LINKED_AFTER = r"([a-z]+)\s*(?:,|\bor|\band|\boder)\s+$", r"\s*(?:,|or\b|and\b|oder\b)\s*([a-z]+)"
AT_WORK = (
    r"\b(?:i|we|she|he|they)\b(?:'m|'re| am| are| is| have to| has to| usually| always| both)*"
    r" (?:work|finish|get off|at work|busy)\w*\b(?:(?! so | and | but | which | that | must | should | at )[^.,;!?])*$"
)
# "I weigh 105 kilos", "she's 192 cm tall": what has ends must let that in
OF_ONESELF = (
    r"\b(?:i(?:'m| am| weigh)|(?:he|she|my (?:son|daughter|kid|child|wife|husband|partner|mother|father|mum|mom|dad"
    r"|brother|sister|friend))(?:'s| is| weighs))(?: about| around| roughly| only)? $"
)
NOT_FOR = r"(?:\bnot|n't|\bnever)\s+(?:[a-z]+\s+){1,4}for\s+$"  # "that I don't have to explain for half an hour"
GETS_ALONG = r"(?:\b(?:<modal_verb>|be|is|gets?|getting|along|on|well|lives?|<fitting>)\s+)*$"
SITTING = r"\bin (?:an?|the|her|his|my|our)\s+$"  # "a baby in a pushchair"
# "Tuesdays and Thursdays are out", "Monday doesn't work for me"
RULED_OUT = (
    r"(?P<others>(?:(?:\s*,\s*|\s+(?:and|or)\s+)[a-z]+)*)"
    r"(?:(?:'s|'re|\s+(?:is|are))\s+"
    r"(?:out(?: of the question|(?!\s+of))|no good|(?:im|not )possible|a no-?go|off limits)\b"
    r"|\s+(?:(?:do(?:es)?|wo|ca)n't|(?:do(?:es)?|will|can)\s?not|never) (?:works?|do|suits?)\b"
    r"|(?:\s+(?:is|are)|'s)(?: just| really| simply| of)? (?:useless|no use|not an option|not for (?:me|us))\b)"
)
MEANT = r"\b(?:i mean(?:t)?|i said)\b[^.;!?]*?,\s*(?P<not>not\b[^.;!?,]*)"
# "if it takes longer than 90 minutes nobody will play it"
REFUSED = (
    r"[^.;!?]*\b(?:nobody|no one|forget it|no use|no good|useless|not an option|no thanks|out of the question"
    r"|(?:i|we|he|she|they)(?: will|'ll)? (?:won't|can't|cannot|not|never))\b"
)
WHO_IS = r"(?:\b(?:am|is|are)|'(?:m|re|s))(?:\s+(?:a|both|all|strictly|also))*\s+$"
IN_A_MONTH = r"\b<in_a_month>\s*$"
# The name of a detail right before its text: "size L", "the color should be red"
NAMED = r"\b(?:the\s+|its\s+)?(?P<name>[^\W_]+)(?:\s*[:=]|\s+(?:<modal>|in|of))?\s*$"
CLOSE = r"\b(?:closer? to|next to|far from|away from|walking distance (?:of|from|to))\s+(?:(?:the|my|an?)\s+)?$"
PLACE = r"\b(?:in|im|at|near|from|en|à|a|em|te)\s+(?:the\s+)?$"
WHERE = r"\b(?:in|at|on|to|by|near|from|around|too|with|of)\s+(?:the\s+)?$"  # "in the city" speaks of no city bike
# "the color is really unimportant", "I do not care about the color"
DISMISSED_AFTER = (
    r"(?:\s+(?:is|are|was|does|do|really|totally|completely|also|too|either|honestly|to me|to us|for me|it"
    r"|ist|sind|mir|uns|ganz|vollig|auch|est|sont|me|m'|nous|es|e|mij))*\s*<dismissing>\b"
)
DISMISSED_BEFORE = (
    r"\b<dismissing>(?:\s+(?:about|for|to|me|us|of|what|which|the|my|its|any|mir|die|der|das|den|ist|la|le|les|el|los|il|lo|het|de|o|a"
    r"|whether|how))*\s+$"
)
BREAK = r"[.;!?,]|(?<!not) so | because | since |(?<!ything)(?<!ywhere) but | aber | pero | mais | ma | maar | mas "
# What is told of the past asks for nothing: "every visit at the gas station made me cry".
STORY = (
    r"\b(?:ago|last (?:time|year|month|week|summer|winter|spring|autumn)|used to|made (?:me|us)|sold (?:me|us)"
    r"|(?:i|we)(?:'ve)? (?:already )?own|(?:had|owned|bought) (?:an?|the|one)|already (?:have|got)"
    r"|(?:my|our|his|her)(?: very)? (?:last|old|previous|former|first) ones?|ours (?:was|were|broke|died|is)"
    r"|it (?:broke|died|failed|fell apart|stopped|lasted|gave up|flooded|leaked|rusted)"
    r"|(?:leave|leaving|sell|selling|outgrown|move out of|moving out of) (?:my|our)"
    r"|(?:i|we)(?:'ve| have)? never (?:[a-z]+ed|been|had|gone|seen|met|slept)|otherwise|or else|sonst)\b"
)
