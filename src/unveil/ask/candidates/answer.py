"""Who is it? How much does the adversary know about each target, and how often is it right?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import InputError
from unveil.guess import Candidates
from unveil.measure import Measured, Metric, all_metrics
from unveil.measure.candidate_metrics import to_rows
from unveil.measure.matches import Matches, matches
from unveil.show.limits import Quantity
from unveil.show.metrics import candidate_metrics, quantity_meanings
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    from unveil.show.blocks import Page

SCHEMA = "unveil.candidates/1"
#: What a picture shows unless others are asked for: how unsure the adversary is, and how wrong.
_DRAWN = ("entropy", "incorrectness")


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidatesAnswer:
    """What an adversary knows about targets: the figures, and the same as JSON, as a page and as a picture.

    ``measured`` holds every metric that can be measured (without truth, those that need none), ``metrics`` the names of
    those to show, all where it is empty. ``notes`` say what was dropped or assumed on the way.
    """

    matches: Matches
    measured: tuple[Measured, ...]
    metrics: tuple[str, ...]
    notes: tuple[str, ...]
    guess: Candidates = field(repr=False)
    truth: NDArray[np.int64] | None = field(repr=False)

    @property
    def shown(self) -> tuple[Measured, ...]:
        """The metrics to show, in the order of the listing."""
        return tuple(each for each in self.measured if not self.metrics or each.metric.name in self.metrics)

    @property
    def left_out(self) -> tuple[Metric, ...]:
        """The metrics that were asked for and could not be measured, because there is no truth."""
        have = {each.metric.name for each in self.measured}
        return tuple(metric for metric in candidate_metrics().values() if not self.metrics and metric.name not in have)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for: every metric's value, or its mean over the targets that have one.

        A metric without a value (nothing was attempted, or no target stands for anybody) exceeds no limit.
        """
        meaning = quantity_meanings()
        return {
            each.metric.name: Quantity(
                name=each.metric.name,
                value=each.mean,
                meaning=meaning[each.metric.name],
                exceeded_when_undefined=False,
                more_is_worse=each.metric.more_means == "less private",
            )
            for each in self.measured
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil import __version__
        from unveil.ask.candidates.view import page

        return page(
            self.matches,
            self.shown,
            left_out=self.left_out,
            notes=self.notes,
            seed=seed,
            version=__version__,
        )

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network and names no target."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON; undefined figures, and those that need a truth that is not there, are null.

        Each metric has as ``trust`` its grades in attacks on graphs and on tables (docs/grades.md), such as
        ``{"graphs": "use", "tables": "with care"}``, null where it has none.
        """
        from unveil.show.machine import dumps
        from unveil.show.trust import trust_of

        found = self.matches
        return dumps(
            {
                "schema": SCHEMA,
                "targets": found.targets,
                "attempted": found.attempted,
                "correct": found.correct,
                "correct_by_chance": found.by_chance,
                "stand_for_nobody": found.nobody if found.has_truth else None,
                "truth_not_considered": found.not_considered if found.has_truth else None,
                "metrics": [row | {"trust": trust_of(row["name"])} for row in to_rows(self.shown)],
                "notes": list(self.notes),
                "limits": list(limits),
                "seed": seed,
            }
        )

    def plot(self, *names: str) -> NDArray[Any]:
        """Return matplotlib axes with the distribution of each named metric over the targets.

        Without names, those of the metrics that were asked for; without these, entropy and incorrectness.
        """
        from unveil.ask.candidates.view import histogram
        from unveil.show.draw.lines import draw_all

        check_metrics(names, has_truth=self.truth is not None)
        wanted = names or self.metrics or _DRAWN
        spread = [each for each in self.measured if each.metric.name in wanted and each.metric.per == "target"]
        if not spread:
            raise InputError("none of these metrics has one value per target to draw. Name another, such as entropy")
        return draw_all([histogram(each) for each in spread])


def candidates(
    guess: Any,
    truth: Any = None,
    *,
    metrics: Sequence[str] = (),
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> CandidatesAnswer:
    """Return how much the adversary knows about each target, and how often it is right.

    Parameters
    ----------
    guess
        Candidates, or a dense or sparse matrix of probabilities with one row per target and one column per candidate.
    truth
        The true candidate of each target: one number per target (-1 for nobody), or a mapping from target name to
        candidate name (None for nobody). Without it, only what needs no truth is measured.
    metrics
        The names of the metrics to show; all unless given.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> answer = candidates([[0.9, 0.1], [0.5, 0.5]], truth=[0, 1])
    >>> answer.matches.correct, round(answer.quantities["entropy"].value, 3)
    (1.5, 0.734)
    """
    check_metrics(metrics, has_truth=truth is not None)
    guess = guess if isinstance(guess, Candidates) else Candidates.from_matrix(guess)
    known = None if truth is None else guess.truth_from(truth)
    progress("measuring", 0.0)
    return CandidatesAnswer(
        matches=matches(guess, known),
        measured=all_metrics(guess, known),
        metrics=tuple(metrics),
        notes=tuple(notes),
        guess=guess,
        truth=known,
    )


def check_metrics(names: Sequence[str], *, has_truth: bool) -> None:
    """Refuse a name that no metric of candidates has, and a metric whose truth is not there."""
    from unveil.errors import did_you_mean

    listed = candidate_metrics()
    for name in names:
        if name not in listed:
            hint = did_you_mean(name, listed) or " 'unveil list metrics' shows them all"
            raise InputError(f"there is no metric {name!r} of candidates.{hint}")
        if listed[name].needs_truth and not has_truth:
            raise InputError(
                f"the metric {name} compares with the truth, but none was given. Add it (--truth FILE), or ask for a "
                "metric that needs none"
            )
