"""The command of the conversational experiment: converse."""

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from druthers.cli import options
from druthers.cli.lab import illustrate
from druthers.cli.options import argument, flag, listed_objectives, load_named, model_settings, option
from druthers.errors import InvalidSetting
from druthers.experiments import Conversation, Experiment, Row, Simulators, converse, default_objectives, mean_and_error
from druthers.experiments.plan import short
from druthers.language import PARSERS, WRITERS, domain_names, item_of, load_domain
from druthers.report import draw_conversation
from druthers.terminal import WIDE, make_console, show_title, shown_progress, table_of
from druthers.types import Objective

app = typer.Typer()

# The paper's, for both simulators.
TEMPERATURE = 0.5
# What a model came to, in the words of its counts.
COUNTS = (
    *("questions", "cached", "calls", "retries", "failures", "illegal", "refusals", "fallbacks"),
    *("input_tokens", "output_tokens"),
)


# Over sixty lines because its options are declared here, each with its help.
@app.command("converse")
def converse_(
    name: Annotated[str, argument("NAME|FILE", "An experiment of `druthers list`, or a TOML file.")] = "converse",
    corruption: Annotated[
        str | None, option("A,B,...", "Chances that a ranking is permuted before it is said.")
    ] = None,
    vagueness: Annotated[str | None, option("A,B,...", "Chances that a user says nothing of use.")] = None,
    writer: Annotated[str | None, option("NAME", f"Who writes: {', '.join(WRITERS)}; llm with --model.")] = None,
    parser: Annotated[str | None, option("NAME", f"Who reads: {', '.join(PARSERS)}; llm with --model.")] = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    key_variable: options.KeyVariable = None,
    temperature: Annotated[
        float | None, option("X", f"With --model: its temperature, {TEMPERATURE} if not given.", min=0.0)
    ] = None,
    concurrency: Annotated[
        int | None, option("N", "With --model: how many texts at a time, 4 if not given.", min=1)
    ] = None,
    timeout: Annotated[
        float | None, option("S", "With --model: seconds it may stay silent, 30 if not given.", min=0.001)
    ] = None,
    objectives: Annotated[
        str | None, option("A,B,...", "The names of the objectives, in the order of the data.")
    ] = None,
    domain: Annotated[str | None, option("NAME", f"Their names from a domain: {', '.join(domain_names())}.")] = None,
    typos: Annotated[
        float, option("P", "Chance of a typing error in a word of the templates.", min=0.0, max=1.0)
    ] = 0.0,
    whole: Annotated[
        bool,
        flag(
            "As in the paper, hear an order of all objectives after every text; what nobody said is made up.", "--whole"
        ),
    ] = False,
    batch: Annotated[int, option("N", "Texts that are written and read before they are kept.", min=1)] = 50,
    runs: options.Runs = None,
    horizon: options.Horizon = None,
    seed: options.Seed = None,
    policies: options.Policies = None,
    settings: options.Set = None,
    engine: options.EngineName = "processes",
    workers: options.Workers = None,
    out: Annotated[
        Path | None,
        option("DIR", "Where results go: `results/NAME` by default, with `-MODEL` and `-whole` behind it where given."),
    ] = None,
    data: options.Data = None,
    no_figures: options.NoFigures = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Play an experiment with language in the loop: rankings are written as sentences and read again.

    A writer says what a simulated user wants, permuted with chance `corruption`, vaguely with chance `vagueness`; a
    parser reads it, and policies hear what was read. Played once more with the rankings themselves, to see what words
    cost. Works offline, unless a `--model` is named.

    Texts are kept batch by batch: stopped halfway, the same command goes on from there, and once all is said
    no model is needed any more.

        druthers converse
        druthers converse --corruption 0,0.3 --vagueness 0 --parser lexicon
        druthers converse --whole
        druthers converse --model llama3.1 --base-url http://localhost:11434/v1
    """
    experiment = load_named(name, data, policies=policies, settings=settings, runs=runs, horizon=horizon, seed=seed)
    experiment = _with_grid(experiment, {"corruption": corruption, "vagueness": vagueness})
    asked = {"temperature": temperature, "concurrency": concurrency, "timeout": timeout}
    server = model_settings(model, base_url=base_url, key_variable=key_variable, **asked)
    named, item = _objectives(experiment, objectives, domain)
    simulators = Simulators(
        named,
        item,
        writer or ("llm" if model else "template"),
        parser or ("llm" if model else "default"),
        typos,
        {"temperature": TEMPERATURE, **server} if server else {},
        whole,
    )
    console = make_console(quiet or as_json)
    named_after = [experiment.name, *([re.sub(r"[^\w.-]", "-", model)] if model else []), *(["whole"] if whole else [])]
    folder = out or Path("results") / "-".join(named_after)
    show_title(console, experiment)
    with shown_progress(console) as watch:
        conversation = converse(
            experiment, folder, simulators, batch=batch, engine=engine, workers=workers, watch=watch
        )
    if not no_figures:
        illustrate(
            console, {folder: conversation.results, folder / "direct": conversation.direct}, folder / "report.html"
        )
        draw_conversation(conversation, folder / "figures")
    if as_json:
        print(json.dumps({**conversation.summary(), "took": conversation.took()}, indent=1))
    show_conversation(console, conversation)
    console.print()
    page = folder / "report.html"
    console.print(f"texts in {conversation.texts}", soft_wrap=True)
    console.print(f"results in {folder}" + (f"; open {page}" if page.exists() else ""), soft_wrap=True)


def _with_grid(experiment: Experiment, chances: dict[str, str | None]) -> Experiment:
    """Return an experiment with lists of chances as what is varied."""
    vary = dict(experiment.vary)
    for key, listed in chances.items():
        if listed is not None:
            try:
                vary[f"environment.{key}"] = [float(value) for value in listed.split(",")]
            except ValueError:
                raise InvalidSetting(f"--{key} must be chances like 0,0.2,0.4, but got {listed!r}") from None
    return experiment if vary == experiment.vary else experiment.with_settings({"vary": vary})


def _objectives(
    experiment: Experiment, listed: str | None, domain: str | None
) -> tuple[tuple[Objective, ...], str | None]:
    if (objectives := listed_objectives(listed, domain)) is not None:
        return objectives, None
    return default_objectives(experiment) if domain is None else (load_domain(domain), item_of(domain))


def show_conversation(console: Console, conversation: Conversation) -> None:
    """Print how well texts were read, what a model came to, and the regret of every policy."""
    _show_reading(console, conversation)
    _show_counts(console, conversation)
    results = conversation.results
    rows = [row for row in results.rows if row.group in conversation.listeners]
    outer = list(dict.fromkeys(_other_values(row) for row in rows))
    for values in outer:
        console.print()
        _show_cells(console, conversation, [row for row in rows if _other_values(row) == values], values)
    console.print(
        "regret with words: mean over runs ± standard error; after it, how much more than with the rankings themselves,"
        " run by run ± standard error",
        style="dim",
    )
    # Of each policy that does not listen, its first row.
    deaf = {row.group: row for row in reversed(results.rows) if row.group not in conversation.listeners}
    if deaf:
        console.print()
        finals = {group: mean_and_error(results.final_regret(row.label)) for group, row in deaf.items()}
        told = (f"{group} {_spread(*finals[group])}" for group in sorted(finals, key=lambda group: finals[group][0]))
        console.print(f"without listening: {', '.join(told)}")


def _other_values(row: Row) -> tuple[tuple[str, Any], ...]:
    return tuple((key, value) for key, value in row.varied.items() if key != "vagueness")


def _show_cells(
    console: Console, conversation: Conversation, rows: list[Row], values: tuple[tuple[str, Any], ...]
) -> None:
    """Print a table of policies by vagueness; what words cost goes without its error where there is no room."""
    across = list(dict.fromkeys(row.varied.get("vagueness") for row in rows))
    columns = {", ".join(f"{key} {short(value)}" for key, value in values): list(dict.fromkeys(r.group for r in rows))}
    costs: dict[str, list[str]] = {}
    for place, value in enumerate(across):
        labels = [row.label for row in rows if row.varied.get("vagueness") == value]
        prices = [conversation.price(label) for label in labels]
        finals = [mean_and_error(conversation.results.final_regret(label)) for label in labels]
        columns["regret" if value is None else f"vague {short(value)}"] = [_spread(*final) for final in finals]
        columns[f"cost {place}"] = [_spread(price.mean, price.error, "+") for price in prices]
        costs[f"cost {place}"] = [_spread(price.mean, math.nan, "+") for price in prices]
    if sum(2 + max(map(len, (name, *cells))) for name, cells in columns.items()) > console.width:
        columns |= costs
    table = Table(box=None, pad_edge=False, padding=WIDE, header_style="bold")
    for place, name in enumerate(columns):
        cost = name in costs
        table.add_column(
            "" if cost else name, justify="right" if place else "left", no_wrap=True, style="dim" if cost else ""
        )
    for line in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, line))
    console.print(table)


def _show_reading(console: Console, conversation: Conversation) -> None:
    clear, vague = conversation.reading["clear"], conversation.reading["vague"]
    took = conversation.took()
    who = conversation.simulators
    writer, parser = (who.model["model"] if name == "llm" else name for name in (who.writer, who.parser))
    console.print(f"{len(conversation.lines):,} texts: {writer} writes, {parser} reads", markup=False)
    if clear.n:
        console.print(
            f"{clear.n:,} clear ones: read exactly {clear.exact:.1%}, first objective {clear.top1:.1%},"
            f" Kendall's tau {clear.tau:.3f}"
        )
    if vague.n:
        console.print(f"{vague.n:,} vague ones: read as nothing {vague.silence:.1%}")
    seconds = (f"{part} {took[part].get('seconds', 0.0):,.1f} s" for part in ("writing", "reading"))
    console.print(", ".join(seconds), style="dim")


def _show_counts(console: Console, conversation: Conversation) -> None:
    took = {part: counts for part, counts in conversation.took().items() if "calls" in counts}
    if not took:
        return
    console.print()
    table = table_of("asking the model", *took, padding=WIDE)
    for name in COUNTS:
        table.add_row(name.replace("_", " "), *(f"{counts[name]:,.0f}" for counts in took.values()))
    console.print(table)


def _spread(mean: float, error: float, sign: str = "") -> str:
    return f"{mean:{sign},.0f}" + ("" if math.isnan(error) else f" ± {error:,.0f}")
