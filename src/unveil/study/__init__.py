"""Many scenarios at once: data, protections and attacks tried with one another, by adversaries of growing strength."""

from unveil.study.plan import Axis, DataSet, Replications, Study
from unveil.study.results import Results
from unveil.study.run import RunSummary, run_study
from unveil.study.scenario import Scenario
from unveil.study.seal import DiskError
from unveil.study.store import Store

__all__ = [
    "Axis",
    "DataSet",
    "DiskError",
    "Replications",
    "Results",
    "RunSummary",
    "Scenario",
    "Store",
    "Study",
    "run_study",
]
