"""What is known of the data and attacks of a study beside their names: statistics, types, local or global."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._specification import understood
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.studies import DataSet, Results, Study

#: The statistics of graphs that can explain a grade: those that Zhao and Wagner used.
GRAPH_STATISTICS = (
    "nodes",
    "edges",
    "diameter",
    "average_degree",
    "average_path",
    "clustering",
    "gini",
    "wedges",
    "spectral_norm",
)


def types_of(study: "Study") -> dict[str, str]:
    """Return the type of each data set of a study that has one, by name."""
    return {each.name: each.type for each in study.data if each.type}


def statistics_of(
    study: "Study | Results", *, rng: np.random.Generator
) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Return the statistics of each data set of a study by name, and notes of what could not be had.

    Of graphs those in `GRAPH_STATISTICS`, of tables their rows, columns and different rows. Data that cannot be opened
    any more, or (given results) are not those that the study began with, are left out with a note.

    >>> from unveil.studies import Axis, DataSet, Replications, Study
    >>> sample = Study(name="try", seed=1, data=(DataSet("people", "table", "sample:anes96"),),
    ...                protections=("shuffle",), attacks=("record-linkage",), axes=(Axis("known_columns", (1, 2)),),
    ...                replications=Replications(number=2))
    >>> statistics_of(sample, rng=np.random.default_rng(1))
    ({'people': {'rows': 700.0, 'columns': 10.0, 'different rows': 700.0}}, ())
    """
    from unveil.studies import Results
    from unveil.studies.store import manifest_of

    if isinstance(study, Results):
        digests = manifest_of(study.folder)["data"]
        data = [replace(each, digest=digests.get(each.name, "")) for each in study.study.data]
    else:
        data = list(study.data)
    found, notes = {}, []
    for each in data:
        try:
            found[each.name] = _statistics(each, rng)
        except InputError as error:
            notes.append(f"The statistics of {each.name} could not be computed: {error}.")
    return found, tuple(notes)


def _statistics(data: "DataSet", rng: np.random.Generator) -> dict[str, float]:
    from unveil.studies.sources import graph_of, table_of

    if data.kind == "table":
        table = table_of(data)
        sizes = {"rows": table.rows, "columns": len(table.columns), "different rows": table.frame.n_unique()}
        return {name: float(size) for name, size in sizes.items()}
    from unveil.metrics.graphs.statistics import graph_statistics

    told = graph_statistics(graph_of(data), rng=rng)
    return {name.replace("_", " "): float(getattr(told, name)) for name in GRAPH_STATISTICS}


def scope_of(attack: str) -> str:
    """Return "local" or "global", whichever the attack that is written so is; empty if that is not known.

    >>> scope_of("NS:theta=0.5"), scope_of("distance-vector"), scope_of("my.package:Attack")
    ('local', 'global', '')
    """
    from unveil.attacks import ATTACKS

    make = understood(ATTACKS.values())[0].get(attack.strip().partition(":")[0])
    return next((each.scope for each in ATTACKS.values() if each.make is make and each.scope), "")
