"""What the holder of data does before a release: settings, and one method that takes the original and gives a release.

A protection is one file and one line here. Every one of them leaves out columns that identify people and puts the
rows in random order, because an order that is kept would tell which row is whose.
"""

from unveil.protect._listing import PROTECTIONS, Protection, Protects, ProtectsGraph, protection
from unveil.protect.graph.id_removal import IdRemoval
from unveil.protect.specification import graph_protection_from, protection_from, protection_text
from unveil.protect.table.additive_noise import AdditiveNoise
from unveil.protect.table.correlated_noise import CorrelatedNoise
from unveil.protect.table.gaussian_copula import GaussianCopula
from unveil.protect.table.generalization import Generalization
from unveil.protect.table.microaggregation import Microaggregation
from unveil.protect.table.mondrian import Mondrian
from unveil.protect.table.pram import Pram
from unveil.protect.table.rank_swapping import RankSwapping
from unveil.protect.table.rank_swapping_variants import RankSwappingBuckets, RankSwappingDistribution
from unveil.protect.table.shuffle import Shuffle
from unveil.protect.table.suppression import Suppression
from unveil.protect.table.univariate_microaggregation import UnivariateMicroaggregation

__all__ = [
    "PROTECTIONS",
    "AdditiveNoise",
    "CorrelatedNoise",
    "GaussianCopula",
    "Generalization",
    "IdRemoval",
    "Microaggregation",
    "Mondrian",
    "Pram",
    "Protection",
    "Protects",
    "ProtectsGraph",
    "RankSwapping",
    "RankSwappingBuckets",
    "RankSwappingDistribution",
    "Shuffle",
    "Suppression",
    "UnivariateMicroaggregation",
    "graph_protection_from",
    "protection",
    "protection_from",
    "protection_text",
]
