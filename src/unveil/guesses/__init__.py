"""Guesses: results of attacks, which metrics measure."""

from unveil.guesses.beliefs import Beliefs
from unveil.guesses.candidates import Candidates
from unveil.guesses.coherence import Coherence, jointly_coherent
from unveil.guesses.dataflow import Dataflow, Node
from unveil.guesses.edge_claims import EdgeClaims
from unveil.guesses.mass_combination import COMBINATIONS, combine, conflict
from unveil.guesses.mass_function import MassFunction
from unveil.guesses.matching import Matching, matching_truth
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.partition import Partition, View
from unveil.guesses.predicates import Condition, Predicates
from unveil.guesses.trials import Attempts, Trials
from unveil.guesses.unequal_matching import UnequalMatching, unequal_truth
from unveil.guesses.value_claims import ValueClaims

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
