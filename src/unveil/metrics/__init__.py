"""Numbers from a guess and the truth: plain functions, each listed once with what it means."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from unveil._lazy import lazily

if TYPE_CHECKING:
    from unveil.metrics._listing import METRICS as METRICS
    from unveil.metrics._listing import Metric as Metric
    from unveil.metrics._listing import metric as metric
    from unveil.metrics.beliefs.compatibility import Compatibility as Compatibility
    from unveil.metrics.beliefs.compatibility import compatibility as compatibility
    from unveil.metrics.beliefs.compatibility import compatible_belief as compatible_belief
    from unveil.metrics.beliefs.compatibility import compatible_probability as compatible_probability
    from unveil.metrics.beliefs.compatibility import valid_guesses as valid_guesses
    from unveil.metrics.beliefs.file_level import FileLevelTruth as FileLevelTruth
    from unveil.metrics.beliefs.file_level import file_level_truth as file_level_truth
    from unveil.metrics.candidates.candidate_metrics import MetricValue as MetricValue
    from unveil.metrics.candidates.candidate_metrics import all_metrics as all_metrics
    from unveil.metrics.candidates.confusion import Confusion as Confusion
    from unveil.metrics.candidates.confusion import confusion as confusion
    from unveil.metrics.candidates.confusion import least_confusion as least_confusion
    from unveil.metrics.candidates.error import absolute_error as absolute_error
    from unveil.metrics.candidates.error import expected_calibration_error as expected_calibration_error
    from unveil.metrics.candidates.error import incorrectly_classified as incorrectly_classified
    from unveil.metrics.candidates.error import incorrectness as incorrectness
    from unveil.metrics.candidates.error import mean_squared_error as mean_squared_error
    from unveil.metrics.candidates.information import amount_of_leaked_information as amount_of_leaked_information
    from unveil.metrics.candidates.information import conditional_privacy_loss as conditional_privacy_loss
    from unveil.metrics.candidates.information import information_surprisal as information_surprisal
    from unveil.metrics.candidates.information import loss_of_anonymity as loss_of_anonymity
    from unveil.metrics.candidates.information import mutual_information as mutual_information
    from unveil.metrics.candidates.information import pearson_correlation as pearson_correlation
    from unveil.metrics.candidates.information import relative_entropy as relative_entropy
    from unveil.metrics.candidates.similarity import normalized_variance as normalized_variance
    from unveil.metrics.candidates.success import adversary_overall_success as adversary_overall_success
    from unveil.metrics.candidates.success import adversary_success_rate as adversary_success_rate
    from unveil.metrics.candidates.success import hiding_property as hiding_property
    from unveil.metrics.candidates.success import user_specified_innocence as user_specified_innocence
    from unveil.metrics.candidates.uncertainty import anonymity_set_size as anonymity_set_size
    from unveil.metrics.candidates.uncertainty import collision_entropy as collision_entropy
    from unveil.metrics.candidates.uncertainty import conditional_entropy as conditional_entropy
    from unveil.metrics.candidates.uncertainty import conditional_privacy as conditional_privacy
    from unveil.metrics.candidates.uncertainty import entropy as entropy
    from unveil.metrics.candidates.uncertainty import inherent_privacy as inherent_privacy
    from unveil.metrics.candidates.uncertainty import max_entropy as max_entropy
    from unveil.metrics.candidates.uncertainty import min_entropy as min_entropy
    from unveil.metrics.candidates.uncertainty import normalized_entropy as normalized_entropy
    from unveil.metrics.candidates.uncertainty import quantiles_on_entropy as quantiles_on_entropy
    from unveil.metrics.candidates.uncertainty import quantiles_on_entropy_high_cut as quantiles_on_entropy_high_cut
    from unveil.metrics.candidates.uncertainty import quantiles_on_entropy_low_cut as quantiles_on_entropy_low_cut
    from unveil.metrics.candidates.uncertainty import renyi_entropy as renyi_entropy
    from unveil.metrics.counts.count_disclosure import CountFigures as CountFigures
    from unveil.metrics.counts.count_disclosure import count_figures as count_figures
    from unveil.metrics.counts.count_disclosure import doubt_left as doubt_left
    from unveil.metrics.counts.count_disclosure import recovered_rate as recovered_rate
    from unveil.metrics.counts.records import record_precision as record_precision
    from unveil.metrics.graphs.anonymity import smallest_degree_class as smallest_degree_class
    from unveil.metrics.graphs.anonymity import unique_degree_share as unique_degree_share
    from unveil.metrics.graphs.attributes import ValueDisclosure as ValueDisclosure
    from unveil.metrics.graphs.attributes import ValueGain as ValueGain
    from unveil.metrics.graphs.attributes import attribute_disclosure as attribute_disclosure
    from unveil.metrics.graphs.attributes import attribute_disclosure_accuracy as attribute_disclosure_accuracy
    from unveil.metrics.graphs.attributes import attribute_disclosure_gain as attribute_disclosure_gain
    from unveil.metrics.graphs.attributes import attribute_guessing_accuracy as attribute_guessing_accuracy
    from unveil.metrics.graphs.edges import EdgeDisclosure as EdgeDisclosure
    from unveil.metrics.graphs.edges import edge_disclosure as edge_disclosure
    from unveil.metrics.graphs.edges import edge_disclosure_lift as edge_disclosure_lift
    from unveil.metrics.graphs.edges import edge_disclosure_precision as edge_disclosure_precision
    from unveil.metrics.graphs.edges import edge_disclosure_recall as edge_disclosure_recall
    from unveil.metrics.graphs.edges import edge_guessing_precision as edge_guessing_precision
    from unveil.metrics.graphs.edges import hidden_edges_disclosed as hidden_edges_disclosed
    from unveil.metrics.graphs.statistics import GraphStatistics as GraphStatistics
    from unveil.metrics.graphs.statistics import graph_statistics as graph_statistics
    from unveil.metrics.graphs.symmetry import deanonymizability_bound as deanonymizability_bound
    from unveil.metrics.graphs.utility import UtilityLoss as UtilityLoss
    from unveil.metrics.graphs.utility import assortativity_loss as assortativity_loss
    from unveil.metrics.graphs.utility import average_path_loss as average_path_loss
    from unveil.metrics.graphs.utility import clustering_loss as clustering_loss
    from unveil.metrics.graphs.utility import degree_distance as degree_distance
    from unveil.metrics.graphs.utility import edge_difference as edge_difference
    from unveil.metrics.graphs.utility import graph_utility as graph_utility
    from unveil.metrics.graphs.utility import joint_degree_distance as joint_degree_distance
    from unveil.metrics.graphs.utility import spectral_distance as spectral_distance
    from unveil.metrics.matchings.cracks import Cracks as Cracks
    from unveil.metrics.matchings.cracks import EstimatedFigure as EstimatedFigure
    from unveil.metrics.matchings.cracks import Quantile as Quantile
    from unveil.metrics.matchings.cracks import crack_probability as crack_probability
    from unveil.metrics.matchings.cracks import cracks as cracks
    from unveil.metrics.matchings.cracks import expected_cracks as expected_cracks
    from unveil.metrics.matchings.degree_of_anonymity import degree_of_anonymity as degree_of_anonymity
    from unveil.metrics.matchings.degree_of_anonymity import permanent_degree as permanent_degree
    from unveil.metrics.matchings.flatness import flat as flat
    from unveil.metrics.matchings.flatness import is_flat as is_flat
    from unveil.metrics.matchings.flatness import nmape as nmape
    from unveil.metrics.matchings.heuristic import heuristic_cracks as heuristic_cracks
    from unveil.metrics.matchings.heuristic import matched_bias as matched_bias
    from unveil.metrics.matchings.set_cracks import Category as Category
    from unveil.metrics.matchings.set_cracks import SetCracks as SetCracks
    from unveil.metrics.matchings.set_cracks import set_cracks as set_cracks
    from unveil.metrics.partitions.crowds import CrowdGraphs as CrowdGraphs
    from unveil.metrics.partitions.crowds import others_graphs as others_graphs
    from unveil.metrics.partitions.distances import PartitionDistances as PartitionDistances
    from unveil.metrics.partitions.distances import adjusted_rand_index as adjusted_rand_index
    from unveil.metrics.partitions.distances import bcubed_precision as bcubed_precision
    from unveil.metrics.partitions.distances import bcubed_recall as bcubed_recall
    from unveil.metrics.partitions.distances import minimal_transfer_distance as minimal_transfer_distance
    from unveil.metrics.partitions.distances import partition_distances as partition_distances
    from unveil.metrics.partitions.distances import rand_index as rand_index
    from unveil.metrics.partitions.distances import variation_of_information as variation_of_information
    from unveil.metrics.partitions.fairness import FigureSpread as FigureSpread
    from unveil.metrics.partitions.fairness import fairness as fairness
    from unveil.metrics.partitions.fairness import gini as gini
    from unveil.metrics.partitions.forecast import Forecast as Forecast
    from unveil.metrics.partitions.forecast import forecast as forecast
    from unveil.metrics.partitions.guessing import Reference as Reference
    from unveil.metrics.partitions.guessing import random_guessing as random_guessing
    from unveil.metrics.partitions.policy_grid import PolicyGrid as PolicyGrid
    from unveil.metrics.partitions.policy_grid import policy_grid as policy_grid
    from unveil.metrics.partitions.policy_grid import risk_slope_on as risk_slope_on
    from unveil.metrics.partitions.unlinkability import OverallUnlinkability as OverallUnlinkability
    from unveil.metrics.partitions.unlinkability import Unlinkability as Unlinkability
    from unveil.metrics.partitions.unlinkability import breached_share as breached_share
    from unveil.metrics.partitions.unlinkability import include_errors as include_errors
    from unveil.metrics.partitions.unlinkability import miss_errors as miss_errors
    from unveil.metrics.partitions.unlinkability import normalised_error as normalised_error
    from unveil.metrics.partitions.unlinkability import overall_risk_slope as overall_risk_slope
    from unveil.metrics.partitions.unlinkability import risk_slope as risk_slope
    from unveil.metrics.partitions.unlinkability import unlinkability as unlinkability
    from unveil.metrics.partitions.views import Range as Range
    from unveil.metrics.partitions.views import ViewRanges as ViewRanges
    from unveil.metrics.partitions.views import over_views as over_views
    from unveil.metrics.releases._classes import EquivalenceClasses as EquivalenceClasses
    from unveil.metrics.releases._classes import equivalence_classes as equivalence_classes
    from unveil.metrics.releases.closeness import Closeness as Closeness
    from unveil.metrics.releases.closeness import CopyRates as CopyRates
    from unveil.metrics.releases.closeness import DistanceQuantiles as DistanceQuantiles
    from unveil.metrics.releases.closeness import distance_to_closest as distance_to_closest
    from unveil.metrics.releases.closeness import exact_copies as exact_copies
    from unveil.metrics.releases.closeness import nearest_distance_ratio as nearest_distance_ratio
    from unveil.metrics.releases.disclosure import Disclosure as Disclosure
    from unveil.metrics.releases.disclosure import average_risk as average_risk
    from unveil.metrics.releases.disclosure import disclosure as disclosure
    from unveil.metrics.releases.disclosure import highest_risk as highest_risk
    from unveil.metrics.releases.disclosure import k_anonymity as k_anonymity
    from unveil.metrics.releases.disclosure import records_at_risk as records_at_risk
    from unveil.metrics.releases.disclosure import sample_uniqueness as sample_uniqueness
    from unveil.metrics.releases.diversity import Diversity as Diversity
    from unveil.metrics.releases.diversity import distinct_l_diversity as distinct_l_diversity
    from unveil.metrics.releases.diversity import diversity as diversity
    from unveil.metrics.releases.diversity import entropy_l_diversity as entropy_l_diversity
    from unveil.metrics.releases.diversity import recursive_l_diversity as recursive_l_diversity
    from unveil.metrics.releases.diversity import t_closeness as t_closeness
    from unveil.metrics.releases.households import HouseholdRisk as HouseholdRisk
    from unveil.metrics.releases.households import household_risk as household_risk
    from unveil.metrics.releases.population import PopulationRisk as PopulationRisk
    from unveil.metrics.releases.population import expected_reidentifications as expected_reidentifications
    from unveil.metrics.releases.population import k_map_risk as k_map_risk
    from unveil.metrics.releases.population import population_risk as population_risk
    from unveil.metrics.releases.population import population_uniqueness as population_uniqueness
    from unveil.metrics.releases.propensity import Propensity as Propensity
    from unveil.metrics.releases.propensity import propensity_score as propensity_score
    from unveil.metrics.releases.special_uniques import SpecialUniques as SpecialUniques
    from unveil.metrics.releases.special_uniques import special_uniques as special_uniques
    from unveil.metrics.releases.unseen_values import UnseenValues as UnseenValues
    from unveil.metrics.releases.unseen_values import unseen_values as unseen_values
    from unveil.metrics.releases.utility import ColumnDistance as ColumnDistance
    from unveil.metrics.releases.utility import PairDistance as PairDistance
    from unveil.metrics.releases.utility import Utility as Utility
    from unveil.metrics.releases.utility import column_distances as column_distances
    from unveil.metrics.releases.utility import loss_summary as loss_summary
    from unveil.metrics.releases.utility import pair_distances as pair_distances
    from unveil.metrics.trials.groups import GroupRates as GroupRates
    from unveil.metrics.trials.groups import RatesByGroup as RatesByGroup
    from unveil.metrics.trials.groups import bands as bands
    from unveil.metrics.trials.groups import group_rates as group_rates
    from unveil.metrics.trials.membership import Curve as Curve
    from unveil.metrics.trials.membership import area_under_curve as area_under_curve
    from unveil.metrics.trials.membership import called_at as called_at
    from unveil.metrics.trials.membership import curve as curve
    from unveil.metrics.trials.membership import pointed_out as pointed_out
    from unveil.metrics.trials.risk import Rate as Rate
    from unveil.metrics.trials.risk import Risk as Risk
    from unveil.metrics.trials.risk import attack_rate as attack_rate
    from unveil.metrics.trials.risk import clopper_pearson as clopper_pearson
    from unveil.metrics.trials.risk import control_rate as control_rate
    from unveil.metrics.trials.risk import excess_over_control as excess_over_control
    from unveil.metrics.trials.risk import naive_rate as naive_rate
    from unveil.metrics.trials.risk import risk as risk
    from unveil.metrics.trials.risk import wilson as wilson

#: Where everything lives, loaded when first asked for: whoever measures partitions does not pay for tables. Metrics are
#: listed in this order. The block above repeats it for type checkers, which cannot read a table; a test compares them.
_HOME = {
    "_listing": "Metric metric METRICS",
    "candidates.candidate_metrics": "all_metrics MetricValue",
    "candidates.uncertainty": (
        "anonymity_set_size collision_entropy conditional_entropy conditional_privacy entropy inherent_privacy "
        "max_entropy min_entropy normalized_entropy quantiles_on_entropy quantiles_on_entropy_high_cut "
        "quantiles_on_entropy_low_cut renyi_entropy"
    ),
    "candidates.confusion": "Confusion confusion least_confusion",
    "candidates.error": (
        "absolute_error expected_calibration_error incorrectly_classified incorrectness mean_squared_error"
    ),
    "candidates.information": (
        "amount_of_leaked_information conditional_privacy_loss information_surprisal loss_of_anonymity "
        "mutual_information pearson_correlation relative_entropy"
    ),
    "candidates.similarity": "normalized_variance",
    "candidates.success": "adversary_overall_success adversary_success_rate hiding_property user_specified_innocence",
    "beliefs.compatibility": "Compatibility compatibility compatible_belief compatible_probability valid_guesses",
    "beliefs.file_level": "file_level_truth FileLevelTruth",
    "matchings.cracks": "crack_probability Cracks cracks expected_cracks EstimatedFigure Quantile",
    "matchings.degree_of_anonymity": "degree_of_anonymity permanent_degree",
    "matchings.flatness": "flat is_flat nmape",
    "matchings.heuristic": "heuristic_cracks matched_bias",
    "matchings.set_cracks": "Category set_cracks SetCracks",
    "partitions.distances": (
        "adjusted_rand_index bcubed_precision bcubed_recall minimal_transfer_distance partition_distances "
        "PartitionDistances rand_index variation_of_information"
    ),
    "partitions.fairness": "fairness gini FigureSpread",
    "partitions.forecast": "Forecast forecast",
    "partitions.guessing": "random_guessing Reference",
    "partitions.views": "over_views ViewRanges Range",
    "partitions.crowds": "others_graphs CrowdGraphs",
    "partitions.policy_grid": "policy_grid PolicyGrid risk_slope_on",
    "partitions.unlinkability": (
        "breached_share include_errors miss_errors normalised_error OverallUnlinkability overall_risk_slope risk_slope "
        "Unlinkability unlinkability"
    ),
    "trials.groups": "bands GroupRates group_rates RatesByGroup",
    "trials.membership": "area_under_curve called_at Curve curve pointed_out",
    "trials.risk": "attack_rate clopper_pearson control_rate excess_over_control naive_rate Rate Risk risk wilson",
    "releases._classes": "equivalence_classes EquivalenceClasses",
    "releases.closeness": (
        "Closeness CopyRates distance_to_closest DistanceQuantiles exact_copies nearest_distance_ratio"
    ),
    "releases.disclosure": (
        "average_risk Disclosure disclosure highest_risk k_anonymity records_at_risk sample_uniqueness"
    ),
    "releases.diversity": (
        "distinct_l_diversity Diversity diversity entropy_l_diversity recursive_l_diversity t_closeness"
    ),
    "releases.households": "household_risk HouseholdRisk",
    "releases.population": "expected_reidentifications k_map_risk population_risk population_uniqueness PopulationRisk",
    "releases.propensity": "Propensity propensity_score",
    "releases.special_uniques": "special_uniques SpecialUniques",
    "releases.unseen_values": "UnseenValues unseen_values",
    "releases.utility": "column_distances ColumnDistance loss_summary pair_distances PairDistance Utility",
    "graphs.anonymity": "smallest_degree_class unique_degree_share",
    "graphs.attributes": (
        "attribute_disclosure attribute_disclosure_accuracy attribute_disclosure_gain attribute_guessing_accuracy "
        "ValueDisclosure ValueGain"
    ),
    "graphs.edges": (
        "edge_disclosure edge_disclosure_lift edge_disclosure_precision edge_disclosure_recall edge_guessing_precision "
        "EdgeDisclosure hidden_edges_disclosed"
    ),
    "graphs.statistics": "graph_statistics GraphStatistics",
    "graphs.symmetry": "deanonymizability_bound",
    "graphs.utility": (
        "assortativity_loss average_path_loss clustering_loss degree_distance edge_difference graph_utility "
        "joint_degree_distance UtilityLoss spectral_distance"
    ),
    "counts.count_disclosure": "CountFigures count_figures doubt_left recovered_rate",
    "counts.records": "record_precision",
}


@cache
def load() -> tuple[str, ...]:
    """Load every family, so that all metrics are listed; return their modules in the order above."""
    return tuple(import_module(f"{__name__}.{home}").__name__ for home in _HOME)


__all__, __getattr__, __dir__ = lazily(
    __name__, {name: home for home, names in _HOME.items() for name in names.split()}
)
