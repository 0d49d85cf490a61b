"""The command chat: a conversation in the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from druthers.advisor import Advisor, Card, Recommendation
from druthers.catalogs import CATALOGS
from druthers.catalogs.catalog import Detail
from druthers.cli.language import highlighted, ranked
from druthers.errors import DruthersError, UnknownUser
from druthers.language import PARSERS

app = typer.Typer()

SIZE = 3
STARS = 5
BAR = 12
GREETING = "Say what you want, in your own words; help tells what else you can say."
HELP = (
    ("cheap and clean, quiet at night", "say what matters to you, and get three items"),
    ("1 was great", "tell how an item was, in a word: great, good, okay, bad or awful"),
    ("I took 2: 4 stars", "or in stars, 1 to 5"),
    ("more", "get three items again, by all that is known of you now"),
    ("card", "see what is believed of you"),
    ("forget", "have all that is known of you erased"),
    ("quit", "leave"),
)
# Words for how something was, as stars; the first one found counts, and "not" before it turns it around.
RATINGS = {
    5: "great excellent perfect wonderful fantastic amazing superb brilliant loved love best",
    4: "good nice lovely liked like well pleasant",
    3: "okay ok fine average alright so-so decent",
    2: "bad poor weak disappointing disliked meh",
    1: "awful terrible horrible worst hated hate dreadful",
}
_STARS_BY_WORD = {word: stars for stars, words in RATINGS.items() for word in words.split()}
_ABOUT_ITEM = re.compile(
    r"\s*(?:i\s+)?(?:took|take|chose|choose|tried|had|got|pick(?:ed)?|booked)?\s*(?:number|no\.?|item|#)?\s*"
    r"(?P<place>\d{1,3})(?:st|nd|rd|th)?\b(?!\s*(?:stars?\b|/))(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_GRADE = re.compile(r"(?P<stars>\d+)\s*(?:stars?\b|/\s*5\b|\*+|$)|(?P<signs>[*★]{1,5})\s*$", re.IGNORECASE)


@app.command()
def chat(
    store: Annotated[
        str,
        typer.Option(metavar="WHERE", envvar="DRUTHERS_STORE", help="The journal: `sqlite:FILE`, or `memory:`."),
    ] = "memory:",
    catalog: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help=f"What to recommend: {', '.join(f'`{name}`' for name in CATALOGS)}, or a file."
        ),
    ] = None,
    user: Annotated[str, typer.Option(metavar="ID", help="Who is talking.")] = "me",
    parser: Annotated[str, typer.Option(metavar="NAME", help=f"How to read: {', '.join(PARSERS)}.")] = "default",
) -> None:
    """Talk with an advisor: say what you want, get three items and why, tell how they were.

    Nothing leaves this machine, and nothing is kept unless you name a `--store`; a service may use the same one. A new
    journal is about hotels unless you name a `--catalog`. It also reads sentences from a pipe, one a line.

        druthers chat
        druthers chat --catalog beers --store sqlite:beers.db --user ada
        echo "quiet and clean" | druthers chat
    """
    console = Console(highlight=False)
    with Advisor(catalog or _usual(store), store=store, parser=parser) as advisor:
        talk = Conversation(advisor, user, console)
        console.print(GREETING, style="dim")
        for line in _lines(console):
            if not talk.take(line):
                break


def _usual(store: str) -> str | None:
    """Return the catalog of a journal that has none yet; one that is there knows its own."""
    from druthers.stores import open_store

    with open_store(store) as journal:
        return None if journal.last() else "hotels"


def _lines(console: Console) -> Iterator[str]:
    """Yield what is typed or piped in; piped lines are shown, so that the output reads as a conversation."""
    if sys.stdin.isatty():
        import contextlib

        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  lines can then be edited
        with contextlib.suppress(EOFError, KeyboardInterrupt):
            while True:
                yield console.input("\n[bold cyan]>[/] ")
        console.print()
        return
    for line in sys.stdin:
        if line.strip():
            console.print(Text.assemble("\n", ("> ", "bold cyan"), line.strip()), soft_wrap=True)
            yield line


class Conversation:
    """One user who talks, takes and tells.

    Parameters
    ----------
    advisor
        Who answers.
    user
        Who talks.
    console
        Where it is printed.
    """

    def __init__(self, advisor: Advisor, user: str, console: Console) -> None:
        self.advisor = advisor
        self.user = user
        self.console = console
        self.shown: Recommendation | None = None
        self.taken: int | None = None  # the place of an item whose grade is awaited
        self.asked: str | None = None

    def take(self, line: str) -> bool:
        """Answer a line; returns False if it says good-bye."""
        line = line.strip()
        words = line.rstrip(".!").lower()
        if words in ("quit", "exit", "bye", "q"):
            return False
        commands = {"help": self._help, "?": self._help, "card": self._card, "forget": self._forget}
        commands |= {"more": self._recommend, "again": self._recommend}
        try:
            if not words:
                return True
            if words in commands:
                commands[words]()
            elif not self._graded(line):
                self._hear(line)
        except DruthersError as error:
            self.console.print(Text(str(error), style="red"), soft_wrap=True)
        return True

    def _hear(self, text: str) -> None:
        asked, self.asked = self.asked, None
        confirmed = _confirmed(asked, text, self.advisor.objectives)
        if confirmed is not None:
            if confirmed:
                self.advisor.hear(self.user, confirmed)
            self._recommend()
            return
        heard = self.advisor.hear(self.user, text)
        reading = heard.reading
        assert reading is not None
        if self.console.color_system is not None:
            self.console.print(highlighted(reading), end="\n\n", soft_wrap=True)
        if reading.ranking or reading.dismissed:
            self.console.print(ranked(reading))
        if reading.ranking:
            self._recommend()
        else:
            self.console.print("I found no wish in this.")
        self.asked = reading.question
        if self.asked:
            self.console.print(Text(f"\n{self.asked}", style="italic"))

    def _recommend(self) -> None:
        self.shown = self.advisor.recommend(self.user, size=SIZE)
        self.taken = None
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column(justify="right", style="bold cyan", no_wrap=True)
        table.add_column()
        for place, one in enumerate(self.shown.items, 1):
            item = self.advisor.items[one.item]
            told = Text(one.name, style="bold")
            if item.details:
                told.append(f"  {in_words(item.details)}", style="not bold")
            if item.description:
                told.append(f"  {item.description}", style="not bold dim")
            told.append(f"\n{one.why}", style="not bold")
            table.add_row(str(place), told)
        self.console.print()
        self.console.print(table)

    def _graded(self, line: str) -> bool:
        """See whether a line tells how an item was, and take that in."""
        if self.taken is not None and (stars := as_stars(line)) is not None:
            return self._learn(self.taken, stars)
        match = _ABOUT_ITEM.fullmatch(line)
        if match is None:
            return False
        if self.shown is None:
            if as_stars(match["rest"]) is not None:
                self.console.print("Nothing is recommended yet: say what you want.")
            return as_stars(match["rest"]) is not None
        place, rest = int(match["place"]), match["rest"].strip(" :,;-–=.!")
        if not 1 <= place <= len(self.shown.items):
            self.console.print(f"There are {len(self.shown.items)} items: name one of 1 to {len(self.shown.items)}.")
            return True
        stars = as_stars(rest)
        if stars is not None:
            return self._learn(place, stars)
        if rest and line.strip()[0].isdigit():
            return False  # more likely a sentence: "2 rooms for ..."
        self.taken = place
        self.console.print(Text(f"How was {self.shown.items[place - 1].name}, 1 to {STARS} stars?", style="italic"))
        return True

    def _learn(self, place: int, stars: int) -> bool:
        assert self.shown is not None
        one = self.shown.items[place - 1]
        self.taken = None
        new = self.advisor.feedback(self.shown.id, item=one.item, utility=(stars - 1) / (STARS - 1))
        told = Text.assemble((one.name, "bold"), " ", ("★" * stars + "☆" * (STARS - stars), "yellow"))
        told.append("  noted: more gives you what follows from it" if new else "  you said so before", style="dim")
        self.console.print(told)
        return True

    def _card(self) -> None:
        try:
            show_card(self.console, self.advisor.preference(self.user))
        except UnknownUser:
            self.console.print("Nothing is known of you yet.")

    def _forget(self) -> None:
        try:
            self.advisor.forget(self.user)
        except UnknownUser:
            self.console.print("Nothing is known of you.")
            return
        self.shown = self.taken = self.asked = None
        self.console.print("All that was known of you is erased; what was learned about the items stays.")

    def _help(self) -> None:
        table = Table(box=None, show_header=False, pad_edge=False)
        for say, does in HELP:
            table.add_row(Text(say, style="cyan"), does)
        self.console.print(table)


def in_words(details: Mapping[str, Detail]) -> str:
    """Return the details of an item as one line.

    Examples
    --------
    >>> in_words({"city": "Ely", "price": 120, "pool": True, "bar": False, "near": ["sea", "station"]})
    'Ely, price 120, pool, sea, station'
    """
    parts: list[str] = []
    for name, detail in details.items():
        if isinstance(detail, bool):
            parts += [name] * detail
        elif isinstance(detail, int | float):
            parts.append(f"{name} {detail:g}")
        else:
            parts += [detail] if isinstance(detail, str) else map(str, detail)
    return ", ".join(parts)


def as_stars(text: str) -> int | None:
    """Return how many stars a grade gives, from 1 to 5; None if it is none.

    Examples
    --------
    >>> [as_stars(text) for text in ("was great", "4 stars", "3/5", "not good", "9", "near the sea")]
    [5, 4, 3, 2, None, None]
    """
    match = _GRADE.search(text.strip())
    if match is not None:
        stars = int(match["stars"]) if match["stars"] else len(match["signs"])
        return stars if 1 <= stars <= STARS else None
    words = re.findall(r"[a-z-]+", text.lower().replace("n't", " not").replace("n’t", " not"))
    for place, word in enumerate(words):
        if word in _STARS_BY_WORD:
            stars = _STARS_BY_WORD[word]
            return STARS + 1 - stars if "not" in words[max(place - 2, 0) : place] else stars
    return None


def _confirmed(asked: str | None, text: str, objectives: tuple[str, ...]) -> list[str] | None:
    """Return what a yes or no to a question about one objective means as a ranking; None for any other answer."""
    word = text.strip(" .!").lower()
    if asked is None or word not in ("yes", "y", "yeah", "yep", "no", "n", "nope"):
        return None
    named = [name for name in objectives if re.search(rf"\b{re.escape(name)}\b", asked)]
    if len(named) != 1:
        return None
    return named if word[0] == "y" else []


def show_card(console: Console, card: Card) -> None:
    """Print what is believed of a user: a bar for each objective, its interval, and where it comes from."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("objective", "", "weight", "90 % interval", "from words", "from behavior"):
        table.add_column(column, justify="left" if column in ("objective", "") else "right")
    largest = max((abs(one.weight) for one in card.weights), default=0.0) or 1.0
    for one in card.weights:
        bar = Text("█" * round(BAR * abs(one.weight) / largest), style="cyan" if one.weight >= 0 else "red")
        interval = "" if one.low is None else f"{one.low:+.2f} to {one.high:+.2f}"
        shares = ["" if share is None else f"{share:.0%}" for share in (one.words, one.behavior)]
        table.add_row(Text(one.objective), bar, f"{one.weight:+.2f}", interval, *shares)
    console.print(table)
    said = f"{card.queries} said, {card.feedbacks} felt"
    console.print(Text(f"{card.user}: {said}", style="dim"))
    for doubt in card.suspicious:
        what = doubt.text or ", ".join(doubt.ranking)
        console.print(Text(f"doubtful, {doubt.doubt:.0%}: {what[:200]}", style="yellow"))
