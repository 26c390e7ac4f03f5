"""Are limits exceeded, kept, or is neither shown? And how many people would have to be attacked to show it.

"Kept" is a finding and needs as much evidence as "exceeded": that nothing was proved against a release shows nothing
in its favour.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, isnan

from unveil.errors import InputError, share, whole_number
from unveil.measure.trials.risk import CONFIDENCE, Rate

#: Counting proves copies where they are as unlikely by luck as this, which is about what a family of figures needs.
PROVED = 0.005
#: 1/11 and what a sum of other fractions makes of it are the same limit.
_SLACK = 1e-12


class Outcome(StrEnum):
    """What was shown of a limit."""

    EXCEEDED = "exceeded"
    KEPT = "kept"
    NOT_SHOWN = "not_shown"


@dataclass(frozen=True, kw_only=True)
class HeldFigure:
    """A figure that is held to a limit.

    Attributes
    ----------
    name
        How it is called.
    limit
        What it may be at most.
    interval
        From a confidence to the figure with its interval; undefined where it could not be measured.
    of_a_record
        Whether the limit is on the chance of a single record, which is 1 for an unmistakable copy.
    figures
        Of how many figures it is the worst, such as one for each adversary; each of them may err.
    """

    name: str
    limit: float
    interval: Callable[[float], Rate]
    of_a_record: bool = False
    figures: int = 1


@dataclass(frozen=True, kw_only=True)
class LimitsOutcome:
    """What was shown of all limits together, and of each figure by its name, in the order given."""

    outcome: Outcome
    figures: dict[str, Outcome]


def limits_outcome(
    held: Sequence[HeldFigure],
    *,
    unmistakable_copies: bool = False,
    found: bool = False,
    control_usable: bool = True,
    figures: int | None = None,
) -> LimitsOutcome:
    """Return whether limits are exceeded, kept, or neither was shown.

    A figure exceeds its limit where the low end of its interval lies above it, at a confidence of 1 - 0.05 / F for F
    figures, because one that errs is enough; a limit on a record's chance is also exceeded by an unmistakable copy. The
    limits are kept where the high end of each figure is at most its limit at 95 %, without such a correction, because
    all must err together (Berger, 1982), and where nothing else speaks against the release. An undefined figure shows
    nothing, and so does having no figure.

    Parameters
    ----------
    held
        The figures with their limits.
    unmistakable_copies
        Whether there are people whose records are copied beyond doubt.
    found
        Whether the release was found to give people away by copies, in a group or by membership.
    control_usable
        Whether the control passed its checks.
    figures
        How many figures are held to limits, where these are not all of them.

    Examples
    --------
    >>> from unveil.measure.trials.risk import clopper_pearson
    >>> figure = HeldFigure(name="linked", limit=0.09, interval=lambda level: clopper_pearson(5, 200, confidence=level))
    >>> str(limits_outcome([figure]).outcome)
    'kept'
    """
    confidence = strict(sum(figure.figures for figure in held) if figures is None else figures)
    outcomes = {figure.name: _outcome(figure, confidence, unmistakable_copies) for figure in held}
    outcome = Outcome.NOT_SHOWN
    if Outcome.EXCEEDED in outcomes.values():
        outcome = Outcome.EXCEEDED
    elif set(outcomes.values()) == {Outcome.KEPT} and control_usable and not (found or unmistakable_copies):
        outcome = Outcome.KEPT
    return LimitsOutcome(outcome=outcome, figures=outcomes)


def strict(figures: int) -> float:
    """Return the confidence at which one of so many figures shows that limits are exceeded.

    >>> strict(1), strict(5)
    (0.95, 0.99)
    """
    return 1 - (1 - CONFIDENCE) / figures if figures > 1 else CONFIDENCE


def _outcome(figure: HeldFigure, confidence: float, copies: bool) -> Outcome:
    # An undefined interval has ends that are NaN, which are neither above nor below anything.
    if (figure.of_a_record and copies) or figure.interval(confidence).low > figure.limit + _SLACK:
        return Outcome.EXCEEDED
    return Outcome.KEPT if figure.interval(CONFIDENCE).high <= figure.limit + _SLACK else Outcome.NOT_SHOWN


def people_needed(control_rate: float, limit: float) -> int | None:
    """Return about how many people of each table must be attacked to show that an excess is at most the limit.

    That many show it with a chance of 80 % where being in the data adds nothing and the attack succeeds on a share
    ``control_rate`` of everybody: ``14.6 c / ((1 - c) L²) + 3.7 / L``, within 11 % of the numbers that exact search
    gives for limits of 5 and 9 %. None where no number is enough: everybody is hit, or nothing at all may be added.

    >>> people_needed(0.1, 0.09), people_needed(0.9, 0.05)
    (242, 52634)
    """
    share(control_rate, "control_rate")
    if isnan(limit) or limit > 1:
        raise InputError(f"limit must be a share of at most 1, but is {limit:g}. Write 9% as 0.09")
    if control_rate == 1 or limit <= 0:
        return None
    return ceil(14.6 * control_rate / ((1 - control_rate) * limit**2) + 3.7 / limit)


def worth(members: int, others: int) -> float:
    """Return how many people in each table are worth as much as these: ``2 / (1/N + 1/m)``.

    >>> round(worth(1000, 60), 1)
    113.2
    """
    return 2 / (1 / whole_number(members, "members") + 1 / whole_number(others, "others"))


def fewest_copies_provable(members: int, others: int, *, p: float = PROVED) -> int | None:
    """Return how few copied people counting can prove where nobody of the control is hit.

    k people, all of them members, have the probability N (N-1) ... / ((N+m) (N+m-1) ...) by luck, about
    (N / (N+m))^k. None where even all members would not be proved.

    >>> [fewest_copies_provable(100_000, m) for m in (100_000, 50_000, 25_000, 10_000)]
    [8, 14, 24, 56]
    """
    chance = 1.0
    for copied in range(members):
        chance *= (members - copied) / (members + others - copied)
        if chance <= p:
            return copied + 1
    return None
