"""Combine audits of releases: rankings by risk and utility, with uncertainty."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan, nan

import numpy as np

from unveil.grades.releases import GradedRelease, grade_releases, releases_of
from unveil.questions.study.releases.findings import (
    AuditedFile,
    EpsilonSeries,
    MeanInterval,
    ReleasesFindings,
    ShareInterval,
    TechniqueFindings,
)
from unveil.questions.study.run import failures_of
from unveil.questions.study.status import spent, times_of
from unveil.studies import Results
from unveil.studies.audit_columns import COLUMNS, COMPARED, COPIED, LINKED, LOSS, PROVED, RISK
from unveil.studies.scenario import rng
from unveil.studies.store import manifest_of

_DRAWS = 2000
_NONE = MeanInterval(mean=nan, low=nan, high=nan)


def run(results: Results) -> ReleasesFindings:
    """Return what a study of given releases found so far."""
    seed = results.study.seed
    graded = releases_of(results)
    files = _files(graded)
    names = list(dict.fromkeys(each.technique for each in files))
    grades = grade_releases(results, rng=rng(seed, "grades")).figures if files else ()
    return ReleasesFindings(
        study=results.study,
        folder=str(results.folder),
        version=str(manifest_of(results.folder)["version"]),
        counts=results.counts,
        releases=files,
        families=tuple(_family(name, nan, [each for each in files if each.technique == name], seed) for name in names),
        cells=tuple(_cells(files, seed)),
        levels=tuple(filter(None, (_levels(name, files, seed) for name in names))),
        grades=grades,
        frame=results.frame,
        failures=failures_of(results.errors),
        spent=spent(results.fine, times_of(results)),
        is_summary=results.summarized is not None,
    )


def _files(releases: Sequence[GradedRelease]) -> tuple[AuditedFile, ...]:
    alike: dict[tuple[str, ...], list[GradedRelease]] = defaultdict(list)
    for each in releases:
        alike[each.same_columns].append(each)
    saves = _saves(alike)
    return tuple(
        _file(each, [one for one in alike[each.same_columns] if one is not each], saves.get(each.name, nan))
        for each in releases
    )


#: Added before logarithms are taken: who links nobody is not infinitely safer than who links one of a hundred.
_LEAST = 0.01


def _saves(alike: Mapping[tuple[str, ...], Sequence[GradedRelease]]) -> dict[str, float]:
    """Return how much less each release lost than one with the same columns that links as much, by a common slope."""
    names: list[str] = []
    linked: list[float] = []
    lost: list[float] = []
    for every in alike.values():
        known = [each for each in every if not isnan(each.figures[LINKED]) and not isnan(each.figures[LOSS])]
        if len(known) < 2:
            continue
        x = np.log([each.figures[LINKED] + _LEAST for each in known])
        y = np.array([each.figures[LOSS] for each in known])
        names += [each.name for each in known]
        linked += (x - x.mean()).tolist()
        lost += (y - y.mean()).tolist()
    x, y = np.array(linked), np.array(lost)
    slope = float(x @ y / (x @ x)) if x.size and x @ x > 0 else 0.0
    return dict(zip(names, (slope * x - y).tolist(), strict=True))


def _file(release: GradedRelease, others: Sequence[GradedRelease], saves: float) -> AuditedFile:
    figures = release.figures
    asked = [name for name in figures if name.startswith(f"{RISK}.") and name.count(".") == 1]
    asked = [name for name in asked if name not in (f"{RISK}.low", f"{RISK}.high")]
    worst = _rate(figures, RISK)
    same = [name for name in asked if _rate(figures, name) == worst]
    linked, loss = figures[LINKED], figures[LOSS]
    more_linked = [_above(each.figures[LINKED], linked) for each in others]
    more_lost = [_above(each.figures[LOSS], loss) for each in others]
    beaten = [(1 - one) * (1 - other) for one, other in zip(more_linked, more_lost, strict=True)]
    return AuditedFile(
        **{
            name: getattr(release, name) for name in ("name", "original", "technique", "library", "epsilon", "features")
        },
        columns=int(figures[COLUMNS]),
        risk=worst,
        asked=same[0].partition(".")[2] if same else "",
        linked=_rate(figures, LINKED),
        copied=figures[COPIED],
        unmistakable=int(np.nan_to_num(figures["copies.unmistakable"])),
        loss=loss,
        proved=figures[PROVED] == 1,
        compared=figures[COMPARED] == 1,
        safer=_mean(more_linked),
        more_useful=_mean(more_lost),
        beaten=_mean(beaten),
        saves=saves,
    )


def _rate(figures: Mapping[str, float], name: str) -> ShareInterval:
    return ShareInterval(figures[name], figures[f"{name}.low"], figures[f"{name}.high"])


def _above(one: float, other: float) -> float:
    """Return 1 where the first is more, 0 where it is less, and a half where they are equal."""
    return nan if isnan(one) or isnan(other) else 0.5 if one == other else float(one > other)


def _mean(values: Iterable[float]) -> float:
    known = [each for each in values if not isnan(each)]
    return sum(known) / len(known) if known else nan


def _cells(files: Sequence[AuditedFile], seed: int) -> Iterable[TechniqueFindings]:
    keys = sorted({(each.technique, each.epsilon) for each in files if not isnan(each.epsilon)})
    bare = sorted({each.technique for each in files if isnan(each.epsilon)})
    every = [*keys, *((name, nan) for name in bare)]
    for technique, epsilon in sorted(every, key=lambda key: (key[0].lower(), key[1])):
        own = [each for each in files if each.technique == technique]
        own = [each for each in own if each.epsilon == epsilon or (isnan(epsilon) and isnan(each.epsilon))]
        yield _family(technique, epsilon, own, seed)


def _family(technique: str, epsilon: float, files: Sequence[AuditedFile], seed: int) -> TechniqueFindings:
    def spread(value: Callable[[AuditedFile], float]) -> MeanInterval:
        return spread_of([value(each) for each in files], seed)

    known = [each for each in files if each.risk.defined] or list(files)
    return TechniqueFindings(
        technique=technique,
        epsilon=epsilon,
        releases=len(files),
        proved=sum(each.proved for each in files),
        worst=max(known, key=lambda each: (np.nan_to_num(each.risk.low, nan=-1.0), np.nan_to_num(each.risk.value))),
        linked=spread(lambda each: each.linked.value),
        copied=spread(lambda each: each.copied),
        loss=spread(lambda each: each.loss),
        safer=spread(lambda each: each.safer),
        more_useful=spread(lambda each: each.more_useful),
        beaten=spread(lambda each: each.beaten),
        saves=spread(lambda each: each.saves),
    )


def spread_of(values: Iterable[float], seed: int) -> MeanInterval:
    """Return the mean with its 95% bootstrap interval.

    >>> spread_of([1.0, 1.0], 1)
    MeanInterval(mean=1.0, low=1.0, high=1.0)
    """
    known = np.array([each for each in values if not isnan(each)])
    if not known.size:
        return _NONE
    if known.size == 1:
        return MeanInterval(mean=float(known[0]), low=nan, high=nan)
    drawn = np.random.default_rng(seed).integers(0, known.size, (_DRAWS, known.size))
    low, high = np.quantile(known[drawn].mean(axis=1), [0.025, 0.975])
    return MeanInterval(mean=float(known.mean()), low=float(low), high=float(high))


def _levels(technique: str, files: Sequence[AuditedFile], seed: int) -> EpsilonSeries | None:
    """Return what a greater epsilon changes, over groups of releases that have every level that is shown."""
    groups: dict[tuple[object, ...], dict[float, list[AuditedFile]]] = defaultdict(lambda: defaultdict(list))
    for each in files:
        if each.technique == technique and not isnan(each.epsilon):
            groups[each.original, each.features, each.columns, each.library][each.epsilon].append(each)
    every = sorted({level for own in groups.values() for level in own})
    if len(every) < 2:
        return None
    whole = [own for own in groups.values() if len(own) == len(every)]
    if not whole:  # no group has all of them: the two ends say most
        every = [every[0], every[-1]]
        whole = [own for own in groups.values() if all(level in own for level in every)]
    if not whole:
        return None

    def at(own: Mapping[float, list[AuditedFile]], level: float, value: Callable[[AuditedFile], float]) -> float:
        return _mean(value(each) for each in own[level])

    def linked(each: AuditedFile) -> float:
        return each.linked.value

    def loss(each: AuditedFile) -> float:
        return each.loss

    first, last = every[0], every[-1]
    return EpsilonSeries(
        technique=technique,
        epsilons=tuple(every),
        groups=len(whole),
        linked=tuple(spread_of([at(own, level, linked) for own in whole], seed) for level in every),
        loss=tuple(spread_of([at(own, level, loss) for own in whole], seed) for level in every),
        more_linked=spread_of([at(own, last, linked) - at(own, first, linked) for own in whole], seed),
        less_loss=spread_of([at(own, first, loss) - at(own, last, loss) for own in whole], seed),
    )
