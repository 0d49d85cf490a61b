"""Slow, obvious twins of the kernels: what they must compute, written straight from the formulas.

Nothing here is shared with the package. Where a kernel keeps running sums, its twin starts from the whole history:
every ranking, reward, utility and answer, in the order they came.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np

NEVER_SEEN = 1e9


def choices(rankings: Iterable[Sequence[int]], n_objectives: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each place of each ranking as one choice: the winner, and who was still unranked (n_choices, D)."""
    winners, unranked = [], []
    for ranking in rankings:
        left = np.ones(n_objectives, dtype=bool)
        for objective in ranking:
            winners.append(int(objective))
            unranked.append(left.copy())
            left[objective] = False
    return np.array(winners, dtype=int), np.array(unranked, dtype=bool).reshape(len(winners), n_objectives)


def choice_shares(unranked: np.ndarray, preference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each choice, every objective's chance to win it, and the logarithm of the sum of odds."""
    if not len(unranked):
        return np.zeros(unranked.shape), np.zeros(0)
    weights = np.where(unranked, preference, -np.inf)
    top = weights.max(axis=1)
    odds = np.exp(weights - top[:, None])
    return odds / odds.sum(axis=1, keepdims=True), top + np.log(odds.sum(axis=1))


def loss(rankings: Iterable[Sequence[int]], preference: np.ndarray) -> float:
    """Minus the log-probability of rankings (Eq. 2)."""
    winners, unranked = choices(rankings, len(preference))
    return float(np.sum(choice_shares(unranked, preference)[1] - preference[winners]))


def slope(rankings: Iterable[Sequence[int]], preference: np.ndarray) -> np.ndarray:
    """Gradient of the loss: over all places, the chances less the winner."""
    winners, unranked = choices(rankings, len(preference))
    shares, _ = choice_shares(unranked, preference)
    return shares.sum(axis=0) - np.bincount(winners, minlength=len(preference))


def curvature(rankings: Iterable[Sequence[int]], preference: np.ndarray) -> np.ndarray:
    """Hessian of the loss: over all places, diag(p) - pp' with the chances p."""
    shares, _ = choice_shares(choices(rankings, len(preference))[1], preference)
    return np.diag(shares.sum(axis=0)) - shares.T @ shares


def probabilities(preference: np.ndarray, length: int) -> dict[tuple[int, ...], float]:
    """Probability of every ranking of this length, as a product of chances."""
    table = {}
    for ranking in itertools.permutations(range(len(preference)), length):
        chance = 1.0
        left = set(range(len(preference)))
        for objective in ranking:
            chance *= math.exp(preference[objective]) / sum(math.exp(preference[k]) for k in left)
            left.remove(objective)
        table[ranking] = chance
    return table


def remaining_sums(order: Sequence[int], length: int, odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of 1/S_j and 1/S_j^2 over the ranked places j up to that of each objective, S_j the odds left there."""
    first, second = np.zeros(len(odds)), np.zeros(len(odds))
    for place, objective in enumerate(order):
        for earlier in range(min(place + 1, length)):
            left = sum(odds[k] for k in order[earlier:])
            first[objective] += 1.0 / left
            second[objective] += 1.0 / left**2
    return first, second


def upper_factor(matrix: np.ndarray) -> np.ndarray:
    """Upper R with R'R = M; np.linalg.LinAlgError where M is not positive definite."""
    return np.linalg.cholesky(matrix).T


def norms(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Norm of each column in the inverse of M."""
    return np.sqrt(np.sum(columns * np.linalg.solve(matrix, columns), axis=0))


def project(point: np.ndarray, bound: float) -> np.ndarray:
    """The nearest centered vector with no entry beyond the bound: a shift, then a clip, for the one shift that fits."""
    corners = np.sort(np.concatenate([-bound - point, bound - point]))
    sums = np.array([np.clip(point + shift, -bound, bound).sum() for shift in corners])
    return np.clip(point + np.interp(0.0, sums, corners), -bound, bound)


def fit_likelihood(
    rankings: Sequence[Sequence[int]], n_objectives: int, *, bound: float, ridge: float = 0.0
) -> np.ndarray:
    """The centered minimizer of loss + ridge |c|^2/2 within the bound (Eq. 4), by a log barrier."""
    winners, unranked = choices(rankings, n_objectives)
    counts = np.bincount(winners, minlength=n_objectives)
    # Orthonormal coordinates of the centered vectors.
    basis = np.linalg.svd(np.eye(n_objectives) - 1.0 / n_objectives)[0][:, : n_objectives - 1]

    def value(c: np.ndarray, barrier: float) -> float:
        total = np.sum(choice_shares(unranked, c)[1]) - counts @ c + 0.5 * ridge * c @ c
        return float(total - barrier * np.sum(np.log(bound - c) + np.log(bound + c)))

    free = np.zeros(n_objectives - 1)
    for barrier in 10.0 ** -np.arange(12.0):
        for _ in range(50):
            c = basis @ free
            shares, _ = choice_shares(unranked, c)
            gradient = shares.sum(axis=0) - counts + ridge * c
            gradient = basis.T @ (gradient + barrier * (1.0 / (bound - c) - 1.0 / (bound + c)))
            hessian = np.diag(shares.sum(axis=0)) - shares.T @ shares + ridge * np.eye(n_objectives)
            hessian = hessian + barrier * np.diag(1.0 / (bound - c) ** 2 + 1.0 / (bound + c) ** 2)
            step = np.linalg.solve(basis.T @ hessian @ basis, gradient)
            scale, before = 1.0, value(c, barrier)
            while scale > 1e-10 and not (
                np.abs(basis @ (free - scale * step)).max(initial=0.0) < bound
                and value(basis @ (free - scale * step), barrier) <= before + 1e-13 * (1.0 + abs(before))
            ):
                scale *= 0.5
            if scale <= 1e-10:
                break
            free = free - scale * step
            if np.abs(step).max(initial=0.0) < 1e-13:
                break
    return basis @ free


def standard_errors(x: np.ndarray, y: np.ndarray, rankings: Sequence[Sequence[int]], ridge: float = 0.0) -> float:
    """How far x is from y, the fit of these rankings, where 1 is as far as chance has y from the truth."""
    hessian = curvature(rankings, y) + ridge * np.eye(len(y))
    return float(np.sqrt((x - y) @ hessian @ (x - y) / max(len(y) - 1, 1)))


def hybrid_matrix(rewards: np.ndarray, feedback_weight: float, ridge: float) -> np.ndarray:
    """The matrix V of Eq. 5."""
    size = rewards.shape[1]
    centering = np.eye(size) - np.ones((size, size)) / size
    return feedback_weight * rewards.T @ rewards + (1.0 - feedback_weight) * (centering + ridge * np.eye(size))


def hybrid_estimate(
    rewards: np.ndarray, utilities: np.ndarray, anchor: np.ndarray, feedback_weight: float, ridge: float
) -> np.ndarray:
    """The minimizer of Eq. 5 from the normal equations."""
    size = rewards.shape[1]
    centering = np.eye(size) - np.ones((size, size)) / size
    pull = (1.0 - feedback_weight) * (centering + ridge * np.eye(size)) @ anchor
    gram = hybrid_matrix(rewards, feedback_weight, ridge)
    return np.linalg.solve(gram, feedback_weight * rewards.T @ utilities + pull)


def compact_radius(
    rounds: float, lengths: Sequence[int], n_objectives: int, feedback_weight: float, corruption: float
) -> float:
    """Radius beta of Lemma 3, or of Lemma 5 under corruption, without its unnamed constant.

    Logarithms below zero count as zero, and a user without queries as one with a single query of length one.
    """
    growth = math.log(feedback_weight * n_objectives * rounds)
    noise = feedback_weight * math.sqrt(n_objectives**3 * max(growth, 0.0))
    left = 1.0 - feedback_weight
    if corruption > 0.0:
        shortest = min(lengths) if lengths else 1
        told = left / shortest * (corruption + n_objectives * math.log(rounds) / rounds)
    else:
        told = left * math.log(rounds) / (sum(lengths) if lengths else 1)
    return noise + n_objectives * math.sqrt(told)


class History:
    """All that ever happened, in order, and which arms are known, by first sight."""

    def __init__(self, n_objectives: int) -> None:
        self.n_objectives = n_objectives
        self.arms: list[Hashable] = []
        self.queries: list[tuple[Hashable, tuple[int, ...]]] = []
        self.feedback: list[tuple[Hashable, Hashable, np.ndarray | None, float | None]] = []
        self.answers: list[tuple[Hashable, np.ndarray, float]] = []

    def offered(self, arms: Iterable[Hashable]) -> None:
        self.arms += [arm for arm in arms if arm not in self.arms]

    def rewards(self, arm: Hashable, before: int | None = None) -> np.ndarray:
        """All rewards of an arm (n, D), NaN where an objective is missing; only the first feedbacks on request."""
        told = [reward for _, a, reward, _ in self.feedback[:before] if a == arm and reward is not None]
        return np.array(told, dtype=float).reshape(-1, self.n_objectives)

    def pulls(self, arm: Hashable, before: int | None = None) -> np.ndarray:
        return np.sum(~np.isnan(self.rewards(arm, before)), axis=0)

    def mean(self, arm: Hashable, before: int | None = None) -> np.ndarray:
        """Mean reward of an arm in each objective; zero where it was never seen."""
        rewards = self.rewards(arm, before)
        return np.nan_to_num(rewards).sum(axis=0) / np.maximum(self.pulls(arm, before), 1)

    @property
    def rounds(self) -> int:
        """How many rewards were seen, whole or not."""
        return sum(reward is not None for _, _, reward, _ in self.feedback)

    def rankings(self, user: Hashable) -> list[tuple[int, ...]]:
        return [ranking for who, ranking in self.queries if who == user and ranking]

    def known_means(self, before: int) -> np.ndarray:
        """Mean reward of each arm (n, D) after some feedbacks, NaN where nothing was seen."""
        rows = [np.where(self.pulls(arm, before) > 0, self.mean(arm, before), np.nan) for arm in self.arms]
        return np.array(rows).reshape(-1, self.n_objectives)

    def felt(self, user: Hashable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rewards (n, D) and utilities (n,) of a user, and the variance that unknown parts add, in units of |r|^2.

        A missing part of a reward is the arm's mean at the time; where that is unknown too, the mean over the arms that
        have one (over all arms and objectives where none has), with the variance over them and a deviation as large as
        that mean. A reward of zero after that, where something is unknown, tells nothing.
        """
        rewards, utilities, spoilt = [], [], []
        for t, (who, arm, reward, utility) in enumerate(self.feedback):
            if who != user or utility is None:
                continue
            filled = np.full(self.n_objectives, np.nan) if reward is None else np.array(reward, dtype=float)
            missing = np.isnan(filled)
            unknown = missing & (self.pulls(arm, before=t) == 0)
            filled[missing] = self.mean(arm, before=t)[missing]
            extra, table = 0.0, self.known_means(before=t + 1)
            for k in np.flatnonzero(unknown):
                known = table[~np.isnan(table[:, k]), k]
                known = known if len(known) else table[~np.isnan(table)]
                filled[k] = known.mean() if len(known) else 0.0
                extra += np.sum((known - filled[k]) ** 2) / max(len(known), 1) + filled[k] ** 2 / max(len(known), 1)
            if unknown.any() and not filled.any():
                continue
            rewards.append(filled)
            utilities.append(utility)
            spoilt.append(11.0 * extra)
        rows = np.array(rewards).reshape(-1, self.n_objectives)
        return rows, np.array(utilities, dtype=float), np.array(spoilt, dtype=float)

    def utilities(self, user: Hashable) -> tuple[np.ndarray, np.ndarray]:
        """Rewards and utilities from which the preference is learned, both smaller where part of it was unknown."""
        rewards, utilities, spoilt = self.felt(user)
        squares = np.sum(rewards**2, axis=1)
        share = np.where(spoilt > 0.0, np.sqrt(squares / np.where(spoilt > 0.0, squares + spoilt, 1.0)), 1.0)
        return share[:, None] * rewards, share * utilities

    def weighed(self, user: Hashable, normalization: float) -> tuple[np.ndarray, np.ndarray]:
        """The same, each counted normalization / |reward|^2 times, as a scale on both; a zero reward tells nothing."""
        rewards, utilities, spoilt = self.felt(user)
        told = np.any(rewards != 0.0, axis=1)
        scale = np.sqrt(normalization / (np.sum(rewards[told] ** 2, axis=1) + spoilt[told]))
        return scale[:, None] * rewards[told], scale * utilities[told]


def observe(
    pulls: np.ndarray, means: np.ndarray, reward: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool, bool]:
    """Pulls and means of one arm after a reward, the reward with its gaps filled, whether that worked, whether it told.

    The means here are sums over counts.
    """
    sums = pulls * means
    told = ~np.isnan(reward)
    new_pulls = pulls + told
    new_means = np.where(told, (sums + np.where(told, reward, 0.0)) / np.maximum(new_pulls, 1), means)
    filled = np.where(told, reward, means)
    return new_pulls, new_means, filled, bool(np.all(told | (pulls > 0))), bool(told.any())


def pareto_front(points: np.ndarray) -> list[int]:
    """The rows that no row dominates (at least as good everywhere and better somewhere), by looking at all pairs."""
    return [
        j
        for j in range(len(points))
        if not any(np.all(other >= points[j]) and np.any(other > points[j]) for other in points)
    ]


def _reasons(
    history: History, offer: Sequence[Hashable], reason: Callable[[np.ndarray, np.ndarray], tuple[float, float, float]]
) -> np.ndarray:
    """Utility and both bonuses of each offered arm from its pulls and means, and their sum (4, n)."""
    table = np.array([reason(history.pulls(arm), history.mean(arm)) for arm in offer]).T
    return np.vstack([table, table.sum(axis=0)])


def s_ucb(history: History, offer: Sequence[Hashable], *, width: float) -> np.ndarray:
    """The sum over objectives of mean + width sqrt(2 ln(t + 2)/N)."""

    def reason(pulls: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        bonus = width * np.sum(np.sqrt(2.0 * math.log(history.rounds + 2) / np.maximum(pulls, 1)))
        return mean.sum(), bonus if pulls.any() else NEVER_SEEN, 0.0

    return _reasons(history, offer, reason)


def s_moss(history: History, offer: Sequence[Hashable], *, width: float, horizon: int) -> np.ndarray:
    """The sum over objectives of mean + width sqrt(4 max(0, ln(T/(K N)))/N)."""

    def reason(pulls: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        shares = [math.log(horizon / (len(history.arms) * max(n, 1))) for n in pulls]
        bonus = width * sum(math.sqrt(4.0 * max(0.0, a) / max(n, 1)) for a, n in zip(shares, pulls, strict=True))
        return mean.sum(), bonus if pulls.any() else NEVER_SEEN, 0.0

    return _reasons(history, offer, reason)


def pareto_points(
    history: History, offer: Sequence[Hashable], *, width: float, drawn: np.ndarray | None = None
) -> np.ndarray:
    """What Pareto-UCB compares, or what Pareto-TS does with its standard normal draws (n, D)."""
    points = []
    for j, arm in enumerate(offer):
        pulls = history.pulls(arm)
        raised = np.full(history.n_objectives, math.sqrt(2.0 * math.log(history.rounds + 2)))
        raised = width * (raised if drawn is None else drawn[j]) / np.sqrt(np.maximum(pulls, 1))
        points.append(history.mean(arm) + (raised if pulls.any() else NEVER_SEEN))
    return np.array(points)


def mo_oful(history: History, user: Hashable, offer: Sequence[Hashable], *, ridge: float, radius: float) -> np.ndarray:
    """Ridge regression on observed rewards, and radius sqrt(D ln(1 + D n/ridge)) |mean| in the inverse of V."""
    size = history.n_objectives
    rewards, utilities = history.utilities(user)
    gram = ridge * np.eye(size) + rewards.T @ rewards
    c = np.linalg.solve(gram, rewards.T @ utilities)
    beta = radius * math.sqrt(size * math.log(1.0 + size * len(utilities) / ridge))
    return _reasons(
        history, offer, lambda _, mean: (c @ mean, 0.0, beta * math.sqrt(mean @ np.linalg.solve(gram, mean)))
    )


def key_features(pulls: np.ndarray, means: np.ndarray, objective: int) -> np.ndarray | None:
    """Mean of the means of the three arms that look best in an objective, earlier ones first among equals; or None."""
    seen = [arm for arm in range(len(means)) if pulls[arm, objective] > 0]
    best = sorted(seen, key=lambda arm: -means[arm, objective])[:3]
    return np.mean([means[arm] for arm in best], axis=0) if best else None


def _answered(history: History, user: Hashable, ridge: float) -> tuple[np.ndarray, np.ndarray, int]:
    """The matrix of the regression on answers, its estimate and how many there are."""
    told = [(features, value) for who, features, value in history.answers if who == user]
    gram = ridge * np.eye(history.n_objectives) + sum(np.outer(x, x) for x, _ in told)
    return gram, np.linalg.solve(gram, sum((value * x for x, value in told), np.zeros(history.n_objectives))), len(told)


def conucb(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    *,
    feedback_weight: float,
    ridge: float,
    radius: float,
    risk: float,
) -> np.ndarray:
    """Zhang et al. (2020): utilities pulled toward answers, and a bonus for not knowing either."""
    size, left = history.n_objectives, 1.0 - feedback_weight
    rewards, utilities = history.utilities(user)
    key_gram, key_c, n_answers = _answered(history, user, ridge)
    gram = left * np.eye(size) + feedback_weight * rewards.T @ rewards
    c = np.linalg.solve(gram, feedback_weight * rewards.T @ utilities + left * key_c)
    beta = feedback_weight * radius * math.sqrt(size * math.log(1.0 + size * len(utilities) / left))
    key_beta = left * radius * math.sqrt(2.0 * (size * math.log(6.0) + math.log(2.0 * (n_answers + 1) / risk)))

    def reason(_: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        inside = np.linalg.solve(gram, mean)
        bonus = beta * math.sqrt(mean @ inside) + key_beta * math.sqrt(inside @ np.linalg.solve(key_gram, inside))
        return c @ mean, 0.0, bonus

    return _reasons(history, offer, reason)


def conucb_questions(
    history: History, user: Hashable, *, feedback_weight: float, ridge: float, frequency: float
) -> dict[int, float]:
    """What each question x is worth, |X M^-1 M~^-1 x|^2/(1 + x'M~^-1 x), by objective; nothing while none is due."""
    size = history.n_objectives
    rewards, utilities = history.utilities(user)
    key_gram, _, n_answers = _answered(history, user, ridge)
    if not len(utilities) or n_answers >= frequency * math.floor(math.log(len(utilities))):
        return {}
    gram = (1.0 - feedback_weight) * np.eye(size) + feedback_weight * rewards.T @ rewards
    means = np.array([history.mean(arm) for arm in history.arms])
    pulls = np.array([history.pulls(arm) for arm in history.arms])
    worth = {}
    for objective in range(size):
        x = key_features(pulls, means, objective)
        if x is not None:
            inside = np.linalg.solve(key_gram, x)
            worth[objective] = np.sum((means @ np.linalg.solve(gram, inside)) ** 2) / (1.0 + x @ inside)
    return worth


def _dual(
    history: History,
    offer: Sequence[Hashable],
    c: np.ndarray,
    gram: np.ndarray,
    beta: float,
    *,
    risk: float,
    reward_scale: float,
    unseen_first: bool = False,
) -> np.ndarray:
    """Eq. 8: <c, mean> + gamma |c|_1 + beta |mean + gamma 1|, gamma = sqrt(ln(t/risk)/max(1, N)) per objective.

    On request an arm never seen has the largest of all reward bonuses.
    """

    def reason(pulls: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        gamma = reward_scale * np.sqrt(math.log((1 + history.rounds) / risk) / np.maximum(pulls, 1))
        raised = mean + gamma
        bonus = NEVER_SEEN if unseen_first and not pulls.any() else gamma @ np.abs(c)
        return c @ mean, bonus, beta * math.sqrt(raised @ np.linalg.solve(gram, raised))

    return _reasons(history, offer, reason)


def default_weight(corruption: float, horizon: int) -> float:
    """The weight alpha and the ridge lambda of Corollary 1 and its like under corruption."""
    return corruption + 1.0 / math.log(horizon)


def mo_pqucb(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    anchor: np.ndarray,
    *,
    feedback_weight: float,
    ridge: float,
    corruption: float,
    risk: float,
    reward_scale: float,
    radius_scale: float,
    unseen_first: bool = False,
) -> np.ndarray:
    """Eq. 8 with the estimate of Eq. 5 and the radius of Lemma 3 (Lemma 5 under corruption); t counts from one."""
    rewards, utilities = history.utilities(user)
    c = hybrid_estimate(rewards, utilities, anchor, feedback_weight, ridge)
    gram = hybrid_matrix(rewards, feedback_weight, ridge)
    lengths = [len(ranking) for ranking in history.rankings(user)]
    beta = compact_radius(1 + len(utilities), lengths, history.n_objectives, feedback_weight, corruption)
    scales = {"risk": risk, "reward_scale": reward_scale, "unseen_first": unseen_first}
    return _dual(history, offer, c, gram, radius_scale * beta, **scales)


def greedy(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    anchor: np.ndarray,
    *,
    feedback_weight: float,
    ridge: float,
) -> np.ndarray:
    """The same estimate without optimism; arms never seen first."""
    c = hybrid_estimate(*history.utilities(user), anchor, feedback_weight, ridge)
    return _reasons(history, offer, lambda pulls, mean: (c @ mean, 0.0 if pulls.any() else NEVER_SEEN, 0.0))


def prucb(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    *,
    ridge: float,
    normalization: float,
    bound: float,
    risk: float,
    reward_scale: float,
    radius_scale: float,
) -> np.ndarray:
    """Eq. 8 on utilities alone, with sqrt(lambda D) B + s sqrt(omega (D ln(1 + omega n/(D lambda)) - 2 ln rho))."""
    size = history.n_objectives
    rewards, utilities = history.weighed(user, normalization)
    gram = ridge * np.eye(size) + rewards.T @ rewards
    c = np.linalg.solve(gram, rewards.T @ utilities)
    growth = size * math.log(1.0 + normalization * len(utilities) / (size * ridge))
    beta = math.sqrt(ridge * size) * bound
    beta += radius_scale * math.sqrt(normalization * (growth - 2.0 * math.log(risk)))
    return _dual(history, offer, c, gram, beta, risk=risk, reward_scale=reward_scale)


def step_anchor(rankings: Sequence[Sequence[int]], n_objectives: int) -> np.ndarray:
    """One gradient step per ranking: clipped to norm one, momentum 0.9, size 0.1/(1 + 0.02 k), centered."""
    anchor, velocity = np.zeros(n_objectives), np.zeros(n_objectives)
    for k, ranking in enumerate(rankings):
        gradient = slope([ranking], anchor)
        gradient /= max(np.linalg.norm(gradient), 1.0)
        velocity = 0.9 * velocity + 0.1 * gradient
        anchor = anchor - 0.1 / (1.0 + 0.02 * k) * velocity
        anchor -= anchor.mean()
    return anchor


def window_anchor(rankings: Sequence[Sequence[int]], n_objectives: int) -> np.ndarray:
    """Five gradient steps of size 0.5 per ranking, on the mean loss of the last 50."""
    anchor = np.zeros(n_objectives)
    for k in range(len(rankings)):
        latest = rankings[: k + 1][-50:]
        for _ in range(5):
            anchor = anchor - 0.5 * slope(latest, anchor) / len(latest)
            anchor -= anchor.mean()
    return anchor


def anchored_recipe(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    anchor: np.ndarray,
    *,
    feedback_weight: float,
    ridge: float,
    radius: float,
    width: float,
    normalization: float,
) -> np.ndarray:
    """The recipe behind the figures of MO-PQUCB (and of MO-PQUCB-GL, with its own anchor and feedback weight)."""
    size, left = history.n_objectives, 1.0 - feedback_weight
    rewards, utilities = history.weighed(user, normalization)
    centering = np.eye(size) - np.ones((size, size)) / size
    gram = left * centering + ridge * np.eye(size) + feedback_weight * rewards.T @ rewards
    c = np.linalg.solve(gram, feedback_weight * rewards.T @ utilities + left * centering @ anchor)
    lengths = [len(ranking) for ranking in history.rankings(user)]
    n = max(len(lengths), 1)
    beta = feedback_weight * math.sqrt(size * math.log(1.0 + size * (n - 1) / ridge))
    beta += math.sqrt(left * size * math.log(n) / max(sum(lengths), 1)) + math.sqrt(left * ridge / size)

    def reason(pulls: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        raised = width * np.sqrt(2.0 * math.log(1 + history.rounds) / np.maximum(pulls, 1))
        if not pulls.any():
            raised = np.full(size, 100.0)
        o = mean + raised
        return c @ mean, c @ raised, radius * beta * math.sqrt(o @ np.linalg.solve(gram, o))

    return _reasons(history, offer, reason)


def prucb_recipe(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    *,
    ridge: float,
    radius: float,
    width: float,
    normalization: float,
) -> np.ndarray:
    """The recipe behind the figures of PRUCB: no anchor, and a thousandth of a pull for every arm."""
    size = history.n_objectives
    rewards, utilities = history.weighed(user, normalization)
    gram = ridge * np.eye(size) + rewards.T @ rewards
    c = np.linalg.solve(gram, rewards.T @ utilities)
    beta = radius * math.sqrt(size * math.log(1.0 + size * len(utilities) / ridge))

    def reason(pulls: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        raised = width * np.sqrt(2.0 * math.log(1 + history.rounds) / (pulls + 0.001))
        o = mean + raised
        return c @ mean, c @ raised, beta * math.sqrt(o @ np.linalg.solve(gram, o))

    return _reasons(history, offer, reason)


def utility_variance(x: np.ndarray, y: np.ndarray, anchor: np.ndarray) -> float:
    """Fisher-PQUCB's variance of utilities per |reward|^2, by least squares on all rows x = r/|r|, y = g/|r|.

    Around the regression on x (n - D free), with what is left around the plane of constant and anchor (n - 2 free and
    0.1 mean y^2 for one more) counted four times.
    """
    n, size = x.shape
    if not np.any(y):
        return 1.0
    mean_square = np.mean(y**2)
    coarse, level, along = y, x.sum(axis=1), x @ anchor
    if level @ level > 1e-9 * n:
        coarse = y - level * (level @ y) / (level @ level)
        along = along - level * (level @ along) / (level @ level)
        if along @ along > 1e-9 * n:
            coarse = coarse - along * (along @ coarse) / (along @ along)
    coarse_variance = (0.1 * mean_square + coarse @ coarse) / (1 + max(n - 2, 0))
    fit = np.linalg.solve(x.T @ x + 1e-6 * np.eye(size), x.T @ y)
    residual = np.sum((y - x @ fit) ** 2) + 1e-6 * fit @ fit
    return max((4 * coarse_variance + residual) / (4 + max(n - size, 0)), 1e-6 * mean_square)


def reward_variances(history: History) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Variance of rewards within arms (a prior of one deviation, the variance over all), over all, and the mean."""
    within, overall, means = [], [], []
    for k in range(history.n_objectives):
        by_arm = [rewards[~np.isnan(rewards)] for rewards in (history.rewards(arm)[:, k] for arm in history.arms)]
        everything = np.concatenate([*by_arm, []])
        overall.append(np.var(everything, ddof=1) if len(everything) > 1 else 0.0)
        means.append(np.mean(everything) if len(everything) else 0.0)
        squares = sum(np.sum((one - one.mean()) ** 2) for one in by_arm if len(one))
        within.append((overall[-1] + squares) / (1 + sum(len(one) - 1 for one in by_arm if len(one))))
    return np.array(within), np.array(overall), np.array(means)


def correlated_noise(history: History, c: np.ndarray) -> float:
    """By which factor the noise of <c, reward> is another than sum c^2 s_r^2, from deviations from the mean so far.

    Covariances are products of deviations over 1 + how many there are, less by what chance leaves of correlations: the
    mean and two standard deviations of the sum of squares that independent objectives would have.
    """
    size = history.n_objectives
    rows = [np.zeros(size)]
    for arm in history.arms:
        rewards = history.rewards(arm)
        for n, reward in enumerate(rewards):
            before = [rewards[:n, k][~np.isnan(rewards[:n, k])] for k in range(size)]
            told = [len(before[k]) > 0 and not math.isnan(reward[k]) for k in range(size)]
            seen = [math.sqrt(len(one) / (len(one) + 1)) for one in before]
            rows.append([seen[k] * (reward[k] - before[k].mean()) if told[k] else math.nan for k in range(size)])
    off = np.array(rows)
    free = np.maximum((~np.isnan(off)).sum(axis=0) - 1, 0)
    products = np.nan_to_num(off).T @ np.nan_to_num(off)
    lengths = np.sqrt(np.where(np.diag(products) > 0, np.diag(products), np.inf))
    squares, chance, pairs = 0.0, 0.0, size * (size - 1) / 2
    for k, j in itertools.combinations(range(size), 2):
        square = (products[k, j] / lengths[k] / lengths[j]) ** 2
        squares, chance = squares + square, chance + (1 - square) ** 2 / max(min(free[k], free[j]), 1)
    chance *= 1 + 2 * math.sqrt(2 / max(pairs, 1))
    plain = c**2 @ reward_variances(history)[0]
    if squares <= chance or plain == 0.0:
        return 1.0
    covariance = (1 - chance / squares) * products / np.sqrt(np.outer(1 + free, 1 + free))
    np.fill_diagonal(covariance, 0.0)
    return 1.0 + float(c @ covariance @ c) / plain


def fisher_belief(
    x: np.ndarray, y: np.ndarray, anchor: np.ndarray, information: np.ndarray, *, unit: float, ridge: float, pull: float
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate M^-1 (x'y/s^2 + (H + pull) anchor/unit) and M = x'x/s^2 + (H + ridge (I - 11'/D))/unit^2."""
    size = len(anchor)
    variance = utility_variance(x, y, anchor) if len(y) else 1.0
    matrix = x.T @ x / variance + information / unit**2
    floor = 1e-6 + 1e-11 * np.trace(matrix)
    matrix = matrix + ridge / unit**2 * (np.eye(size) - 1.0 / size) + floor * np.eye(size)
    return np.linalg.solve(matrix, x.T @ y / variance + (information @ anchor + pull * anchor) / unit), matrix


def log_evidence(
    x: np.ndarray, y: np.ndarray, anchor: np.ndarray, information: np.ndarray, *, unit: float, ridge: float
) -> float:
    """Log-density of utilities whose preference is normal around unit anchor, the anchor fitted with the same ridge.

    The level of the preference, which rankings do not tell, has variance 1e6.
    """
    size, variance = len(anchor), utility_variance(x, y, anchor)
    precision = (information + ridge * (np.eye(size) - 1.0 / size)) / unit**2 + 1e-6 * np.eye(size)
    covariance = x @ np.linalg.solve(precision, x.T) + variance * np.eye(len(y))
    off = y - unit * (x @ anchor)
    return float(-0.5 * off @ np.linalg.solve(covariance, off) - 0.5 * np.linalg.slogdet(covariance)[1])


def fisher_growth(lack: np.ndarray) -> np.ndarray:
    """How many times a variance counts of what is known e^lack times less well than the average."""
    return np.maximum(np.maximum(0.25 * lack, 2.0 * (lack - 5.0)), 1.0)


def fisher_pqucb(
    history: History,
    user: Hashable,
    offer: Sequence[Hashable],
    anchor: np.ndarray,
    information: np.ndarray,
    *,
    unit: float,
    ridge: float,
    pull: float,
    width: float,
) -> np.ndarray:
    """<c, mean> + width sqrt(g f sum c^2 s_r^2/N + g' mean'M^-1 mean), as in all arms where N = 0.

    g = max(1, l/4, 2 (l - 5)) with l = ln(t/(KN)), g' with l = ln(n mean'M^-1 mean/(D s_p^2 |mean|^2)). The bonus is
    divided in proportion to the two variances; without a utility the level of the mean does not count.
    """
    x, y = history.weighed(user, 1.0)
    c, matrix = fisher_belief(x, y, anchor, information, unit=unit, ridge=ridge, pull=pull)
    within, overall, means = reward_variances(history)
    within = correlated_noise(history, c) * within

    def reason(pulls: np.ndarray, mean: np.ndarray) -> tuple[float, float, float]:
        guess = np.where(pulls > 0, mean, means)
        seen = np.maximum(pulls, 1)
        lack = np.log(max(history.rounds, 1) / (len(history.arms) * seen))
        spread = np.where(pulls > 0, fisher_growth(lack) * within / seen, overall)
        told = guess if len(y) else guess - guess.mean()
        of_reward, of_preference = c**2 @ spread, told @ np.linalg.solve(matrix, told)
        if len(y) and of_preference > 0:
            fair = len(c) * utility_variance(x, y, anchor) * (guess @ guess)
            of_preference *= fisher_growth(np.log(len(y) * of_preference / fair))
        share = width / math.sqrt(of_reward + of_preference) if of_reward + of_preference > 0 else 0.0
        return c @ guess, share * of_reward if pulls.any() else NEVER_SEEN, share * of_preference

    return _reasons(history, offer, reason)


def uniform_loss(length: int, n_objectives: int) -> float:
    """The logarithm of the number of rankings of this length."""
    return math.log(math.perm(n_objectives, length))


def honesty(loss_of_ranking: float, uniform: float, corruption: float) -> float:
    """Bayes: the chance that a ranking is from the preference, when a share is from nowhere."""
    own = (1.0 - corruption) * math.exp(-loss_of_ranking)
    return own / (own + corruption * math.exp(-uniform))


def mixture_log_likelihood(
    losses: np.ndarray, uniforms: np.ndarray, corruption: float, *, clean: float = 0.0, corrupted: float = 0.0
) -> float:
    """The log-probability of rankings that are Plackett-Luce or, with some chance, uniform, and of counts of both."""
    total = np.sum(np.log((1.0 - corruption) * np.exp(-losses) + corruption * np.exp(-uniforms)))
    total += clean * math.log(1.0 - corruption) if clean else 0.0
    total += (corrupted * math.log(corruption) if corruption else -math.inf) if corrupted else 0.0
    return float(total)


def best_corruption(value: Callable[[float], float], highest: float) -> float:
    """Where a concave function of the corruption is largest, by a closer and closer look around the best of eleven."""
    low, high = 0.0, highest
    for _ in range(30):
        tried = np.linspace(low, high, 11)
        best = int(np.argmax([value(float(corruption)) for corruption in tried]))
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, 10)]
    return float(0.5 * (low + high))


def doubt(
    rankings: Sequence[Sequence[int]], trust: np.ndarray, preference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Louis: the sums over rankings of r (1 - r) gg' and of r (1 - r) g, with the gradient g of each one's loss."""
    slopes = [slope([ranking], preference) for ranking in rankings]
    weights = trust * (1.0 - trust)
    matrix = sum(weight * np.outer(g, g) for weight, g in zip(weights, slopes, strict=True))
    return matrix, sum(weight * g for weight, g in zip(weights, slopes, strict=True))
