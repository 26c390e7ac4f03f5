"""Redaction of attack findings: rates, counts, subgroups, and further results."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import FloatArray, IntArray
from unveil.metrics.releases.closeness import DistanceHistogram
from unveil.metrics.trials.groups import GroupRates, RatesByGroup, compared
from unveil.metrics.trials.risk import Rate, Risk, clopper_pearson, excess
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import (
    AttackFinding,
    AuditVerdict,
    CopyFindings,
    JudgedFigure,
    ReleaseVerdict,
    Separation,
    SuccessRange,
)
from unveil.report.figures import redacted
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
        """Return whether a number of people is small but not zero."""
        return _WHOLE < number < self.minimum - _WHOLE

    def near(self, number: int) -> int:
        """Return the shown number of rows: the original's if close.

        >>> small = SmallNumbers(minimum=11, rows=300, tables=(280,))
        >>> [small.near(number) for number in (300, 296, 280, 277, 120)]
        [300, 300, 280, 280, 120]
        """
        return next((each for each in (self.rows, *self.tables) if self.is_small(abs(each - number))), number)

    def apart(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the row counts that differ by many from each other.

        >>> SmallNumbers(minimum=11, rows=300).apart([280, 296, 277, 120])
        (280, 120)
        """
        made: list[int] = []
        for number in numbers:
            if all(abs(each - number) >= self.minimum for each in (self.rows, *made)):
                made.append(number)
        return tuple(made)

    def moved(self, share: float, rows: int, number: int) -> float:
        """Return a share of rows as one of the shown number.

        >>> SmallNumbers(minimum=11, rows=300).moved(167 / 296, 296, 300) * 300
        169.0
        """
        return share if rows == number or math.isnan(share) else round(share * number) / number

    def rate(self, rate: Rate, sizes: Iterable[int] = ()) -> Rate:
        """Return a rate by bounds where successes or failures are few."""
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
        """Return the rate over all people, if few were left out."""
        for size in sizes:
            if self.is_small(abs(size - rate.tries)):
                hits = rate.value * rate.tries
                is_whole = abs(hits - round(hits)) < _WHOLE * rate.tries
                return clopper_pearson(min(round(rate.value * size) if is_whole else rate.value * size, size), size)
        return rate

    def _ends(self, hits: float, number: int) -> tuple[Rate, Rate]:
        """Return the lowest and highest rate of a class of counts."""
        if self.is_small(hits):
            return clopper_pearson(0, number), clopper_pearson(self.minimum, number)
        if self.is_small(number - hits):
            return clopper_pearson(number - self.minimum, number), clopper_pearson(number, number)
        known = clopper_pearson(hits, number)
        return known, known

    def excess(self, risk: Risk, attack: Rate, control: Rate) -> Rate:
        """Return the normalized excess, as bounds where a rate is bounded."""
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
        """Return a share of people by bounds, if few or nearly all."""
        return self.ladder([share], number)[0]

    def ladder(self, shares: Sequence[float], number: int) -> list[float]:
        """Return nested shares, ascending, without small differences.

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
        """Return chart counts as multiples of the minimum.

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
    """Return the hull of two intervals."""
    return SuppressedNumber(one.low, other.low, at=one.low), SuppressedNumber(one.high, other.high, at=other.high)


def undefined(why: str) -> Rate:
    """Return a withheld rate, with its reason."""
    return Rate(math.nan, math.nan, math.nan, why)


