"""Which token is which entry? How many entries does an adversary crack, and how sure are we?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.matching import TooLargeError
from unveil.errors import InputError
from unveil.guess import Matching, MatchingDistribution
from unveil.measure.cracks import Cracks, Figure, cracks
from unveil.show.limits import Quantity
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    import polars as pl

    from unveil.show.blocks import Page

SCHEMA = "unveil.matching/1"
#: The probability behind ``cracks_q95``: with it at least so many entries are cracked.
_TAIL = 0.05
#: An R-hat from which on chains do not agree, and what was sampled is not to be trusted.
_UNSETTLED = 1.05
#: The quantities that exist with groups only.
OF_GROUPS = ("group_found_share", "group_found_share.high")

_MEANINGS = {
    "cracked_share": "expected share of entries that get their true token, from 0 to 1",
    "cracked_share.high": "the same, two standard errors higher where it was sampled; 1 if chains do not agree",
    "cracks_q95": "how many entries are cracked at least with a probability of 5%",
    "cracks_q95.high": "the same, with sampled probabilities two standard errors higher",
    "highest_crack_probability": "probability that the entry most at risk is cracked",
    "d": "degree of anonymity, from 0 (one matching is left) to 1 (all equally likely). Exceeded when less than VALUE: "
    "more is more private",
    "d.low": "the same, two standard errors lower where it was sampled; 0 if chains do not agree. Exceeded when less "
    "than VALUE",
    "group_found_share": "expected share of entries that get a token of their own group (needs --groups)",
    "group_found_share.high": "the same, two standard errors higher where it was sampled (needs --groups)",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchingAnswer:
    """How many entries an adversary cracks: the figures, and the same as JSON, as a page and as a picture.

    ``entries`` and ``tokens`` are the names of rows and columns, numbers from 1 where the attack has none. ``notes``
    say what was left out or assumed on the way, and what to know of the figures.
    """

    cracks: Cracks
    entries: tuple[str, ...] = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...]
    guess: Matching | MatchingDistribution = field(repr=False)

    @property
    def blind(self) -> NDArray[np.float64]:
        """The probability of 0, 1, ..., n cracks for an adversary who knows nothing."""
        from unveil._kernels.matching.closed_form import cracks_of_even

        return cracks_of_even(self.cracks.n, np.arange(self.cracks.n))

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for."""
        found, luck = self.cracks, self.cracks.at_least(_TAIL)
        values = {
            "cracked_share": found.cracked_share.value,
            "cracked_share.high": _end(found.cracked_share, +2),
            "cracks_q95": float(luck.at_least),
            "cracks_q95.high": float(found.n if found.r_hat > _UNSETTLED else luck.high),
            "highest_crack_probability": float(found.crack_probability.max()),
            "d": found.d.value,
            "d.low": _end(found.d, -2),
        }
        if found.groups is not None:
            share = _divided(found.groups.expected, found.n)
            values |= {"group_found_share": share.value, "group_found_share.high": _end(share, +2)}
        meaning = meanings()
        return {
            name: Quantity(
                name=name,
                value=value,
                meaning=meaning[name],
                exceeded_when_undefined=False,
                more_is_worse=not name.startswith("d"),
            )
            for name, value in values.items()
        }

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page shows."""
        from unveil import __version__
        from unveil.ask.matching.view import page

        return page(
            self.cracks,
            entries=self.entries,
            blind=self.blind,
            held=_held(self.guess),
            notes=self.notes,
            seed=seed,
            version=__version__,
        )

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the report as one HTML page that needs no network; it names entries, and no token."""
        from unveil.show.limits import with_limits
        from unveil.show.page import render

        return render(with_limits(self.page(seed=seed), limits, self.quantities))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON, with the token of every entry; undefined figures are null."""
        from unveil import __version__
        from unveil.show.machine import dumps

        found = self.cracks
        log = found.log_permanent
        return dumps(
            {
                "schema": SCHEMA,
                "version": __version__,
                "n": found.n,
                "permanent": {
                    "log": log.value,
                    "method": log.method,
                    "error": log.error,
                    "kind": log.kind,
                    # As text: it may have more digits than a reader's floats.
                    "exact": None if found.permanent is None else str(found.permanent),
                },
                "d": found.d.value,
                "d_figure": _figure(found.d),
                "expected_cracks": _figure(found.expected_cracks),
                "cracked_share": _figure(found.cracked_share),
                "heuristic": found.heuristic.value,
                "heuristic_figure": _figure(found.heuristic),
                "matched_bias": found.matched_bias.value,
                "matched_bias_figure": _figure(found.matched_bias),
                "crack_distribution": found.crack_distribution,
                "crack_distribution_error": found.crack_distribution_error,
                "crack_distribution_method": found.crack_distribution_method,
                "quantiles": [
                    {"probability": each.probability, "at_least": each.at_least, "low": each.low, "high": each.high}
                    for each in found.quantiles
                ],
                "entries": self._rows(),
                "groups": self._groups(),
                "notes": list(self.notes),
                "limits": list(limits),
                "seed": seed,
            }
        )

    def _rows(self) -> "pl.DataFrame":
        import polars as pl

        found = self.cracks
        return pl.DataFrame(
            {
                "name": pl.Series(self.entries, dtype=pl.String),
                "token": pl.Series([self.tokens[token] for token in found.truth.tolist()], dtype=pl.String),
                "crack_probability": found.crack_probability,
                "error": found.crack_probability_error,
            }
        )

    def _groups(self) -> dict[str, Any] | None:
        groups = self.cracks.groups
        if groups is None:
            return None
        return {
            "expected": _figure(groups.expected),
            "by_chance": groups.by_chance,
            "groups": [
                {
                    "name": each.name,
                    "entries": each.size,
                    "expected": _figure(each.expected),
                    "by_chance": each.by_chance,
                    "entries_cracked": _figure(each.entries_cracked),
                }
                for each in groups.categories
            ],
        }

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes with the distribution of cracks, and how exposed entries are."""
        from unveil.ask.matching.view import crack_chart, entries_chart
        from unveil.show.draw.lines import draw_all

        return draw_all([crack_chart(self.cracks, self.blind), entries_chart(self.cracks)])


