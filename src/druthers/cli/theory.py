"""The commands about the theory: check every claim; plan what to expect at one's own size."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from druthers.cli.lab import AsJson, Quiet
from druthers.report.theory import write_theory
from druthers.terminal import make_console
from druthers.theory import FAILS, HOLDS, check

app = typer.Typer(no_args_is_help=True)

COLORS = {HOLDS: "green", FAILS: "red"}


@app.command("check")
def check_(
    fast: Annotated[bool, typer.Option("--fast", help="Smaller runs: a minute instead of ten.")] = False,
    only: Annotated[str | None, typer.Option(metavar="A,B,...", help="Only these claims, by name.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many processes.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where page and figures go.")] = Path("results/theory"),
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Check every claim of the paper, and our own theorem, by experiment.

    Prints one row per claim, with the verdict of a stated test, and writes `theory.html`, `theory.json` and a figure
    for each claim. Seeds are fixed: the same command, the same figures.

        druthers theory check --fast
        druthers theory check --only rate,penalty --json
    """
    console = make_console(quiet or as_json)
    names = None if only is None else [name.strip() for name in only.split(",")]
    checked = check(
        names,
        fast=fast,
        workers=workers or min(os.cpu_count() or 1, 4),
        watch=lambda name: console.print(f"checked {name}", style="dim"),
    )
    page = write_theory(checked, out, fast=fast)
    told = [
        {
            "name": claim.name,
            "source": claim.source,
            "statement": claim.statement,
            "ran": finding.ran,
            "figure": finding.figure,
            "test": finding.test,
            "verdict": finding.verdict,
            "values": finding.values,
        }
        for claim, finding in checked
    ]
    text = json.dumps(told, indent=1, ensure_ascii=False)
    (out / "theory.json").write_text(text + "\n", "utf-8")
    if as_json:
        print(text)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("claim", "source", "figure", "verdict"):
        table.add_column(title, style="bold" if title == "claim" else "")
    for row, (claim, finding) in zip(told, checked, strict=True):
        verdict = Text(finding.verdict, style=COLORS.get(finding.verdict, "yellow"))
        table.add_row(str(row["name"]), claim.source, Text(finding.figure), verdict)
    console.print(table)
    console.print(f"open {page}", soft_wrap=True)
