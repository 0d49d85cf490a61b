"""What the lab shows in a terminal: progress with the time left, tables with sparklines, comparisons."""

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from druthers.data import Built
from druthers.data.people import Study
from druthers.data.reviews.reading import Watch as WatchBytes
from druthers.engines import Progress, Watch
from druthers.environments import Reviews
from druthers.evaluation import Estimate, Evaluation, Interval
from druthers.experiments import Experiment, Paired, Results, mean_and_error
from druthers.experiments.plan import short
from druthers.logs import Log

BLOCKS = "▁▂▃▄▅▆▇█"
SPARKS = 14
WIDE = (0, 2, 0, 0)  # the padding of tables with long figures
# Stages that take long, and so are told of where nobody looks too.
STAGES = {
    "talking": "writing and reading texts",
    "compiling": "compiling the policies, once for all later runs; all of them take some minutes",
}


# Where no terminal sets a width, nothing is wrapped: whoever reads it has room, or is a program.
ENDLESS = 10_000


def make_console(quiet: bool = False) -> Console:
    """Return what commands print to, silent if so asked; in a pipe, lines are as long as they need to be."""
    console = Console(quiet=quiet, highlight=False)
    if not console.is_terminal:
        console.width = ENDLESS
    return console


def table_of(*columns: str | Text, left: int = 1, **options: Any) -> Table:
    """Return a table without lines: the first columns to the left, figures to the right."""
    table = Table(box=None, pad_edge=False, **{"header_style": "bold", **options})
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < left else "right")
    return table


def print_whole(console: Console, table: Table) -> None:
    """Print a table of figures, none of them cut: on a terminal that is too narrow, lines go on in the next one."""
    width, height = console.size
    console.size = ENDLESS, height  # both: told the width alone, a dumb terminal stays at 80 columns
    console.size = max(console.measure(table).maximum, width), height
    console.print(table)
    console.size = width, height


def make_bars(console: Console, *counted: ProgressColumn) -> Bars:
    """Return bars that tell how much is done, and how long the rest will take; seen on a terminal only."""
    counted = counted or (MofNCompleteColumn(), TimeElapsedColumn())
    done = (TextColumn("{task.description}"), BarColumn(bar_width=30), *counted)
    left = (TextColumn("left"), TimeRemainingColumn(), TextColumn("[dim]{task.fields[label]}"))
    return Bars(*done, *left, console=console, transient=True, disable=not console.is_terminal)


@contextlib.contextmanager
def shown_progress(console: Console) -> Iterator[Watch]:
    """Show how far the work is while the block runs; where nobody looks, say only what takes long."""
    with make_bars(console) as bars:
        tasks: dict[str, Any] = {}

        def watch(progress: Progress) -> None:
            if progress.stage not in tasks:
                if not console.is_terminal and progress.stage in STAGES:
                    console.print(STAGES[progress.stage])
                tasks[progress.stage] = bars.add_task(STAGES.get(progress.stage, progress.stage), label="")
            task = tasks[progress.stage]
            bars.update(task, completed=progress.done, total=progress.total, label=progress.label)
            if progress.stage == "checking" and progress.label:
                console.print(progress.label, style="dim")
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
    """Print what came of every row, best first; what does not fit the width of the terminal is left out."""
    rivals = results.rivals()
    timing = results.timing()["policies"]
    rows = sorted(results.rows, key=lambda row: float(results.final_regret(row.label).mean()))
    varied = results.varied
    columns: dict[str, list[str]] = {"policy": [row.group for row in rows]}
    for key in varied:
        columns[key] = [short(row.varied.get(key, "")) for row in rows]
    finals = [mean_and_error(results.final_regret(row.label)) for row in rows]
    columns["final regret"] = [f"{mean:,.0f}" for mean, _ in finals]
    columns[""] = ["" if math.isnan(error) else f"± {error:,.0f}" for _, error in finals]
    least = [float(results.final_regret(rivals[row.label]).mean()) for row in rows]
    columns["× best"] = [
        f"{mean / best:.2f}" if best > 0 else "" for (mean, _), best in zip(finals, least, strict=True)
    ]
    # From here on, only what there is room for.
    columns["µs/round"] = [f"{timing[row.label]['us_per_round']:,.1f}" for row in rows]
    if results.experiment.runs > 1:  # one run tells no chance
        columns["p"] = [
            "best" if rivals[row.label] == row.label else _chance(results.paired(row.label, rivals[row.label]).p)
            for row in rows
        ]
    columns["growth"] = [_shortly(results.growth(row.label), "t^{:.2f}") for row in rows]
    if any(results.learns(row.label) for row in rows):
        columns["error"] = [_shortly(results.end_error(row.label), "{:.3g}") for row in rows]
    room = console.width - SPARKS - 2
    widths = {name: max(len(cell) for cell in [name, *cells]) + 2 for name, cells in columns.items()}
    while len(columns) > len(varied) + 4 and sum(widths[name] for name in columns) > room:
        columns.popitem()
    table = Table(box=None, pad_edge=False, padding=WIDE, header_style="bold")
    for name in columns:
        table.add_column(name, justify="left" if name in ("policy", "", *varied) else "right", no_wrap=True)
    table.add_column("over time", no_wrap=True)
    for place, row in enumerate(rows):
        curve = evenly(results.rounds(row.label), results.curves(row.label).mean(axis=0))
        cells = [Text(cells[place]) for cells in columns.values()]
        cells[0].stylize("bold" if rivals[row.label] == row.label else "")
        table.add_row(*cells, Text(sparkline(curve, SPARKS), style="cyan"))
    print_whole(console, table)
    notes = {
        "": "regret: mean over runs ± standard error",
        "p": "p: chance of such a paired difference to the best were there none",
        "growth": "growth: regret as a power of time over the last nine tenths",
        "error": "error: distance of estimated and true preference at the end",
    }
    console.print("; ".join(note for name, note in notes.items() if name in columns), style="dim")
    _show_rates(console, results)


