"""What the holder of data does before a release: settings, and one method that takes the original and gives a release.

A protection is one file and one line here. Every one of them leaves out columns that identify people and puts the
rows in random order, because an order that is kept would tell which row is whose.
"""

from unveil.protect._listing import PROTECTIONS, Protection, Protects, protection
from unveil.protect.specification import protection_from
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
    "Microaggregation",
    "Mondrian",
    "Pram",
    "Protection",
    "Protects",
    "RankSwapping",
    "RankSwappingBuckets",
    "RankSwappingDistribution",
    "Shuffle",
    "Suppression",
    "UnivariateMicroaggregation",
    "protection",
    "protection_from",
]
