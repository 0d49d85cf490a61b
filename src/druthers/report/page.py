"""The page: one HTML file with all that is known of some experiments, for the browser, from disk, without a network."""

import dataclasses
import html
import json
import math
import shlex
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from druthers.drafts import to_toml, write_text
from druthers.errors import DruthersError
from druthers.experiments import Results, Row, load_experiment, mean_and_error
from druthers.report.layout import axis_of, panels_of, shown
from druthers.report.styles import styles_of
from druthers.web import script, text_of

DIGITS = 5  # significant ones of every number on the page
MOST_POINTS = 24_000  # of an experiment's curves; more rows than that allows have fewer points each
LEVEL = 0.05  # of the p value below which two policies count as different


def content_of(results: Results) -> dict[str, Any]:
    """Return everything the page shows of one experiment."""
    experiment = results.experiment
    rows = results.rows
    points = max(24, MOST_POINTS // len(rows))
    rivals = results.rivals()
    timing = results.timing()["policies"]
    command, whole = _command(results)
    axes = {key: axis_of(results, key) for key in results.varied}
    return {
        "name": experiment.name,
        "title": experiment.title or experiment.name,
        "about": " ".join(filter(None, [experiment.about, _floor(results)])),
        "figure": experiment.figure,
        "horizon": experiment.horizon,
        "runs": experiment.runs,
        "seed": experiment.seed,
        "data": results.data,
        "command": command,
        "complete": whole,
        "settings": to_toml({key: value for key, value in experiment.settings().items() if key != "name"}),
        "policies": _policies(results),
        "versions": results.settings()["versions"],
        "groups": list(results.best_settings()),
        "varied": [
            {
                "key": key,
                "kind": axis.kind,
                "values": [shown(value) for value in axis.values],
                "places": rounded(axis.places(axis.values)),
            }
            for key, axis in axes.items()
        ],
        "panels": [{"title": part.title, "labels": part.labels} for part in panels_of(results)],
        "best": results.best(),
        "rows": [_row(results, row, rivals[row.label], timing[row.label]["us_per_round"], points) for row in rows],
    }


def _floor(results: Results) -> str:
    """Return what no policy can beat, in a sentence; nothing if nobody asked."""
    if results.floor is None:
        return ""
    least, best = results.floor.regret[-1], results.best()
    ratio = float(results.final_regret(best).mean()) / least if least > 0.0 else math.inf
    known = ", preferences taken as known" if results.floor.relaxed else ""
    return (
        f"Floor (dashed in the figures): a consistent policy loses about {least:,.0f} at least by round"
        f" {results.floor.rounds[-1]:,}{known}; the best here, {best}, lost {ratio:.1f} times that. It is exact in the"
        " long run only."
    )


def _row(results: Results, row: Row, rival: str, micros: float, points: int) -> dict[str, Any]:
    rounds = results.rounds(row.label)
    # Evenly over the points that were kept, which are denser at the start; the last always.
    kept = np.unique(np.linspace(0, len(rounds) - 1, min(points, len(rounds))).round().astype(int))
    final = results.final_regret(row.label)
    least = float(results.final_regret(rival).mean())
    content: dict[str, Any] = {
        "label": row.label,
        "group": row.group,
        "policy": row.policy,
        "varied": {key: shown(value) for key, value in row.varied.items()},
        "rounds": rounds[kept].tolist(),
        "shares": rounded(results.shares(row.label).mean(axis=0)),
        "final": rounded(mean_and_error(final)),
        "growth": rounded(mean_and_error(results.growth(row.label))),
        "micros": rounded(micros),
        "rival": rival,
        "ratio": rounded(float(final.mean()) / least if least > 0 else math.nan),
    }
    errors = (("error", "error"), ("gram", "gram_error")) if results.learns(row.label) else ()
    for name, what in (("regret", "regret"), *errors):
        mean, error = results.band(row.label, what)
        content[name] = rounded(mean[kept])
        if len(final) > 1:
            content[f"{name}_se"] = rounded(error[kept])
        if what != "regret":
            content[f"end_{name}"] = rounded(mean_and_error(results.end_error(row.label, what)))
    if row.label != rival and len(final) > 1:
        test = results.paired(row.label, rival)
        content["difference"] = rounded([test.mean, test.low, test.high, test.p])
        content["tied"] = test.p >= LEVEL
    return content


def _policies(results: Results) -> list[dict[str, Any]]:
    """Return all settings of each policy: key, value, and whether the experiment gave it."""
    first = {row.group: row for row in reversed(results.rows)}
    policies = []
    for group in results.best_settings():
        row, params = first[group], []
        for key, default in row.defaults.items():
            # A policy that asks for the horizon is told that of the experiment.
            value = row.params.get(key, row.horizon if key == "horizon" else default)
            varied = key in row.varied and (key in row.params or key == "horizon")
            params.append([key, "varied" if varied else shown(value), varied or key in row.params])
        policies.append({"group": group, "policy": row.policy, "params": params})
    return policies


def _command(results: Results) -> tuple[str, bool]:
    """Return the command that plays the experiment again, and whether it needs no file of settings."""
    mine = results.experiment
    verb = "run" if results.spoken is None else "converse"
    spoken = f" {results.spoken}" if results.spoken else ""
    try:
        known = load_experiment(mine.name)
    except (DruthersError, OSError):
        known = None
    # What may differ: options of the command, and words.
    free = {key: getattr(mine, key) for key in ("seed", "runs", "horizon", "title", "about", "figure")}
    if known is not None and dataclasses.replace(known, **free) == mine:
        others = [key for key in ("runs", "horizon") if getattr(mine, key) != getattr(known, key)]
        options = " ".join(f"--{key} {getattr(mine, key)}" for key in ("seed", *others))
        return f"druthers {verb} {shlex.quote(mine.name)} {options}{spoken}", True
    return f"druthers {verb} {shlex.quote(mine.name + '.toml')} --seed {mine.seed}{spoken}", False


def rounded(values: float | ArrayLike) -> Any:
    """Return numbers to five significant digits, None where there is none.

    Examples
    --------
    >>> rounded([1234.5678, 2.0, float("nan")])
    [1234.6, 2, None]
    """
    if isinstance(values, float):
        if not math.isfinite(values):
            return None
        short = float(f"{values:.{DIGITS}g}")
        return int(short) if short == int(short) and abs(short) < 1e15 else short
    return [rounded(value) for value in np.asarray(values, dtype=float).tolist()]


def write_report(results: Sequence[Results], path: str | Path) -> None:
    """Write the results of some experiments as one interactive page; its folder is made if it is not there."""
    experiments = [content_of(each) for each in results]
    for number, experiment in enumerate(experiments, 1):
        twins = sum(other["name"] == experiment["name"] for other in experiments)
        experiment["nav"] = f"{experiment['name']} ({number})" if twins > 1 else experiment["name"]
    styles = styles_of(group for experiment in experiments for group in experiment["groups"])
    content = {"experiments": experiments, "styles": {group: style._asdict() for group, style in styles.items()}}
    title = experiments[0]["title"] if len(experiments) == 1 else f"{len(experiments)} experiments"
    text = report_file("page.html")
    # The template's own words go in first: what comes from settings could contain them.
    text = text.replace("/*css*/", text_of("vendor/uplot.css") + report_file("page.css"))
    drawing = script("vendor/LICENSE-uplot.txt", "vendor/uplot.js", "plot.js")
    text = text.replace("/*js*/", drawing + report_file("parts.js") + report_file("page.js"))
    head, _, rest = text.partition("<!--title-->")
    middle, _, tail = rest.partition("<!--data-->")
    write_text(path, head + html.escape(title) + middle + embedded(content) + tail)


def embedded(content: Any) -> str:
    """Return values as JSON that no text in them can end early, inside a script element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone surrogate has no place in UTF-8.
    return "".join(f"\\u{ord(sign):04x}" if "\ud800" <= sign <= "\udfff" else sign for sign in text)


def report_file(name: str) -> str:
    """Return a file that pages are made of."""
    return resources.files("druthers.report").joinpath(name).read_text("utf-8")
