"""The estimate of Eq. 5 for one user, on the kernels of MO-PQUCB, which keeps the same two arrays of each."""

from __future__ import annotations

import numpy as np

from druthers.preferences import anchor_matrix, anchored_estimate, learn_utility, upper_root


class HybridEstimator:
    """A preference from utilities, regularized toward an anchor."""

    def __init__(self, *, n_objectives, feedback_weight, ridge):
        self.feedback_weight = feedback_weight
        self.pull = (1.0 - feedback_weight) * anchor_matrix(n_objectives, 1.0, ridge)
        self.root, self.response = upper_root(self.pull), np.zeros(n_objectives)

    @property
    def gram(self):
        """The matrix V."""
        return self.root.T @ self.root

    def learn(self, reward, utility):
        """Take in the utility of a reward."""
        learn_utility(self.root, self.response, np.array(reward, dtype=float), float(utility), self.feedback_weight)

    def estimate(self, anchor):
        """Return the estimate for an anchor."""
        return anchored_estimate(self.root, self.response, self.pull @ np.asarray(anchor, dtype=float), 1.0)
