"""The least regret that any consistent policy can have on an instance: a Graves-Lai bound with what rankings tell."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from druthers.errors import InvalidSetting, needs, require
from druthers.types import Floats, Integers

# Larger programs are relaxed: preferences then count as known, which makes the floor lower, never higher.
MOST_VARIABLES = 200
PRECISION = 1e-14  # of the least regret, in its own units
ATTEMPTS = 4  # to solve, each from where the last one ended or from further off
DOUBT = 1e-4  # by which a floor may lie above the least value of its program, as a share of it
SLACK = 1e-4  # by which a limit may be missed, as a share of it: the floor is then lower by about that, and still one


class Floor(NamedTuple):
    """A floor under regret."""

    regret: float  # the least at the horizon, summed over users
    pulls: Floats  # how often each user (N, K) then tries each arm; the best arm of a user in all of the user's rounds
    relaxed: bool  # whether preferences counted as known, since the program was too large


class _Program(NamedTuple):
    """min <gaps, N> such that g = d'M_u(N)^-1 d + s_u^2/n_a(N) <= limit for each user u and worse arm a, N >= 0."""

    users: Integers  # of each variable
    arms: Integers
    gaps: Floats
    limits: Floats
    differences: Floats  # (n, D) mean - mean of the best arm
    noise: Floats  # sum of c^2 s_r^2, of the variable's user
    start: Floats  # (N, D, D) what rankings and the best arm tell in all rounds
    looks: Floats  # (K, D, D) what one utility of an arm tells
    free: Floats  # (K,) rewards of each arm by those for whom it is best


def regret_floor(
    means: ArrayLike,
    preferences: ArrayLike,
    horizon: float,
    *,
    reward_variance: ArrayLike,
    preference_variance: float,
    query_information: ArrayLike | None = None,
    relaxed: bool | None = None,
) -> Floor:
    """Return the least regret of any consistent policy where all arms are always offered, to the order of ln T.

    A policy that does well everywhere must tell the truth from each alternative in which a worse arm of a user is the
    best; in expectation its log-likelihood ratio has to reach ln T (Graves and Lai 1997). For normal noise, to the
    first order of the gap, the cheapest one is at distance gap^2/(2 (d'M^-1 d + s^2/n_a)), with d the difference of
    means, M the information about the user's preference from rankings, from the best arm in all rounds and from N tries
    of the others, n_a the rewards of arm a seen from anyone, s^2 = sum c^2 s_r^2. So the floor is the value of a convex
    program: min sum N gap such that d'M^-1 d + s^2/n_a <= gap^2/(2 L) for all users and worse arms. L is ln T in the
    limit; here it is ln(1 + T gap^2/(2 s^2 K)), at most ln T: of gaps that T/K tries cannot show nothing is asked.

    The truth are mean rewards (K, D) and preferences (N, D); of the T rounds each user has T/N. The variance of rewards
    is one number or one per objective, that of preferences is of each weight; queries bring the information (N, D, D)
    about each user's preference in one of the user's rounds, none by default. If `relaxed`, by default where there are
    more than 200 variables, preferences are taken as known: that has a closed form.

    Examples
    --------
    >>> floor = regret_floor(
    ...     [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.3]], 10_000, reward_variance=0.5, preference_variance=0.0
    ... )
    >>> round(floor.regret, 1)  # 2 s^2 L/gap
    46.0
    """
    mu, weights = np.asarray(means, dtype=float), np.asarray(preferences, dtype=float)
    if mu.ndim != 2 or weights.ndim != 2 or mu.shape[1] != weights.shape[1]:
        raise InvalidSetting(
            f"means (K, D) and preferences (N, D) must agree in D, but got {mu.shape}, {weights.shape}"
        )
    require(horizon > 1.0, "a floor needs a horizon above 1", horizon)
    program, pulls = _program(mu, weights, horizon, reward_variance, preference_variance, query_information)
    if not len(program.gaps):
        return Floor(0.0, pulls, False)
    known = len(program.gaps) > MOST_VARIABLES if relaxed is None else relaxed
    solution = _known(program) if known or preference_variance == 0.0 else _solve(program)
    pulls[program.users, program.arms] = solution
    return Floor(float(program.gaps @ solution), pulls, bool(known))


def _program(
    mu: Floats,
    weights: Floats,
    horizon: float,
    reward_variance: ArrayLike,
    preference_variance: float,
    query_information: ArrayLike | None,
) -> tuple[_Program, Floats]:
    n_users, size = weights.shape
    n_arms, rounds = len(mu), horizon / len(weights)
    variances = np.broadcast_to(np.asarray(reward_variance, dtype=float), (size,))
    utilities = weights @ mu.T
    best = utilities.argmax(axis=1)
    gaps = utilities.max(axis=1)[:, None] - utilities
    users, arms = np.nonzero(gaps > 1e-12 * np.abs(utilities).max())
    squares = (mu**2).sum(axis=1) + variances.sum()
    looks = (mu[:, :, None] * mu[:, None, :] + np.diag(variances)) / np.maximum(squares, 1e-300)[:, None, None]
    looks = looks / preference_variance if preference_variance > 0.0 else np.zeros_like(looks)
    told = np.zeros((n_users, size, size)) if query_information is None else np.asarray(query_information, dtype=float)
    start = rounds * (told + looks[best]) + 1e-9 * np.eye(size)
    noise = (weights**2 @ variances)[users]
    # The same in the long run as ln T, and nothing for gaps that nobody could see in T/K tries.
    seen = horizon * gaps[users, arms] ** 2 / (2.0 * n_arms * np.maximum(noise, 1e-300))
    needed = np.minimum(np.log1p(np.minimum(seen, 1e300)), math.log(horizon))
    pulls = np.zeros((n_users, n_arms))
    pulls[np.arange(n_users), best] = rounds
    return (
        _Program(
            users=users.astype(np.int64),
            arms=arms.astype(np.int64),
            gaps=gaps[users, arms],
            limits=gaps[users, arms] ** 2 / (2.0 * needed),
            differences=mu[arms] - mu[best[users]],
            noise=noise,
            start=start,
            looks=looks,
            free=np.bincount(best, minlength=n_arms).astype(np.float64) * rounds,
        ),
        pulls,
    )


