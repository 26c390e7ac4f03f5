"""Who belongs together? How well is each subject hidden in the adversary's partition?"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from unveil.guess import Partition, View
from unveil.measure import (
    PartitionDistances,
    PolicyGrid,
    Reference,
    Spread,
    Unlinkability,
    fairness,
    partition_distances,
    policy_grid,
    random_guessing,
    unlinkability,
)
from unveil.measure.unlinkability import Settings
from unveil.show.limits import Quantity
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    from unveil.show.blocks import Page

SCHEMA = "unveil.partition/1"

#: What a limit can be set for, and what each means.
QUANTITIES: Mapping[str, str] = {
    "breached_share": "share of subjects of whom the adversary has linked beta or more already; 0 is nobody, "
    "1 everybody",
    "risk_slope": "how steeply mergings lead to a breach of the average subject; 0 is far away, 1 straight up, and "
    "undefined (counted as exceeded) when the average subject is already breached",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionAnswer:
    """How well each subject is hidden: the figures, and the same figures as JSON, as a page and as a picture.

    ``reference`` is what random guessing would give, or None where no source of randomness was passed.
    ``notes`` say what was dropped or assumed on the way.
    """

    result: Unlinkability
    distances: PartitionDistances
    fairness: tuple[Spread, ...]
    reference: Reference | None
    notes: tuple[str, ...]
    guess: Partition | View = field(repr=False)
    truth: Partition = field(repr=False)
    settings: Settings = field(repr=False)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for; a breach is undefined here, whatever ``at_breach`` shows for it."""
        overall = self.result.overall
        values = {
            "breached_share": overall.breached_share,
            "risk_slope": float("nan") if overall.breached else overall.risk_slope,
        }
        return {
            name: Quantity(name=name, value=values[name], meaning=meaning, exceeded_when_undefined=overall.breached)
            for name, meaning in QUANTITIES.items()
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil import __version__
        from unveil.ask.partition.view import page

        return page(
            self.result,
            distances=self.distances,
            fairness=self.fairness,
            grid=self._grid(),
            reference=self.reference,
            notes=self.notes,
            weighted=self.settings.get("weights") is not None,
            seed=seed,
            version=__version__,
        )

    def _grid(self) -> PolicyGrid:
        return policy_grid(
            self.guess,
            self.truth,
            contamination_desirable=self.settings.get("contamination_desirable", False),
            weights=self.settings.get("weights"),
            norm=self.settings.get("norm", "weight"),
        )

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON; undefined figures are null."""
        from unveil.show.machine import dumps

        return dumps({"schema": SCHEMA, **self._figures(), "limits": list(limits), "seed": seed})

    def _figures(self) -> dict[str, Any]:
        overall = {k: v for k, v in vars(self.result.overall).items() if k not in ("alpha", "beta")}
        return {
            "n": self.result.n,
            "subjects": self.result.subjects.size,
            "alpha": self.result.overall.alpha,
            "beta": self.result.overall.beta,
            "overall": overall,
            "distances": vars(self.distances),
            "fairness": [vars(spread) for spread in self.fairness],
            "random_guessing": None if self.reference is None else vars(self.reference),
            "notes": list(self.notes),
            "per_subject": self.result.to_frame(mixing=True),
        }

    def plot(self, subject: Hashable | None = None) -> NDArray[Any]:
        """Return matplotlib axes: overall linked and mixed graphs, one subject's, and the risk slope against beta.

        ``subject`` is the name of the subject, or its index where no subject is called so; without it the one with
        the steepest risk slope is shown.
        """
        from unveil.ask.partition.view import charts
        from unveil.show.draw.lines import draw_all

        return draw_all(charts(self.result, self._grid(), subject=subject, reference=self.reference))


def partition(
    guess: Any,
    truth: Any,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **settings: Unpack[Settings],
) -> PartitionAnswer:
    """Return how well each subject of ``truth`` is hidden in ``guess``.

    Parameters
    ----------
    guess, truth
        Partitions of the same items, or plain labels, one per item; the guess may be a view.
    rng
        Where the randomness of the reference line comes from; without it no random guessing is done.
    progress
        Called with the name of a step and the share of all work that is done.
    notes
        Sentences to carry into the report.
    **settings
        Those of :func:`unveil.measure.unlinkability`: alpha, beta, weights and so on.

    Examples
    --------
    >>> answer = partition(guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])
    >>> answer.result.overall.breached_subjects
    1
    """
    truth = truth if isinstance(truth, Partition) else Partition.from_labels(truth)
    guess = guess if isinstance(guess, (Partition, View)) else Partition.from_labels(guess)
    progress("hiding", 0.2)
    result = unlinkability(guess, truth, **settings)
    progress("distances", 0.4)
    distances = partition_distances(guess, truth)
    reference = None
    if rng is not None:
        reference = random_guessing(
            truth, rng=rng, progress=lambda share: progress("guessing", 0.5 + share / 2), **settings
        )
    return PartitionAnswer(
        result=result,
        distances=distances,
        fairness=fairness(result),
        reference=reference,
        notes=tuple(notes),
        guess=guess,
        truth=truth,
        settings=settings,
    )
