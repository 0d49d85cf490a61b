"""The commands for benchmarks on real people."""

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from druthers.bench import OURS, add_entry, play_bench, read_entry
from druthers.bench.asking import COMPARED, HELD_OUT, RULES, SCORES, ask_people
from druthers.bench.first import EVIDENCE, PRIORS, meet_people
from druthers.bench.fitting import fit_people, fit_rankings
from druthers.bench.running import FAST_ORDERS, FAST_PEOPLE, ORDERS, STUDIES, write_results
from druthers.bench.when import RUNS, play_rules
from druthers.cli import options
from druthers.cli.options import argument, flag, option
from druthers.errors import InvalidSetting
from druthers.report.people import draw_first, draw_people
from druthers.terminal import make_console, print_whole, shown_progress, table_of

app = typer.Typer(no_args_is_help=True)

TITLED: dict[str, Any] = {"header_style": "dim", "title_justify": "left"}

# They show something, and do not say how likely it is to be picked.
ACTING = ("thompson", "ucb")

Studies = Annotated[list[str] | None, argument("STUDY", f"Studies or folders; {', '.join(STUDIES)} if none.")]
Fast = Annotated[bool, flag(f"{FAST_PEOPLE} people of each study: a quick look.", "--fast")]
Out = Annotated[Path, option("DIR", "Where results go; what is there already is not done again.")]


