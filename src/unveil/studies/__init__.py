"""Studies: data, protections, and attacks combined, by attacker strength."""

from unveil.studies.plan import Axis, DataSet, Replications, Study
from unveil.studies.results import Results
from unveil.studies.run import RunSummary, run_study
from unveil.studies.scenario import Scenario
from unveil.studies.store import Store
from unveil.work.seal import DiskError

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
