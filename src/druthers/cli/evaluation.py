"""The commands about logs: log, export, evaluate."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from druthers.advisor.history import chances_of, to_log
from druthers.anchors import as_anchor
from druthers.cli import options
from druthers.cli.options import argument, listed, load_named, option, read_setting
from druthers.errors import InvalidSetting, NoSupport, UnknownName
from druthers.evaluation import ESTIMATORS, evaluate
from druthers.evaluation.judging import DEFAULT
from druthers.experiments.plan import SET_BY_THE_LAB
from druthers.experiments.running import fresh_policy
from druthers.logs import UTILITY, Log, read_log, record, to_obp, write_dsjson, write_log
from druthers.own import settings_of
from druthers.policies import find_policy
from druthers.stores import is_journal, open_store
from druthers.terminal import make_console, show_evaluations

app = typer.Typer()

Outcome = Annotated[str, option("NAME", "What counts as reward in an export: `utility`, or an objective.")]
LogFile = Annotated[Path, argument("LOG", "A log as Parquet, such as `druthers log` writes.")]
Judged = Annotated[
    str, argument("LOG", "A log as Parquet, or the journal of a service: `sqlite:PATH`, `postgresql://...`.")
]
FORMS = (".parquet", ".dsjson", ".npz")
FEW = 5  # entries of contexts that are named


@app.command("log")
def log_(
    name: options.Name,
    policy: Annotated[str, option("NAME", "The policy that decides; your own as FILE.py:Class.")],
    out: Annotated[
        Path,
        option("FILE", "Where the log goes: `.parquet`, `.dsjson` (Vowpal Wabbit) or `.npz` (Open Bandit Pipeline)."),
    ] = Path("log.parquet"),
    settings: options.Set = None,
    horizon: options.Horizon = None,
    seed: options.Seed = None,
    run: Annotated[int, option("N", "Which run of the experiment's seed to play.", min=0)] = 0,
    outcome: Outcome = UTILITY,
    data: options.Data = None,
    quiet: options.Quiet = False,
) -> None:
    """Let one policy play an experiment and keep every decision: what was heard, offered, chosen, and what came of it.

    Give it some `exploration`: without, every choice is certain and the log cannot tell what other policies are
    worth. Columns and exports are described in the documentation.

        druthers log synthetic --policy mo-pqucb --set exploration=0.1 --horizon 20000
        druthers log tripadvisor --policy random --out hotels.dsjson
    """
    _check_form(out)
    experiment = load_named(name, data, policies=policy, settings=settings, horizon=horizon, seed=seed)
    row, *others = experiment.with_settings({"vary": {}, "figure": "regret"}).rows()
    if others:
        raise InvalidSetting(f"a log must be that of one policy, but got {policy!r}; log the others on their own")
    tape = row.make_environment().tape(seed=(experiment.seed, run), horizon=row.horizon)
    console = make_console(quiet)
    with console.status(f"{row.label} plays {row.horizon:,} rounds; the first time, its machine code is compiled"):
        log = record(fresh_policy(row, tape, experiment.seed, run), tape, label=row.label)
    written = _write(log, out, outcome)
    console.print(f"{written:,} decisions of {row.label} in {out}", soft_wrap=True)
    console.print(_usefulness(log, out), soft_wrap=True)


def _usefulness(log: Log, path: Path) -> str:
    """Return what can be done with a log, or why nothing can."""
    if np.isnan(log.propensities).any():
        return "it does not know the chances of its choices: no other policy can be judged by them; log another one"
    least = float(log.propensities.min())
    if least >= 1.0:
        return "its choices were certain: no other policy can be judged by them; add --set exploration=0.1"
    following = f"; next: druthers evaluate {path} --policies fisher-pqucb,random" if path.suffix == ".parquet" else ""
    return f"least propensity {least:.3g}{following}"


@app.command()
def export(
    log: LogFile,
    out: Annotated[
        Path,
        option(
            "FILE", "`.dsjson` for Vowpal Wabbit, `.npz` for Open Bandit Pipeline's feedback dictionary, or `.parquet`."
        ),
    ],
    outcome: Outcome = UTILITY,
    quiet: options.Quiet = False,
) -> None:
    """Write a log for other tools: Vowpal Wabbit's dsjson, or the feedback dictionary of Open Bandit Pipeline.

    Decisions without the outcome are left out; the form is chosen by the ending of the file's name, which is
    `.dsjson` or `.npz`.

        druthers export log.parquet --out log.dsjson
        druthers export log.parquet --out feedback.npz --outcome "objective 3"
    """
    _check_form(out)
    written = _write(read_log(log), out, outcome)
    make_console(quiet).print(f"{written:,} decisions in {out}", soft_wrap=True)


@app.command("evaluate")
def evaluate_(
    log: Judged,
    policies: Annotated[
        str, option("A,B,...", "Policies to judge; your own as FILE.py:Class.", "--policies", "--policy")
    ],
    estimators: Annotated[
        str, option("A,B,...", f"Some of: {', '.join(ESTIMATORS)}.", "--estimators", "--estimator")
    ] = ",".join(DEFAULT),
    settings: Annotated[
        list[str] | None,
        option(
            "KEY=VALUE",
            "Change a setting of the policies; may be repeated. `POLICY.KEY` changes it for one of them.",
            "--set",
        ),
    ] = None,
    learn: Annotated[
        float, option("SHARE", "First part of the log that a policy learns from.", min=0.0, max=0.99)
    ] = 0.5,
    level: Annotated[float, option("SHARE", "Level of the confidence intervals.", min=0.5, max=0.9999)] = 0.95,
    seed: Annotated[int, option("N", "The seed of the policies and of replay.", min=0)] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Estimate what other policies would have been worth, from a log of decisions with their propensities.

    Each policy learns from the first part of the log and is judged, as it then stands, on the rest. `replay` is
    other: a run of its own, over the rows on which it chooses what was logged. What the log cannot tell is refused.

        druthers evaluate log.parquet --policies fisher-pqucb,random
        druthers evaluate log.parquet --policy mo-pqucb --set radius_scale=0.03 --estimator dr,ips
        druthers evaluate sqlite:druthers.db --policies stated-ucb,random
    """
    names, chosen = listed(policies), dict(read_setting(text) for text in settings or ())
    how: dict[str, Any] = {"estimators": listed(estimators), "level": level, "seed": seed}
    console = make_console(as_json)
    found, refused = [], {}
    with open_store(log, create=False) if is_journal(log) else nullcontext() as journal:
        table = read_log(log) if journal is None else to_log(journal)
        for name in names:
            family, given = find_policy(name), _settings_of(name, names, chosen)
            try:
                with console.status(f"judging {name}; the first time, its machine code is compiled"):
                    if journal is None:
                        found.append(evaluate(table, family, settings=given, label=name, learn=learn, **how))
                    else:  # served as the service serves it
                        judged, chances = chances_of(journal, name, given, learn=learn)
                        outcome = evaluate(judged, chances, label=name, **how)
                        found.append(replace(outcome, learned=len(table) - len(judged)))
            except NoSupport as refusal:
                refused[name] = str(refusal)
    if not found:
        raise NoSupport("; ".join(dict.fromkeys(refused.values())) or "name at least one policy to evaluate")
    aside = [] if journal is not None or table.contexts is None else list(table.entries)
    if as_json:
        told = {"evaluations": [one.plain() for one in found], "refused": refused}
        print(json.dumps({**told, **({"contexts_left_aside": aside} if aside else {})}, indent=1))
        return
    show_evaluations(console, table, found, refused, level)
    if aside:
        _tell_contexts(console, aside)


