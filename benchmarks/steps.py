"""What one step of each policy costs through the Python API, beside a round of plain C in the same run.

A step is hear + choose + learn at the size of the paper's synthetic experiment: 20 objectives, 20 users, 10 of 40
arms offered, full rankings (a fifth of them corrupted), 2,000 rounds from the first on, refits included. The yardstick
is `limit.c`, the loop of an information-weighted policy compiled with everything the C compiler has. Machines are
noisy, so only ratios within a run mean anything. The policy in plain NumPy is that of README.md. Also: the batch fit of
`Likelihood` against `choix.opt_top1`, and the time of the exact group lasso.
"""

from __future__ import annotations

import argparse
import gc
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import druthers as dr

D, K, N, OFFERED, ROUNDS = 20, 40, 20, 10, 2_000
ROBUST = {"mo-pqucb-gl", "mo-pqucb-gl-recipe", "mo-pqucb-mixture"}


def compile_yardstick(folder: Path, sizes: Mapping[str, int] | None = None) -> Path | None:
    """Compile limit.c, for sizes D, K, A and N if given; None where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    binary = folder / "limit"
    flags = ["-O3", "-march=native", "-ffast-math", *(f"-D{key}={value}" for key, value in (sizes or {}).items())]
    subprocess.run([compiler, *flags, str(Path(__file__).with_name("limit.c")), "-o", str(binary), "-lm"], check=True)
    return binary


def yardstick(binary: Path) -> float:
    """Return microseconds per round of limit.c."""
    printed = subprocess.run([str(binary), "100000"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"us/round=([0-9.]+)", printed)
    if found is None:
        raise RuntimeError(f"limit.c must print us/round=..., but printed {printed!r}")
    return float(found.group(1))


def plain_policy() -> type[dr.Policy]:
    """Return the policy of README.md that is written in plain NumPy."""
    text = Path(__file__).parents[1].joinpath("README.md").read_text("utf-8")
    (block,) = (part for part in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "(PlainPolicy)" in part)
    defined: dict[str, Any] = {}
    exec(block, defined)
    found: type[dr.Policy] = defined["Listener"]
    return found


PLAIN = plain_policy()


def make(name: str) -> dr.Policy:
    """Build a policy; one name stands for MO-PQUCB with the mixture anchor, one for the policy in plain NumPy."""
    if name == "mo-pqucb-mixture":
        return dr.MOPQUCB(n_objectives=D, anchor=dr.Mixture())
    if name == PLAIN.name:
        return PLAIN(n_objectives=D)
    return dr.make_policy(name, n_objectives=D)


def step_cost(name: str, seed: int) -> float:
    """Return microseconds per step over 2,000 rounds from the first on."""
    rng = np.random.default_rng(seed)
    preferences = rng.uniform(0, 5, (N, D))
    users = rng.integers(N, size=ROUNDS)
    rankings = dr.sample_rankings(preferences[users], rng=rng, corruption=0.2).rankings()
    offers = [rng.permutation(K)[:OFFERED].tolist() for _ in range(ROUNDS)]
    rewards = list(rng.normal(2.5, 1.5, (ROUNDS, D)))
    utilities = [float(preferences[user] @ reward) for user, reward in zip(users, rewards, strict=True)]
    rounds = list(zip(users.tolist(), rankings, offers, rewards, utilities, strict=True))
    policy = make(name)
    policy.add_arms(range(K))
    gc.disable()  # as timeit does: Numba leaves millions of objects that have nothing to do with a step
    start = time.perf_counter()
    for user, ranking, offer, reward, utility in rounds:
        policy.hear(user, ranking)
        arm = policy.choose(user, offer).arm
        policy.learn(user, arm, reward, utility)
    seconds = time.perf_counter() - start
    gc.enable()
    return seconds / ROUNDS * 1e6


def print_steps(repeats: int) -> bool:
    """Print the cost of a step of each policy; return whether all keep their limit."""
    names = [*dr.POLICIES, "mo-pqucb-mixture", PLAIN.name]
    with tempfile.TemporaryDirectory() as folder:
        binary = compile_yardstick(Path(folder))
        print(f"compiling {len(names)} policies where the cache has none (up to some minutes the first time)")
        for name in names:
            step_cost(name, seed=0)
        costs: dict[str, list[float]] = {name: [] for name in names}
        rounds = []
        for repeat in range(repeats):
            if binary is not None:
                rounds.append(yardstick(binary))
            for name in names:
                costs[name].append(step_cost(name, seed=repeat))
    base = float(np.median(rounds)) if rounds else float("nan")
    print(f"\na round of limit.c: {base:.1f} us (median of {repeats})\n")
    print(f"{'policy':20s} {'us per step':>12s} {'ratio':>7s} {'limit':>6s}")
    kept = True
    for name in names:
        cost = float(np.median(costs[name]))
        limit = 50 if name in ROBUST or name == PLAIN.name else 5
        over = bool(rounds) and cost / base > limit
        kept = kept and not over
        print(f"{name:20s} {cost:12.1f} {cost / base:7.2f} {limit:6d}{'  over' if over else ''}")
    return kept


def print_fits() -> None:
    """Print the batch fits at D = 20 and 2,000 full rankings, and how they compare with choix."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 5, D)
    clean = dr.sample_rankings(truth, rounds=ROUNDS, rng=rng).rankings()
    corrupt = dr.sample_rankings(truth, rounds=ROUNDS, rng=rng, corruption=0.2).rankings()
    dr.Likelihood(n_objectives=D).fit(clean[:50])
    likelihood, seconds = timed(lambda: dr.Likelihood(n_objectives=D).fit(clean))
    print(f"\nLikelihood.fit, {ROUNDS} full rankings, D = {D}: {seconds * 1e3:.1f} ms")
    try:
        import choix
    except ImportError:
        print("choix is not installed: no comparison")
    else:
        choices = [(int(r[j]), tuple(int(k) for k in r[j + 1 :])) for r in clean for j in range(D - 1)]
        outside, other = timed(lambda: choix.opt_top1(D, choices))
        gap = np.abs(outside - outside.mean() - likelihood.estimate).max()
        print(f"choix.opt_top1 on the same: {other:.1f} s, {other / seconds:.0f} times as long; largest gap {gap:.1e}")
    for penalty in (2.0, "auto"):
        dr.GroupLasso(n_objectives=D, penalty=penalty).fit(corrupt[:50])
        anchor, seconds = timed(lambda penalty=penalty: dr.GroupLasso(n_objectives=D, penalty=penalty).fit(corrupt))
        print(
            f"GroupLasso(penalty={penalty!r}).fit, a fifth corrupted: {seconds * 1e3:.0f} ms, "
            f"KKT residual {anchor.kkt_residual:.1e}"
        )
    dr.Mixture(n_objectives=D).fit(corrupt[:50])
    _, seconds = timed(lambda: dr.Mixture(n_objectives=D).fit(corrupt))
    print(f"Mixture.fit on the same: {seconds * 1e3:.0f} ms")


def timed(call):
    """Return what a call returns and the seconds it took."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def main() -> int:
    """Print both tables; exit with 1 where a policy is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each policy, the median counts (default 5)")
    parser.add_argument("--no-fits", action="store_true", help="leave out the batch fits (choix takes minutes)")
    arguments = parser.parse_args()
    kept = print_steps(arguments.repeats)
    if not arguments.no_fits:
        print_fits()
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
