"""Numbers from a guess and the truth: plain functions, each listed once with what it means."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from unveil._lazy import lazily

if TYPE_CHECKING:
    from unveil.measure._listing import METRICS as METRICS
    from unveil.measure._listing import Metric as Metric
    from unveil.measure._listing import metric as metric
    from unveil.measure.beliefs.compatibility import Compatibility as Compatibility
    from unveil.measure.beliefs.compatibility import compatibility as compatibility
    from unveil.measure.beliefs.compatibility import compatible_belief as compatible_belief
    from unveil.measure.beliefs.compatibility import compatible_probability as compatible_probability
    from unveil.measure.beliefs.compatibility import valid_guesses as valid_guesses
    from unveil.measure.beliefs.file_level import FileLevelTruth as FileLevelTruth
    from unveil.measure.beliefs.file_level import file_level_truth as file_level_truth
    from unveil.measure.candidates.candidate_metrics import Measured as Measured
    from unveil.measure.candidates.candidate_metrics import all_metrics as all_metrics
    from unveil.measure.candidates.confusion import Confusion as Confusion
    from unveil.measure.candidates.confusion import confusion as confusion
    from unveil.measure.candidates.confusion import least_confusion as least_confusion
    from unveil.measure.candidates.error import absolute_error as absolute_error
    from unveil.measure.candidates.error import expected_calibration_error as expected_calibration_error
    from unveil.measure.candidates.error import incorrectly_classified as incorrectly_classified
    from unveil.measure.candidates.error import incorrectness as incorrectness
    from unveil.measure.candidates.error import mean_squared_error as mean_squared_error
    from unveil.measure.candidates.information import amount_of_leaked_information as amount_of_leaked_information
    from unveil.measure.candidates.information import conditional_privacy_loss as conditional_privacy_loss
    from unveil.measure.candidates.information import information_surprisal as information_surprisal
    from unveil.measure.candidates.information import loss_of_anonymity as loss_of_anonymity
    from unveil.measure.candidates.information import mutual_information as mutual_information
    from unveil.measure.candidates.information import pearson_correlation as pearson_correlation
    from unveil.measure.candidates.information import relative_entropy as relative_entropy
    from unveil.measure.candidates.similarity import normalized_variance as normalized_variance
    from unveil.measure.candidates.success import adversary_overall_success as adversary_overall_success
    from unveil.measure.candidates.success import adversary_success_rate as adversary_success_rate
    from unveil.measure.candidates.success import hiding_property as hiding_property
    from unveil.measure.candidates.success import user_specified_innocence as user_specified_innocence
    from unveil.measure.candidates.uncertainty import anonymity_set_size as anonymity_set_size
    from unveil.measure.candidates.uncertainty import collision_entropy as collision_entropy
    from unveil.measure.candidates.uncertainty import conditional_entropy as conditional_entropy
    from unveil.measure.candidates.uncertainty import conditional_privacy as conditional_privacy
    from unveil.measure.candidates.uncertainty import entropy as entropy
    from unveil.measure.candidates.uncertainty import inherent_privacy as inherent_privacy
    from unveil.measure.candidates.uncertainty import max_entropy as max_entropy
    from unveil.measure.candidates.uncertainty import min_entropy as min_entropy
    from unveil.measure.candidates.uncertainty import normalized_entropy as normalized_entropy
    from unveil.measure.candidates.uncertainty import quantiles_on_entropy as quantiles_on_entropy
    from unveil.measure.candidates.uncertainty import quantiles_on_entropy_high_cut as quantiles_on_entropy_high_cut
    from unveil.measure.candidates.uncertainty import quantiles_on_entropy_low_cut as quantiles_on_entropy_low_cut
    from unveil.measure.candidates.uncertainty import renyi_entropy as renyi_entropy
    from unveil.measure.counts.records import record_precision as record_precision
    from unveil.measure.counts.worked_out import CountFigures as CountFigures
    from unveil.measure.counts.worked_out import count_figures as count_figures
    from unveil.measure.counts.worked_out import doubt_left as doubt_left
    from unveil.measure.counts.worked_out import recovered_rate as recovered_rate
    from unveil.measure.graphs.anonymity import smallest_degree_class as smallest_degree_class
    from unveil.measure.graphs.anonymity import unique_degree_share as unique_degree_share
    from unveil.measure.graphs.attributes import AttributeDisclosure as AttributeDisclosure
    from unveil.measure.graphs.attributes import ValueGain as ValueGain
    from unveil.measure.graphs.attributes import attribute_disclosure as attribute_disclosure
    from unveil.measure.graphs.attributes import attribute_disclosure_accuracy as attribute_disclosure_accuracy
    from unveil.measure.graphs.attributes import attribute_disclosure_gain as attribute_disclosure_gain
    from unveil.measure.graphs.attributes import attribute_guessing_accuracy as attribute_guessing_accuracy
    from unveil.measure.graphs.edges import EdgeDisclosure as EdgeDisclosure
    from unveil.measure.graphs.edges import edge_disclosure as edge_disclosure
    from unveil.measure.graphs.edges import edge_disclosure_lift as edge_disclosure_lift
    from unveil.measure.graphs.edges import edge_disclosure_precision as edge_disclosure_precision
    from unveil.measure.graphs.edges import edge_disclosure_recall as edge_disclosure_recall
    from unveil.measure.graphs.edges import edge_guessing_precision as edge_guessing_precision
    from unveil.measure.graphs.edges import hidden_edges_disclosed as hidden_edges_disclosed
    from unveil.measure.graphs.statistics import GraphStatistics as GraphStatistics
    from unveil.measure.graphs.statistics import graph_statistics as graph_statistics
    from unveil.measure.graphs.symmetry import deanonymizability_bound as deanonymizability_bound
    from unveil.measure.graphs.utility import Lost as Lost
    from unveil.measure.graphs.utility import assortativity_loss as assortativity_loss
    from unveil.measure.graphs.utility import average_path_loss as average_path_loss
    from unveil.measure.graphs.utility import clustering_loss as clustering_loss
    from unveil.measure.graphs.utility import degree_distance as degree_distance
    from unveil.measure.graphs.utility import edge_difference as edge_difference
    from unveil.measure.graphs.utility import graph_utility as graph_utility
    from unveil.measure.graphs.utility import joint_degree_distance as joint_degree_distance
    from unveil.measure.graphs.utility import spectral_distance as spectral_distance
    from unveil.measure.matchings.cracks import Cracks as Cracks
    from unveil.measure.matchings.cracks import Figure as Figure
    from unveil.measure.matchings.cracks import Quantile as Quantile
    from unveil.measure.matchings.cracks import crack_probability as crack_probability
    from unveil.measure.matchings.cracks import cracks as cracks
    from unveil.measure.matchings.cracks import expected_cracks as expected_cracks
    from unveil.measure.matchings.degree_of_anonymity import degree_of_anonymity as degree_of_anonymity
    from unveil.measure.matchings.degree_of_anonymity import permanent_degree as permanent_degree
    from unveil.measure.matchings.flatness import flat as flat
    from unveil.measure.matchings.flatness import is_flat as is_flat
    from unveil.measure.matchings.flatness import nmape as nmape
    from unveil.measure.matchings.heuristic import heuristic_cracks as heuristic_cracks
    from unveil.measure.matchings.heuristic import matched_bias as matched_bias
    from unveil.measure.matchings.set_cracks import Category as Category
    from unveil.measure.matchings.set_cracks import SetCracks as SetCracks
    from unveil.measure.matchings.set_cracks import set_cracks as set_cracks
    from unveil.measure.partitions.distances import PartitionDistances as PartitionDistances
    from unveil.measure.partitions.distances import adjusted_rand_index as adjusted_rand_index
    from unveil.measure.partitions.distances import bcubed_precision as bcubed_precision
    from unveil.measure.partitions.distances import bcubed_recall as bcubed_recall
    from unveil.measure.partitions.distances import minimal_transfer_distance as minimal_transfer_distance
    from unveil.measure.partitions.distances import partition_distances as partition_distances
    from unveil.measure.partitions.distances import rand_index as rand_index
    from unveil.measure.partitions.distances import variation_of_information as variation_of_information
    from unveil.measure.partitions.fairness import Spread as Spread
    from unveil.measure.partitions.fairness import fairness as fairness
    from unveil.measure.partitions.fairness import gini as gini
    from unveil.measure.partitions.forecast import Forecast as Forecast
    from unveil.measure.partitions.forecast import forecast as forecast
    from unveil.measure.partitions.guessing import Reference as Reference
    from unveil.measure.partitions.guessing import random_guessing as random_guessing
    from unveil.measure.partitions.others import OthersGraphs as OthersGraphs
    from unveil.measure.partitions.others import others_graphs as others_graphs
    from unveil.measure.partitions.policy_grid import PolicyGrid as PolicyGrid
    from unveil.measure.partitions.policy_grid import policy_grid as policy_grid
    from unveil.measure.partitions.policy_grid import risk_slope_on as risk_slope_on
    from unveil.measure.partitions.unlinkability import Overall as Overall
    from unveil.measure.partitions.unlinkability import Unlinkability as Unlinkability
    from unveil.measure.partitions.unlinkability import breached_share as breached_share
    from unveil.measure.partitions.unlinkability import include_errors as include_errors
    from unveil.measure.partitions.unlinkability import miss_errors as miss_errors
    from unveil.measure.partitions.unlinkability import normalised_error as normalised_error
    from unveil.measure.partitions.unlinkability import overall_risk_slope as overall_risk_slope
    from unveil.measure.partitions.unlinkability import risk_slope as risk_slope
    from unveil.measure.partitions.unlinkability import unlinkability as unlinkability
    from unveil.measure.partitions.views import OverViews as OverViews
    from unveil.measure.partitions.views import Range as Range
    from unveil.measure.partitions.views import over_views as over_views
    from unveil.measure.releases._classes import EquivalenceClasses as EquivalenceClasses
    from unveil.measure.releases._classes import equivalence_classes as equivalence_classes
    from unveil.measure.releases.closeness import Closeness as Closeness
    from unveil.measure.releases.closeness import Copies as Copies
    from unveil.measure.releases.closeness import Nearness as Nearness
    from unveil.measure.releases.closeness import distance_to_closest as distance_to_closest
    from unveil.measure.releases.closeness import exact_copies as exact_copies
    from unveil.measure.releases.closeness import nearest_distance_ratio as nearest_distance_ratio
    from unveil.measure.releases.disclosure import Disclosure as Disclosure
    from unveil.measure.releases.disclosure import average_risk as average_risk
    from unveil.measure.releases.disclosure import disclosure as disclosure
    from unveil.measure.releases.disclosure import highest_risk as highest_risk
    from unveil.measure.releases.disclosure import k_anonymity as k_anonymity
    from unveil.measure.releases.disclosure import records_at_risk as records_at_risk
    from unveil.measure.releases.disclosure import sample_uniqueness as sample_uniqueness
    from unveil.measure.releases.diversity import Diversity as Diversity
    from unveil.measure.releases.diversity import distinct_l_diversity as distinct_l_diversity
    from unveil.measure.releases.diversity import diversity as diversity
    from unveil.measure.releases.diversity import entropy_l_diversity as entropy_l_diversity
    from unveil.measure.releases.diversity import recursive_l_diversity as recursive_l_diversity
    from unveil.measure.releases.diversity import t_closeness as t_closeness
    from unveil.measure.releases.households import HouseholdRisk as HouseholdRisk
    from unveil.measure.releases.households import household_risk as household_risk
    from unveil.measure.releases.population import PopulationRisk as PopulationRisk
    from unveil.measure.releases.population import expected_reidentifications as expected_reidentifications
    from unveil.measure.releases.population import k_map_risk as k_map_risk
    from unveil.measure.releases.population import population_risk as population_risk
    from unveil.measure.releases.population import population_uniqueness as population_uniqueness
    from unveil.measure.releases.propensity import Propensity as Propensity
    from unveil.measure.releases.propensity import propensity_score as propensity_score
    from unveil.measure.releases.special_uniques import SpecialUniques as SpecialUniques
    from unveil.measure.releases.special_uniques import special_uniques as special_uniques
    from unveil.measure.releases.unseen import Unseen as Unseen
    from unveil.measure.releases.unseen import unseen_values as unseen_values
    from unveil.measure.releases.utility import ColumnDistance as ColumnDistance
    from unveil.measure.releases.utility import PairDistance as PairDistance
    from unveil.measure.releases.utility import Utility as Utility
    from unveil.measure.releases.utility import column_distances as column_distances
    from unveil.measure.releases.utility import loss_summary as loss_summary
    from unveil.measure.releases.utility import pair_distances as pair_distances
    from unveil.measure.trials.anonymeter import anonymeter_risk as anonymeter_risk
    from unveil.measure.trials.groups import Group as Group
    from unveil.measure.trials.groups import Groups as Groups
    from unveil.measure.trials.groups import bands as bands
    from unveil.measure.trials.groups import group_rates as group_rates
    from unveil.measure.trials.membership import Curve as Curve
    from unveil.measure.trials.membership import area_under_curve as area_under_curve
    from unveil.measure.trials.membership import called_at as called_at
    from unveil.measure.trials.membership import curve as curve
    from unveil.measure.trials.membership import pointed_out as pointed_out
    from unveil.measure.trials.risk import Rate as Rate
    from unveil.measure.trials.risk import Risk as Risk
    from unveil.measure.trials.risk import attack_rate as attack_rate
    from unveil.measure.trials.risk import clopper_pearson as clopper_pearson
    from unveil.measure.trials.risk import control_rate as control_rate
    from unveil.measure.trials.risk import excess_over_control as excess_over_control
    from unveil.measure.trials.risk import naive_rate as naive_rate
    from unveil.measure.trials.risk import risk as risk
    from unveil.measure.trials.risk import wilson as wilson

#: Where everything lives, loaded when first asked for: whoever measures partitions does not pay for tables. Metrics are
#: listed in this order. The block above repeats it for type checkers, which cannot read a table; a test compares them.
_HOME = {
    "_listing": "Metric metric METRICS",
    "candidates.candidate_metrics": "all_metrics Measured",
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
    "matchings.cracks": "crack_probability Cracks cracks expected_cracks Figure Quantile",
    "matchings.degree_of_anonymity": "degree_of_anonymity permanent_degree",
    "matchings.flatness": "flat is_flat nmape",
    "matchings.heuristic": "heuristic_cracks matched_bias",
    "matchings.set_cracks": "Category set_cracks SetCracks",
    "partitions.distances": (
        "adjusted_rand_index bcubed_precision bcubed_recall minimal_transfer_distance partition_distances "
        "PartitionDistances rand_index variation_of_information"
    ),
    "partitions.fairness": "fairness gini Spread",
    "partitions.forecast": "Forecast forecast",
    "partitions.guessing": "random_guessing Reference",
    "partitions.views": "over_views OverViews Range",
    "partitions.others": "others_graphs OthersGraphs",
    "partitions.policy_grid": "policy_grid PolicyGrid risk_slope_on",
    "partitions.unlinkability": (
        "breached_share include_errors miss_errors normalised_error Overall overall_risk_slope risk_slope "
        "Unlinkability unlinkability"
    ),
    "trials.groups": "bands Group group_rates Groups",
    "trials.membership": "area_under_curve called_at Curve curve pointed_out",
    "trials.risk": "attack_rate clopper_pearson control_rate excess_over_control naive_rate Rate Risk risk wilson",
    "trials.anonymeter": "anonymeter_risk",
    "releases._classes": "equivalence_classes EquivalenceClasses",
    "releases.closeness": "Closeness Copies distance_to_closest exact_copies nearest_distance_ratio Nearness",
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
    "releases.unseen": "Unseen unseen_values",
    "releases.utility": "column_distances ColumnDistance loss_summary pair_distances PairDistance Utility",
    "graphs.anonymity": "smallest_degree_class unique_degree_share",
    "graphs.attributes": (
        "attribute_disclosure attribute_disclosure_accuracy attribute_disclosure_gain attribute_guessing_accuracy "
        "AttributeDisclosure ValueGain"
    ),
    "graphs.edges": (
        "edge_disclosure edge_disclosure_lift edge_disclosure_precision edge_disclosure_recall edge_guessing_precision "
        "EdgeDisclosure hidden_edges_disclosed"
    ),
    "graphs.statistics": "graph_statistics GraphStatistics",
    "graphs.symmetry": "deanonymizability_bound",
    "graphs.utility": (
        "assortativity_loss average_path_loss clustering_loss degree_distance edge_difference graph_utility "
        "joint_degree_distance Lost spectral_distance"
    ),
    "counts.worked_out": "CountFigures count_figures doubt_left recovered_rate",
    "counts.records": "record_precision",
}


@cache
def load() -> tuple[str, ...]:
    """Load every family, so that all metrics are listed; return their modules in the order above."""
    # The risk of another package is no metric of ours, and only for those who compare.
    return tuple(import_module(f"{__name__}.{home}").__name__ for home in _HOME if home != "trials.anonymeter")


__all__, __getattr__, __dir__ = lazily(
    __name__, {name: home for home, names in _HOME.items() for name in names.split()}
)
