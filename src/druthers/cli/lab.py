"""The commands of the lab: run, sweep, reproduce, compare, list, report."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from druthers.cli import options
from druthers.cli.options import argument, flag, load_named, named, option, read_setting
from druthers.drafts import read_value, write_json
from druthers.engines import Processes
from druthers.errors import InvalidExperiment, require_known
from druthers.experiments import Experiment, Paired, Results, experiment_names, load_experiment, paired, run_experiment
from druthers.experiments.floors import floor_line
from druthers.policies import POLICIES
from druthers.report import draw_figures, write_report
from druthers.terminal import make_console, show_comparison, show_results, show_title, shown_progress, table_of

# The experiments that make up the paper, in its order.
PAPER = (
    "synthetic",
    "tripadvisor",
    "beeradvocate",
    "synthetic-corrupted",
    "preference-error",
    "length",
    "corruption",
)

app = typer.Typer()


@app.command()
def run(
    name: options.Name,
    runs: options.Runs = None,
    horizon: options.Horizon = None,
    seed: options.Seed = None,
    policies: options.Policies = None,
    settings: options.Set = None,
    points: options.Points = None,
    engine: options.EngineName = "processes",
    workers: options.Workers = None,
    out: Annotated[Path | None, option("DIR", "Where results go: `results/NAME` by default.")] = None,
    data: options.Data = None,
    floor: Annotated[
        bool, flag("Draw the least regret that any policy can have, where all arms are offered.", "--floor")
    ] = False,
    no_figures: options.NoFigures = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Play an experiment: every policy on the same draws.

    Prints a table and writes to `results/NAME`: `summary.json`, `timing.json`, `settings.json`, `curves.parquet`,
    figures and `report.html`. Stopped halfway, the same command goes on from what was finished. Results of other
    settings that are there are replaced, which it says; `--out` keeps both.

        druthers run synthetic
        druthers run synthetic --policies mo-pqucb-recipe,prucb-recipe --set corruption=0.2 --out results/corrupted
        druthers run tripadvisor --data ~/data --runs 20 --out hotels
    """
    experiment = load_named(
        name, data, policies=policies, settings=settings, runs=runs, horizon=horizon, seed=seed, points=points
    )
    console = make_console(quiet or as_json)
    folder = out or Path("results") / experiment.name
    line = floor_line(experiment) if floor else None  # first: it may be refused
    results = replace(_played(console, experiment, folder, engine, workers), floor=line)
    _finish(console, results, folder, no_figures, as_json)
    if line is not None:
        write_json(folder / "floor.json", line._asdict())
        console.print(f"floor at the end: {line.regret[-1]:,.1f}")


