"""What the lab shows in a terminal: progress with the time left, tables with sparklines, comparisons."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from druthers.experiments import Experiment, Paired, Progress, Results, mean_and_error
from druthers.experiments.running import Watch

BLOCKS = "▁▂▃▄▅▆▇█"
STAGES = {
    "compiling": "compiling the policies, once for all later runs, up to a minute",
    "playing": "playing",
}


@contextlib.contextmanager
def shown_progress(console: Console, quiet: bool = False) -> Iterator[Watch]:
    """Show how far the work is while the block runs; where nobody looks, say only what takes long."""
    if quiet:
        yield lambda progress: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[label]}"),
    )
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def watch(progress: Progress) -> None:
            if progress.stage not in tasks:
                if not console.is_terminal and progress.stage == "compiling":
                    console.print(STAGES["compiling"])
                tasks[progress.stage] = bars.add_task(STAGES[progress.stage], label="")
            task = tasks[progress.stage]
            bars.update(task, completed=progress.done, total=progress.total, label=progress.label)
            if progress.stage == "compiling" and progress.done == progress.total:
                bars.remove_task(task)
                del tasks["compiling"]

        yield watch


def sparkline(curve: Sequence[float], width: int = 16) -> str:
    """Draw a curve in one line of text, from zero to its own largest value.

    Examples
    --------
    >>> sparkline([0, 1, 2, 3, 4, 5, 6, 7], width=8)
    '▁▂▃▄▅▆▇█'
    """
    values = np.asarray(curve, dtype=float)
    picked = values[np.linspace(0, len(values) - 1, width).round().astype(int)]
    levels = np.clip(picked / max(float(values.max()), 1e-300), 0.0, 1.0) * (len(BLOCKS) - 1)
    return "".join(BLOCKS[level] for level in levels.round().astype(int))


def evenly(rounds: Any, curve: Any, points: int = 60) -> Any:
    """Return a curve at evenly spread rounds."""
    return np.interp(np.linspace(rounds[0], rounds[-1], points), rounds, curve)


def show_results(console: Console, results: Results) -> None:
    """Print what came of every row, best first."""
    best = results.best()
    least = float(results.final_regret(best).mean())
    timing = results.timing()["policies"]
    learns = any(np.isfinite(results.end_error(label)).any() for label in results.labels)
    wide = console.width >= 100
    table = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    table.add_column("policy", no_wrap=True)
    table.add_column("final regret", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("× best", justify="right")
    if wide:
        table.add_column("p", justify="right")
        table.add_column("growth", justify="right")
        if learns:
            table.add_column("error", justify="right")
    table.add_column("µs/round", justify="right")
    table.add_column("regret over time", no_wrap=True)
    for label in sorted(results.labels, key=lambda label: float(results.final_regret(label).mean())):
        mean, error = mean_and_error(results.final_regret(label))
        p = results.paired(label, best).p
        cells: list[str | Text] = [
            Text(label, style="bold" if label == best else ""),
            f"{mean:,.0f}",
            "" if math.isnan(error) else f"± {error:,.0f}",
            f"{mean / least:.2f}" if least > 0 else "",
        ]
        if wide:
            cells += ["best" if label == best else _chance(p), _shortly(results.growth(label), "t^{:.2f}")]
            if learns:
                cells.append(_shortly(results.end_error(label), "{:.3g}"))
        curve = evenly(results.rounds(label), results.curves(label).mean(axis=0))
        table.add_row(*cells, f"{timing[label]['us_per_round']:,.1f}", Text(sparkline(curve), style="cyan"))
    console.print(table)
    notes = ["regret: mean over runs ± standard error"]
    if wide:
        notes.append("p: chance of such a paired difference to the best were there none")
        notes.append("growth: regret as a power of time over the last nine tenths")
    if wide and learns:
        notes.append("error: distance of estimated and true preference at the end")
    console.print("; ".join(notes), style="dim")


def show_title(console: Console, experiment: Experiment, data: str | None) -> None:
    """Print what is going to be played."""
    console.print(Text(experiment.title or experiment.name, style="bold"))
    if experiment.about:
        console.print(experiment.about, style="dim")
    runs = f"{experiment.runs} run{'s' * (experiment.runs > 1)} of {experiment.horizon:,} rounds"
    console.print(f"{runs} from seed {experiment.seed}" + (f"; data: {data}" if data else ""))


def show_comparison(console: Console, pairs: Sequence[tuple[str, str, Paired]], level: float) -> None:
    """Print paired differences with their confidence intervals."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("A", "B"):
        table.add_column(name)
    for name in ("A - B", f"{level:.0%} interval", "p"):
        table.add_column(name, justify="right")
    table.add_column("")
    for first, second, difference in pairs:
        verdict = "no clear difference"
        if difference.high < 0 or difference.low > 0:
            verdict = "A loses less" if difference.mean < 0 else "B loses less"
        table.add_row(
            Text(first),
            Text(second),
            f"{difference.mean:,.1f}",
            f"{difference.low:,.1f} to {difference.high:,.1f}",
            _chance(difference.p),
            verdict,
        )
    console.print(table)
    console.print("differences of final regret, run by run on the same tapes", style="dim")


def _chance(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def _shortly(values: Any, form: str) -> str:
    finite = values[np.isfinite(values)]
    return form.format(float(finite.mean())) if len(finite) else ""
