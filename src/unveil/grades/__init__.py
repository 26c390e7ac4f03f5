"""Can the numbers be trusted? Grades of metrics: do they follow the adversary's strength, and tell cases apart?"""

from unveil.grades.calibrated import Calibrated
from unveil.grades.evenness import evenness, raw_evenness, shared_range
from unveil.grades.factors import Factors, explain
from unveil.grades.grades import Grades, grade, recommended
from unveil.grades.mars import Mars, fit_mars
from unveil.grades.monotonicity import Monotonicity, monotonicity, monotonicity_of
from unveil.grades.nodes import NodeValues
from unveil.grades.replicated import Case, Replicated
from unveil.grades.search import SuiteSearch, best_suites
from unveil.grades.shipped import Shipped, ShippedGrade, shipped_grades
from unveil.grades.suites import SUITES, Rankings, Suite, equal_suites, rankings, suite_values
from unveil.grades.weighted_sum import SumRankings, sum_rankings

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
