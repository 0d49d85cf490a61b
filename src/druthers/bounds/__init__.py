"""The guarantees as functions: what the paper prints, what its proofs give, and our own theorem.

Where print and proof disagree both are computed, and each function says which one stands.
"""

from druthers.bounds.corruption import LowerBounds, corrupted_divergence, corrupted_lower_bounds
from druthers.bounds.estimation import (
    PenaltyBound,
    QueryError,
    RadiusParts,
    curvature,
    first_round,
    gradient_bound,
    hessian_error,
    query_constant,
    query_error,
    ranking_information,
    repaired_radius,
    reward_width,
    round_constant,
)
from druthers.bounds.floor import Floor, regret_floor
from druthers.bounds.regret import (
    RegretBound,
    Remainder,
    guaranteed_regret,
    guaranteed_square,
    guaranteed_start,
    information_per_round,
    optimal_weights,
    remainder_bound,
    theorem_2,
    theorem_4,
)
from druthers.preferences import compact_radius, corrupted_radius, hybrid_radius

__all__ = [
    "Floor",
    "LowerBounds",
    "PenaltyBound",
    "QueryError",
    "RadiusParts",
    "RegretBound",
    "Remainder",
    "compact_radius",
    "corrupted_divergence",
    "corrupted_lower_bounds",
    "corrupted_radius",
    "curvature",
    "first_round",
    "gradient_bound",
    "guaranteed_regret",
    "guaranteed_square",
    "guaranteed_start",
    "hessian_error",
    "hybrid_radius",
    "information_per_round",
    "optimal_weights",
    "query_constant",
    "query_error",
    "ranking_information",
    "regret_floor",
    "remainder_bound",
    "repaired_radius",
    "reward_width",
    "round_constant",
    "theorem_2",
    "theorem_4",
]
