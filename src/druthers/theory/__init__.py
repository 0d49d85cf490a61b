"""The theory bench: every claim as an experiment with a verdict by a stated test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from druthers.errors import UnknownName
from druthers.theory import growth, words
from druthers.theory.base import FAILS, HOLDS, OPEN, Chart, Claim, Finding, Line

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for claim in (
        Claim("shift", "section 4", "Rankings do not change when all weights are shifted.", words.check_shift),
        Claim(
            "queries-alone",
            "Theorem 1, corrected",
            "Rankings alone cost linear regret where a shift changes the best arm; utilities repair it.",
            growth.check_queries_alone,
        ),
        Claim("rate", "Lemma 1", "The anchor's error falls like D √(ln t/(m t)).", words.check_rate),
        Claim("radius", "Lemma 1", "Its bound covers the error.", words.check_radius),
        Claim("noise", "Lemma 2", "The printed radius covers the noise of utilities.", words.check_noise_radius),
        Claim("growth", "Theorem 2", "The regret of MO-PQUCB is sublinear, like √(T ln T).", growth.check_growth),
        Claim("gain", "Corollary 2.1", "MO-PQUCB gains √ln T over PRUCB.", growth.check_gain),
        Claim(
            "corrupted",
            "Theorem 3",
            "No estimator beats the bound, and none is consistent from 1/2 on.",
            words.check_corrupted,
        ),
        Claim("penalty", "Lemma 4", "With η ≥ D³/3 the estimator is robust.", words.check_penalty),
        Claim("consistency", "Lemma 4", "Below one half the estimator is consistent.", words.check_consistency),
        Claim(
            "corrupted-growth",
            "Theorem 4",
            "With α = λ = ε + 1/ln T regret is sublinear.",
            growth.check_corrupted_growth,
        ),
        Claim(
            "information",
            "our theorem",
            "M grows by c n in every direction, whatever is chosen.",
            growth.check_information,
        ),
        Claim("ours", "our theorem", "With its guarantee Fisher-PQUCB has regret Õ(√((D + K) T)).", growth.check_ours),
        Claim("silent", "our default", "Without any query no run of Fisher-PQUCB is stuck.", growth.check_silent),
    )
}

# Claims that ask for the same long runs are checked by one process, one after the other.
TOGETHER = (("growth", "gain", "ours"),)


class Checked(NamedTuple):
    """A claim and what came of it."""

    claim: Claim
    finding: Finding


def check(
    names: list[str] | None = None, *, fast: bool = False, workers: int = 2, watch: Callable[[str], None] | None = None
) -> list[Checked]:
    """Check claims, all of them by default, with fixed seeds; the same call gives the same findings.

    Parameters
    ----------
    names
        Which claims.
    fast
        Smaller runs under the same rules.
    workers
        How many processes; 1 for none but this.
    watch
        Told the name of each claim that is done.
    """
    wanted = list(CLAIMS) if names is None else names
    for name in wanted:
        if name not in CLAIMS:
            raise UnknownName.of("claim", name, CLAIMS)
    found: dict[str, Finding] = {}
    for name, finding in _findings(_groups(wanted), fast, workers):
        found[name] = finding
        if watch is not None:
            watch(name)
    return [Checked(CLAIMS[name], found[name]) for name in wanted]


def _groups(names: list[str]) -> list[tuple[str, ...]]:
    """Return the claims in groups, those that take longest first."""
    together = [tuple(name for name in group if name in names) for group in TOGETHER]
    alone = [(name,) for name in names if not any(name in group for group in together)]
    return [group for group in (*together, *alone) if group]


def _findings(groups: list[tuple[str, ...]], fast: bool, workers: int) -> Iterator[tuple[str, Finding]]:
    if workers == 1 or len(groups) == 1:
        for group in groups:
            yield from _check_group(group, fast)
        return
    with ProcessPoolExecutor(workers) as pool:
        for done in [pool.submit(_check_group, group, fast) for group in groups]:
            yield from done.result()


def _check_group(group: tuple[str, ...], fast: bool) -> list[tuple[str, Finding]]:
    return [(name, CLAIMS[name].check(fast)) for name in group]


__all__ = ["CLAIMS", "FAILS", "HOLDS", "OPEN", "Chart", "Checked", "Claim", "Finding", "Line", "check"]