def _known(program: _Program) -> Floats:
    """Solve with preferences known: each arm is tried as often as the most exacting user needs, by the cheapest one."""
    solution = np.zeros(len(program.gaps))
    for arm in np.unique(program.arms):
        mine = np.flatnonzero(program.arms == arm)
        needed = (program.noise[mine] / program.limits[mine]).max() - program.free[arm]
        solution[mine[program.gaps[mine].argmin()]] = max(needed, 0.0)
    return solution


def _unknown(program: _Program, x: Floats) -> tuple[Floats, Floats]:
    """Return g (n,) and its Jacobian (n, n)."""
    counts = program.free + np.bincount(program.arms, weights=x, minlength=len(program.free))
    per_arm = counts[program.arms]
    value = program.noise / per_arm
    jacobian = -(program.noise / per_arm**2)[:, None] * (program.arms[:, None] == program.arms[None, :])
    for user in range(len(program.start)):
        mine = np.flatnonzero(program.users == user)
        looks = program.looks[program.arms[mine]]
        inverse = np.linalg.inv(program.start[user] + np.tensordot(x[mine], looks, axes=1))
        columns = program.differences[mine] @ inverse  # rows M^-1 d
        value[mine] += np.einsum("ij,ij->i", columns, program.differences[mine])
        jacobian[np.ix_(mine, mine)] -= np.einsum("ai,bij,aj->ab", columns, looks, columns)
    return value, jacobian


def _solve(program: _Program) -> Floats:
    """Minimize by sequential quadratic programming, in units that make costs and constraints about 1.

    What the solver says of itself does not count: a solution is taken if it satisfies the program and no other can be
    cheaper by more than `DOUBT`, as `_least` proves. Else the solver goes on from there, and from elsewhere.
    """
    optimize = needs("scipy.optimize", "lab")
    unit = np.maximum(4.0 * program.noise / program.limits, 1.0)
    for _ in range(200):  # more tries satisfy every constraint in the end
        if np.all(_unknown(program, unit)[0] < program.limits):
            break
        unit *= 2.0
    else:
        raise InvalidSetting("no number of tries tells these arms apart; some direction is never seen")
    costs = program.gaps * unit / float(program.gaps @ unit)

    def room(x: Floats) -> Floats:  # 1/g is concave in the number of tries, and nearly linear; g itself is neither
        return program.limits / _unknown(program, x * unit)[0] - 1.0

    def slopes(x: Floats) -> Floats:
        value, jacobian = _unknown(program, x * unit)
        return -(program.limits / value**2)[:, None] * jacobian * unit

    start, told = np.ones(len(unit)), ""
    for _ in range(ATTEMPTS):
        found = optimize.minimize(
            lambda x: costs @ x,
            start,
            jac=lambda x: costs,
            method="SLSQP",
            bounds=[(1e-12, None)] * len(unit),
            constraints={"type": "ineq", "fun": room, "jac": slopes},
            options={"ftol": PRECISION, "maxiter": 1_000},
        )
        short = -float(room(found.x).min())
        doubt = 1.0 - _least(costs, room(found.x), slopes(found.x), found.x) / float(costs @ found.x)
        if short <= SLACK and doubt <= DOUBT:
            return np.asarray(found.x * unit, dtype=np.float64)
        told = f"{found.message} ({max(short, 0.0):.1g} short of a limit, up to {doubt:.1g} of it above the least)"
        start = found.x if short <= SLACK else 2.0 * start
    raise InvalidSetting(
        f"a floor must satisfy its program and be its least value, but the solver stopped before: {told}; take"
        " preferences as known, relaxed=True: that floor is lower, and exact"
    )


def _least(costs: Floats, room: Floats, slopes: Floats, x: Floats) -> float:
    """Return a value below that of every solution, by what is known at x.

    Room is concave, so it lies nowhere above its tangents at x: a linear program with these in its place has all
    solutions of ours and more. Its value is that of its dual, by which the solver's own errors are left out: whatever
    multipliers it comes with, scaled to be allowed, prove theirs.
    """
    optimize = needs("scipy.optimize", "lab")
    gains = slopes @ x - room  # what a unit of each multiplier proves
    found = optimize.linprog(-gains, A_ub=slopes.T, b_ub=costs, bounds=(0.0, None), method="highs")
    if found.x is None:
        return 0.0
    multipliers = np.maximum(found.x, 0.0)
    over = float((slopes.T @ multipliers / costs).max(initial=1.0))
    return float(gains @ multipliers) / over
