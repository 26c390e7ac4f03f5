"""Grades of metrics: do they rank attackers by strength?"""

from unveil._lazy import TYPE_CHECKING, lazy_reexports

if TYPE_CHECKING:
    from unveil.grades.calibration_grades import CalibrationGrades as CalibrationGrades
    from unveil.grades.evenness import evenness as evenness
    from unveil.grades.evenness import raw_evenness as raw_evenness
    from unveil.grades.evenness import shared_range as shared_range
    from unveil.grades.factors import Factors as Factors
    from unveil.grades.factors import explain as explain
    from unveil.grades.grades import Grades as Grades
    from unveil.grades.grades import grade as grade
    from unveil.grades.grades import recommended as recommended
    from unveil.grades.mars import Mars as Mars
    from unveil.grades.mars import fit_mars as fit_mars
    from unveil.grades.monotonicity import Monotonicity as Monotonicity
    from unveil.grades.monotonicity import monotonicity as monotonicity
    from unveil.grades.monotonicity import monotonicity_of as monotonicity_of
    from unveil.grades.nodes import NodeSketches as NodeSketches
    from unveil.grades.replicated_metrics import GradedCase as GradedCase
    from unveil.grades.replicated_metrics import ReplicatedMetrics as ReplicatedMetrics
    from unveil.grades.search import SuiteSearch as SuiteSearch
    from unveil.grades.search import best_suites as best_suites
    from unveil.grades.shipped_grades import ShippedGrade as ShippedGrade
    from unveil.grades.shipped_grades import ShippedGrades as ShippedGrades
    from unveil.grades.shipped_grades import shipped_grades as shipped_grades
    from unveil.grades.suites import SUITES as SUITES
    from unveil.grades.suites import Rankings as Rankings
    from unveil.grades.suites import Suite as Suite
    from unveil.grades.suites import equal_suites as equal_suites
    from unveil.grades.suites import rankings as rankings
    from unveil.grades.suites import suite_values as suite_values
    from unveil.grades.weighted_sum import SumRankings as SumRankings
    from unveil.grades.weighted_sum import sum_rankings as sum_rankings

__getattr__, __dir__ = lazy_reexports(__name__)
