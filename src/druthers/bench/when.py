"""When to ask: regret against the number of questions, by rules that ask always, never, now and then, or if it pays."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from druthers.bench.running import write_results
from druthers.engines import Watch, unwatched
from druthers.environments import Synthetic
from druthers.experiments.guest import serve
from druthers.experiments.keeping import Part, carry_out, part_path
from druthers.policies import FisherPQUCB
from druthers.types import Floats

USERS, ROUNDS, RUNS = 40, 4_000, 3
PERIODS = (1, 2, 5, 10, 20, 40, 100)
# ConUCB asks so that after t interactions b(t) = FREQUENCY ln(t) questions were asked.
FREQUENCIES = (1.0, 2.0, 5.0)
PRICES = (0.02, 0.05, 0.1)


class Rule(NamedTuple):
    """When a user is asked: "never", every so many times ("periodic"), "logarithmic" as by ConUCB, or by "value"."""

    kind: str
    setting: float = 0.0

    def asks(self, policy: FisherPQUCB, user: int, before: int) -> bool:
        """Tell whether to ask a user who was served so many times before."""
        if self.kind == "periodic":
            return before % int(self.setting) == 0
        if self.kind == "logarithmic":
            now, then = (int(self.setting * np.log(max(count, 1))) for count in (before + 1, before))
            return before == 0 or now > then
        return self.kind == "value" and policy.ask(user, price=self.setting) is not None


RULES = (
    Rule("never"),
    *(Rule("periodic", period) for period in PERIODS),
    *(Rule("logarithmic", frequency) for frequency in FREQUENCIES),
    *(Rule("value", price) for price in PRICES),
)


class _Game(NamedTuple):
    rule: Rule
    run: int
    users: int
    rounds: int


def play_rule(game: _Game) -> Floats:
    """Play one run by a rule; return regret and questions per user (2,)."""
    tape = Synthetic(n_users=game.users).tape(seed=(0, game.run), horizon=game.rounds)
    policy = FisherPQUCB(n_objectives=tape.means.shape[1])
    policy.add_arms(range(len(tape.means)))
    policy.add_users(range(game.users))
    served, asked, regret = np.zeros(game.users, dtype=int), 0, 0.0
    for chunk in tape.chunks():
        for t, user in enumerate(chunk.users.tolist()):
            if game.rule.asks(policy, user, int(served[user])):
                policy.hear(user, chunk.orders[t, : chunk.lengths[t]])
                asked += 1
            served[user] += 1
            regret += serve(policy, tape, chunk, t)
    return np.array([regret, asked]) / game.users


def play_rules(
    folder: str | Path | None = None,
    *,
    rules: Sequence[Rule] = RULES,
    runs: int = RUNS,
    users: int = USERS,
    rounds: int = ROUNDS,
    workers: int | None = None,
    watch: Watch = unwatched,
) -> dict[str, Any]:
    """Play all rules on the same runs, or go on with it; write and return regret and questions of each.

    Each that is not periodic is set against the periodic schedule with as many questions, on the straight line between
    the two nearest ones.
    """
    games = [_Game(rule, run, users, rounds) for rule in rules for run in range(runs)]
    parts = [Part(game, part_path(folder, __file__, game), game.rule.kind) for game in games]
    played = carry_out("playing", play_rule, parts, workers=workers, watch=watch)
    figures = np.array(played).reshape(len(rules), runs, 2)
    results = {"users": users, "rounds": rounds, "runs": runs, "rules": compare_rules(rules, figures)}
    write_results(results, folder, "when.json")
    return results


def compare_rules(rules: Sequence[Rule], figures: Floats) -> list[dict[str, Any]]:
    """Return for each rule regret and questions per user, and its regret over that of a periodic schedule."""
    regular = [number for number, rule in enumerate(rules) if rule.kind in ("never", "periodic")]
    schedule = sorted(regular, key=lambda number: float(figures[number, :, 1].mean()))
    content = []
    for number, rule in enumerate(rules):
        regret, questions = figures[number].mean(axis=0)
        entry = {"rule": rule.kind, "setting": rule.setting, "regret": float(regret), "questions": float(questions)}
        if rule.kind in ("logarithmic", "value"):
            regrets, asked = figures.T  # (runs, rules) each
            ratios = [
                lost[number] / np.interp(told[number], told[schedule], lost[schedule])
                for lost, told in zip(regrets, asked, strict=True)
            ]
            entry |= {"of_periodic": float(np.mean(ratios)), "worst": float(np.max(ratios))}
        content.append(entry)
    return content
