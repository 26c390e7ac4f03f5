"""Which privacy metrics can be trusted: do they fall as adversaries grow, and do they tell cases apart?"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.ask.grades.findings import AttackFacts, GradedStudy, GradesFindings
from unveil.ask.grades.run import details_of, factors_of, figures
from unveil.ask.grades.words import notes_of
from unveil.attack import ATTACKS, graph_attack_from
from unveil.errors import InputError, UnveilError
from unveil.grade.grades import Grades, grade
from unveil.grade.replicated import Replicated
from unveil.grade.suites import Suite
from unveil.measure import METRICS
from unveil.show.limits import Quantity
from unveil.show.progress import Progress, silent
from unveil.show.studies import labels
from unveil.study import Results
from unveil.study.lock import running
from unveil.study.store import manifest_of

if TYPE_CHECKING:
    from unveil.show.blocks import Page

SCHEMA = "unveil.grades/1"
_BEST_SUITE = "share_monotonic_best_suite"
_TRUSTED = "trusted_metrics"


@dataclass(frozen=True, kw_only=True, eq=False)
class GradesAnswer:
    """Which metrics can be trusted: the grades, and the same as JSON, as a page, as LaTeX and as a picture.

    ``found`` holds everything; ``found.grades`` the scores by case and metric.
    """

    found: GradesFindings

    @property
    def grades(self) -> Grades:
        """The scores, the grades of metrics and suites, and the search for better suites."""
        return self.found.grades

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits what the grades say."""
        return self.found.notes

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for; more of each is better."""
        means = {each.metric: each.monotonicity.mean for each in self.grades.metrics}
        shares = [each.whole.mean for each in self.grades.suites if not np.isnan(each.whole.mean)]
        values = {
            _TRUSTED: float(len(self.found.by_verdict("use"))),
            _BEST_SUITE: max(shares, default=float("nan")),
            **{f"monotonicity_{name}": means.get(name, float("nan")) for name in _metric_names()},
        }
        said = meanings()
        return {
            name: Quantity(
                name=name,
                value=value,
                meaning=said[name],
                exceeded_when_undefined=False,
                more_is_worse=False,
            )
            for name, value in values.items()
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page shows."""
        from unveil.ask.grades.view import page

        return page(self.found, seed=seed)

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON: grades by metric, scores by case and metric, suites, search, factors."""
        from unveil.show.machine import dumps

        return dumps({"schema": SCHEMA, **figures(self.found), "limits": list(limits), "seed": seed})

    def to_latex(self) -> str:
        r"""Return the ranking, suites and factors as LaTeX tables, to be read with ``\input``."""
        from unveil.ask.grades.latex import to_latex

        return to_latex(self.found)

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes, side by side: the metrics by monotonicity, evenness and shared value range."""
        from matplotlib import pyplot

        from unveil.ask.grades.charts import SCORES, ranking_boxes
        from unveil.show.draw.lines import draw

        height = 2.0 + 0.3 * len(self.grades.metrics)
        _, axes = pyplot.subplots(1, len(SCORES), figsize=(6.6 * len(SCORES), height), layout="constrained")
        for score, place in zip(SCORES, axes, strict=True):
            draw(ranking_boxes(self.found, score), place)
        row: NDArray[Any] = axes
        return row


def grade_metrics(
    *folders: str | os.PathLike[str],
    details: Sequence[str] = (),
    suites: Sequence[Suite | str] = (),
    level: float = 0.05,
    strict: bool = False,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> GradesAnswer:
    """Return which metrics of one or several studies can be trusted, and how far.

    Parameters
    ----------
    folders
        The folders of the studies, which are graded together; they may still be running.
    details
        What to show level by level: a metric, or a metric, an ``@`` and words of a case, such as
        ``pearson_correlation@manufacturing,NS``. Three that tell something unless given.
    suites
        Suites of your own, or how they are written, such as ``mine:entropy=0.5,pearson_correlation=0.5``.
    level
        A test is significant where its p value is below this.
    strict
        Whether a change in the wrong direction counts against a metric even where it is not significant.
    rng
        Where the search for better suites begins.
    progress
        Called with the name of a step and the share of all work that is done.

    Raises
    ------
    InputError
        If a folder holds no study or a study without results, or if a detail or a suite is none.
    """
    if not folders:
        raise InputError("there must be at least one study to grade, but no folder is named. Name that of a study")
    own = tuple(Suite.parse(each) if isinstance(each, str) else each for each in suites)
    progress("reading results", 0.0)
    try:
        studies = [Results.read(folder) for folder in folders]
        values = Replicated.of(*studies)
    except OSError as error:
        raise InputError(
            f"the results of a study must be readable, but {error.filename!r} is not ({error.strerror}). Give yourself "
            "the right to read its folder"
        ) from error
    progress("comparing adversaries", 0.3)
    search_rng, statistics_rng = rng.spawn(2)
    grades = grade(values, level=level, strict=strict, suites=own, rng=search_rng)
    shown, said = details_of(grades, details)
    progress("looking for what explains the scores", 0.7)
    factors, more = factors_of(grades, studies, rng=statistics_rng)
    graded = tuple(_graded(each) for each in studies)
    found = GradesFindings(
        grades=grades,
        studies=graded,
        factors=factors,
        details=shown,
        attacks=_attacks(values),
        notes=(*notes_of(grades, graded), *said, *more),
        version=_version(),
    )
    return GradesAnswer(found=found)


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return {
        _TRUSTED: "how many metrics have the verdict 'use'. Exceeded when less than VALUE: more is better",
        _BEST_SUITE: (
            "the largest share of cases that one of the suites ranks in order. Exceeded when less than VALUE: more is "
            "better; undefined, and not checked, where no suite can be computed"
        ),
        **{
            f"monotonicity_{name}": (
                f"the mean monotonicity of {name} over cases. Exceeded when less than VALUE: more is better; "
                "undefined, and not checked, where it has no grade"
            )
            for name in _metric_names()
        },
    }


def _metric_names() -> list[str]:
    return [metric.name for metric in METRICS.values() if metric.on == "Candidates"]


def _version() -> str:
    from unveil import __version__

    return __version__


def _graded(results: Results) -> GradedStudy:
    manifest = manifest_of(results.folder)
    return GradedStudy(
        study=results.study,
        version=str(manifest["version"]),
        counts=results.counts,
        running=running(results.folder) is not None,
        digests=manifest["data"],
    )


def _attacks(values: Replicated) -> dict[str, AttackFacts]:
    """Return what reports have to know of each attack; of a user's own, its name."""
    called = labels(tuple(dict.fromkeys(case.attack for case in values.cases)))
    scopes = {kind.make: kind.scope for kind in ATTACKS.values()}
    found = {}
    for text, name in called.items():
        try:
            made: object = graph_attack_from(text)
        except UnveilError:  # on tables, or a class that is not to be found here
            made = None
        chunk = getattr(made, "chunk", None) if getattr(made, "variant", "window") == "window" else None
        found[text] = AttackFacts(
            called=name, scope=scopes.get(type(made)), chunk=chunk if isinstance(chunk, int) else None
        )
    return found