def _show_rates(console: Console, results: Results) -> None:
    """Print how regret grows with the horizon, where that is varied."""
    rates = results.rates()
    if not rates:
        return
    console.print()
    table = table_of("regret by horizon", "", left=2, padding=WIDE)
    for label, (mean, error) in sorted(rates.items(), key=lambda item: item[1]):
        table.add_row(Text(label), f"T^{mean:.2f}" + ("" if math.isnan(error) else f" ± {error:.2f}"))
    print_whole(console, table)


def show_title(console: Console, experiment: Experiment) -> None:
    """Print what is going to be played, and on which data."""
    console.print(Text(experiment.title or experiment.name, style="bold"))
    if experiment.about:
        console.print(experiment.about, style="dim")
    runs = f"{experiment.runs} run{'s' * (experiment.runs > 1)} of {experiment.horizon:,} rounds"
    environment = experiment.rows()[0].make_environment()
    data = f"; data: {environment.source}" if isinstance(environment, Reviews) else ""
    console.print(f"{runs} from seed {experiment.seed}{data}\n")


def show_comparison(console: Console, pairs: Sequence[tuple[str, str, Paired]], level: float) -> None:
    """Print paired differences with their confidence intervals."""
    table = table_of("A", "B", "A - B", f"{level:.0%} interval", "p", left=2)
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
            _chance(difference.p) if math.isfinite(difference.high) else "",
            verdict,
        )
    print_whole(console, table)
    console.print("differences of final regret, run by run on the same tapes", style="dim")


def show_evaluations(
    console: Console, log: Log, found: Sequence[Evaluation], refused: Mapping[str, str], level: float
) -> None:
    """Print what policies would have been worth: the utility by every estimator, the objectives by the first one."""
    console.print(str(log)[4:-1])
    learned, judged = found[0].learned, found[0].judged
    console.print(f"judged on the last {judged:,} rows" + (f" after learning from {learned:,}" if learned else ""))
    console.print()
    first = next(iter(found[0].estimates))
    titles = f"value ± {level:.0%}", f"against the log ± {level:.0%}", "effective rows"
    table = table_of(first, "", *titles, left=2, padding=WIDE)
    table.add_row("logged", "", _spread(found[0].logged[first]), "", f"{judged:,}")
    for evaluation in found:
        for place, (name, estimate) in enumerate(evaluation.estimates.get(first, {}).items()):
            table.add_row(
                Text("" if place else evaluation.policy, style="bold"),
                name,
                _spread(estimate.value),
                Text(_spread(estimate.gain, "+"), style=_emphasis(estimate)),
                f"{estimate.effective:,.0f}",
            )
    print_whole(console, table)
    if any("replay" in evaluation.estimates.get(first, {}) for evaluation in found):
        console.print("replay: a run of its own, from the start, over the rows where both chose the same", style="dim")
    _show_objectives(console, found, first)
    notes = {f"{name} by {place}": why for name, place, why in _refusals(found)} | dict(refused)
    for name, why in notes.items():
        console.print(f"refused, {name}: {why}", style="yellow", soft_wrap=True)