def without_numbers(text: str) -> str:
    """Return the sentences of a remark that hold no number.

    >>> without_numbers("All were tried. 3 were left out.")
    'All were tried.'
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return " ".join(each for each in sentences if not re.search(r"[0-9]", each))


def shared_findings(small: SmallNumbers, findings: Sequence[AttackFinding]) -> tuple[AttackFinding, ...]:
    """Return the findings on one release made safe."""
    return tuple(shared_finding(small, each) for each in findings)


def shared_finding(small: SmallNumbers, finding: AttackFinding) -> AttackFinding:
    """Return a redacted finding."""
    risk = finding.risk
    sizes = (*small.attacked, *small.tables) if ATTACKS[finding.attack].tries_are_people else ()
    attack, naive = small.rate(risk.attack_rate, sizes), small.rate(risk.naive_rate, sizes)
    control = small.rate(risk.control_rate, small.outside if sizes else ())
    made = Risk(
        attack_rate=attack,
        naive_rate=naive,
        control_rate=control,
        excess_over_control=small.excess(risk, attack, control),
    )
    is_few = any(isinstance(rate.value, SuppressedNumber) for rate in (attack, control)) or not attack.defined
    remark = without_numbers(finding.remark)
    if not attack.defined and not remark:
        remark = "What was found is not shown here: the internal edition has it."
    return replace(
        finding,
        risk=made,
        targets=attack.tries or finding.targets,
        links=_links(small, finding.links, attack),
        groups=None if finding.groups is None else shared_groups(small, finding.groups),
        figures=_figures(small, finding, attack),
        separation=None if finding.separation is None else _separation(small, finding.separation),
        distances=None if finding.distances is None else _distances(small, finding.distances),
        remark=remark,
        # How clear a few hits are tells how few.
        p=math.nan if is_few else finding.p,
        p_adjusted=math.nan if is_few else finding.p_adjusted,
        weights=tuple(
            replace(each, without=small.rate(each.without), whole=small.rate(each.whole)) for each in finding.weights
        ),
    )


def _separation(small: SmallNumbers, separation: Separation) -> Separation:
    """Return redacted membership inference, with curves through rounded counts."""
    few = any(map(small.is_small, (separation.flagged, separation.members - separation.flagged)))
    return replace(
        separation,
        area=_two_digits(separation.area),
        tpr_at_fpr=tuple(replace(each, rate=small.rate(each.rate)) for each in separation.tpr_at_fpr),
        flagged=SuppressedNumber.withheld() if few else separation.flagged,
        scores=tuple(
            replace(each, area=_two_digits(each.area), weights=(), curve=_curve(small, each.curve, separation))
            for each in separation.scores
        ),
        outliers=tuple(
            replace(
                each,
                area=_two_digits(each.area),
                tpr_at_fpr=replace(each.tpr_at_fpr, rate=small.rate(each.tpr_at_fpr.rate)),
            )
            for each in separation.outliers
            if min(each.members, each.others) >= small.minimum
        ),
        curve=_curve(small, separation.curve, separation),
        # A bound tells how many guesses were right.
        epsilon=None,
    )


def _curve(
    small: SmallNumbers, curve: tuple[FloatArray, FloatArray] | None, separation: Separation
) -> tuple[FloatArray, FloatArray] | None:
    """Return a ROC curve through rounded counts; None for few people."""
    others, members = separation.others, int(separation.members)
    if curve is None or min(others, members) < 2 * small.minimum:
        return None
    false, true = small.rounded(curve[0] * others, others), small.rounded(curve[1] * members, members)
    # Of the members flagged with as many non-members the most count.
    places = np.append(np.flatnonzero(np.diff(false)), false.size - 1)
    corners = [(0.0, 0.0), *zip(false[places] / others, true[places] / members, strict=True), (1.0, 1.0)]
    return np.array([each for each, _ in corners]), np.array([each for _, each in corners])


def _two_digits(area: Rate) -> Rate:
    return Rate(round(area.value, 2), round(area.low, 2), round(area.high, 2), area.why)


def shared_verdict(small: SmallNumbers, verdict: AuditVerdict) -> AuditVerdict:
    """Return the tests without counts and names of small subgroups."""
    releases = tuple(
        replace(
            each,
            findings=tuple(_judged(small, figure) for figure in each.findings),
            copies=_copies(small, each),
            effects=(),
            group_effects=(),
        )
        for each in verdict.releases
    )
    # A mean or a share may be one of few people.
    control = replace(
        verdict.control,
        differences=tuple(
            replace(each, value=None, here=math.nan, there=math.nan) for each in verdict.control.differences
        ),
    )
    return replace(verdict, releases=releases, control=control)


def _judged(small: SmallNumbers, figure: JudgedFigure) -> JudgedFigure:
    attack, control = small.rate(figure.attack_rate), small.rate(figure.control_rate)
    risk = Risk(
        attack_rate=figure.attack_rate,
        naive_rate=undefined(""),
        control_rate=figure.control_rate,
        excess_over_control=figure.excess_over_control,
    )
    is_few = any(isinstance(rate.value, SuppressedNumber) for rate in (attack, control)) or (
        figure.attack_rate.defined and not attack.defined
    )
    is_hidden = small.is_small(figure.people)
    return replace(
        figure,
        group="a small one" if is_hidden else figure.group,
        attack_rate=attack,
        control_rate=control,
        excess_over_control=small.excess(risk, attack, control),
        p=math.nan if is_few else figure.p,
        p_adjusted=math.nan if is_few else figure.p_adjusted,
    )


def _copies(small: SmallNumbers, release: ReleaseVerdict) -> CopyFindings | None:
    if release.copies is None:
        return None
    return replace(
        release.copies,
        groups=tuple(
            each
            for each in release.copies.groups
            if not any(map(small.is_small, (each.people, each.copies, each.people - each.copies)))
        ),
    )


def _distances(small: SmallNumbers, histogram: DistanceHistogram) -> DistanceHistogram | None:
    """Return rounded numbers of records by distance; None where there are few."""
    # Finer distances are whole parts of a range, and tell it.
    together = max(math.ceil(_FINEST_DISTANCE * len(histogram.released) / histogram.high - 1e-9), 1)
    number = small.near(histogram.rows[0])
    others = next((each for each in small.outside if small.is_small(abs(each - histogram.rows[1]))), histogram.rows[1])
    if min(number, others or number) < 2 * small.minimum:
        return None
    inside = small.rounded((histogram.released_zero, *_added(histogram.released, together)), number).tolist()
    outside = small.rounded((histogram.control_zero, *_added(histogram.control, together)), others).tolist()
    return replace(
        histogram,
        high=histogram.high * together * (len(inside) - 1) / len(histogram.released),
        released=tuple(inside[1:]),
        released_zero=inside[0],
        control=tuple(outside[1:]),
        control_zero=outside[0],
        rows=(number, others),
        is_rounded=True,
        nearer=None if histogram.nearer is None else _two_digits(histogram.nearer),
    )


#: The width of the narrowest bins of distances.
_FINEST_DISTANCE = 0.01


def _added(counts: Sequence[int], together: int) -> list[int]:
    return [sum(counts[start : start + together]) for start in range(0, len(counts), together)]


def _links(small: SmallNumbers, links: SuccessRange, attack: Rate) -> SuccessRange:
    if math.isnan(links.expected) or not attack.defined or isinstance(attack.value, SuppressedNumber):
        return SuccessRange(expected=attack.value, low=math.nan, high=math.nan) if attack.defined else SuccessRange()
    hits = attack.value * attack.tries
    if small.is_small(links.low) or small.is_small(attack.tries - links.high):
        return SuccessRange(expected=hits, low=hits, high=hits)
    return replace(links, expected=hits)


def _figures(small: SmallNumbers, finding: AttackFinding, attack: Rate) -> dict[str, float]:
    """Return redacted further results: quantiles and means of many people."""
    figures = dict(finding.figures)
    shares = {"median": 0.5, "low": 0.05, "control_median": 0.5, "control_low": 0.05}
    for name, share in shares.items():
        if name in figures and share * finding.targets < small.minimum:
            figures[name] = math.nan
        elif name in figures:
            figures[name] = _coarse(figures[name])
    number = small.near(finding.targets)
    if number != finding.targets:
        # Means of so many digits tell of how many they are.
        figures |= {name: float(f"{figures[name]:.2g}") for name in figures if name != "sure" and name not in shares}
    if "tpr_at_1_percent_fpr" in figures:
        figures["auc"] = float(f"{figures['auc']:.2g}")
        hits = figures["tpr_at_1_percent_fpr"] * finding.targets
        few = small.is_small(hits) or small.is_small(finding.targets - hits)
        figures["tpr_at_1_percent_fpr"] = math.nan if few else float(f"{figures['tpr_at_1_percent_fpr']:.2g}")
    if "sure" in figures:
        figures["sure"] = small.share(small.moved(figures["sure"], finding.targets, number), number)
    for name in ("unmistakable", "rare_histories"):
        if name in figures:
            figures[name] = redacted(figures[name], small.minimum, "people")
    if isinstance(figures.get("sure"), SuppressedNumber) or isinstance(attack.value, SuppressedNumber):
        figures |= {name: SuppressedNumber.withheld() for name in figures if name != "sure" and name not in shares}
    return figures


def shared_groups(small: SmallNumbers, groups: RatesByGroup) -> RatesByGroup:
    """Return subgroup rates; enough are hidden to prevent differencing."""
    overall = groups.overall
    sizes = (*small.attacked, *small.tables)
    attack, control = small.rate(overall.attack_rate, sizes), small.rate(overall.control_rate, small.outside)
    risk = Risk(
        attack_rate=overall.attack_rate,
        naive_rate=undefined(""),
        control_rate=overall.control_rate,
        excess_over_control=overall.excess_over_control,
    )
    everybody = replace(
        overall,
        tries=attack.tries or overall.tries,
        attack_rate=attack,
        control_rate=control,
        excess_over_control=small.excess(risk, attack, control),
    )
    hidden = _hidden(small, groups.groups, "attack_rate", attack)
    outside = _hidden(small, groups.groups, "control_rate", control)
    made = [_group(small, each, each.name in hidden, each.name in outside) for each in groups.groups]
    return compared(
        made,
        everybody,
        pooled=groups.pooled,
        confidence=groups.confidence,
        each_confidence=groups.each_confidence,
        minimum=groups.minimum,
        looks=groups.looks,
    )


def _group(small: SmallNumbers, group: GroupRates, hidden: bool, outside: bool) -> GroupRates:
    why = f"too few people to show, alone or by what would be left (fewer than {small.minimum})"
    nothing = undefined(why)
    return replace(
        group,
        tries=group.people if small.is_small(group.people - group.tries) else group.tries,
        attack_rate=nothing if hidden else group.attack_rate,
        control_rate=nothing if outside else group.control_rate,
        excess_over_control=nothing if hidden or outside else group.excess_over_control,
    )


def _hidden(small: SmallNumbers, groups: Sequence[GroupRates], figure: str, overall: Rate) -> set[str]:
    """Return the subgroups to hide: small ones, and complements."""
    counts = {each.name: (rate.value * rate.tries, rate.tries) for each in groups if (rate := each.rate(figure)).tries}
    few = {name for name, (hits, tries) in counts.items() if _is_few(small, hits, tries)}
    # Those left out of a group could be computed from its rate, and those in none from the total.
    few |= {
        each.name
        for each in groups
        if each.name in counts and figure == "attack_rate" and small.is_small(each.people - each.tries)
    }
    hidden = set(few)
    rest = sorted((name for name in counts if name not in hidden), key=lambda name: (counts[name][1], name))
    exact = overall.defined and not isinstance(overall.value, SuppressedNumber)
    while hidden and exact and rest and not _is_mixed(small, [counts[name] for name in hidden]):
        hidden.add(rest.pop(0))
    return hidden


def _is_few(small: SmallNumbers, hits: float, tries: float) -> bool:
    return small.is_small(hits) or small.is_small(tries - hits)


def _is_mixed(small: SmallNumbers, hidden: Sequence[tuple[float, int]]) -> bool:
    """Return whether the hidden subgroups' total reveals no small number."""
    hits, tries = sum(each for each, _ in hidden), sum(each for _, each in hidden)
    room = min(hits, tries - hits)
    return room >= small.minimum and all(own <= room for each, own in hidden if _is_few(small, each, own))


def _coarse(distance: float) -> float:
    """Return the next 0.01 step that enough records reach.

    >>> [_coarse(distance) for distance in (0.0, 0.07, 0.337, 1 / 243)]
    [0.0, 0.07, 0.34, 0.01]
    """
    return distance if math.isnan(distance) else math.ceil(distance * 100 - 1e-9) / 100
