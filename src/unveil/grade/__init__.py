"""Can the numbers be trusted? Grades of metrics: do they follow the adversary's strength, and tell cases apart?"""

from unveil.grade.calibrated import Calibrated
from unveil.grade.evenness import evenness, raw_evenness, shared_range
from unveil.grade.factors import Factors, explain
from unveil.grade.grades import Grades, grade, recommended
from unveil.grade.mars import Mars, fit_mars
from unveil.grade.monotonicity import Monotonicity, monotonicity, monotonicity_of
from unveil.grade.nodes import NodeValues
from unveil.grade.replicated import Case, Replicated
from unveil.grade.search import SuiteSearch, best_suites
from unveil.grade.shipped import Shipped, ShippedGrade, shipped_grades
from unveil.grade.suites import SUITES, Rankings, Suite, equal_suites, rankings, suite_values
from unveil.grade.weighted_sum import SumRankings, sum_rankings

__all__ = [
    "SUITES",
    "Calibrated",
    "Case",
    "Factors",
    "Grades",
    "Mars",
    "Monotonicity",
    "NodeValues",
    "Rankings",
    "Replicated",
    "Shipped",
    "ShippedGrade",
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
