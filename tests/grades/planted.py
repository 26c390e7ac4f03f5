"""Values with known grades: metrics that follow the adversary's strength, go the other way, never change or are NaN."""

import numpy as np

from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.suites import SUITES
from unveil.metrics import METRICS as LISTED

#: Those of the suites follow strength; of the others one rises where it should fall, one is constant, one undefined.
METRICS = (*SUITES["S5"].metrics, "entropy", "min_entropy", "max_entropy")
AXES = {"overlap": (0.6, 0.7, 0.8, 0.9), "seed_pairs": (5.0, 10.0, 20.0, 50.0)}


def planted(
    *, replications: int = 6, attacks: tuple[str, ...] = ("NS:theta=0.5", "DV:theta=0,chunk=100")
) -> ReplicatedMetrics:
    """Return two data sets, two protections and two attacks along two axes."""
    rng = np.random.default_rng(8)
    cases = tuple(
        GradedCase(data, protect, attack, axis)
        for data in ("mail", "roads")
        for protect in ("id-removal", "switch:share=0.1")
        for attack in attacks
        for axis in AXES
    )
    rising = np.array([LISTED[name].more_means == "less private" for name in METRICS])
    size = (len(cases), len(METRICS), 4, replications)
    step = np.where(rising, 1.0, -1.0)[None, :, None, None] * np.arange(4)[None, None, :, None]
    # Cases start at different heights, so that none uses the whole range of a metric.
    height = np.linspace(0.0, 0.3, len(cases))[:, None, None, None]
    values = 0.5 + height + 0.05 * step + rng.normal(0.0, 0.004, size)
    values[:, METRICS.index("entropy")] = 1.6 - values[:, METRICS.index("entropy")]
    values[:, METRICS.index("min_entropy")] = 0.25
    values[:, METRICS.index("max_entropy")] = np.nan
    return ReplicatedMetrics(
        cases=cases,
        metrics=METRICS,
        levels=tuple(AXES[case.axis] for case in cases),
        values=values,
        rising=rising,
    )
