"""The advisor: a policy, a parser and a store as one conversation."""

from druthers.advisor.advisor import Advisor
from druthers.advisor.answers import Card, Heard, Recommendation, Suggestion, Suspicion, Weight

__all__ = ["Advisor", "Card", "Heard", "Recommendation", "Suggestion", "Suspicion", "Weight"]
