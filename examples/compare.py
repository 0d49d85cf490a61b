"""Compare every policy on the paper's synthetic benchmark, on the same draws.

Forty arms, twenty objectives, twenty users with hidden preferences. In each
round one user ranks the objectives, a policy chooses one of ten offered arms,
and the user feels a reward per objective and, as a whole, a utility. What
counts is the regret: the expected utility lost against always choosing the
best offered arm.

All chance of a run (users, offers, rankings, noise) is drawn before any policy
plays, so differences between policies are not differences of luck.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import multiprocessing
import os
import shutil
import signal
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import druthers as dr
from druthers.errors import UnknownName

N_ARMS, N_OFFERED, N_OBJECTIVES, N_USERS = 40, 10, 20, 20
HIGHEST, VARIANCE = 5.0, 0.5
N_POINTS = 40

EXAMPLES = """\
examples:
  python examples/compare.py
  python examples/compare.py --policies mo-pqucb-recipe prucb-recipe
  python examples/compare.py --corruption 0.2     one query in five means nothing
  python examples/compare.py --runs 3 --horizon 500 --json out.json

policies:
"""

ABOUT = {
    "random": "uniform choice: what any policy must beat",
    "pareto-ucb": "uniform choice from the optimistic Pareto front",
    "pareto-ts": "uniform choice from a sampled Pareto front",
    "s-ucb": "UCB on the sum of the objectives",
    "s-moss": "MOSS on the sum of the objectives",
    "mo-oful": "regression of utilities on rewards, per user",
    "conucb": "the same, and asks about single objectives",
    "prucb": "optimistic in reward and preference, deaf to rankings",
    "prucb-recipe": "the same as the authors ran it",
    "mo-pqucb": "rankings and utilities, with the constants of the analysis, which are too large: late in a run "
    "the bonuses overrule the estimate in half of the choices",
    "mo-pqucb-gl": "as mo-pqucb with the group lasso; without corruption it chooses the same",
    "mo-pqucb-tuned": "mo-pqucb with arms never seen first, both scales 0.03 and feedback_weight 0.002, chosen on "
    "other draws",
    "mo-pqucb-recipe": "what the authors ran as MO-PQUCB, which is not what they printed",
    "mo-pqucb-gl-recipe": "what the authors ran as MO-PQUCB-GL, which is not what they printed",
    "greedy": "the estimate of mo-pqucb, arms never seen first, no bonus",
    "greedy-tuned": "as greedy, with feedback_weight 0.002 instead of 1/ln T, the best of 8 values on other draws",
    "greedy-tuned-mixture": "as greedy-tuned, with the anchor that doubts rankings",
}
FOOTNOTES = [row for row in ABOUT if row.startswith(("mo-pqucb", "greedy"))]


def settings(row: str, horizon: int) -> tuple[str, dict[str, Any]]:
    """Return the policy behind a row of the table and its settings for this benchmark."""
    name = row.partition("-tuned")[0]
    params: dict[str, Any] = {}
    if name in ("s-moss", "mo-pqucb", "mo-pqucb-gl", "mo-pqucb-recipe", "mo-pqucb-gl-recipe", "greedy"):
        params["horizon"] = horizon
    if row == "s-moss":
        params["width"] = 1.4
    if row == "mo-pqucb-tuned":
        params |= {"unseen_first": True, "radius_scale": 0.03, "reward_scale": 0.03, "feedback_weight": 0.002}
    if row.startswith("greedy-tuned"):
        params["feedback_weight"] = 0.002
    if row.endswith("-mixture"):
        params["anchor"] = dr.Mixture()
    return name, params


class Draws(NamedTuple):
    """All the chance of one run."""

    means: np.ndarray
    preferences: np.ndarray
    users: np.ndarray
    offers: np.ndarray
    orders: np.ndarray
    reward_noise: np.ndarray
    preference_noise: np.ndarray


class Played(NamedTuple):
    """What one policy did with one run."""

    row: str
    run: int
    curve: list[float]
    microseconds: float


def draw(seed: int, run: int, horizon: int, corruption: float) -> Draws:
    """Draw one run of the benchmark."""
    rng = np.random.default_rng([seed, run])
    preferences = rng.uniform(0.0, HIGHEST, (N_USERS, N_OBJECTIVES))
    users = rng.integers(N_USERS, size=horizon)
    noise = math.sqrt(VARIANCE) * rng.standard_normal((2, horizon, N_OBJECTIVES))
    return Draws(
        means=rng.uniform(0.0, HIGHEST, (N_ARMS, N_OBJECTIVES)),
        preferences=preferences,
        users=users,
        offers=rng.random((horizon, N_ARMS)).argsort(axis=1)[:, :N_OFFERED],
        orders=dr.sample_rankings(preferences[users], rng=rng, corruption=corruption).orders,
        reward_noise=noise[0],
        preference_noise=noise[1],
    )


def play(policy: dr.Policy, draws: Draws) -> tuple[np.ndarray, float]:
    """Let a policy play a run; return its cumulative regret after each round and the seconds it took to decide."""
    policy.add_arms(range(N_ARMS))
    utilities = draws.preferences @ draws.means.T
    tastes = draws.preferences.mean(axis=1)
    regret = np.empty(len(draws.users))
    seconds = 0.0
    for t, user in enumerate(draws.users.tolist()):
        offer = draws.offers[t].tolist()
        start = time.perf_counter()
        policy.hear(user, draws.orders[t])
        question = policy.ask(user)
        if question is not None:
            policy.answer(user, question, float(draws.preferences[user, question.objective] > tastes[user]))
        arm: Any = policy.choose(user, offer).arm
        seconds += time.perf_counter() - start
        reward = draws.means[arm] + draws.reward_noise[t]
        utility = float((draws.preferences[user] + draws.preference_noise[t]) @ reward)
        start = time.perf_counter()
        policy.learn(user, arm, reward, utility)
        seconds += time.perf_counter() - start
        regret[t] = utilities[user, offer].max() - utilities[user, arm]
    return regret.cumsum(), seconds


def task(job: tuple[str, int, int, int, float]) -> Played:
    """Play one row of the table on one run, in a process of its own."""
    row, run, seed, horizon, corruption = job
    name, params = settings(row, horizon)
    policy = dr.make_policy(name, n_objectives=N_OBJECTIVES, seed=run, **params)
    curve, seconds = play(policy, draw(seed, run, horizon, corruption))
    return Played(row, run, curve[points(horizon)].tolist(), 1e6 * seconds / horizon)


def points(horizon: int) -> np.ndarray:
    """Return the rounds, counted from 0, at which a curve is kept; the last is always one of them."""
    return np.linspace(0, horizon - 1, min(N_POINTS, horizon)).round().astype(int)


def progress(what: str, done: int, total: int) -> None:
    """Show on one line of the terminal how far it is; show nothing where nobody looks."""
    if sys.stderr.isatty():
        filled = round(20 * done / total)
        text = f"[{'#' * filled}{'.' * (20 - filled)}] {done}/{total} {what}" if what else ""
        print(f"\r\x1b[2K{text[: columns() - 1]}", end="", file=sys.stderr, flush=True)


def compare(rows: list[str], *, runs: int, horizon: int, seed: int, corruption: float) -> dict[str, list[Played]]:
    """Play every row on every run, spread over processes; return what was played, in order of runs."""
    played: dict[str, list[Played]] = {row: [] for row in rows}
    workers = min(os.cpu_count() or 1, len(rows))
    # Spawned processes behave alike everywhere; they leave Ctrl-C to this one.
    with multiprocessing.get_context("spawn").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        # A short game first, so that no compilation is in the times below; the last rows have most to compile.
        games = [(row, 0, seed, 200, 0.2) for row in reversed(rows)]
        what = "compiling: two or three minutes the first time"
        progress(what, 0, len(games))
        for done, _ in enumerate(pool.imap_unordered(task, games), start=1):
            progress(what, done, len(games))
        jobs = [(row, run, seed, horizon, corruption) for run in range(runs) for row in rows]
        start = time.perf_counter()
        progress("playing", 0, len(jobs))
        for done, result in enumerate(pool.imap_unordered(task, jobs), start=1):
            played[result.row].append(result)
            left = (time.perf_counter() - start) * (len(jobs) - done) / done
            progress(f"playing, {left:.0f} s left", done, len(jobs))
    progress("", 0, 1)
    return {row: sorted(results, key=lambda result: result.run) for row, results in played.items()}


def sparkline(curve: np.ndarray, width: int = 20) -> str:
    """Draw a rising curve in one line of text, scaled to its own end."""
    blocks = "▁▂▃▄▅▆▇█" if (sys.stdout.encoding or "").lower().startswith("utf") else "._-=+*%#"
    picked = curve[np.linspace(0, len(curve) - 1, width).round().astype(int)]
    levels = picked / max(float(picked.max()), 1e-12) * (len(blocks) - 1)
    return "".join(blocks[level] for level in levels.round().astype(int))


def summary(played: dict[str, list[Played]]) -> list[dict[str, Any]]:
    """Return one line of figures per row, best first."""
    lines = []
    for row, results in played.items():
        curves = np.array([result.curve for result in results])
        final = curves[:, -1]
        lines.append(
            {
                "policy": row,
                "regret": float(final.mean()),
                "standard_error": float(final.std(ddof=1) / math.sqrt(len(final))) if len(final) > 1 else None,
                "microseconds_per_round": float(np.median([result.microseconds for result in results])),
                "curve": curves.mean(axis=0).tolist(),
                "runs": final.tolist(),
            }
        )
    lines.sort(key=lambda line: line["regret"])
    for line in lines:
        line["ratio_to_best"] = line["regret"] / max(lines[0]["regret"], 1e-12)
    return lines


def show(lines: list[dict[str, Any]]) -> None:
    """Print the table and what there is to say about its rows."""
    names = max(len(line["policy"]) for line in lines)
    noted = [line["policy"] for line in lines if line["policy"] in FOOTNOTES]
    drawn = min(max(columns() - names - 46, 5), 20)
    print(f"{'policy':<{names}}       final regret    × best  µs/round  regret curve")
    for line in lines:
        error = "" if line["standard_error"] is None else f"± {line['standard_error']:,.0f}"
        mark = f"[{noted.index(line['policy']) + 1}]" if line["policy"] in noted else ""
        print(
            f"{line['policy']:<{names}} {mark:<4} {line['regret']:>7,.0f} {error:<8} {line['ratio_to_best']:>7.2f}"
            f" {line['microseconds_per_round']:>9,.0f}  {sparkline(np.array(line['curve']), drawn)}"
        )
    print()
    notes = ["regret: mean over the runs of the utility lost, ± its standard error; each curve has its own scale"]
    notes += [f"[{place}] {row}: {ABOUT[row]}" for place, row in enumerate(noted, start=1)]
    for note in notes:
        print(textwrap.fill(note, columns(), subsequent_indent="    " if note.startswith("[") else ""))


def columns() -> int:
    """Return the width to write in."""
    return min(shutil.get_terminal_size((100, 24)).columns, 100)


def at_least(least: int) -> Any:
    """Return a reader of whole numbers that refuses smaller ones."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, but got {text!r}")
        return int(text)

    return whole


