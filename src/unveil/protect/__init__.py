"""What the holder of data does before a release: settings, and one method that takes the original and gives a release.

A protection is one file and one line here. Every one of them leaves out columns that identify people and puts the
rows in random order, because an order that is kept would tell which row is whose.
"""

from unveil.protect._listing import PROTECTIONS, Protection, Protects, ProtectsGraph, protection
from unveil.protect.graph.bounded_t_means import BoundedTMeans
from unveil.protect.graph.dk_series_dp import DkSeriesDP
from unveil.protect.graph.graph_anon import GraphAnon
from unveil.protect.graph.hrg_dp import HrgDP
from unveil.protect.graph.id_removal import IdRemoval
from unveil.protect.graph.k_degree import KDegree
from unveil.protect.graph.k_symmetry import KSymmetry
from unveil.protect.graph.random_walk import RandomWalk
from unveil.protect.graph.switch import Switch
from unveil.protect.graph.umga import Umga
from unveil.protect.graph.wpinq_dp import WpinqDP
from unveil.protect.specification import graph_protection_from, protection_from, protection_text
from unveil.protect.table.additive_noise import AdditiveNoise
from unveil.protect.table.correlated_noise import CorrelatedNoise
from unveil.protect.table.gaussian_copula import GaussianCopula
from unveil.protect.table.generalization import Generalization
from unveil.protect.table.microaggregation import Microaggregation
from unveil.protect.table.mondrian import Mondrian
from unveil.protect.table.noisy_chain import NoisyChain
from unveil.protect.table.noisy_histogram import NoisyHistogram
from unveil.protect.table.pram import Pram
from unveil.protect.table.rank_swapping import RankSwapping
from unveil.protect.table.rank_swapping_variants import RankSwappingBuckets, RankSwappingDistribution
from unveil.protect.table.shuffle import Shuffle
from unveil.protect.table.suppression import Suppression
from unveil.protect.table.univariate_microaggregation import UnivariateMicroaggregation

__all__ = [
    "PROTECTIONS",
    "AdditiveNoise",
    "BoundedTMeans",
    "CorrelatedNoise",
    "DkSeriesDP",
    "GaussianCopula",
    "Generalization",
    "GraphAnon",
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
    "Protects",
    "ProtectsGraph",
    "RandomWalk",
    "RankSwapping",
    "RankSwappingBuckets",
    "RankSwappingDistribution",
    "Shuffle",
    "Suppression",
    "Switch",
    "Umga",
    "UnivariateMicroaggregation",
    "WpinqDP",
    "graph_protection_from",
    "protection",
    "protection_from",
    "protection_text",
]
