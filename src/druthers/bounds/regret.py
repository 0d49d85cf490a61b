"""Bounds on regret: Theorems 2 and 4 of the paper, the weights that minimize them, and our own theorem."""

import math
from typing import Any, NamedTuple

from druthers.bounds.estimation import round_constant


class RegretBound(NamedTuple):
    """A bound on one user's regret and its parts: what preferences cost, what rewards cost, and the rounds before."""

    preference: float
    reward: float
    burn_in: float

    @property
    def total(self) -> float:
        """The bound."""
        return self.preference + self.reward + self.burn_in


def optimal_weights(horizon: float, *, risk: float = 0.05, corruption: float = 0.0) -> tuple[float, float]:
    """Return alpha and lambda of Corollary 2.1 and Theorem 4: eps + 1/ln(T/rho) both, alpha below 1.

    They balance the bound as printed. With the lost sqrt(alpha) restored alpha cancels, and no choice is better.

    Examples
    --------
    >>> [round(weight, 4) for weight in optimal_weights(20_000)]
    [0.0775, 0.0775]
    """
    weight = corruption + 1.0 / math.log(horizon / risk)
    return min(weight, 0.99), weight


def _burn_in(
    horizon: float, n_objectives: int, n_arms: int, alpha: float, bound: float, risk: float, spread: float
) -> list[float]:
    logs = math.log(horizon / risk)
    first = 4.0 * n_objectives**2 * n_arms * alpha**2 / spread**4 * logs if spread > 0.0 else math.inf
    return [first, round_constant(n_objectives, bound) * logs]


def theorem_2(
    horizon: float,
    *,
    n_objectives: int,
    n_arms: int,
    feedback_weight: float,
    ridge: float,
    bound: float,
    risk: float,
    mean_length: float,
    reward_spread: float,
    proof: bool = False,
) -> RegretBound:
    """Return M and both terms Psi of Theorem 2 (detailed), the constant of O(.) taken as 1.

    M = max(4 D^2 K alpha^2/nu^4, 1/alpha, C_0) ln(T/rho), nu the least spread of rewards (`reward_spread`).
    Psi_c = (sqrt(D^3/m) + B sqrt(lambda/alpha) + B D^(3/2) sqrt(alpha (ln(T/rho) + ln((1 + lambda)/(lambda rho)))))
    sqrt(T ln(alpha T/lambda)), and Psi_r = sqrt(K D^3/(m lambda)) ln^2 T
    + (B D + alpha B D^(3/2)/sqrt(lambda) sqrt(ln(T/rho) + ln((1 + lambda)/(lambda rho)))) sqrt(K T ln(T/rho)).
    With `proof` it is what the proof gives where that is not what is printed: the noise without sqrt(alpha) in Psi_c
    and with sqrt(alpha) for alpha in Psi_r, D^2 for D^(3/2) in both. That one stands; alpha then cancels in Psi_c.
    """
    logs = math.log(horizon / risk)
    noise = math.sqrt(logs + math.log((1.0 + ridge) / (ridge * risk)))
    size = n_objectives**2 if proof else n_objectives**1.5
    of_noise = bound * size * noise * (1.0 if proof else math.sqrt(feedback_weight))
    told = math.sqrt(n_objectives**3 / mean_length)
    weight = math.sqrt(feedback_weight) if proof else feedback_weight
    preference = (told + bound * math.sqrt(ridge / feedback_weight) + of_noise) * math.sqrt(
        horizon * math.log(feedback_weight * horizon / ridge)
    )
    reward = math.sqrt(n_arms * n_objectives**3 / (mean_length * ridge)) * math.log(horizon) ** 2
    reward += (bound * n_objectives + weight * bound * size / math.sqrt(ridge) * noise) * math.sqrt(
        n_arms * horizon * logs
    )
    rounds = _burn_in(horizon, n_objectives, n_arms, feedback_weight, bound, risk, reward_spread)
    return RegretBound(preference, reward, max(*rounds, logs / feedback_weight))


