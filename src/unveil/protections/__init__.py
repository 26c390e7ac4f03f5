"""What the holder of data does before a release: settings, and one method that takes the original and gives a release.

A protection is one file and one line here. Every one of them leaves out columns that identify people and puts the
rows in random order, because an order that is kept would tell which row is whose.
"""

from unveil.protections._listing import PROTECTIONS, GraphProtection, Protection, TableProtection, protection
from unveil.protections.graph.bounded_t_means import BoundedTMeans
from unveil.protections.graph.dk_series_dp import DkSeriesDP
from unveil.protections.graph.graph_anon import GraphAnon
from unveil.protections.graph.hrg_dp import HrgDP
from unveil.protections.graph.id_removal import IdRemoval
from unveil.protections.graph.k_degree import KDegree
from unveil.protections.graph.k_symmetry import KSymmetry
from unveil.protections.graph.random_walk import RandomWalk
from unveil.protections.graph.switch import Switch
from unveil.protections.graph.umga import Umga
from unveil.protections.graph.wpinq_dp import WpinqDP
from unveil.protections.specification import graph_protection_from, protection_from, protection_text
from unveil.protections.table.additive_noise import AdditiveNoise
from unveil.protections.table.correlated_noise import CorrelatedNoise
from unveil.protections.table.gaussian_copula import GaussianCopula
from unveil.protections.table.generalization import Generalization
from unveil.protections.table.microaggregation import Microaggregation
from unveil.protections.table.mondrian import Mondrian
from unveil.protections.table.noisy_chain import NoisyChain
from unveil.protections.table.noisy_histogram import NoisyHistogram
from unveil.protections.table.pram import Pram
from unveil.protections.table.rank_swapping import RankSwapping
from unveil.protections.table.rank_swapping_variants import RankSwappingBuckets, RankSwappingDistribution
from unveil.protections.table.shuffle import Shuffle
from unveil.protections.table.suppression import Suppression
from unveil.protections.table.univariate_microaggregation import UnivariateMicroaggregation

__all__ = [
    "PROTECTIONS",
    "AdditiveNoise",
    "BoundedTMeans",
    "CorrelatedNoise",
    "DkSeriesDP",
    "GaussianCopula",
    "Generalization",
    "GraphAnon",
    "GraphProtection",
    "HrgDP",
    "IdRemoval",
    "KDegree",
    "KSymmetry",
    "Microaggregation",
    "Mondrian",
    "NoisyChain",
    "NoisyHistogram",
    "Pram",
    "Protection",
    "RandomWalk",
    "RankSwapping",
    "RankSwappingBuckets",
    "RankSwappingDistribution",
    "Shuffle",
    "Suppression",
    "Switch",
    "TableProtection",
    "Umga",
    "UnivariateMicroaggregation",
    "WpinqDP",
    "graph_protection_from",
    "protection",
    "protection_from",
    "protection_text",
]
