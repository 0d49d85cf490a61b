"""ConUCB: a policy that asks questions."""

from typing import Any

import numpy as np

from druthers._jit import implements, kernel
from druthers._matrices import add_rank_one, norms, solve, solve_upper_columns
from druthers.own import settings
from druthers.policies.arms import Arms
from druthers.policies.linear import REGRESSION, LinearPolicy, Widths, score_raised
from druthers.policies.steps import answer_policy, ask_policy, score_policy
from druthers.preferences import anchored_estimate, upper_root
from druthers.types import Floats, Integers


@settings
class ConUCB(LinearPolicy, told=f"{REGRESSION} ridge radius risk frequency", keeps="key_root key_response answers"):
    """Conversational UCB: ridge regression on utilities, pulled toward one on the answers to its own questions.

    Its questions are about one objective each ("do you care about cleanliness?"), answered yes (1) or no (0). The
    features of objective d's question are the mean of the means of the three arms that look best in d. A user who has
    interacted n times has been asked at most frequency * floor(ln n) questions. Where the paper's authors build the
    features from true means, this policy, like any real one, has only estimates.

    Parameters
    ----------
    feedback_weight
        Weight of utilities against answers.
    ridge
        Regularization of the regression on answers.
    radius
        Multiplier of both confidence radii.
    risk
        Failure probability in the radius for answers.
    frequency
        Questions per unit of the logarithm of the user's rounds; 5 as in the paper.
    exploration
        Share of random choices, 5 % as in the paper.

    Examples
    --------
    >>> policy = ConUCB(n_objectives=2)
    >>> for arm, reward in [("inn", [1.0, 0.0]), ("spa", [0.0, 1.0]), ("inn", [1.0, 0.1])]:
    ...     decision = policy.choose("ada", offer=["inn", "spa"])
    ...     policy.learn("ada", arm, reward, utility=1.0)
    >>> policy.ask("ada")
    Question(user='ada', objective=0)
    >>> policy.answer("ada", policy.ask("ada"), 1.0)

    References
    ----------
    Zhang et al. (2020), as in appendix "Baseline Details" of the paper.
    """

    name = "conucb"
    asks = True

    exploration: float = 0.05
    feedback_weight: float = 0.5
    ridge: float = 1.0
    radius: float = 0.1
    risk: float = 0.05
    frequency: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(positive="ridge", not_negative="radius frequency", inside="feedback_weight risk")
        self._start()

    def _derived(self) -> dict[str, float]:
        return {"normalization": 0.0}

    def _start_matrix(self) -> Floats:
        return (1.0 - self.feedback_weight) * np.eye(self.n_objectives)

    def _kept(self, n_users: int) -> dict[str, Any]:
        key_root = upper_root(self.ridge * np.eye(self.n_objectives))
        roots, responses = np.repeat(key_root[None], n_users, axis=0), np.zeros((n_users, self.n_objectives))
        return {"key_root": roots, "key_response": responses, "answers": np.zeros(n_users)}

    def _anchors(self, rows: Integers) -> tuple[Floats, float]:
        answered = self._state.users.key_response[rows]
        for answer, root in zip(answered, self._state.users.key_root[rows], strict=True):
            solve(root, answer)
        return answered, 1.0 - self.feedback_weight


@kernel
def key_features(arms: Arms, objective: int, out: Floats) -> bool:
    """Write the mean of the means of the three arms that look best in an objective; False where none was ever seen."""
    best, count = np.full(3, -1, dtype=np.int64), 0
    for k in range(out.shape[0]):
        out[k] = 0.0
    for place in range(3):
        highest = -np.inf  # of equals the first one seen comes first
        for arm in range(arms.means.shape[0]):
            mean = arms.means[arm, objective]
            if arms.pulls[arm, objective] > 0.0 and mean > highest and arm != best[0] and arm != best[1]:
                highest, best[place] = mean, arm
        if best[place] >= 0:
            count += 1
            for k in range(out.shape[0]):
                out[k] += arms.means[best[place], k]
    for k in range(out.shape[0]):
        out[k] /= max(count, 1)
    return count > 0


@implements(ask_policy, ConUCB.State)
@kernel
def _ask(state: Any, user: int) -> int:
    """Return the objective to ask about, or -1: the largest |X M^-1 M~^-1 x|^2 / (1 + x' M~^-1 x) over questions x."""
    users = state.users
    rounds = users.feedbacks[user]
    if rounds < 1.0 or users.answers[user] >= state.settings.frequency * np.floor(np.log(rounds)):
        return -1
    arms = state.arms
    n_objectives = users.response.shape[1]
    features = np.empty((n_objectives, n_objectives))
    weighed = np.empty((n_objectives, n_objectives))  # one question per column
    askable = np.empty(n_objectives)
    known = np.empty(n_objectives)
    for objective in range(n_objectives):
        askable[objective] = key_features(arms, objective, features[objective])
        for k in range(n_objectives):
            weighed[k, objective] = features[objective, k]
    norms(users.key_root[user], weighed, known)
    solve_upper_columns(users.key_root[user], weighed)
    unused = np.empty(n_objectives)
    norms(users.root[user], weighed, unused)
    solve_upper_columns(users.root[user], weighed)
    reach = np.zeros(n_objectives)
    values = np.empty(n_objectives)
    for arm in range(arms.means.shape[0]):
        for objective in range(n_objectives):
            values[objective] = 0.0
        for k in range(n_objectives):
            mean = arms.means[arm, k]
            for objective in range(n_objectives):
                values[objective] += mean * weighed[k, objective]
        for objective in range(n_objectives):
            reach[objective] += values[objective] * values[objective]
    chosen = -1
    highest = -1.0
    for objective in range(n_objectives):
        worth = reach[objective] / (1.0 + known[objective] ** 2)
        if askable[objective] and worth > highest:
            highest = worth
            chosen = objective
    return chosen


@implements(answer_policy, ConUCB.State)
@kernel
def _answer(state: Any, user: int, objective: int, value: float) -> None:
    """Add one answered question to the user's regression on answers."""
    users = state.users
    features = np.empty(users.response.shape[1])
    key_features(state.arms, objective, features)
    for k in range(features.shape[0]):
        users.key_response[user, k] += value * features[k]
    add_rank_one(users.key_root[user], features)
    users.answers[user] += 1.0


@implements(score_policy, ConUCB.State)
@kernel
def _score(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    users, settings = state.users, state.settings
    n_objectives, n_offered = users.response.shape[1], offer.shape[0]
    answered = users.key_response[user].copy()
    solve(users.key_root[user], answered)
    pull = 1.0 - settings.feedback_weight
    estimate = anchored_estimate(users.root[user], users.response[user], answered, pull)
    growth = np.log(1.0 + n_objectives * users.feedbacks[user] / pull)
    radius = settings.feedback_weight * settings.radius * np.sqrt(n_objectives * growth)
    columns = score_raised(state, user, offer, estimate, estimate, Widths(0.0, 0.0, 0.0, 0.0), radius, out)
    # Second bonus: |M^-1 x| in the norm of M~^-1.
    key_bonus = np.empty(n_offered)
    solve_upper_columns(users.root[user], columns)
    norms(users.key_root[user], columns, key_bonus)
    asked = np.log(2.0 * (users.answers[user] + 1.0) / settings.risk)
    key_radius = pull * settings.radius * np.sqrt(2.0 * (n_objectives * np.log(6.0) + asked))
    for j in range(n_offered):
        out[2, j] += key_radius * key_bonus[j]
        out[3, j] += key_radius * key_bonus[j]
    return 1