def theorem_4(
    horizon: float,
    *,
    n_objectives: int,
    n_arms: int,
    feedback_weight: float,
    ridge: float,
    bound: float,
    risk: float,
    min_length: float,
    reward_spread: float,
    corruption: float,
    penalty: float,
    proof: bool = False,
) -> RegretBound:
    """Return M and both terms Psi of Theorem 4 (detailed), the constant of O(.) taken as 1.

    M = max(4 D^2 K alpha^2/nu^4, 4 eps eta^4/alpha^2, 4 D/alpha, C_0) ln(T/rho);
    Psi_c = (D^2 sqrt((D + eta eps/alpha)/m) + B D sqrt(lambda/alpha) + B D^(3/2) sqrt(alpha (ln(T/rho)
    + ln((1 + lambda)/(lambda rho))))) sqrt(T ln(alpha T/lambda)); Psi_r = sqrt(K D^4/(m lambda)) ln^2 T + (B D
    + eta sqrt(D^3 eps/(m lambda)) + alpha B D^(3/2)/sqrt(lambda) sqrt(ln(T/rho) + ln((1 + lambda)/(lambda rho))))
    sqrt(K T ln(T/rho)). `proof` as in `theorem_2`; that one stands. With the penalty eta >= D^3/3 that the theorem asks
    for the estimator is the plain likelihood.
    """
    logs = math.log(horizon / risk)
    noise = math.sqrt(logs + math.log((1.0 + ridge) / (ridge * risk)))
    size = n_objectives**2 if proof else n_objectives**1.5
    weight = math.sqrt(feedback_weight) if proof else feedback_weight
    preference = n_objectives**2 * math.sqrt((n_objectives + penalty * corruption / feedback_weight) / min_length)
    preference += bound * n_objectives * math.sqrt(ridge / feedback_weight)
    preference += bound * size * noise * (1.0 if proof else math.sqrt(feedback_weight))
    preference *= math.sqrt(horizon * math.log(feedback_weight * horizon / ridge))
    per_round = bound * n_objectives + penalty * math.sqrt(n_objectives**3 * corruption / (min_length * ridge))
    per_round += weight * bound * size / math.sqrt(ridge) * noise
    reward = math.sqrt(n_arms * n_objectives**4 / (min_length * ridge)) * math.log(horizon) ** 2
    reward += per_round * math.sqrt(n_arms * horizon * logs)
    rounds = _burn_in(horizon, n_objectives, n_arms, feedback_weight, bound, risk, reward_spread)
    of_corruption = 4.0 * corruption * penalty**4 / feedback_weight**2 * logs
    return RegretBound(preference, reward, max(*rounds, of_corruption, 4.0 * n_objectives / feedback_weight * logs))


def guaranteed_square(
    utilities: float, *, n_objectives: int, places: float, variance: float, ridge: float = 0.5, level: float = 1e-6
) -> float:
    """Return the largest z^2 that Fisher-PQUCB with a guarantee can have after some utilities and ranked places.

    4 ln(n + 1) + ln |M|/|M0|, with |M| at most (trace/D)^D, trace = n/s_p^2 + q + ridge (D - 1) + D level: a
    utility adds 1/s_p^2 to the trace of M, and a place of a ranking at most 1.
    """
    trace = utilities / variance + places + ridge * (n_objectives - 1) + n_objectives * level
    logs = n_objectives * math.log(trace / n_objectives)
    logs -= (n_objectives - 1) * math.log(ridge + level) + math.log(level)
    return 4.0 * math.log(utilities + 1.0) + logs


def information_per_round(level_share: float, query_information: float, variance: float) -> float:
    """Return c with M_n >= c n I: nu^2/(4 + nu^2) min(c_0, 1/s_p^2).

    nu is the root mean square of <x, 1>/(|x| sqrt(D)) over the rewards x, at least 1/sqrt(D) for rewards that are
    not negative; c_0 the least information (but for the constant) that rankings bring in a round.
    """
    return level_share**2 / (4.0 + level_share**2) * min(query_information, 1.0 / variance)


class Remainder(NamedTuple):
    """What step 3 of our proof bounds after n utilities, and what it may be."""

    anchor: float  # how far the anchor is from the centered preference, in the norm of its own information
    estimate: float  # how far the estimate is from the anchor, in the same norm
    cost: float  # what the prior and the curvature of the rankings' likelihood take off: at most `allowed` from n_1 on
    allowed: float  # ln(n + 1)


def remainder_bound(
    utilities: float,
    *,
    n_objectives: int,
    preference_norm: float,
    variance: float,
    mean_length: float,
    query_information: float,
    ridge: float = 0.5,
    level: float = 1e-6,
) -> Remainder:
    """Return step 3 of our proof with all its constants (docs/theory.md): the remainder after n utilities.

    kappa = sqrt(2/(ridge + c_0 n)); the anchor is within b = kappa q/2 + sqrt(2 q + kappa^2 q^2/4) of the truth, the
    estimate within w + 2 b + sqrt(level) S of the anchor, w from the self-normalized bound; the cost is
    (ridge + level) S^2/2 + E(estimate) + kappa b^3 e^(kappa b)/6, E(a) = kappa (a + sqrt(D + 2))^3
    exp(kappa (a + sqrt(D)) + kappa^2)/6, and q = ln(n + 1) + ln(|H + ridge P|/ridge^(D-1))/2 + ridge S^2/2 + E(0).
    """
    size, chance = n_objectives, math.log(utilities + 1.0)
    kappa = math.sqrt(2.0 / (ridge + query_information * utilities))

    def curved(at: float) -> float:
        power = kappa * (at + math.sqrt(size)) + kappa**2
        return kappa / 6.0 * (at + math.sqrt(size + 2.0)) ** 3 * math.exp(power) if power < 700.0 else math.inf

    places = mean_length * utilities
    volume = (size - 1) * math.log1p(places / (ridge * (size - 1)))
    q = chance + 0.5 * volume + 0.5 * ridge * preference_norm**2 + curved(0.0)
    anchor = 0.5 * kappa * q + math.sqrt(2.0 * q + 0.25 * (kappa * q) ** 2)
    of_utilities = guaranteed_square(
        utilities, n_objectives=size, places=0.0, variance=variance, ridge=ridge, level=level
    )
    felt = math.sqrt(of_utilities - 2.0 * chance)  # 2 ln(n + 1) and the volume
    estimate = felt + 2.0 * anchor + math.sqrt(level) * preference_norm
    cost = math.inf
    if kappa * anchor < 700.0:
        cost = 0.5 * (ridge + level) * preference_norm**2 + curved(estimate)
        cost += kappa / 6.0 * anchor**3 * math.exp(kappa * anchor)
    return Remainder(anchor, estimate, cost, chance)


