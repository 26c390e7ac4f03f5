"""What the adversary now holds: every attack leaves one of these, and every metric measures those it fits."""

from unveil.guess.candidates import Candidates
from unveil.guess.dataflow import Dataflow, Node
from unveil.guess.matching import Matching, matching_truth
from unveil.guess.matching_distribution import MatchingDistribution
from unveil.guess.partition import Partition, View
from unveil.guess.predicates import Condition, Predicates
from unveil.guess.trials import Attempts, Trials

__all__ = [
    "Attempts",
    "Candidates",
    "Condition",
    "Dataflow",
    "Matching",
    "MatchingDistribution",
    "Node",
    "Partition",
    "Predicates",
    "Trials",
    "View",
    "matching_truth",
]
