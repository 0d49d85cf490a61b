"""Off-policy evaluation: what another policy would have been worth, from a log of decisions."""

from druthers.evaluation.estimators import ESTIMATORS, Estimate, Evidence, Interval, estimate
from druthers.evaluation.judging import Evaluation, evaluate

__all__ = ["ESTIMATORS", "Estimate", "Evaluation", "Evidence", "Interval", "estimate", "evaluate"]
