"""Protections: settings, and one method that turns an original into a release.

A protection is one file and one line here. Every one of them leaves out columns that identify people and puts the
rows in random order, because an order that is kept would tell which row is whose.
"""

from unveil._lazy import reexports
from unveil.protections._listing import PROTECTIONS as PROTECTIONS
from unveil.protections._listing import GraphProtection as GraphProtection
from unveil.protections._listing import Protection as Protection
from unveil.protections._listing import TableProtection as TableProtection
from unveil.protections._listing import protection as protection
from unveil.protections.graph.bounded_t_means import BoundedTMeans as BoundedTMeans
from unveil.protections.graph.dk_series_dp import DkSeriesDP as DkSeriesDP
from unveil.protections.graph.graph_anon import GraphAnon as GraphAnon
from unveil.protections.graph.hrg_dp import HrgDP as HrgDP
from unveil.protections.graph.id_removal import IdRemoval as IdRemoval
from unveil.protections.graph.k_degree import KDegree as KDegree
from unveil.protections.graph.k_symmetry import KSymmetry as KSymmetry
from unveil.protections.graph.random_walk import RandomWalk as RandomWalk
from unveil.protections.graph.switch import Switch as Switch
from unveil.protections.graph.umga import Umga as Umga
from unveil.protections.graph.wpinq_dp import WpinqDP as WpinqDP
from unveil.protections.specification import graph_protection_from as graph_protection_from
from unveil.protections.specification import protection_from as protection_from
from unveil.protections.specification import protection_text as protection_text
from unveil.protections.table.additive_noise import AdditiveNoise as AdditiveNoise
from unveil.protections.table.correlated_noise import CorrelatedNoise as CorrelatedNoise
from unveil.protections.table.gaussian_copula import GaussianCopula as GaussianCopula
from unveil.protections.table.generalization import Generalization as Generalization
from unveil.protections.table.microaggregation import Microaggregation as Microaggregation
from unveil.protections.table.mondrian import Mondrian as Mondrian
from unveil.protections.table.noisy_chain import NoisyChain as NoisyChain
from unveil.protections.table.noisy_histogram import NoisyHistogram as NoisyHistogram
from unveil.protections.table.pram import Pram as Pram
from unveil.protections.table.rank_swapping import RankSwapping as RankSwapping
from unveil.protections.table.rank_swapping_variants import RankSwappingBuckets as RankSwappingBuckets
from unveil.protections.table.rank_swapping_variants import RankSwappingDistribution as RankSwappingDistribution
from unveil.protections.table.shuffle import Shuffle as Shuffle
from unveil.protections.table.suppression import Suppression as Suppression
from unveil.protections.table.univariate_microaggregation import (
    UnivariateMicroaggregation as UnivariateMicroaggregation,
)

__all__ = sorted(reexports(__name__))