def _show_objectives(console: Console, found: Sequence[Evaluation], first: str) -> None:
    """Print the value of each objective by the estimator that comes first."""
    outcomes = [outcome for outcome in found[0].estimates if outcome != first]
    if not outcomes:
        return
    name = next(iter(found[0].estimates[first]))
    table = table_of(f"objectives by {name}", "logged", *(one.policy for one in found), padding=WIDE)
    sign = "" if console.color_system else "*"  # nothing is bold in a pipe
    for outcome in outcomes:
        cells = [Text(_spread(found[0].logged[outcome]))]
        for evaluation in found:
            estimate = evaluation.estimates.get(outcome, {}).get(name)
            style = "" if estimate is None else _emphasis(estimate)
            shown = "" if estimate is None else _spread(estimate.value) + (sign if style else " " * len(sign))
            cells.append(Text(shown, style=style))
        table.add_row(Text(outcome), *cells)
    console.print()
    print_whole(console, table)
    console.print(f"{sign or 'bold'}: clearly other than logged, by the paired difference", style="dim")


def _refusals(found: Sequence[Evaluation]) -> Iterator[tuple[str, str, str]]:
    """Yield each refusal once, with its policy and estimator."""
    for evaluation in found:
        told: set[str] = set()
        for place, why in evaluation.refusals.items():
            if why not in told:
                told.add(why)
                yield evaluation.policy, place, why


def _spread(found: Interval, sign: str = "") -> str:
    """Return a value and half its interval, to two digits of the standard error."""
    digits = min(max(1 - math.floor(math.log10(found.error)), 0), 9) if 0.0 < found.error < math.inf else 3
    return f"{found.value:{sign},.{digits}f} ± {found.high - found.value:,.{digits}f}"


def _emphasis(estimate: Estimate) -> str:
    return "bold" if estimate.gain.low > 0.0 or estimate.gain.high < 0.0 else ""


@contextlib.contextmanager
def shown_bytes(console: Console, doing: str) -> Iterator[WatchBytes]:
    """Show how much of some files is read while the block runs, on a terminal."""
    with make_bars(console, DownloadColumn(), TransferSpeedColumn()) as bars:
        task = bars.add_task(doing, total=None, label="")
        yield lambda done, total: bars.update(task, completed=done, total=total)


def show_studies(console: Console, studies: Iterable[Study]) -> None:
    """Print which studies of people there are, and where each can be had."""
    table = table_of("name", "kind", "from", "who was asked what", left=4, padding=WIDE)
    for column in table.columns[:3]:
        column.no_wrap = True
    for study in studies:
        origin = f"{study.package.registry} {study.package.name}"
        table.add_row(Text(study.name), study.kind, origin, Text(f"{study.asked} ({study.when})"))
    console.print(table)


def show_built(console: Console, built: Built) -> None:
    """Print how a data set came about: what each filter left, what was damaged, what is doubtful, what there is now."""
    table = table_of("", "reviews", "users", f"{built.item}s", padding=WIDE)
    for step in (*built.steps, *([built.paper] if built.paper else [])):
        counts = ("" if count is None else f"{count:,}" for count in step[1:])
        table.add_row(Text(step.step), *counts, style="dim" if step is built.paper else "")
    print_whole(console, table)
    console.print()
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(justify="right", style="dim", no_wrap=True)
    for title, kinds in (("skipped", built.damaged), ("repaired", built.repaired)):
        for kind, number in kinds.items():
            lines.add_row(Text(f"{title} {number:,}"), Text(kind))
    for note in built.notes:
        lines.add_row("note", Text(note))
    for name, array in (("rewards", built.estimates.rewards), ("preferences", built.estimates.preferences)):
        whose = f"{built.item}s" if name == "rewards" else "users"
        lines.add_row(name, f"{len(array):,} {whose}, from {array.min():.2f} to {array.max():.2f}")
    lines.add_row("objectives", Text(", ".join(built.objectives)))
    console.print(lines)
    console.print()


def _chance(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def _shortly(values: Any, form: str) -> str:
    finite = values[np.isfinite(values)]
    return form.format(float(finite.mean())) if len(finite) else ""
