"""The findings of an audit as others may see them: every number that rests on a few people becomes a bound.

A number of people is *small* when it is above 0 and below the minimum; so is a number of people when all but a small
number are counted, because the total stands beside it. Small numbers are replaced here, before any sentence, table or
picture is made, by bounds that follow from totals and the minimum alone. What is computed from a small number (rates,
intervals, differences, means) is computed from these bounds, or not shown. 0 stays 0: that nobody was hit is about
nobody. Where a total stands beside parts, as with groups, further parts are hidden until no difference is small.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unveil.ask.audit.findings import Audit, Audited, ColumnFact, Finding, Links, TableFlags, Weight
from unveil.data.files.digest import keyed_digest
from unveil.measure.trials.groups import Group, Groups, compared
from unveil.measure.trials.risk import Rate, Risk, excess, wilson
from unveil.show.bounded import Bounded

if TYPE_CHECKING:
    from unveil.measure.releases.disclosure import Disclosure
    from unveil.measure.releases.diversity import Diversity
    from unveil.measure.releases.households import HouseholdRisk
    from unveil.measure.releases.population import PopulationRisk
    from unveil.measure.releases.utility import ColumnDistance, Utility

#: What a shareable report says about itself.
NOTE = (
    "Numbers that rest on fewer than {minimum} people, or on all but so few, are given by bounds that follow from the "
    "totals alone, or are not shown; tables whose numbers of rows differ by fewer are given the same number. The "
    "internal edition has them all."
)
#: Attacks whose tries are no people, so that their number says nothing about people who were left out.
_NO_PEOPLE = frozenset({"singling_out"})
_WHOLE = 1e-9


#: What the report says about its digests.
KEYED = (
    "A keyed digest is the HMAC-SHA-256 of a file's SHA-256 under a random key, which the internal edition states: who "
    "holds the key can show with it that a file is this one (unveil digest FILE), and nobody else can try files."
)


def shared(audit: Audit, *, key: bytes | None = None) -> Audit:
    """Return the audit with every number bounded or left out that says how few people there are of some kind.

    Plain hashes of files go too, because whoever knows nearly all of a file can try the rest against its hash; in
    their place are digests under ``key``, or none without one. Those of releases too: one may not be published yet.
    """

    def digest(sha256: str | None) -> str | None:
        if sha256 is None:
            return None
        return "not shown" if key is None else keyed_digest(sha256, key)

    small = _Small(
        minimum=audit.minimum_cell,
        rows=audit.rows,
        attacked=(audit.rows, *audit.attacked),
        outside=(audit.control_rows or 0, *audit.attacked_outside),
        households=_households(audit.before),
    )
    small = replace(small, tables=small.apart([each.rows for each in audit.releases]))
    return replace(
        audit,
        sha256=digest(audit.sha256),
        control_sha256=digest(audit.control_sha256),
        digest_name="SHA-256" if key is None else "keyed digest",
        releases=tuple(replace(small.audited(each), sha256=digest(each.sha256)) for each in audit.releases),
        before=None if audit.before is None else small.audited(audit.before),
        flags=tuple(
            TableFlags(table=each.table, flags=tuple(replace(flag, reason=_worded(flag.reason)) for flag in each.flags))
            for each in audit.flags
        ),
        columns=tuple(small.column(each) for each in audit.columns),
        notes=(NOTE.format(minimum=audit.minimum_cell), *(() if key is None else (KEYED,)), *audit.notes),
    )


def _worded(reason: str) -> str:
    """Return why a column was flagged without the share of its values, which may be a few."""
    return re.sub(r"\b[0-9]+% of", "part of", reason[:1].lower() + reason[1:]).capitalize() if "%" in reason else reason


def without_numbers(text: str) -> str:
    """Return the sentences of a remark that hold no number, which could be one of people.

    >>> without_numbers("All were tried. 3 were left out.")
    'All were tried.'
    """
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return " ".join(each for each in sentences if not re.search(r"[0-9]", each))


@dataclass(frozen=True, kw_only=True)
class _Small:
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

        >>> small = _Small(minimum=11, rows=300, tables=(280,))
        >>> [small.near(number) for number in (300, 296, 280, 277, 120)]
        [300, 300, 280, 280, 120]
        """
        return next((each for each in (self.rows, *self.tables) if self.is_small(abs(each - number))), number)

    def apart(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return those of the numbers of rows that differ by many from the original's, and from one another.

        >>> _Small(minimum=11, rows=300).apart([280, 296, 277, 120])
        (280, 120)
        """
        made: list[int] = []
        for number in numbers:
            if all(abs(each - number) >= self.minimum for each in (self.rows, *made)):
                made.append(number)
        return tuple(made)

    def moved(self, share: float, rows: int, number: int) -> float:
        """Return a share of rows as one of the number that is shown: what no whole number makes tells the other.

        >>> _Small(minimum=11, rows=300).moved(167 / 296, 296, 300) * 300
        169.0
        """
        return share if rows == number or math.isnan(share) else round(share * number) / number

    # Rates

    def rate(self, rate: Rate, sizes: Iterable[int] = ()) -> Rate:
        """Return a share of tries by its bounds where hits or misses are few, with an interval of the bounds."""
        if not rate.defined or not rate.tries:
            return rate
        whole = self._of_all(rate, sizes)
        number, hits = whole.tries, whole.value * whole.tries
        few, all_but_few = self.is_small(hits), self.is_small(number - hits)
        if number < self.minimum or (few and all_but_few):
            return _undefined(f"it rests on fewer than {self.minimum} people and is not shown here")
        if not (few or all_but_few):
            return whole
        one, other = self._ends(hits, number)
        share = Bounded(one.value, other.value, at=other.value if few else one.value)
        return Rate(share, *_interval(one, other), tries=number)

    def _of_all(self, rate: Rate, sizes: Iterable[int]) -> Rate:
        """Return the rate as if nobody had been left out, where those left out are a few."""
        for size in sizes:
            if self.is_small(abs(size - rate.tries)):
                hits = rate.value * rate.tries
                is_whole = abs(hits - round(hits)) < _WHOLE * rate.tries
                return wilson(min(round(rate.value * size) if is_whole else rate.value * size, size), size)
        return rate

    def _ends(self, hits: float, number: int) -> tuple[Rate, Rate]:
        """Return the least and the greatest rate that hits of that class could be."""
        if self.is_small(hits):
            return wilson(0, number), wilson(self.minimum, number)
        if self.is_small(number - hits):
            return wilson(number - self.minimum, number), wilson(number, number)
        exact = wilson(hits, number)
        return exact, exact

    def excess(self, risk: Risk, attack: Rate, control: Rate) -> Rate:
        """Return the excess over control, made of bounds where the attack or the control was bounded."""
        told = risk.excess_over_control
        if not told.defined:
            return told
        if not attack.defined or not control.defined:
            return _undefined(attack.why or control.why)
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
            return _undefined("it rests on too few people and is not shown here")
        return Rate(Bounded(low.value, high.value, at=low.value), *_interval(low, high))

    # Findings

    def finding(self, finding: Finding) -> Finding:
        """Return a finding with its four rates, its hits, its groups and its further figures made safe."""
        risk = finding.risk
        sizes = () if finding.attack in _NO_PEOPLE else (*self.attacked, *self.tables)
        attack, naive = self.rate(risk.attack_rate, sizes), self.rate(risk.naive_rate, sizes)
        control = self.rate(risk.control_rate, self.outside if sizes else ())
        made = Risk(
            attack_rate=attack,
            naive_rate=naive,
            control_rate=control,
            excess_over_control=self.excess(risk, attack, control),
        )
        remark = without_numbers(finding.remark)
        if not attack.defined and not remark:
            remark = "What was found is not shown here: the internal edition has it."
        return replace(
            finding,
            risk=made,
            targets=attack.tries or finding.targets,
            links=self._links(finding.links, attack),
            groups=None if finding.groups is None else self.groups(finding.groups),
            figures=self._figures(finding, attack),
            remark=remark,
        )

    def _links(self, links: Links, attack: Rate) -> Links:
        if math.isnan(links.expected) or not attack.defined or isinstance(attack.value, Bounded):
            return Links(expected=attack.value, low=math.nan, high=math.nan) if attack.defined else Links()
        hits = attack.value * attack.tries
        if self.is_small(links.low) or self.is_small(attack.tries - links.high):
            return Links(expected=hits, low=hits, high=hits)
        return replace(links, expected=hits)

    def _figures(self, finding: Finding, attack: Rate) -> dict[str, float]:
        """Return the further figures: quantiles with enough people on either side, means that no few people make."""
        figures = dict(finding.figures)
        shares = {"median": 0.5, "low": 0.05, "control_median": 0.5, "control_low": 0.05}
        for name, share in shares.items():
            if name in figures and share * finding.targets < self.minimum:
                figures[name] = math.nan
            elif name in figures:
                figures[name] = _coarse(figures[name])
        number = self.near(finding.targets)
        if number != finding.targets:
            # Means of so many digits tell of how many they are.
            figures |= {
                name: float(f"{figures[name]:.2g}") for name in figures if name != "sure" and name not in shares
            }
        if "sure" in figures:
            figures["sure"] = self.share(self.moved(figures["sure"], finding.targets, number), number)
        if isinstance(figures.get("sure"), Bounded) or isinstance(attack.value, Bounded):
            figures |= {name: Bounded.withheld() for name in figures if name != "sure" and name not in shares}
        return figures

    def groups(self, groups: Groups) -> Groups:
        """Return the rates of groups, of which so many are hidden that no small number can be computed."""
        overall = groups.overall
        sizes = (*self.attacked, *self.tables)
        attack, control = self.rate(overall.attack_rate, sizes), self.rate(overall.control_rate, self.outside)
        risk = Risk(
            attack_rate=overall.attack_rate,
            naive_rate=_undefined(""),
            control_rate=overall.control_rate,
            excess_over_control=overall.excess_over_control,
        )
        everybody = replace(
            overall,
            tries=attack.tries or overall.tries,
            attack_rate=attack,
            control_rate=control,
            excess_over_control=self.excess(risk, attack, control),
        )
        hidden = self._hidden(groups.groups, "attack_rate", attack)
        outside = self._hidden(groups.groups, "control_rate", control)
        made = [self._group(each, each.name in hidden, each.name in outside) for each in groups.groups]
        return compared(
            made,
            everybody,
            pooled=groups.pooled,
            confidence=groups.confidence,
            each_confidence=groups.each_confidence,
            minimum=groups.minimum,
            looks=groups.looks,
        )

    def _group(self, group: Group, hidden: bool, outside: bool) -> Group:
        why = f"too few people to show, alone or by what would be left (fewer than {self.minimum})"
        nothing = _undefined(why)
        return replace(
            group,
            tries=group.people if self.is_small(group.people - group.tries) else group.tries,
            attack_rate=nothing if hidden else group.attack_rate,
            control_rate=nothing if outside else group.control_rate,
            excess_over_control=nothing if hidden or outside else group.excess_over_control,
        )

    def _hidden(self, groups: Sequence[Group], figure: str, overall: Rate) -> set[str]:
        """Return the groups whose rate is hidden: those of few hits or misses, and others to hide these among."""
        counts = {
            each.name: (rate.value * rate.tries, rate.tries) for each in groups if (rate := each.rate(figure)).tries
        }
        few = {name for name, (hits, tries) in counts.items() if self._is_few(hits, tries)}
        # Those left out of a group could be computed from its rate, and those in none from the total.
        few |= {
            each.name for each in groups if each.name in counts and figure == "attack_rate" and self._left_out(each)
        }
        hidden = set(few)
        rest = sorted((name for name in counts if name not in hidden), key=lambda name: (counts[name][1], name))
        exact = overall.defined and not isinstance(overall.value, Bounded)
        while hidden and exact and rest and not self._is_mixed([counts[name] for name in hidden]):
            hidden.add(rest.pop(0))
        return hidden

    def _left_out(self, group: Group) -> bool:
        return self.is_small(group.people - group.tries)

    def _is_few(self, hits: float, tries: float) -> bool:
        return self.is_small(hits) or self.is_small(tries - hits)

    def _is_mixed(self, hidden: Sequence[tuple[float, int]]) -> bool:
        """Return whether what is left for the hidden groups together says nothing about the few in one of them."""
        hits, tries = sum(each for each, _ in hidden), sum(each for _, each in hidden)
        room = min(hits, tries - hits)
        return room >= self.minimum and all(own <= room for each, own in hidden if self._is_few(each, own))

    # Releases

    def audited(self, release: Audited) -> Audited:
        """Return everything about one release, made safe."""
        search = release.search
        if search is not None:
            seemed = self.rate(search.seemed)
            alike = [each for each in release.of("linkability") if _is_bounded(self.finding(each))]
            seemed = _undefined("not shown") if alike and not seemed.tries else seemed
            search = replace(search, seemed=seemed)
        return replace(
            release,
            rows=self.near(release.rows),
            findings=tuple(self.finding(each) for each in release.findings),
            weights=tuple(self._weight(each) for each in release.weights),
            search=search,
            disclosure=None if release.disclosure is None else self.disclosure(release.disclosure),
            utility=None if release.utility is None else self.utility(release.utility),
        )

    def _weight(self, weight: Weight) -> Weight:
        return replace(weight, without=self.rate(weight.without), whole=self.rate(weight.whole))

    def column(self, column: ColumnFact) -> ColumnFact:
        """Return a column of the original; where only a few have a value it is not told how many lack one."""
        if not self.is_small(self.rows - column.missing):
            return column
        words = f"all but fewer than {self.minimum}"
        return replace(column, missing=Bounded(self.rows - self.minimum, self.rows, words=words))  # type: ignore[arg-type]

    # Shares of rows

    def share(self, share: float, number: int) -> float:
        """Return a share of so many people by its bounds where it is of a few, or of all but a few."""
        return self.ladder([share], number)[0]

    def ladder(self, shares: Sequence[float], number: int) -> list[float]:
        """Return shares that contain one another, from the least, such that no difference of two is of a few.

        >>> small = _Small(minimum=11, rows=500)
        >>> [(float(share), isinstance(share, Bounded)) for share in small.ladder([0.1, 0.108, 0.2], 500)]
        [(0.1, False), (0.122, True), (0.2, False)]
        """
        if number < self.minimum:
            return [each if math.isnan(each) else Bounded.withheld() for each in shares]
        step, last = self.minimum / number, 0.0
        made: list[float] = []
        for share in shares:
            if math.isnan(share):
                made.append(share)
            elif self.is_small((share - last) * number):
                made.append(Bounded(last, min(last + step, 1.0)))
            elif self.is_small((1 - share) * number):
                made.append(Bounded(1 - step, 1.0, at=1 - step))
            else:
                made.append(share)
                last = share
        return made

    def disclosure(self, found: "Disclosure") -> "Disclosure":
        """Return what a release discloses by itself, without the sizes of small classes."""
        number = self.near(found.rows)
        sizes = sorted(found.below)
        shares = [self.moved(found.below[size], found.rows, number) for size in sizes]
        below = dict(zip(sizes, self.ladder(shares, number), strict=True))
        tiny = found.k_anonymity < self.minimum
        hidden = any(isinstance(each, Bounded) for each in below.values())
        special = found.special_uniques
        if special is not None and self._are_few(special.rows_by_size, number, found.sample_uniqueness * found.rows):
            special = replace(special, rows_by_size=(math.nan,) * len(special.rows_by_size))  # type: ignore[arg-type]
        return replace(
            found,
            rows=number,
            below=below,
            k_anonymity=self._smallest(found.below) if tiny else found.k_anonymity,
            highest_risk=self._highest(found.below) if tiny else found.highest_risk,
            average_risk=Bounded.withheld() if hidden else self.moved(found.average_risk, found.rows, number),
            sample_uniqueness=below.get(2, found.sample_uniqueness),
            records_at_risk=below.get(found.minimum_cell or 0, found.records_at_risk),
            diversity=tuple(self._diversity(each, below, found.rows, number, tiny=tiny) for each in found.diversity),
            special_uniques=special,
            population=tuple(self._population(each, number, hidden=hidden) for each in found.population),
            household=None if found.household is None else self._household(found.household, number, tiny=tiny),
            notes=tuple(note for each in found.notes if (note := without_numbers(each))),
        )

    def _are_few(self, uniques: Sequence[int], number: int, alone: float) -> bool:
        """Return whether so many rows by columns, or what they leave of all rows or of those alone, are few."""
        left = sum(uniques)
        return any(map(self.is_small, (*uniques, number - left, alone - left)))

    def _smallest(self, below: Mapping[int, float]) -> int:
        """Return bounds of the smallest class: the sizes next to it of which it is told whether any row is below."""
        least = max((size for size, share in below.items() if share == 0), default=1)
        most = min((size - 1 for size, share in below.items() if share > 0), default=self.minimum - 1)
        return Bounded(least, most, words=f"fewer than {self.minimum}")  # type: ignore[return-value]

    def _highest(self, below: Mapping[int, float]) -> float:
        smallest: Bounded = self._smallest(below)  # type: ignore[assignment]
        words = f"at least {1 / max(self.minimum - 1, 1):.3g}"
        return Bounded(1 / smallest.most, 1 / smallest.least, words=words)

    def _diversity(
        self, each: "Diversity", below: dict[int, float], rows: int, number: int, *, tiny: bool
    ) -> "Diversity":
        """Return how different sensitive values are; of small classes nothing, as it tells how small they are."""
        alone, given = below.get(2, 0.0), self.moved(each.classes_of_one_value, rows, number)
        # Whoever is alone is among those whose value is given away.
        given = self.share(given, number) if isinstance(alone, Bounded) else self.ladder([alone, given], number)[1]
        if tiny:
            nothing = Bounded.withheld()
            return replace(
                each,
                distinct=nothing,  # type: ignore[arg-type]
                entropy=nothing,
                recursive=nothing,  # type: ignore[arg-type]
                closeness=nothing,
                classes_of_one_value=given,
            )
        # A few of a class could be counted from the exact figures of the worst one.
        rounded = Bounded(math.floor(each.entropy), math.inf, words=f"at least {math.floor(each.entropy)}")
        return replace(each, entropy=rounded, closeness=round(each.closeness, 1), classes_of_one_value=given)

    def _population(self, each: "PopulationRisk", number: int, *, hidden: bool) -> "PopulationRisk":
        nothing = Bounded.withheld()
        expected = each.expected_reidentifications
        if number != each.rows:
            expected = each.expected_share * number  # the two shown together tell the number of rows
        few = hidden or self.is_small(expected) or self.is_small(number - expected)
        return replace(
            each,
            uniqueness=nothing if hidden else self.share(each.uniqueness, number),
            expected_reidentifications=nothing if few and not math.isnan(expected) else expected,
            expected_share=nothing if few and not math.isnan(expected) else each.expected_share,
            below=nothing if hidden else self.share(each.below, number),
        )

    def _household(self, house: "HouseholdRisk", number: int, *, tiny: bool) -> "HouseholdRisk":
        if self.is_small(abs(house.households - self.households)):
            house = replace(house, households=self.households)
        if not (tiny or self.is_small(house.expected_people) or self.is_small(number - house.expected_people)):
            return house
        nothing = Bounded.withheld()
        return replace(house, highest=nothing, average=nothing, expected_people=nothing)

    def utility(self, found: "Utility") -> "Utility":
        """Return what a release keeps; distances of a few people's cells are bounded, and what is made of them."""
        number = self.near(found.rows_released)
        columns = tuple(self._distance(each, found.rows_released, number) for each in found.columns)
        gaps = any(
            isinstance(share, Bounded) for each in columns for share in (each.missing_original, each.missing_released)
        )
        own, left_out = [each.distance for each in columns], [1.0] * found.columns_left_out
        column_loss = _mean([*own, *left_out], found.column_loss)
        parts = [each for each in (column_loss, found.association_loss, found.discrimination) if not math.isnan(each)]
        return replace(
            found,
            columns=columns,
            column_loss=column_loss,
            loss=_mean(parts, found.loss),
            rows_released=number,
            rows_kept=found.rows_kept if number == found.rows_released else number / found.rows_original,
            cells_suppressed=Bounded.withheld() if gaps else found.cells_suppressed,
            propensity=replace(found.propensity, rows_released=number)
            if found.propensity.rows_released == found.rows_released
            else found.propensity,
        )

    def _distance(self, column: "ColumnDistance", rows: int, number: int) -> "ColumnDistance":
        before = self.share(column.missing_original, self.rows)
        after = self.share(self.moved(column.missing_released, rows, number), number)
        apart = abs(after - before) * min(self.rows, number)
        if not isinstance(before, Bounded) and not isinstance(after, Bounded) and self.is_small(apart):
            # So many people lost their value, or were given one.
            step = self.minimum / min(self.rows, number)
            after = Bounded(max(before - step, 0.0), min(before + step, 1.0))
        return replace(
            column,
            distance=self.share(column.distance, min(self.rows, number)),
            missing_original=before,
            missing_released=after,
        )


def _coarse(distance: float) -> float:
    """Return the next step of 0.01 that so many are within: a finer distance is a whole part of a range, and tells it.

    >>> [_coarse(distance) for distance in (0.0, 0.07, 0.337, 1 / 243)]
    [0.0, 0.07, 0.34, 0.01]
    """
    return distance if math.isnan(distance) else math.ceil(distance * 100 - 1e-9) / 100


def _households(before: Audited | None) -> int:
    """Return how many households the original has; 0 where nobody looked."""
    found = None if before is None or before.disclosure is None else before.disclosure.household
    return 0 if found is None else found.households


def _mean(parts: Sequence[float], told: float) -> float:
    """Return the mean of numbers as bounds where some are bounded, else as it was told."""
    if not any(isinstance(each, Bounded) for each in parts):
        return told
    if any(math.isnan(each) for each in parts):
        return Bounded.withheld()

    def end(which: Callable[[Bounded], float]) -> float:
        return math.fsum(which(each) if isinstance(each, Bounded) else each for each in parts) / len(parts)

    return Bounded(end(lambda each: each.least), end(lambda each: each.most))


def _interval(one: Rate, other: Rate) -> tuple[float, float]:
    """Return where an interval begins and ends that could be any from the one of the first rate to the second's."""
    return Bounded(one.low, other.low, at=one.low), Bounded(one.high, other.high, at=other.high)


def _undefined(why: str) -> Rate:
    return Rate(math.nan, math.nan, math.nan, why)


def _is_bounded(finding: Finding) -> bool:
    risk = finding.risk
    return any(isinstance(rate.value, Bounded) for rate in (risk.attack_rate, risk.control_rate))


__all__ = ["KEYED", "NOTE", "shared", "without_numbers"]