def share(text: str) -> float:
    """Read a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, but got {text!r}")
    return value


def described(row: str) -> str:
    """Return the lines of the help about one row."""
    return textwrap.fill(f"  {row:<22}{ABOUT[row]}", 79, subsequent_indent=24 * " ")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    rows = list(ABOUT)
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES + "\n".join(map(described, ABOUT)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", type=at_least(1), default=10, help="independent runs, each with its own world (10)")
    parser.add_argument("--horizon", type=at_least(3), default=2000, metavar="T", help="rounds of a run (2000)")
    parser.add_argument("--policies", nargs="+", metavar="NAME", default=rows, help="which policies (all of them)")
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the draws; the same seed, the same runs")
    parser.add_argument(
        "--corruption", type=share, default=0.0, metavar="SHARE", help="share of rankings that mean nothing (0)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write settings, all runs and curves to a file too")
    given = parser.parse_args()
    given.policies = list(dict.fromkeys(name for word in given.policies for name in word.split(",") if name))
    if not given.policies:
        parser.error("--policies needs at least one name")
    for name in given.policies:
        if name not in rows:
            parser.error(str(UnknownName.of("policy", name, rows)))
    if given.json is not None and (given.json.is_dir() or not given.json.resolve().parent.is_dir()):
        parser.error(f"--json needs a file in a folder that exists, but got {given.json}")
    return given


def main() -> None:
    """Compare and print."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    given = arguments()
    setting = {key: getattr(given, key) for key in ("runs", "horizon", "seed", "corruption")}
    corrupted = f"{given.corruption:.0%} of them corrupted" if given.corruption else "none corrupted"
    title = (
        f"The paper's synthetic benchmark: {N_ARMS} arms ({N_OFFERED} offered), {N_OBJECTIVES} objectives,"
        f" {N_USERS} users, full rankings, {corrupted}; {given.horizon:,} rounds, {given.runs}"
        f" run{'s' if given.runs > 1 else ''} from seed {given.seed}"
    )
    print(textwrap.fill(title, columns()), end="\n\n", flush=True)
    try:
        lines = summary(compare(given.policies, **setting))
    except KeyboardInterrupt:
        sys.exit("\nstopped")
    show(lines)
    if given.json is not None:
        for line in lines:
            params = settings(line["policy"], given.horizon)[1]
            line["params"] = {key: repr(value) if key == "anchor" else value for key, value in params.items()}
        content = {**setting, "rounds": (points(given.horizon) + 1).tolist(), "policies": lines}
        given.json.write_text(json.dumps(content, indent=1) + "\n")
        print(f"\nwritten: {given.json}")


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
