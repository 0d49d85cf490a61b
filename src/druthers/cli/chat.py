"""The command chat: a conversation in the terminal."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from druthers.advisor import Advisor, Card
from druthers.advisor.answers import Reply
from druthers.advisor.updating import first_catalog
from druthers.advisor.wording import fact_in_words
from druthers.catalogs import CATALOGS
from druthers.cli import options
from druthers.cli.options import option
from druthers.errors import DruthersError, UnknownUser
from druthers.stores import open_store
from druthers.terminal import make_console, table_of

app = typer.Typer()

BAR = 12
GREETING = "Say what you want, in your own words; help tells what else you can say."
HELP = (
    ("cheap and clean, quiet at night", "say what matters to you, and get three items"),
    ("at most 120 euros", "set a limit"),
    ("the rooms do not matter", "set something aside"),
    ("2 was filthy but the people were nice", "tell how an item was; 4 stars will do too"),
    ("something else", "get three others; more like 2, not that one"),
    ("why", "ask; also: compare 1 and 3, what does 2 cost"),
    ("forget that", "take back what you said; forget me erases it all"),
    ("card", "see what is believed of you"),
    ("quit", "leave"),
)


@app.command()
def chat(
    store: Annotated[
        str, option("WHERE", "The journal: `sqlite:FILE`, or `memory:`.", envvar="DRUTHERS_STORE")
    ] = "memory:",
    catalog: Annotated[
        str | None, option("NAME|FILE", f"What to recommend: {', '.join(f'`{name}`' for name in CATALOGS)}, or a file.")
    ] = None,
    user: Annotated[str, option("ID", "Who is talking.")] = "me",
    parser: options.Parser = "default",
) -> None:
    """Talk with an advisor: say what you want, get three items and why, tell how they were.

    Nothing leaves this machine, and nothing is kept unless you name a `--store`; a service may use the same one. A new
    journal is about hotels unless you name a `--catalog`. It also reads sentences from a pipe, one a line.

        druthers chat
        druthers chat --catalog beers --store sqlite:beers.db --user ada
        echo "quiet and clean" | druthers chat
    """
    console = make_console()
    with (
        open_store(store) as journal,
        Advisor(catalog or first_catalog(journal), store=journal, parser=parser) as advisor,
    ):
        talk = Talk(advisor, user, console)
        console.print(GREETING, style="dim")
        for line in _lines(console):
            if not talk.take(line):
                break


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


class Talk:
    """One user who talks with an advisor."""

    def __init__(self, advisor: Advisor, user: str, console: Console) -> None:
        self.advisor = advisor
        self.user = user
        self.console = console

    def take(self, line: str) -> bool:
        """Answer a line; returns False if it says good-bye."""
        words = line.strip().rstrip(".!").lower()
        if words in ("quit", "exit", "bye", "q"):
            return False
        try:
            if words in ("help", "?"):
                self._help()
            elif words == "card":
                self._card()
            elif words:
                self._answer(self.advisor.message(self.user, line.strip()))
        except DruthersError as error:
            self.console.print(Text(str(error), style="red"), soft_wrap=True)
        return True

    def _answer(self, reply: Reply) -> None:
        if reply.text:
            self.console.print(Text(reply.text))
        if reply.recommendation is None:
            return
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column(justify="right", style="bold cyan", no_wrap=True)
        table.add_column()
        for place, one in enumerate(reply.recommendation.items, 1):
            item = self.advisor.items[one.item]
            told = Text(one.name, style="bold")
            facts = [(name, fact_in_words(fact)) for name, fact in item.details.items()]
            details = ", ".join(f"{name} {fact}" for name, fact in facts if fact)  # a list may be empty
            told.append(f"  {' · '.join(part for part in (details, item.description) if part)}", style="not bold dim")
            told.append(f"\n{one.why}", style="not bold")
            table.add_row(str(place), told)
        self.console.print()
        self.console.print(table)
        if reply.recommendation.question is not None:
            self.console.print(Text(f"\n{reply.recommendation.question.text}", style="italic"))

    def _card(self) -> None:
        try:
            show_card(self.console, self.advisor.preference(self.user))
        except UnknownUser:
            self.console.print("Nothing is known of you yet.")

    def _help(self) -> None:
        table = Table(box=None, show_header=False, pad_edge=False)
        for say, does in HELP:
            table.add_row(Text(say, style="cyan"), does)
        self.console.print(table)


def show_card(console: Console, card: Card) -> None:
    """Print what is believed of a user: a bar for each objective, its interval, and where it comes from."""
    titles = "weight", "90 % interval", "from words", "from behavior"
    table = table_of("objective", "", *titles, left=2, header_style="dim")
    largest = max((abs(one.weight) for one in card.weights), default=0.0) or 1.0
    for one in card.weights:
        bar = Text("█" * round(BAR * abs(one.weight) / largest), style="cyan" if one.weight >= 0 else "red")
        interval = "" if one.low is None else f"{one.low:+z.2f} to {one.high:+z.2f}"
        shares = ["" if share is None else f"{share:.0%}" for share in (one.words, one.behavior)]
        table.add_row(Text(one.objective), bar, f"{one.weight:+z.2f}", interval, *shares)
    console.print(table)
    said = f"{card.queries} said, {card.feedbacks} felt"
    console.print(Text(f"{card.user}: {said}", style="dim"))
    for doubt in card.suspicious:
        what = doubt.text or ", ".join(doubt.ranking)
        console.print(Text(f"doubtful, {doubt.doubt:.0%}: {what[:200]}", style="yellow"))