def guaranteed_start(
    *, preference_norm: float, query_information: float, ridge: float = 0.5, level: float = 1e-6, **case: Any
) -> float:
    """Return n_1 of our theorem: from so many utilities of a user on, step 3 of its proof holds.

    Without queries exp(S^2 (ridge + level)/2) - 1. With them the least n, within a hundredth, from which on
    `remainder_bound` stays below what is allowed: some 10^5 to 10^7, since the proof takes every direction to be as bad
    as the worst. The remainder itself is small from the first utilities on (tests/test_theory_proof.py). All that
    `remainder_bound` is told, but for n, is told here.
    """
    if query_information <= 0.0:
        return math.exp(0.5 * (ridge + level) * preference_norm**2) - 1.0

    told: dict[str, Any] = {"preference_norm": preference_norm, "query_information": query_information, **case}
    n = 1e30
    while n > 1.0 and (left := remainder_bound(n / 1.01, ridge=ridge, level=level, **told)).cost <= left.allowed:
        n /= 1.01
    return n


def guaranteed_regret(
    horizon: float,
    *,
    n_objectives: int,
    n_arms: int,
    reward_norm: float,
    preference_norm: float,
    reward_variance: float,
    variance: float,
    mean_length: float,
    query_information: float,
    level_share: float,
    ridge: float = 0.5,
    level: float = 1e-6,
) -> RegretBound:
    """Return our bound on one user's expected regret under Fisher-PQUCB with `guarantee=True` (docs/theory.md).

    Alone with its arms for T rounds, R the largest norm of a reward, S that of the preference, s_r^2 and s_p^2 the
    noise taken (at least the true one), L = 2 ln(K (T + 1)) + ln(1 + T):

    - with queries, 4 R z sqrt(T/c) for the preference, c = `information_per_round`; 4 s_r sqrt(2 L) (S sqrt(K T)
      + z sqrt(D K/c) (1 + ln T)) for rewards;
    - without (`query_information` 0), 2 z (R s_p sqrt(T A ln(|M|/|M0|)/ln(1 + A)) + 2 s_r sqrt(2 D L K T/c_1)) and
      4 s_r sqrt(2 L) (S + 2 z sqrt(D/c_1)) sqrt(K T), c_1 what the first utility and the prior tell, A = 1/(c_1 s_p^2).

    The burn-in counts rounds at the largest gap 2 R S: arms never seen, rounds where an event fails, at most
    (10 + D)(1 + ln T) of them, and what the prior costs, exp(ridge S^2/2). With queries the proof needs more
    rounds than that, `guaranteed_start`; they are not counted.
    """
    places = mean_length * horizon if query_information > 0.0 else 0.0
    square = guaranteed_square(
        horizon, n_objectives=n_objectives, places=places, variance=variance, ridge=ridge, level=level
    )
    z, deviation = math.sqrt(square), math.sqrt(reward_variance)
    logs = 2.0 * math.log(n_arms * (horizon + 1.0)) + math.log1p(horizon)
    pulls = math.sqrt(n_arms * horizon)
    first = math.exp(0.5 * ridge * preference_norm**2) - 1.0
    failing = (10.0 + n_objectives) * (1.0 + math.log(horizon))
    burn_in = 2.0 * reward_norm * preference_norm * (n_arms + failing + first)
    wide = 4.0 * deviation * math.sqrt(2.0 * logs)
    if query_information > 0.0:
        rate = information_per_round(level_share, query_information, variance)
        preference = 4.0 * reward_norm * z * math.sqrt(horizon / rate)
        late = z * math.sqrt(n_objectives * n_arms / rate) * (1.0 + math.log(horizon))
        return RegretBound(preference, wide * (preference_norm * pulls + late), burn_in)
    rate = information_per_round(level_share, ridge, variance)
    most = 1.0 / (rate * variance)
    volume = square - 4.0 * math.log(horizon + 1.0)
    norms = reward_norm * math.sqrt(variance * horizon * most / math.log1p(most) * volume)
    of_means = 2.0 * deviation * math.sqrt(2.0 * n_objectives * logs / rate) * pulls
    preference = 2.0 * z * (norms + of_means)
    return RegretBound(preference, wide * (preference_norm + 2.0 * z * math.sqrt(n_objectives / rate)) * pulls, burn_in)
