"""The command expect: what must come out for a catalog, played against the advisor."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from druthers.cli import options
from druthers.cli.options import argument, flag, option
from druthers.expectations import Outcome, examine, read_scenarios
from druthers.terminal import table_of

app = typer.Typer()


@app.command()
def expect(
    file: Annotated[Path, argument("FILE.json", "Catalogs and scenarios.", exists=True, dir_okay=False)],
    only: Annotated[str, option("TEXT", "Only scenarios whose id holds this.")] = "",
    parser: options.Parser = "default",
    as_json: Annotated[bool, flag("Print every expectation as a line of JSON.", "--json")] = False,
) -> None:
    """Play scenarios against an advisor and tell which expectations it meets; exits with 1 unless it meets all.

    Write down for your own catalog what must come out,
    and run it wherever you test.

        druthers expect hotels.json
        druthers expect hotels.json --only cheap --parser lexicon
    """
    console = Console(highlight=False, soft_wrap=True)
    outcomes: list[Outcome] = []
    for scenario, catalog in read_scenarios(file):
        if only in scenario["id"]:
            outcomes += examine(scenario, catalog, parser=parser)
    if as_json:
        for one in outcomes:
            print(json.dumps(one._asdict()))
    else:
        _show(console, outcomes)
    if not outcomes or not all(one.passed for one in outcomes):
        raise typer.Exit(1)


def _show(console: Console, outcomes: list[Outcome]) -> None:
    for one in outcomes:
        if not one.passed:
            console.print(Text.assemble((one.scenario, "bold"), f"  {one.check}: {one.found}"))
            if one.because:
                console.print(Text(f"    {one.because}", style="dim"))
    table = table_of("kind", "met", "of", header_style="dim")
    count, met = Counter(one.kind for one in outcomes), Counter(one.kind for one in outcomes if one.passed)
    for kind in sorted(count):
        table.add_row(kind, str(met[kind]), str(count[kind]))
    console.print(table)
    whole = {one.scenario for one in outcomes} - {one.scenario for one in outcomes if not one.passed}
    scenarios = len({one.scenario for one in outcomes})
    console.print(
        f"{sum(met.values())} of {len(outcomes)} expectations met, {len(whole)} of {scenarios} scenarios whole"
    )