def _tell_contexts(console: Console, aside: list[str]) -> None:
    """Say which entries of contexts were left aside."""
    few = ", ".join(aside[:FEW]) + (", ..." if len(aside) > FEW else "")
    law = "Contexts of visits are left aside: every policy is judged as one that is told none of"
    console.print(f"{law} {escape(few)}; on the journal of a service it is judged in them.", soft_wrap=True)


def _settings_of(name: str, names: list[str], chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of one policy: those by its name, and single words that it takes."""
    taken = {other: set(settings_of(find_policy(other))) - SET_BY_THE_LAB for other in names}
    settings = {}
    for path, value in chosen.items():
        owner, _, key = path.rpartition(".")
        if owner and owner not in names:
            raise UnknownName.of("policy of a setting", owner, names)
        if not any(key in taken[other] for other in ([owner] if owner else names)):
            raise UnknownName.of("setting", key, sorted(set().union(*taken.values())))
        if owner == name or (not owner and key in taken[name]):
            settings[key] = as_anchor(value)
    return settings


def _check_form(path: Path) -> None:
    if path.suffix not in FORMS:
        raise InvalidSetting(f"a log must be written to a file that ends with {', '.join(FORMS)}, but got {path}")


def _write(log: Log, path: Path, outcome: str) -> int:
    """Write a log in the form that the file's name tells; return how many decisions went in."""
    if path.suffix == ".dsjson":
        return write_dsjson(log, path, outcome)
    if path.suffix == ".npz":
        feedback = to_obp(log, outcome)
        np.savez_compressed(path, **feedback)
        return int(feedback["n_rounds"])
    write_log(log, path)
    return len(log)
