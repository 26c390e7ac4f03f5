"""What counts as a small number in one audit, and what is told in its place: bounds from totals and the minimum."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import IntArray
from unveil.metrics.trials.risk import Rate, Risk, clopper_pearson, excess
from unveil.report.suppressed_number import SuppressedNumber

_WHOLE = 1e-9


@dataclass(frozen=True, kw_only=True)
class SmallNumbers:
    """What counts as a small number in one audit."""

    minimum: int
    rows: int
    #: How many people were attacked, by the ways to draw them: fewer tries leave somebody out.
    attacked: tuple[int, ...] = ()
    #: The same of people who are not in the data.
    outside: tuple[int, ...] = ()
    #: Numbers of rows of releases that differ from that of the original, and from one another, by many.
    tables: tuple[int, ...] = ()
    #: How many households the original has.
    households: int = 0

    def is_small(self, number: float) -> bool:
        """Return whether so many people are few, but some."""
        return _WHOLE < number < self.minimum - _WHOLE

    def near(self, number: int) -> int:
        """Return the number of rows as it is shown: that of the original, or of a release, that it differs from by few.

        >>> small = SmallNumbers(minimum=11, rows=300, tables=(280,))
        >>> [small.near(number) for number in (300, 296, 280, 277, 120)]
        [300, 300, 280, 280, 120]
        """
        return next((each for each in (self.rows, *self.tables) if self.is_small(abs(each - number))), number)

    def apart(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return those of the numbers of rows that differ by many from the original's, and from one another.

        >>> SmallNumbers(minimum=11, rows=300).apart([280, 296, 277, 120])
        (280, 120)
        """
        made: list[int] = []
        for number in numbers:
            if all(abs(each - number) >= self.minimum for each in (self.rows, *made)):
                made.append(number)
        return tuple(made)

    def moved(self, share: float, rows: int, number: int) -> float:
        """Return a share of rows as one of the number that is shown: what no whole number makes tells the other.

        >>> SmallNumbers(minimum=11, rows=300).moved(167 / 296, 296, 300) * 300
        169.0
        """
        return share if rows == number or math.isnan(share) else round(share * number) / number

    def rate(self, rate: Rate, sizes: Iterable[int] = ()) -> Rate:
        """Return a share of tries by its bounds where hits or misses are few, with an interval of the bounds."""
        if not rate.defined or not rate.tries:
            return rate
        whole = self._of_all(rate, sizes)
        # Tries that hang together are as many as they are worth: the interval tells these.
        number = min(whole.tries, round(whole.worth)) if whole.worth else whole.tries
        hits = whole.value * number
        few, all_but_few = self.is_small(hits), self.is_small(number - hits)
        if number < self.minimum or (few and all_but_few):
            return undefined(f"it rests on fewer than {self.minimum} people and is not shown here")
        if not (few or all_but_few):
            return whole
        one, other = self._ends(hits, number)
        share = SuppressedNumber(one.value, other.value, at=other.value if few else one.value)
        return Rate(share, *_interval(one, other), tries=number)

    def _of_all(self, rate: Rate, sizes: Iterable[int]) -> Rate:
        """Return the rate as if nobody had been left out, where those left out are a few."""
        for size in sizes:
            if self.is_small(abs(size - rate.tries)):
                hits = rate.value * rate.tries
                is_whole = abs(hits - round(hits)) < _WHOLE * rate.tries
                return clopper_pearson(min(round(rate.value * size) if is_whole else rate.value * size, size), size)
        return rate

    def _ends(self, hits: float, number: int) -> tuple[Rate, Rate]:
        """Return the least and the greatest rate that hits of that class could be."""
        if self.is_small(hits):
            return clopper_pearson(0, number), clopper_pearson(self.minimum, number)
        if self.is_small(number - hits):
            return clopper_pearson(number - self.minimum, number), clopper_pearson(number, number)
        known = clopper_pearson(hits, number)
        return known, known

    def excess(self, risk: Risk, attack: Rate, control: Rate) -> Rate:
        """Return the excess over control, made of bounds where the attack or the control was bounded."""
        told = risk.excess_over_control
        if not told.defined:
            return told
        if not attack.defined or not control.defined:
            return undefined(attack.why or control.why)
        if not control.tries:
            # What strangers would give is no share of tries: it bounds nobody, but the attack may.
            return excess(attack, control) if isinstance(attack.value, SuppressedNumber) else told
        # Some attacks are compared after they were brought to the size of the control, so this is not always the rate.
        compared_rate = 1 - (1 - told.value) * (1 - risk.control_rate.value)
        if abs(compared_rate - risk.attack_rate.value) < _WHOLE:
            compared_rate = risk.attack_rate.value
        inside = min(max(compared_rate, 0.0), 1.0) * attack.tries
        outside = min(risk.control_rate.value * control.tries, control.tries)
        if not any(map(self.is_small, (inside, attack.tries - inside, outside, control.tries - outside))):
            unmoved = attack.tries == risk.attack_rate.tries and control.tries == risk.control_rate.tries
            return told if unmoved else excess(attack, control)
        (one, other), (least, most) = self._ends(inside, attack.tries), self._ends(outside, control.tries)
        low, high = excess(one, most), excess(other, least)
        if not low.defined or not high.defined or not math.isfinite(low.low):
            return undefined("it rests on too few people and is not shown here")
        return Rate(SuppressedNumber(low.value, high.value, at=low.value), *_interval(low, high))

    def share(self, share: float, number: int) -> float:
        """Return a share of so many people by its bounds where it is of a few, or of all but a few."""
        return self.ladder([share], number)[0]

    def ladder(self, shares: Sequence[float], number: int) -> list[float]:
        """Return shares that contain one another, from the least, such that no difference of two is of a few.

        >>> small = SmallNumbers(minimum=11, rows=500)
        >>> [(float(share), isinstance(share, SuppressedNumber)) for share in small.ladder([0.1, 0.108, 0.2], 500)]
        [(0.1, False), (0.122, True), (0.2, False)]
        """
        if number < self.minimum:
            return [each if math.isnan(each) else SuppressedNumber.withheld() for each in shares]
        step, last = self.minimum / number, 0.0
        made: list[float] = []
        for share in shares:
            if math.isnan(share):
                made.append(share)
            elif self.is_small((share - last) * number):
                made.append(SuppressedNumber(last, min(last + step, 1.0)))
            elif self.is_small((1 - share) * number):
                made.append(SuppressedNumber(1 - step, 1.0, at=1 - step))
            else:
                made.append(share)
                last = share
        return made

    def rounded(self, counts: ArrayLike, whole: int) -> IntArray:
        """Return numbers of some of ``whole`` people for a chart: multiples of the minimum; 0 and all stay as they are.

        Sums and differences of such numbers say nothing about a few people, as each is off by up to half the minimum.

        >>> SmallNumbers(minimum=11, rows=300).rounded([0, 2, 16, 17, 298, 300], 300)
        array([  0,  11,  11,  22, 297, 300])
        """
        given = np.asarray(counts, np.float64)
        most = max(whole // self.minimum, 1)
        steps = np.clip(np.floor(given / self.minimum + 0.5), 1, most).astype(np.int64)
        made = np.where(given > _WHOLE, steps * self.minimum, 0)
        return np.where(given >= whole - _WHOLE, whole, made)


def _interval(one: Rate, other: Rate) -> tuple[float, float]:
    """Return where an interval begins and ends that could be any from the one of the first rate to the second's."""
    return SuppressedNumber(one.low, other.low, at=one.low), SuppressedNumber(one.high, other.high, at=other.high)


def undefined(why: str) -> Rate:
    """Return a rate that is not told, and why."""
    return Rate(math.nan, math.nan, math.nan, why)


def without_numbers(text: str) -> str:
    """Return the sentences of a remark that hold no number, which could be one of people.

    >>> without_numbers("All were tried. 3 were left out.")
    'All were tried.'
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return " ".join(each for each in sentences if not re.search(r"[0-9]", each))
