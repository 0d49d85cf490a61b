"""The advisor: a policy, a parser and a store as one conversation."""

from druthers.advisor import events
from druthers.advisor.advisor import Advisor
from druthers.advisor.answers import Card, Heard, Recommendation, Suggestion, Suspicion, Weight
from druthers.advisor.verifying import Verified, refold, verify

__all__ = [
    "Advisor",
    "Card",
    "Heard",
    "Recommendation",
    "Suggestion",
    "Suspicion",
    "Verified",
    "Weight",
    "events",
    "refold",
    "verify",
]
