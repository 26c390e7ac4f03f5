"""The embedded sample of an audit: people, others as control, and three releases made by the package itself."""

from dataclasses import replace

import numpy as np

from unveil.data.samples import audit_sample
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections import GaussianCopula, RankSwapping, Shuffle, TableProtection


def sample_releases(rng: np.random.Generator) -> tuple[Table, Table, tuple[Release, ...]]:
    """Return the original table, the control table, and three releases of the original.

    The releases are the original without protection but shuffled, rank-swapped, and a synthesis by a Gaussian copula,
    with the settings that these protections have by themselves. They are made anew on each call: one state of ``rng``
    gives one set of releases.

    >>> original, control, releases = sample_releases(np.random.default_rng(1))
    >>> [(release.name, release.released.rows) for release in releases]
    [('shuffled', 700), ('rank-swapped', 700), ('gaussian-copula', 700)]
    """
    original, control = audit_sample()
    protections: tuple[TableProtection, ...] = (Shuffle(), RankSwapping(), GaussianCopula())
    releases = tuple(replace(protection.apply(original, rng=rng), control=control) for protection in protections)
    return original, control, releases