@app.command()
def sweep(
    name: options.Name,
    vary: Annotated[
        list[str],
        option(
            "KEY=VALUES", "What to try: a list `0.01,0.1,1`, or a range `0.001..10` (with --samples). May be repeated."
        ),
    ],
    samples: Annotated[
        int | None, option("N", "Draw so many combinations at random instead of trying all.", min=1)
    ] = None,
    policies: options.Policies = None,
    runs: options.Runs = None,
    horizon: options.Horizon = None,
    seed: options.Seed = None,
    settings: options.Set = None,
    engine: options.EngineName = "processes",
    workers: options.Workers = None,
    out: Annotated[Path | None, option("DIR", "Where results go: `results/NAME-sweep` by default.")] = None,
    data: options.Data = None,
    no_figures: options.NoFigures = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Try settings: a grid, or a random search, over any parameters of policies or environment.

    All settings play the same draws. The best is reported with its standard error; a setting chosen as the best of
    many looks better than it is, so try it again with another `--seed`. What was finished is kept, as in `run`.

        druthers sweep synthetic --policies mo-pqucb --vary radius_scale=0.01,0.03,0.1,0.3
        druthers sweep synthetic --policies prucb --vary ridge=0.001..10 --vary normalization=1..20 --samples 30
    """
    experiment = load_named(name, data, policies=policies, settings=settings, runs=runs, horizon=horizon, seed=seed)
    changes = {experiment.full_path(key): values for key, values in (_varied(text) for text in vary)}
    experiment = experiment.with_settings({"vary": changes, "samples": samples, "figure": "varied"})
    console = make_console(quiet or as_json)
    folder = out or Path("results") / f"{experiment.name}-sweep"
    results = _played(console, experiment, folder, engine, workers)
    _finish(console, results, folder, no_figures, as_json)
    console.print(_best_setting(results), soft_wrap=True)


@app.command()
def reproduce(
    runs: options.Runs = None,
    seed: options.Seed = None,
    engine: options.EngineName = "processes",
    workers: options.Workers = None,
    out: Annotated[Path | None, option("DIR", "Where results go: `results/paper` by default.")] = None,
    data: options.Data = None,
    only: Annotated[str | None, option("A,B,...", f"Only some of: {', '.join(PAPER)}.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Play all experiments of the paper and write their figures and one report.

    Writes to `results/paper`: a folder for each experiment as `run` makes it, and one `report.html` for all of them.
    Stopped halfway, the same command goes on from what was finished.

        druthers reproduce
        druthers reproduce --data ~/data --only synthetic,tripadvisor
    """
    names = PAPER if only is None else named(only)
    require_known("experiment of the paper", PAPER, *names)
    experiments = [load_named(name, data, runs=runs, seed=seed) for name in names]
    console = make_console(quiet)
    folder = out or Path("results") / "paper"
    everything = {}
    for experiment in experiments:
        place = folder / experiment.name
        everything[place] = _played(console, experiment, place, engine, workers)
        show_results(console, everything[place])
        console.print()
    illustrate(console, everything, folder / "report.html")
    console.print(f"figures and curves in {folder}; open {folder / 'report.html'}", soft_wrap=True)


@app.command()
def compare(
    first: Annotated[str, argument("A", "A policy of the results, or another results folder.")],
    second: Annotated[str, argument("B", "The same, to compare with.")],
    results: Annotated[Path, option("DIR", "The results folder that A and B are policies of.", "--in")] = Path(
        "results/synthetic"
    ),
    level: Annotated[float, option("SHARE", "Level of the confidence interval.", min=0.5, max=0.9999)] = 0.95,
    as_json: options.AsJson = False,
) -> None:
    """Compare two policies, or two results folders, run by run: paired differences with confidence intervals.

    Two folders must hold runs of the same seed, number and length, under other settings; the policies that both have
    are compared.

        druthers compare mo-pqucb-recipe prucb-recipe --in results/synthetic
        druthers compare results/synthetic results/other
    """
    pairs: list[tuple[str, str, Paired]] = []
    if Path(first).is_dir() and Path(second).is_dir():
        ours, theirs = Results.load(first), Results.load(second)
        for key in ("seed", "runs", "horizon"):
            mine, other = getattr(ours.experiment, key), getattr(theirs.experiment, key)
            if mine != other:
                raise InvalidExperiment(f"paired results must have the same {key}, but got {mine} and {other}")
        for label in ours.labels:
            if label in theirs.labels:
                difference = paired(ours.final_regret(label), theirs.final_regret(label), level)
                pairs.append((f"{label} in {first}", f"{label} in {second}", difference))
        if not pairs:
            raise InvalidExperiment(f"two results must share a policy to be compared, but {first} and {second} do not")
    else:
        loaded = Results.load(results)
        pairs.append((first, second, loaded.paired(first, second, level)))
    if as_json:
        print(json.dumps([{"a": a, "b": b, **difference._asdict()} for a, b, difference in pairs], indent=1))
    else:
        show_comparison(make_console(), pairs, level)


@app.command("list")
def list_(as_json: options.AsJson = False) -> None:
    """List the experiments and the policies there are."""
    names = [*PAPER, *(name for name in experiment_names() if name not in PAPER)]
    experiments = {name: load_experiment(name) for name in names}
    abouts = {name: (policy.__doc__ or "").partition("\n")[0] for name, policy in POLICIES.items()}
    if as_json:
        titles = {name: experiment.title for name, experiment in experiments.items()}
        print(json.dumps({"experiments": titles, "policies": abouts}, indent=1))
        return
    console = make_console()
    played = {name: f"{one.title} ({one.runs} × {one.horizon:,} rounds)" for name, one in experiments.items()}
    for title, lines in (("experiments", played), ("policies", abouts)):
        table = table_of("", "", left=2, show_header=False)
        table.columns[0].no_wrap = True
        for name, line in lines.items():
            table.add_row(Text(name, style="bold"), Text(line))
        console.print(Text(title, style="bold cyan"))
        console.print(table)
        console.print()


@app.command()
def report(
    folders: Annotated[list[Path], argument("DIR", "Results folders.")],
    out: Annotated[Path, option("FILE", "Where the report goes.")] = Path("report.html"),
) -> None:
    """Draw the figures of results again, and one report of all of them."""
    console = make_console()
    illustrate(console, {folder: Results.load(folder) for folder in folders}, out)
    console.print(f"open {out}")


def _varied(text: str) -> tuple[str, Any]:
    key, values = read_setting(text)[0], text.partition("=")[2].strip()
    if ".." in values:
        low, _, high = values.partition("..")
        return key, {"low": read_value(low), "high": read_value(high)}
    if values.startswith("["):
        return key, read_value(values)
    return key, [read_value(value) for value in values.split(",")]


def _played(console: Console, experiment: Experiment, folder: Path, engine: Any, workers: int | None) -> Results:
    show_title(console, experiment)
    if others := _other_settings(experiment, folder):
        console.print(f"{folder} has results of other {', '.join(others)}: replaced; --out keeps both", soft_wrap=True)
    with shown_progress(console) as watch:
        return run_experiment(experiment, folder, engine=engine, workers=workers, watch=watch)


def _other_settings(experiment: Experiment, folder: Path) -> list[str]:
    """Return the names of the settings in which results in a folder differ from what is to be played there."""
    if not (folder / "summary.json").exists():
        return []
    try:
        there = dict(json.loads((folder / "settings.json").read_text("utf-8"))["experiment"])
    except (OSError, ValueError, KeyError, TypeError):
        return ["settings, which cannot be read"]
    wanted = json.loads(json.dumps(experiment.settings()))
    return [name for name in wanted if name not in ("title", "about") and name in there and there[name] != wanted[name]]


def illustrate(console: Console, everything: dict[Path, Results], page: Path) -> None:
    """Draw the figures of each results folder and write one report, on all cores."""
    tasks: list[tuple[Any, ...]] = [
        (draw_figures, results, folder / "figures", formats)
        for folder, results in everything.items()
        for formats in (("pdf",), ("svg", "png"))  # about equally long
    ]
    tasks.append((write_report, list(everything.values()), page))
    showing = console.status("drawing figures") if console.is_terminal and not console.quiet else nullcontext()
    with showing, Processes() as engine:
        for _ in engine.run(_carry_out, tasks):
            pass


def _carry_out(task: tuple[Any, ...]) -> None:
    task[0](*task[1:])


def _finish(console: Console, results: Results, folder: Path, no_figures: bool, as_json: bool) -> None:
    page = folder / "report.html"
    if not no_figures:
        illustrate(console, {folder: results}, page)
    if as_json:
        print(json.dumps(results.summary(), indent=1))
    show_results(console, results)
    console.print()
    console.print(f"results in {folder}" + (f"; open {page}" if page.exists() else ""), soft_wrap=True)


def _best_setting(results: Results) -> str:
    best = results.best()
    figures = results.summary()["policies"][best]
    error = figures["final_regret_se"]
    spread = "" if error is None else f" ± {error:,.0f}"
    settings = ", ".join(f"{key} = {value}" for key, value in figures["varied"].items())
    return f"best: {figures['policy']} with {settings}: regret {figures['final_regret_mean']:,.0f}{spread}"
