"""The command expect: what must come out for a catalog, played against the advisor."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from druthers.catalogs import Catalog
from druthers.cli import options
from druthers.cli.options import argument, flag, option
from druthers.errors import InvalidExperiment, choices
from druthers.expectations import Outcome, examine
from druthers.terminal import table_of

# What a step may have; `gold` is what a benchmark of readers knows of a sentence.
STEP = ("user", "hear", "recommend", "feedback", "live", "preference", "as", "where", "limits", "expect", "gold")

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


def read_scenarios(path: Path) -> list[tuple[Mapping[str, Any], Catalog]]:
    """Return the scenarios of a file, each with its catalog."""
    try:
        whole = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidExperiment(f"{path} must be a JSON file with scenarios, but cannot be read: {error}") from error
    if problem := _problem(whole):
        raise InvalidExperiment(f"{path} must hold scenarios, each with its id, catalog and steps, but {problem}")
    made: dict[str, Catalog] = {}
    for scenario in whole["scenarios"]:
        content = scenario["catalog"]
        if (name := str(content)) not in made:
            content = whole.get("catalogs", {}).get(name, content)
            made[name] = Catalog.load(content) if isinstance(content, str) else Catalog.from_content(content)
    return [(scenario, made[str(scenario["catalog"])]) for scenario in whole["scenarios"]]


def _problem(whole: Any) -> str:
    """Return what is wrong with the content of a file, "" for nothing."""
    scenarios = whole.get("scenarios") if isinstance(whole, Mapping) else None
    if not isinstance(scenarios, list):
        return f"it is {str(whole)[:40]!r}"
    for place, one in enumerate(scenarios):
        lacking = [key for key in ("id", "catalog", "steps") if not isinstance(one, Mapping) or key not in one]
        if lacking:
            return f"scenarios[{place}] has no {lacking[0]}"
        for number, step in enumerate(one["steps"]):
            strange = [key for key in step if key not in STEP]
            if strange:
                return f"scenario {one['id']!r} has {strange[0]!r} in steps[{number}]; {choices(strange[0], STEP)}"
    return ""
