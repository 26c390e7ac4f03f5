"""Grades of metrics: do they rank attackers by strength?"""

from unveil.grades.calibration_grades import CalibrationGrades
from unveil.grades.evenness import evenness, raw_evenness, shared_range
from unveil.grades.factors import Factors, explain
from unveil.grades.grades import Grades, grade, recommended
from unveil.grades.mars import Mars, fit_mars
from unveil.grades.monotonicity import Monotonicity, monotonicity, monotonicity_of
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.search import SuiteSearch, best_suites
from unveil.grades.shipped_grades import ShippedGrade, ShippedGrades, shipped_grades
from unveil.grades.suites import SUITES, Rankings, Suite, equal_suites, rankings, suite_values
from unveil.grades.weighted_sum import SumRankings, sum_rankings

__all__ = [
    "SUITES",
    "CalibrationGrades",
    "Factors",
    "GradedCase",
    "Grades",
    "Mars",
    "Monotonicity",
    "NodeSketches",
    "Rankings",
    "ReplicatedMetrics",
    "ShippedGrade",
    "ShippedGrades",
    "Suite",
    "SuiteSearch",
    "SumRankings",
    "best_suites",
    "equal_suites",
    "evenness",
    "explain",
    "fit_mars",
    "grade",
    "monotonicity",
    "monotonicity_of",
    "rankings",
    "raw_evenness",
    "recommended",
    "shared_range",
    "shipped_grades",
    "suite_values",
    "sum_rankings",
]