def matching(
    guess: Any,
    truth: Any,
    *,
    groups: Sequence[Any] | Mapping[Any, Any] | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> MatchingAnswer:
    """Return how many entries an adversary cracks, expected and with which distribution, and how sure that is.

    Parameters
    ----------
    guess
        A Matching, a MatchingDistribution, or a square matrix, dense or sparse: rows are entries, columns are tokens.
    truth
        The true token of each entry: one number from 0 per entry, or a mapping from entry name to token name.
    groups
        Where a token of the right group is as bad as the right token: one group per entry, or a mapping.
    rng
        Used only where the matrix is too large for exact methods.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> answer = matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2], rng=np.random.default_rng(1))
    >>> round(answer.cracks.expected_cracks.value, 3), round(answer.quantities["d"].value, 3)
    (1.667, 0.613)
    """
    if not isinstance(guess, (Matching, MatchingDistribution)):
        guess = Matching.from_matrix(guess)
    progress("counting cracks", 0.0)
    try:
        found = cracks(guess, truth, groups=groups, rng=rng)
    except TooLargeError as error:
        raise InputError(str(error)) from error
    numbers = tuple(str(number) for number in range(1, guess.n + 1))
    return MatchingAnswer(
        cracks=found,
        entries=guess.entries or numbers,
        tokens=guess.tokens or numbers,
        notes=(*notes, *found.notes),
        guess=guess,
    )


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return dict(_MEANINGS)


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "error": figure.error,
        "method": figure.method,
        "kind": figure.kind,
        "r_hat": figure.r_hat,
    }


def _divided(figure: Figure, by: int) -> Figure:
    return Figure(figure.value / by, figure.error / by, figure.method, figure.r_hat, figure.kind)


def _end(figure: Figure, errors: int) -> float:
    """Return a share so many standard errors away, or the share itself where it is exact or already a bound.

    Chains that do not agree say nothing: a limit must not be kept because of them.
    """
    if figure.r_hat > _UNSETTLED:
        return float(errors > 0)
    if figure.kind != "sampled":
        return figure.value
    return float(min(max(figure.value + errors * figure.error, 0.0), 1.0))


def _held(guess: Matching | MatchingDistribution) -> str:
    """Return in a sentence what the adversary holds."""
    if isinstance(guess, MatchingDistribution):
        return f"The adversary holds {guess.count:,} matchings to be possible, each with a probability of its own."
    pairs = f"{guess.edges.weight.size:,} of {guess.n**2:,} pairs of an entry and a token"
    if guess.is_feasibility:
        return f"The adversary holds {pairs} to be possible, and all matchings made of them to be equally likely."
    if guess.is_doubly_stochastic:
        return f"The adversary holds {pairs} to be possible, with probabilities that sum to 1 in each row and column."
    return f"The adversary holds {pairs} to be possible, with weights of any size; only their proportions matter."