@app.command()
def people(
    studies: Studies = None,
    fast: Annotated[
        bool, flag(f"{FAST_PEOPLE} people of each study and {FAST_ORDERS} orders: a quick look.", "--fast")
    ] = False,
    orders: Annotated[int | None, option("N", f"Random orders of arrival; {ORDERS} if not given.", min=1)] = None,
    out: Out = Path("results/people"),
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Let beliefs and their rivals foretell what real people chose, one choice after the other.

    Hit rate, log-loss and calibration of everything that plays, beside a mixed logit fitted to the other half of the
    people by MCMC. Studies are brought by `druthers data people`.

        druthers bench people --fast
        druthers bench people
        druthers bench people swissmetro --orders 3
    """
    console = make_console(quiet)
    with shown_progress(console) as watch:
        bench = play_bench(
            studies or STUDIES,
            out,
            orders=orders or (FAST_ORDERS if fast else ORDERS),
            n_people=_people(fast),
            workers=workers,
            watch=watch,
        )
    results = bench.results()
    _show(console, results)
    draw_people(results, out)
    console.print(f"results in {out}", soft_wrap=True)


@app.command()
def submit(
    file: Annotated[Path, argument("ENTRY.npz", "What druthers.bench.enter wrote.")],
    results: Annotated[Path | None, option("FILE", "A results.json that gets the scores, too.", "--add")] = None,
) -> None:
    """Check what a model of your own foretold, score it, and print its rows for the table of the docs.

    druthers bench submit mine.npz
    druthers bench submit mine.npz --add results/people/results.json
    """
    entry = read_entry(file)
    name = entry.about["name"]
    print("| study | model | hit rate | log-loss | calibration error | orders |\n|---|---|---|---|---|---|")
    for study, scores in entry.studies.items():
        figures = f"{scores['hit']:.3f} | {scores['log_loss']:.3f} | {scores['calibration']:.3f} | {scores['orders']}"
        print(f"| {study} | {name} | {figures} |")
    missing = [study for study in STUDIES if study not in entry.studies]
    few = [study for study, scores in entry.studies.items() if scores["orders"] < ORDERS]
    if missing or few:
        lacking = ", ".join(missing + few)
        print(f"an entry to the table has {ORDERS} orders of all of {', '.join(STUDIES)}; missing: {lacking}")
    if results is not None:
        try:
            content = json.loads(results.read_text("utf-8"))
            write_results(add_entry(entry, content), results.parent, results.name)
        except (OSError, ValueError, KeyError) as error:
            raise InvalidSetting(f"results must be a file of `druthers bench people`, but {results}: {error}") from None


@app.command()
def questions(
    studies: Studies = None,
    fast: Fast = False,
    out: Out = Path("results/people"),
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Ask real people what tells most, and see how many answers that saves against questions at random.

    druthers bench questions --fast
    """
    console = make_console(quiet)
    with shown_progress(console) as watch:
        results = ask_people(studies or STUDIES, out, n_people=_people(fast), workers=workers, watch=watch)
    for name, content in results["studies"].items():
        counts = (0, 2, *COMPARED)
        as_many = [(count, score) for score in SCORES for count in COMPARED]
        against = (f"{score.replace('_', '-')} of {count} at random" for count, score in as_many)
        table = table_of("", *(f"{count} answers" for count in counts), *against, **TITLED)
        table.title = f"{name}: {content['people']:,} people, {HELD_OUT} choices held out; hit rate/log-loss"
        for rule in RULES:
            curves = content[rule]
            needed = [curves[f"as_{count}_by_{score}"] for count, score in as_many] if rule != RULES[0] else []
            table.add_row(
                rule,
                *(f"{curves['hit'][count]:.3f}/{curves['log_loss'][count]:.3f}" for count in counts),
                *(f"{one['answers']:.1f} ({one['low']:.1f} to {one['high']:.1f})" for one in needed),
            )
        print_whole(console, table)
        console.print()
    console.print(f"results in {out}", soft_wrap=True)


@app.command()
def first(
    studies: Studies = None,
    fast: Fast = False,
    out: Out = Path("results/people"),
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Meet real people for the first time: what a first sentence, ranking and choice are worth, met alone or not.

    druthers bench first --fast
    """
    console = make_console(quiet)
    with shown_progress(console) as watch:
        results = meet_people(studies or STUDIES, out, n_people=_people(fast), workers=workers, watch=watch)
    for name, content in results["studies"].items():
        table = table_of("", *PRIORS, **TITLED)
        table.title = f"{name}: {content['people']:,} people; log-loss, hit rate, regret of {HELD_OUT} later choices"
        for evidence in EVIDENCE:
            cells = [content[prior][evidence] for prior in PRIORS]
            table.add_row(
                evidence,
                *("  ".join((_off(one, "log_loss"), f"{one['hit']:.3f}", _off(one, "regret"))) for one in cells),
            )
        print_whole(console, table)
        console.print()
    draw_first(results, out)
    console.print(f"results in {out}", soft_wrap=True)


@app.command()
def when(
    out: Out = Path("results/people"),
    runs: Annotated[int, option("N", "How many runs.", min=1)] = RUNS,
    workers: options.Workers = None,
    quiet: options.Quiet = False,
) -> None:
    """Simulate when to ask: regret against the number of questions, beside always, never, periodic and ConUCB's rule.

    druthers bench when
    """
    console = make_console(quiet)
    with shown_progress(console) as watch:
        results = play_rules(out, runs=runs, workers=workers, watch=watch)
    table = table_of("rule", "setting", "questions per user", "regret per user", "of periodic at as many", **TITLED)
    for row in results["rules"]:
        ratio = f"{row['of_periodic']:.2f} (worst run {row['worst']:.2f})" if "of_periodic" in row else ""
        setting = "" if row["rule"] == "never" else f"{row['setting']:g}"
        table.add_row(row["rule"], setting, f"{row['questions']:.1f}", f"{row['regret']:.1f}", ratio)
    print_whole(console, table)
    console.print(f"results in {out}", soft_wrap=True)


@app.command()
def fit(
    studies: Studies = None,
    fast: Fast = False,
    out: Out = Path("results/people"),
    quiet: options.Quiet = False,
) -> None:
    """Test whether people choose as the model says: what is left in their choices once they were foretold.

    druthers bench fit
    druthers bench fit universities parties
    """
    console = make_console(quiet)
    results = fit_people(studies or STUDIES, out, n_people=_people(fast))
    titles = "", "log-loss less entropy", "", "what may tell more", "coefficient", "p", "nats to gain"
    table = table_of(*titles, left=4, header_style="dim")
    table.columns[1].justify = "right"
    for name, content in results.items():
        surprise = content["surprise"]
        first = (name, f"{surprise['mean']:+.3f} ± {surprise['error']:.3f}", f"p {surprise['p']:.2g}")
        for test, left in content["tests"].items():
            coefficient = f"{left['coefficient']:+.3f} ± {left['error']:.3f}"
            table.add_row(*first, test, coefficient, f"{left['p']:.2g}", f"{left['gain']:+.4f}")
            first = ("", "", "")
    print_whole(console, table)
    with contextlib.suppress(InvalidSetting):  # rankings are shown where they were brought
        ranked = fit_rankings()
        console.print(
            f"rankings of aims, {ranked['people']:,} people: Plackett-Luce {ranked['log_loss']:.3f} nats, a chance for"
            f" every ranking {ranked['saturated']:.3f}; G = {ranked['statistic']:.1f} with {ranked['degrees']} degrees"
            f" of freedom, p {ranked['p']:.2g}",
            soft_wrap=True,
        )
    console.print(f"results in {out}", soft_wrap=True)


def _people(fast: bool) -> int | None:
    return FAST_PEOPLE if fast else None


def _show(console: Console, results: dict[str, Any]) -> None:
    places = ("1", "2", "5", "10")
    for study, content in results["studies"].items():
        choices = (f"choice {at}" for at in places)
        table = table_of("", "hit rate", "log-loss", "calibration", *choices, "ours gains", "p", **TITLED)
        table.title = f"{study}: {content['people']:,} people, {content['choices']:,} choices"
        for player, scores in content["players"].items():
            acts = player in ACTING
            by_place = [scores["positions"].get(at) for at in places]
            gains = scores.get("ours_gains", {}).get("all")
            table.add_row(
                player,
                _with_interval(scores, "hit"),
                "" if acts else _with_interval(scores, "log_loss"),
                "" if acts else f"{scores['calibration']:.3f}",
                *(
                    "" if at is None else f"{at['hit']:.3f}" + ("" if acts else f"/{at['log_loss']:.3f}")
                    for at in by_place
                ),
                "" if gains is None or acts else f"{gains['gain']:+.3f} ± {gains['error']:.3f}",
                "" if gains is None or acts else f"{gains['p']:.2g}",
                style="bold" if player == OURS else None,
            )
        print_whole(console, table)
        print_whole(console, _first_contact(content["players"]))
        console.print()


def _first_contact(players: dict[str, Any]) -> Table:
    """Return what ours gains over others when it meets somebody, and its log-loss of first choices as people come."""
    columns = ("ours gains over", "choice 1, nats", "p", "choice 1, hits", "p", "choices 1 to 5, nats", "p")
    table = table_of(*columns, **TITLED)
    for player, scores in players.items():
        if "ours_gains" in scores and player not in ACTING:
            cells = scores["ours_gains"]["1"], scores["ours_hits"]["1"], scores["ours_gains"]["1-5"]
            table.add_row(
                player,
                *(text for one in cells for text in (f"{one['gain']:+.3f} ± {one['error']:.3f}", f"{one['p']:.2g}")),
            )
    if OURS in players:
        met = ", ".join(f"{people} {loss:.3f}" for people, loss in players[OURS]["newcomers"].items())
        table.caption = f"log-loss of first choices by number of the person who came: {met}"
        table.caption_justify = "left"
    return table


def _off(scores: dict[str, float], name: str) -> str:
    """Return a score with the standard error of its distance from what nothing told brings."""
    error = scores[f"{name}_error"]
    return f"{scores[name]:.3f} ± {error:.3f}" if error else f"{scores[name]:.3f}        "


def _with_interval(scores: dict[str, Any], name: str) -> str:
    wide = scores[f"{name}_interval"]
    return f"{scores[name]:.3f}" + (f" ± {wide:.3f}" if wide else "")
