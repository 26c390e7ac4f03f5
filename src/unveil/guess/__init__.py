"""What the adversary now holds: every attack leaves one of these, and every metric measures those it fits."""

from unveil.guess.beliefs import Beliefs
from unveil.guess.candidates import Candidates
from unveil.guess.coherence import Coherence, jointly_coherent
from unveil.guess.conditions import Condition
from unveil.guess.dataflow import Dataflow, Node
from unveil.guess.edge_claims import EdgeClaims
from unveil.guess.mass_combination import COMBINATIONS, combine, conflict
from unveil.guess.mass_function import MassFunction
from unveil.guess.matching import Matching, matching_truth
from unveil.guess.matching_distribution import MatchingDistribution
from unveil.guess.partition import Partition, View
from unveil.guess.predicates import Predicates
from unveil.guess.trials import Attempts, Trials
from unveil.guess.unequal_matching import UnequalMatching, unequal_truth
from unveil.guess.value_claims import ValueClaims

__all__ = [
    "COMBINATIONS",
    "Attempts",
    "Beliefs",
    "Candidates",
    "Coherence",
    "Condition",
    "Dataflow",
    "EdgeClaims",
    "MassFunction",
    "Matching",
    "MatchingDistribution",
    "Node",
    "Partition",
    "Predicates",
    "Trials",
    "UnequalMatching",
    "ValueClaims",
    "View",
    "combine",
    "conflict",
    "jointly_coherent",
    "matching_truth",
    "unequal_truth",
]
