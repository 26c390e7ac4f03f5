"""Redaction of an audit: numbers that rest on few people become bounds.

A number of people is *small* when it is above 0 and below the minimum; so is a number of people when all but a small
number are counted, because the total stands beside it. Small numbers are replaced here, before any sentence, table or
picture is made, by bounds that follow from totals and the minimum alone. What is computed from a small number (rates,
intervals, differences, means) is computed from these bounds, or not shown. 0 stays 0: that nobody was hit is about
nobody. Where a total stands beside parts, as with groups, further parts are hidden until no difference is small.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

from unveil.data.files.digest import keyed_digest
from unveil.metrics.releases.distributions import MISSING
from unveil.metrics.trials.risk import Rate, clopper_pearson
from unveil.metrics.verdict.effects import EffectSize
from unveil.protections.generators.command import PLACES
from unveil.questions.audit.decision.findings import (
    AttackEffect,
    AuditDecision,
    ExposedIndividuals,
    GroupEffect,
    ReleaseDecision,
)
from unveil.questions.audit.decision.text import with_text
from unveil.questions.audit.findings import Audit, AuditedRelease, ColumnFact, Suggestions, TableFlags
from unveil.questions.audit.generator.findings import GeneratorSummary
from unveil.questions.audit.redaction_rates import SmallNumbers, shared_findings, shared_verdict, without_numbers
from unveil.questions.audit.reference.redaction import shared_population, shared_runs, shared_siblings
from unveil.report.figures import redacted
from unveil.report.suppressed_number import SuppressedNumber

if TYPE_CHECKING:
    from unveil.metrics.releases.disclosure import Disclosure
    from unveil.metrics.releases.distributions import ColumnDistribution
    from unveil.metrics.releases.diversity import Diversity
    from unveil.metrics.releases.households import HouseholdRisk
    from unveil.metrics.releases.population import PopulationRisk
    from unveil.metrics.releases.utility import ColumnDistance, Utility


#: What a shareable report says about itself.
NOTE = (
    "Numbers based on fewer than {minimum} people, or on all but fewer than {minimum}, are bounded or left out. "
    "The bounds follow from totals. Tables whose row counts differ by fewer than {minimum} show the same count. The "
    "internal report has all numbers."
)
#: What stands for the words of a command.
COMMAND = "a command (see the internal report)"
#: What the report says about its digests.
KEYED = (
    "A keyed digest is the HMAC-SHA-256 of a file's SHA-256 under a random key. The internal report states the key. "
    "With it, unveil verify FILE shows that a file is this one; without it, files cannot be guessed."
)


def shared(audit: Audit, *, key: bytes | None = None) -> Audit:
    """Return the redacted audit.

    Plain hashes of files go too, because whoever knows nearly all of a file can try the rest against its hash; in
    their place are digests under ``key``, or none without one. Those of releases too: one may not be published yet.
    """

    def digest(sha256: str | None) -> str | None:
        if sha256 is None:
            return None
        return "not shown" if key is None else keyed_digest(sha256, key)

    small = SmallNumbers(
        minimum=audit.minimum_cell,
        rows=audit.rows,
        attacked=tuple(dict.fromkeys((audit.rows, audit.people or audit.rows, audit.attacked))),
        outside=(audit.control_rows or 0, audit.attacked_outside),
        households=_households(audit.before),
    )
    way, released = audit.way, {each.name: each.rows for each in audit.releases}
    own = [rows for label, rows in released.items() if way is None or label == way.release]
    small = replace(small, tables=small.apart(own))
    every = dict.fromkeys(released, small)
    if way is not None:
        # Releases that exist already are of everybody, and nobody is held out of them.
        beside = replace(small, rows=way.rows, attacked=(way.rows, way.attacked_beside), outside=(), tables=())
        beside = replace(
            beside, tables=beside.apart([rows for label, rows in released.items() if label != way.release])
        )
        every |= {label: beside for label in released if label != way.release}
    safe = replace(
        audit,
        sha256=digest(audit.sha256),
        control_sha256=digest(audit.control_sha256),
        decision=shared_decision(small, audit.decision),
        verdict=shared_verdict(small, audit.verdict),
        digest_name="SHA-256" if key is None else "keyed digest",
        releases=tuple(
            replace(_release(every[each.name], each), sha256=digest(each.sha256)) for each in audit.releases
        ),
        siblings=None if audit.siblings is None else shared_siblings(small, audit.siblings),
        population=None if audit.population is None else shared_population(small, audit.population),
        tables=None if audit.tables is None else audit.tables.with_digests(digest),
        before=None if audit.before is None else _release(small, audit.before),
        flags=tuple(
            TableFlags(table=each.table, flags=tuple(replace(flag, reason=_worded(flag.reason)) for flag in each.flags))
            for each in audit.flags
        ),
        columns=tuple(_column(small, each) for each in audit.columns),
        suggestions=_suggestions(small, audit.suggestions),
        way=None if audit.way is None else _way(audit.way),
        epsilon=None if audit.epsilon is None else replace(audit.epsilon, counts=False),
        notes=(NOTE.format(minimum=audit.minimum_cell), *(() if key is None else (KEYED,)), *audit.notes),
    )
    made: Audit = redacted(safe, audit.minimum_cell)
    return replace(made, decision=with_text(made.decision, made))


def _way(way: GeneratorSummary) -> GeneratorSummary:
    """Return the generator summary without command and small rates.

    The words of a command may hold passwords, addresses and folders. Protections and functions are names.
    """
    generator = COMMAND if any(place in way.generator for place in PLACES) else way.generator
    siblings = None if way.siblings is None else shared_runs(way.siblings)
    return replace(way, generator=generator, about={}, spread=(), lost=(), siblings=siblings)


def _suggestions(small: SmallNumbers, suggestions: Suggestions | None) -> Suggestions | None:
    """Return the suggested changes, redacted like an audit."""
    if suggestions is None or suggestions.again is None:
        return suggestions
    changes = tuple(
        each if each.utility is None else replace(each, utility=shared_utility(small, each.utility))
        for each in suggestions.changes
    )
    return replace(suggestions, changes=changes, again=shared(suggestions.again))


def _worded(reason: str) -> str:
    """Return why a column was flagged, without small shares."""
    return re.sub(r"\b[0-9]+% of", "part of", reason[:1].lower() + reason[1:]).capitalize() if "%" in reason else reason


def _release(small: SmallNumbers, release: AuditedRelease) -> AuditedRelease:
    """Return everything about one release, made safe."""
    return replace(
        release,
        rows=small.near(release.rows),
        findings=shared_findings(small, release.findings),
        disclosure=None if release.disclosure is None else shared_disclosure(small, release.disclosure),
        utility=None if release.utility is None else shared_utility(small, release.utility),
        # Only what stands above the headline is said, and that without numbers.
        unseen=tuple(each for each in release.unseen if each.severity == "headline"),
        exposed=(),
        # The decision holds them by bounds.
        class_sizes=None,
    )


def _column(small: SmallNumbers, column: ColumnFact) -> ColumnFact:
    """Return a column summary without a small missing count."""
    # A marker's text is a cell of the data, and what the others leave of the missing cells may be a few.
    column = replace(column, markers=())
    if not small.is_small(small.rows - column.missing):
        return column
    words = f"all but fewer than {small.minimum}"
    return replace(column, missing=SuppressedNumber(small.rows - small.minimum, small.rows, words=words))  # type: ignore[arg-type]


def _households(before: AuditedRelease | None) -> int:
    """Return the number of households, redacted; 0 where unknown."""
    found = None if before is None or before.disclosure is None else before.disclosure.household
    return 0 if found is None else found.households


def shared_disclosure(small: SmallNumbers, disclosure: "Disclosure") -> "Disclosure":
    """Return disclosure measures without the sizes of small classes."""
    number = small.near(disclosure.rows)
    sizes = sorted(disclosure.below)
    shares = [small.moved(disclosure.below[size], disclosure.rows, number) for size in sizes]
    below = dict(zip(sizes, small.ladder(shares, number), strict=True))
    tiny = disclosure.k_anonymity < small.minimum
    hidden = any(isinstance(each, SuppressedNumber) for each in below.values())
    special = disclosure.special_uniques
    if special is not None and _are_few(
        small, special.rows_by_size, number, disclosure.sample_uniqueness * disclosure.rows
    ):
        special = replace(special, rows_by_size=(math.nan,) * len(special.rows_by_size))  # type: ignore[arg-type]
    return replace(
        disclosure,
        rows=number,
        below=below,
        k_anonymity=_smallest(small, disclosure.below) if tiny else disclosure.k_anonymity,
        highest_risk=_highest(small, disclosure.below) if tiny else disclosure.highest_risk,
        average_risk=SuppressedNumber.withheld()
        if hidden
        else small.moved(disclosure.average_risk, disclosure.rows, number),
        sample_uniqueness=below.get(2, disclosure.sample_uniqueness),
        original_below=_original_below(small, disclosure.original_below),
        records_at_risk=below.get(disclosure.minimum_cell or 0, disclosure.records_at_risk),
        diversity=tuple(
            _diversity(small, each, below, disclosure.rows, number, tiny=tiny) for each in disclosure.diversity
        ),
        special_uniques=special,
        population=tuple(_population(small, each, number, hidden=hidden) for each in disclosure.population),
        household=None if disclosure.household is None else _household(small, disclosure.household, number, tiny=tiny),
        notes=tuple(note for each in disclosure.notes if (note := without_numbers(each))),
    )


def _original_below(small: SmallNumbers, below: dict[int, float] | None) -> dict[int, float] | None:
    """Return shares in small classes, without small differences."""
    if below is None:
        return None
    sizes = sorted(below)
    return dict(zip(sizes, small.ladder([below[size] for size in sizes], small.rows), strict=True))


def _are_few(small: SmallNumbers, uniques: Sequence[int], number: int, alone: float) -> bool:
    """Return whether rows by columns, or their complement, are few."""
    left = sum(uniques)
    return any(map(small.is_small, (*uniques, number - left, alone - left)))


def _smallest(small: SmallNumbers, below: Mapping[int, float]) -> int:
    """Return bounds of the smallest class size."""
    least = max((size for size, share in below.items() if share == 0), default=1)
    most = min((size - 1 for size, share in below.items() if share > 0), default=small.minimum - 1)
    return SuppressedNumber(least, most, words=f"fewer than {small.minimum}")  # type: ignore[return-value]


def _highest(small: SmallNumbers, below: Mapping[int, float]) -> float:
    smallest: SuppressedNumber = _smallest(small, below)  # type: ignore[assignment]
    words = f"at least {1 / max(small.minimum - 1, 1):.3g}"
    return SuppressedNumber(1 / smallest.most, 1 / smallest.least, words=words)


def _diversity(
    small: SmallNumbers, each: "Diversity", below: dict[int, float], rows: int, number: int, *, tiny: bool
) -> "Diversity":
    """Return diversity measures, without those of small classes."""
    alone, given = below.get(2, 0.0), small.moved(each.classes_of_one_value, rows, number)
    # Whoever is alone is among those whose value is given away.
    given = (
        small.share(given, number) if isinstance(alone, SuppressedNumber) else small.ladder([alone, given], number)[1]
    )
    if tiny:
        nothing = SuppressedNumber.withheld()
        return replace(
            each,
            distinct=nothing,  # type: ignore[arg-type]
            entropy=nothing,
            recursive=nothing,  # type: ignore[arg-type]
            closeness=nothing,
            classes_of_one_value=given,
        )
    # A few of a class could be counted from the exact figures of the worst one.
    rounded = SuppressedNumber(math.floor(each.entropy), math.inf, words=f"at least {math.floor(each.entropy)}")
    return replace(each, entropy=rounded, closeness=round(each.closeness, 1), classes_of_one_value=given)


def _population(small: SmallNumbers, each: "PopulationRisk", number: int, *, hidden: bool) -> "PopulationRisk":
    nothing = SuppressedNumber.withheld()
    expected = each.expected_reidentifications
    if number != each.rows:
        expected = each.expected_share * number  # the two shown together tell the number of rows
    few = hidden or small.is_small(expected) or small.is_small(number - expected)
    return replace(
        each,
        uniqueness=nothing if hidden else small.share(each.uniqueness, number),
        expected_reidentifications=nothing if few and not math.isnan(expected) else expected,
        expected_share=nothing if few and not math.isnan(expected) else each.expected_share,
        below=nothing if hidden else small.share(each.below, number),
    )


def _household(small: SmallNumbers, house: "HouseholdRisk", number: int, *, tiny: bool) -> "HouseholdRisk":
    if small.is_small(abs(house.households - small.households)):
        house = replace(house, households=small.households)
    if not (tiny or small.is_small(house.expected_people) or small.is_small(number - house.expected_people)):
        return house
    nothing = SuppressedNumber.withheld()
    return replace(house, highest=nothing, average=nothing, expected_people=nothing)


def shared_utility(small: SmallNumbers, utility: "Utility") -> "Utility":
    """Return utility with distances of few cells bounded."""
    number = small.near(utility.rows_released)
    columns = tuple(_distance(small, each, utility.rows_released, number) for each in utility.columns)
    gaps = any(
        isinstance(share, SuppressedNumber)
        for each in columns
        for share in (each.missing_original, each.missing_released)
    )
    own, left_out = [each.distance for each in columns], [1.0] * utility.columns_left_out
    column_loss = _mean([*own, *left_out], utility.column_loss)
    parts = [each for each in (column_loss, utility.association_loss, utility.discrimination) if not math.isnan(each)]
    return replace(
        utility,
        columns=columns,
        column_loss=column_loss,
        loss=_mean(parts, utility.loss),
        rows_released=number,
        rows_kept=utility.rows_kept if number == utility.rows_released else number / utility.rows_original,
        cells_suppressed=SuppressedNumber.withheld() if gaps else utility.cells_suppressed,
        distributions=tuple(
            _distribution(small, each, number, {one.name: one.distance for one in columns}[each.name])
            for each in utility.distributions
        ),
        propensity=replace(utility.propensity, rows_released=number)
        if utility.propensity.rows_released == utility.rows_released
        else utility.propensity,
    )


def _distance(small: SmallNumbers, column: "ColumnDistance", rows: int, number: int) -> "ColumnDistance":
    before = small.share(column.missing_original, small.rows)
    after = small.share(small.moved(column.missing_released, rows, number), number)
    apart = abs(after - before) * min(small.rows, number)
    if not isinstance(before, SuppressedNumber) and not isinstance(after, SuppressedNumber) and small.is_small(apart):
        # So many people lost their value, or were given one.
        step = small.minimum / min(small.rows, number)
        after = SuppressedNumber(max(before - step, 0.0), min(before + step, 1.0))
    return replace(
        column,
        distance=small.share(column.distance, min(small.rows, number)),
        missing_original=before,
        missing_released=after,
    )


def _distribution(
    small: SmallNumbers, column: "ColumnDistribution", number: int, distance: float
) -> "ColumnDistribution":
    """Return both distributions of a column by rounded numbers, without its values."""
    column = column.merged(small.minimum)
    return replace(
        column,
        distance=distance,
        original=tuple(small.rounded(column.original, small.rows).tolist()),
        released=tuple(small.rounded(column.released, number).tolist()),
        rows=(small.rows, number),
        labels=tuple(text if text == MISSING else "" for text in column.labels),
        is_rounded=True,
    )


def _mean(parts: Sequence[float], mean: float) -> float:
    """Return the mean of numbers, as bounds where some are bounded."""
    if not any(isinstance(each, SuppressedNumber) for each in parts):
        return mean
    if any(math.isnan(each) for each in parts):
        return SuppressedNumber.withheld()

    def end(which: Callable[[SuppressedNumber], float]) -> float:
        return math.fsum(which(each) if isinstance(each, SuppressedNumber) else each for each in parts) / len(parts)

    return SuppressedNumber(end(lambda each: each.least), end(lambda each: each.most))


#: What stands for the name of a group that has few people.
SMALL_GROUP = "a small group"


def shared_decision(small: SmallNumbers, decision: AuditDecision) -> AuditDecision:
    """Return the redacted decision, with new text."""
    return replace(
        decision,
        headline="",
        subline="",
        next=(),
        releases=tuple(_release_decision(small, each, decision) for each in decision.releases),
    )


def _release_decision(small: SmallNumbers, release: ReleaseDecision, decision: AuditDecision) -> ReleaseDecision:
    few_in_classes = any(map(small.is_small, release.individuals.people_in_classes_below.values()))
    effects = tuple(_effect(small, each, few_in_classes=few_in_classes) for each in release.effects)
    # The largest limit of an attack may be that of an attacker whose limits are withheld.
    withheld = {each.attack for each in effects if isinstance(each.excess.high, SuppressedNumber)}

    def worst(effect: AttackEffect | None) -> AttackEffect | None:
        made = None if effect is None else _effect(small, effect, few_in_classes=few_in_classes)
        return _without_limits(made) if made is not None and made.attack in withheld else made

    return replace(
        release,
        effects=effects,
        worst=worst(release.worst),
        highest=release.highest
        if any(each.excess.high == release.highest for each in effects)
        else SuppressedNumber.withheld(),
        group=None if release.group is None else _group(small, release.group, release.effects),
        risks=tuple(replace(each, effect=worst(each.effect)) for each in release.risks),
        individuals=_individuals(small, release.individuals, decision.people, decision.control_people),
    )


def _effect(small: SmallNumbers, effect: AttackEffect, *, few_in_classes: bool) -> AttackEffect:
    # Attempts of singling out are predicates, of which nobody is left out.
    has_people = effect.attack != "singling_out"
    inside = (*small.attacked, *small.tables) if has_people else ()
    outside = small.outside if has_people else ()
    attempts = _near(small, effect.attempts, inside), _near(small, effect.control_attempts, outside)
    excess = _excess(small, effect.excess, (effect.attempts, effect.control_attempts), (inside, outside))
    # The rate before a correction is one of whole people; the mean over classes tells how many are in small ones.
    before = (effect.uncorrected + effect.excess.baseline) * effect.attempts
    is_few = small.is_small(effect.attempts - before) or small.is_small(before) or (effect.counted and few_in_classes)
    excess = _withheld(excess) if is_few else excess
    made = replace(
        effect,
        excess=excess,
        attempts=attempts[0],
        control_attempts=attempts[1],
        auc=round(effect.auc, 2),
        variance=nan,
    )
    if isinstance(excess.value, SuppressedNumber) or isnan(excess.attack_rate):
        return replace(made, p_adjusted=nan, people_needed=None, auc=nan, uncorrected=nan)
    if attempts != (effect.attempts, effect.control_attempts):
        # Limits tell how many attempts they rest on.
        return replace(_without_limits(made), uncorrected=nan)
    return made


def _without_limits(effect: AttackEffect) -> AttackEffect:
    withheld = SuppressedNumber.withheld()
    return replace(effect, excess=replace(effect.excess, low=withheld, high=withheld), uncorrected=nan)


def _withheld(excess: EffectSize) -> EffectSize:
    gone = SuppressedNumber.withheld()
    return EffectSize(gone, gone, gone, gone, gone, excess.why_not_tested)


def _near(small: SmallNumbers, attempts: int, sizes: Sequence[int]) -> int:
    """Return attempts as shown; all people where few were left out."""
    return next((each for each in sizes if attempts and small.is_small(abs(each - attempts))), attempts)


def _excess(
    small: SmallNumbers, excess: EffectSize, attempts: tuple[int, int], sizes: tuple[Sequence[int], Sequence[int]]
) -> EffectSize:
    """Return an excess: unchanged, adjusted to shown totals, or withheld."""
    shown = [
        small.rate(clopper_pearson(min(max(rate, 0.0) * tries, tries), tries), total)
        for rate, tries, total in zip((excess.attack_rate, excess.baseline), attempts, sizes, strict=True)
        if tries and not isnan(rate)
    ]
    if any(_is_few(rate) for rate in shown):
        return _withheld(excess)
    if not shown:
        return excess
    rates = [excess.attack_rate, excess.baseline]
    rates[: len(shown)] = [rate.value for rate in shown]
    change = rates[0] - rates[1] - excess.value
    return EffectSize(
        excess.value + change, excess.low + change, excess.high + change, rates[0], rates[1], excess.why_not_tested
    )


def _is_few(rate: Rate) -> bool:
    return isinstance(rate.value, SuppressedNumber) or not rate.defined


def _group(small: SmallNumbers, group: GroupEffect, effects: Sequence[AttackEffect]) -> GroupEffect:
    """Return a redacted subgroup: no name if small, no derivable excess."""
    excess = _excess(small, group.excess, (group.people, group.control_people), ((), ()))
    is_small = any(map(small.is_small, (group.people, group.control_people, small.rows - group.people)))
    hits = group.excess.attack_rate * group.people
    is_rest = any(
        small.is_small(each.excess.attack_rate * each.attempts - hits)
        for each in effects
        if each.attack == group.attack
    )
    if is_small or is_rest:
        excess = _withheld(excess)
    is_few = isinstance(excess.value, SuppressedNumber)
    return replace(
        group,
        group=SMALL_GROUP if is_small else group.group,
        excess=excess,
        p_adjusted=nan if is_few else group.p_adjusted,
    )


def _individuals(small: SmallNumbers, people: ExposedIndividuals, number: int, control: int) -> ExposedIndividuals:
    """Return exposed people by bounds where they are few."""
    seen = _counts(small, [people.copies_seen], number)[0]
    below = people.people_in_classes_below
    return replace(
        people,
        unmistakable=_part(small, people.unmistakable, people.copies_seen, seen),
        copies_seen=seen,
        copies_expected=_expected(small, people.copies_expected, number, control),
        rare_copies=_part(small, people.rare_copies, people.copies_seen, seen),
        rare_copies_expected=_expected(small, people.rare_copies_expected, number, control),
        flagged=_counts(small, [people.flagged], number)[0],
        people_in_classes_below=dict(
            zip(sorted(below), _counts(small, [below[size] for size in sorted(below)], number), strict=True)
        ),
        # The sizes of all groups of a column leave the size of a hidden one.
        groups=(),
    )


def _counts(small: SmallNumbers, numbers: Sequence[int], total: int) -> list[int]:
    """Return nested counts, ascending, without small differences."""
    shares = small.ladder([each / total for each in numbers], total) if total else []
    made = list[int]()
    for number, share in zip(numbers, shares, strict=False):
        if isinstance(share, SuppressedNumber) and not share.told:
            number = share  # type: ignore[assignment]
        elif isinstance(share, SuppressedNumber):
            least, most = share.least * total, share.most * total
            words = f"at least {round(least)}" if least > 0 else f"fewer than {round(most)}"
            number = SuppressedNumber(least, most, words=words)  # type: ignore[assignment]
        made.append(number)
    return made


def _part(small: SmallNumbers, part: int, whole: int, shown: int) -> int:
    """Return a part of the exact copies, redacted against the whole."""
    if not small.is_small(whole - part) and not (isinstance(shown, SuppressedNumber) and part == whole):
        return part
    if isinstance(shown, SuppressedNumber) and not shown.told:
        return shown
    least = max((shown.least if isinstance(shown, SuppressedNumber) else whole) - small.minimum, 0)
    return SuppressedNumber(least, float(shown), words=f"at least {round(least)}" if least else "some")  # type: ignore[return-value]


def _expected(small: SmallNumbers, expected: float, number: int, control: int) -> float:
    """Return the expected copies, or nothing if that reveals few people."""
    hits = expected * control / number if number else nan
    is_few = any(map(small.is_small, (expected, hits, control - hits)))
    return SuppressedNumber.withheld() if is_few else expected
