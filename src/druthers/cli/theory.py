"""The commands about the theory: check every claim; plan what to expect at one's own size."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from druthers.cli import options
from druthers.cli.options import flag, option
from druthers.drafts import write_text
from druthers.report.theory import write_chart, write_theory
from druthers.terminal import make_console, shown_progress, table_of
from druthers.theory import FAILS, HOLDS, check
from druthers.theory.planning import plan

app = typer.Typer(no_args_is_help=True)

Workers = Annotated[int | None, option("N", "How many processes; one for each core by default, up to four.", min=1)]

COLORS = {HOLDS: "green", FAILS: "red"}


@app.command("check")
def check_(
    fast: Annotated[bool, flag("Smaller runs: a minute instead of ten.", "--fast")] = False,
    only: Annotated[str | None, option("A,B,...", "Only these claims, by name.")] = None,
    workers: Workers = None,
    out: Annotated[Path, option("DIR", "Where page and figures go.")] = Path("results/theory"),
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Check every claim of the paper, and our own theorem, by experiment.

    Prints one row per claim, with the verdict of a stated test, and writes `theory.html`, `theory.json` and a figure
    for each claim. Seeds are fixed: the same command, the same figures.

        druthers theory check --fast
        druthers theory check --only rate,penalty --json
    """
    console = make_console(quiet or as_json)
    names = None if only is None else options.named(only)
    with shown_progress(console) as watch:
        checked = check(names, fast=fast, workers=workers or min(os.cpu_count() or 1, 4), watch=watch)
    page = write_theory(checked, out, fast=fast)
    told = [
        {part: getattr(claim, part) for part in ("name", "source", "statement")}
        | {part: getattr(finding, part) for part in ("ran", "figure", "test", "verdict", "values")}
        for claim, finding in checked
    ]
    text = json.dumps(told, indent=1, ensure_ascii=False)
    write_text(out / "theory.json", text + "\n")
    if as_json:
        print(text)
        return
    table = table_of("claim", "source", "figure", "verdict", left=4)
    for claim, finding in checked:
        verdict = Text(finding.verdict, style=COLORS.get(finding.verdict, "yellow"))
        table.add_row(Text(claim.name, style="bold"), claim.source, Text(finding.figure), verdict)
    console.print(table)
    console.print(f"open {page}", soft_wrap=True)


@app.command("plan")
def plan_(
    objectives: Annotated[int, option("D", "Number of objectives.", min=2)],
    arms: Annotated[int, option("K", "Number of arms.", min=2)],
    users: Annotated[int, option("N", "Number of users.", min=1)],
    horizon: Annotated[int, option("T", "Rounds of all users together.", min=3)],
    length: Annotated[int | None, option("M", "Objectives that a query names; all.", min=1)] = None,
    corruption: Annotated[float, option("SHARE", "Share of queries that are wrong.", min=0.0)] = 0.0,
    runs: Annotated[int, option("N", "Simulated runs.", min=1)] = 3,
    workers: Workers = None,
    out: Annotated[Path, option("DIR", "Where the figure goes.")] = Path("results/plan"),
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what bounds and simulation expect at your size.

    How many queries until a preference is known, the regret with queries and without, what one is worth, and which
    settings to use, with a figure.

        druthers theory plan --objectives 6 --arms 200 --users 5000 --horizon 100000 --length 2 --corruption 0.05
    """
    console = make_console(quiet or as_json)
    with shown_progress(console) as watch:
        told = plan(
            objectives=objectives,
            arms=arms,
            users=users,
            horizon=horizon,
            length=length,
            corruption=corruption,
            runs=runs,
            workers=workers or min(os.cpu_count() or 1, 4),
            watch=watch,
        )
    write_chart(told.chart, out, "plan")
    if as_json:
        content = {
            "known": [each._asdict() for each in told.known],
            "regret": {name: each._asdict() for name, each in told.regret.items()},
            "per_query": told.per_query._asdict(),
            "bounds": told.bounds,
            "settings": told.settings,
        }
        print(json.dumps(content, indent=1))
        return
    titles = ("error of a preference", "rounds, simulated", "queries alone, at best", "by the Hessian", "by Lemma 1")
    table = table_of(*titles, left=0)
    for each in told.known:
        figures = (each.rounds, each.in_practice, each.by_hessian, each.printed)
        table.add_row(f"{each.accuracy:g}", *(_count(figure) for figure in figures))
    console.print(table)
    console.print()
    for name, regret in told.regret.items():
        console.print(f"regret {name}: {regret:,.0f}", soft_wrap=True)
    console.print(f"a query is worth {told.per_query} of regret", soft_wrap=True)
    shown = ", ".join(f"{name} {value:,.0f}" for name, value in told.bounds.items())
    console.print(f"bounds on one user's regret: {shown}", soft_wrap=True)
    console.print(f"use {told.settings['policy']}; figure in {out}", soft_wrap=True)


def _count(figure: float) -> str:
    if figure == float("inf"):
        return "more than 4,000"
    return f"{figure:,.3g}" if figure > 1e6 else f"{figure:,.0f}"
