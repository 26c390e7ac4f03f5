"""Studies: data, protections, and attacks combined, by attacker strength."""

from unveil._lazy import TYPE_CHECKING, lazy_reexports

if TYPE_CHECKING:
    from unveil.studies.plan import Axis as Axis
    from unveil.studies.plan import DataSet as DataSet
    from unveil.studies.plan import Replications as Replications
    from unveil.studies.plan import Study as Study
    from unveil.studies.results import Results as Results
    from unveil.studies.run import RunSummary as RunSummary
    from unveil.studies.run import run_study as run_study
    from unveil.studies.scenario import Scenario as Scenario
    from unveil.studies.store import Store as Store
    from unveil.work.seal import DiskError as DiskError

__getattr__, __dir__ = lazy_reexports(__name__)
