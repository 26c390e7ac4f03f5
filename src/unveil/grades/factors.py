"""Variance of a grade explained by metric, data, protection, and attack."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite, nan
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray, IntArray
from unveil._specification import understood
from unveil.errors import InputError
from unveil.grades.mars import Mars, fit_mars
from unveil.grades.replicated_metrics import ReplicatedMetrics

if TYPE_CHECKING:
    from unveil.studies import DataSet, Results, Study

__all__ = ["SETTING", "ExplainedVariance", "Factors", "explain", "statistics_of", "types_of"]

Statistics = Mapping[str, Mapping[str, float]]

#: The factors that make up a case, whose joint share is compared with that of the metric.
SETTING = ("data", "protection", "attack", "type")

_NOTHING: Mapping[str, str] = MappingProxyType({})
# Directions with less than this share of the largest one are rounding.
_RANK = 1e-10


@dataclass(frozen=True)
class ExplainedVariance:
    """Share of a score's variance explained by a group of factors.

    ``r_squared`` is from 0 to 1; NaN if no score differs. ``parameters`` is how many numbers were fitted for it:
    factors that have nothing to do with the score still explain ``chance`` of it on average.
    """

    r_squared: float = figure("Share of the variance explained.")
    parameters: int = figure("Number of regression coefficients.")
    chance: float = figure("Share that as many parameters explain by chance.")


@dataclass(frozen=True, kw_only=True)
class Factors:
    """Explained variance of one score of all metrics in all cases.

    Attributes
    ----------
    response
        The name of the score, such as "monotonicity".
    mars
        The score as a sum of indicators and of hinges on statistics of the data, the most important ones first.
    shares
        The linear R² of each group of factors: "metric", "data", "protection", "attack", "type", these four together as
        "setting", "statistics" of the data, "scope" of the attack (local or global), "axis", "everything", "everything
        but the metric", and "metric, given the rest": what it adds to that. A group that does not vary is left out.
    rows, undefined
        How many scores were explained, and how many were left out because they are undefined.
    notes
        What was left out, in sentences.
    """

    response: str = figure("Explained score: monotonicity, evenness, or shared range.", name="score")
    rows: int = figure("Number of metric scores in the regression.")
    undefined: int = figure("Number of undefined scores, left out.")
    shares: Mapping[str, ExplainedVariance] = figure(
        'Linear R² of each group of factors: "metric", "data", "protection", "attack", and "type"; the last '
        'four as "setting". Further groups are "statistics" of the data, "scope" of the attack (local or '
        'global), "axis", and "everything". Also "everything but the metric", and "metric, given the rest" '
        "(its addition). Constant groups are left out."
    )
    mars: Mars = figure("Piecewise linear model (MARS).", name="model")
    notes: tuple[str, ...] = figure("Notes on omitted data sets and columns, in sentences.", default=())

    @property
    def groups(self) -> Mapping[str, float]:
        """The linear R² of each group of factors."""
        return {name: share.r_squared for name, share in self.shares.items()}


def explain(
    score: FloatArray,
    values: ReplicatedMetrics,
    statistics: Statistics | None = None,
    facts: Mapping[str, str] = _NOTHING,
    *,
    response: str = "score",
    interactions: int = 1,
) -> Factors:
    """Return what explains the scores.

    Parameters
    ----------
    score
        One number per case and metric; NaN where it is undefined, which is left out and counted.
    values
        What was graded: its cases and metrics are the factors.
    statistics
        Of each data set by name, as `statistics_of` returns them. One that is unknown or not finite for some data set
        cannot be a factor, which a note says.
    facts
        The type of each data set by name, as `types_of` returns them; data without one are of no type.
    response
        What the score is called.
    interactions
        How many factors a term of the model may multiply.

    Examples
    --------
    >>> from unveil.grades.replicated_metrics import GradedCase
    >>> pairs = [(data, attack) for data in ("mail", "web") for attack in ("NS", "DV")]
    >>> cases = tuple(GradedCase(data, "id-removal", attack, "overlap") for data, attack in pairs)
    >>> values = ReplicatedMetrics(cases=cases, metrics=("entropy", "pearson_correlation"), levels=((0.5, 1.0),) * 4,
    ...                     values=np.zeros((4, 2, 2, 1)), rising=np.array([False, True]))
    >>> found = explain(np.array([[0.2, 0.8], [0.2, 0.8], [0.3, 0.9], [0.3, 0.9]]), values, response="monotonicity")
    >>> {name: round(share, 3) for name, share in found.groups.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'metric': 0.973, 'data': 0.027, 'attack': 0.0, 'setting': 0.027, 'scope': 0.0, 'everything': 1.0,
     'everything but the metric': 0.027, 'metric, given the rest': 0.973}
    """
    if score.shape != (len(values.cases), len(values.metrics)):
        raise InputError(
            f"there must be a score for each of {len(values.cases)} cases and {len(values.metrics)} metrics, but their "
            f"shape is {score.shape}. Pass the scores of these values"
        )
    case, metric = np.nonzero(np.isfinite(score))
    notes: list[str] = []
    columns = _columns(values, case, metric, facts)
    columns += _statistics_columns(values, case, statistics, notes)
    columns = [each for each in columns if each.values.size and np.ptp(each.values) > 0]
    features = np.array([each.values for each in columns]).reshape(len(columns), case.size).T
    target = score[case, metric]
    return Factors(
        response=response,
        mars=fit_mars(features, [each.name for each in columns], target, interactions=interactions),
        shares=_shares(features, [each.group for each in columns], target),
        rows=case.size,
        undefined=score.size - case.size,
        notes=tuple(notes),
    )


class _Column(NamedTuple):
    group: str
    name: str
    values: FloatArray


def _columns(
    values: ReplicatedMetrics,
    case: IntArray,
    metric: IntArray,
    facts: Mapping[str, str],
) -> list[_Column]:
    """Return indicators of metrics and case parts, for defined scores."""
    labels = {
        "metric": (values.metrics, metric),
        "protection": ([each.protect for each in values.cases], case),
        "attack": ([each.attack for each in values.cases], case),
        "data": ([each.data for each in values.cases], case),
        "type": ([facts.get(each.data, "") for each in values.cases], case),
        "scope": ([scope_of(each.attack) for each in values.cases], case),
        "axis": ([each.axis for each in values.cases], case),
    }
    found = []
    for group, (every, rows) in labels.items():
        texts = np.array(every, dtype=object)[rows]
        found += [_Column(group, f"{group} {text}", (texts == text).astype(np.float64)) for text in _different(every)]
    return found


def _different(texts: Iterable[str]) -> list[str]:
    return sorted({text for text in texts if text})


def _statistics_columns(
    values: ReplicatedMetrics,
    case: IntArray,
    statistics: Statistics | None,
    notes: list[str],
) -> list[_Column]:
    names = [each.data for each in values.cases]
    if not statistics:
        return []
    lacking = [name for name in _different(names) if name not in statistics]
    if lacking:
        notes.append(
            f"Statistics of the data are no factors here: they are not known of {', '.join(lacking)}, and could only "
            "explain scores if they were known of all data."
        )
        return []
    found = []
    for each in dict.fromkeys(key for name in _different(names) for key in statistics[name]):
        numbers = np.array([statistics[name].get(each, nan) for name in names])
        if np.isfinite(numbers).all():
            found.append(_Column("statistics", each, numbers[case]))
        else:
            without = _different(name for name, number in zip(names, numbers, strict=True) if not isfinite(number))
            notes.append(f"The statistic {each} is no factor here: it is undefined for {', '.join(without)}.")
    return found


def _shares(features: FloatArray, groups: list[str], target: FloatArray) -> dict[str, ExplainedVariance]:
    """Return the R² of each group of columns, and of some together."""
    if not features.size:
        return {}
    centred = features - features.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    centred /= scale
    products, toward = centred.T @ centred, centred.T @ (target - target.mean())
    total = float(((target - target.mean()) ** 2).sum()) if np.ptp(target) > 0 else nan

    def share(*wanted: str) -> ExplainedVariance:
        at = np.array([place for place, group in enumerate(groups) if group in wanted], np.int64)
        sizes, directions = np.linalg.eigh(products[np.ix_(at, at)])
        real = sizes > _RANK * sizes.max(initial=0.0)
        along = directions[:, real].T @ toward[at]
        parameters = int(real.sum())
        explained = float((along**2 / sizes[real]).sum()) / total
        return ExplainedVariance(
            float(np.minimum(1.0, explained)), parameters, min(1.0, parameters / (target.size - 1))
        )

    have = list(dict.fromkeys(groups))
    found = {group: share(group) for group in ("metric", *SETTING) if group in have}
    if any(group in have for group in SETTING):
        found["setting"] = share(*SETTING)
    found |= {group: share(group) for group in ("statistics", "scope", "axis") if group in have}
    found["everything"] = everything = share(*have)
    rest = share(*(group for group in have if group != "metric"))
    if "metric" in have:
        found["everything but the metric"] = rest
        found["metric, given the rest"] = _added(everything, rest, target.size)
    return found


def _added(everything: ExplainedVariance, rest: ExplainedVariance, rows: int) -> ExplainedVariance:
    """Return what one group adds to the rest."""
    parameters, left = everything.parameters - rest.parameters, rows - 1 - rest.parameters
    chance = (1 - rest.r_squared) * parameters / left if left > 0 else nan
    return ExplainedVariance(float(np.maximum(0.0, everything.r_squared - rest.r_squared)), parameters, chance)


# Facts about the data and the attacks of a study: statistics, types, local or global.

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
    """Return the type of each typed data set of a study, by name."""
    return {each.name: each.type for each in study.data if each.type}


def statistics_of(
    study: "Study | Results", *, rng: np.random.Generator
) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Return the statistics of each data set by name, with notes.

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
    """Return "local" or "global" for an attack, or "".

    >>> scope_of("NS:theta=0.5"), scope_of("distance-vector"), scope_of("my.package:Attack")
    ('local', 'global', '')
    """
    from unveil.attacks import ATTACKS

    make = understood(ATTACKS.values())[0].get(attack.strip().partition(":")[0])
    return next((each.scope for each in ATTACKS.values() if each.make is make and each.scope), "")
