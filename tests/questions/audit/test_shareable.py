"""Findings as others may see them: what is told of a small number must be the same for every small number."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.releases.disclosure import Disclosure, disclosure
from unveil.metrics.releases.utility import ColumnDistance
from unveil.metrics.trials.groups import RatesByGroup, group_rates
from unveil.metrics.trials.risk import Rate, Risk, risk, wilson
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, Audit, AuditedRelease, SuccessRange
from unveil.questions.audit.redaction import _distance, shared, shared_disclosure
from unveil.questions.audit.redaction_rates import SmallNumbers, shared_finding, shared_groups, without_numbers
from unveil.questions.audit.words import compact_rate, rate_text
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import decimal, percent, significant

SMALL = SmallNumbers(minimum=11, rows=500, attacked=(500,), outside=(500,))
FEW = (0.4, *range(1, 11))


def found(hits: float, control: float, tries: int = 500) -> AttackFinding:
    attack, naive, outside = (
        Attempts(tries=tries, expected=each, low=each, high=each) for each in (hits, tries / 2, control)
    )
    trials = Trials(attack=attack, naive=naive, control=outside, what="")
    return AttackFinding(
        attack="inference", targets=tries, risk=risk(trials), links=SuccessRange(expected=hits, low=hits, high=hits)
    )


def told(finding: AttackFinding) -> tuple[str, ...]:
    """Return everything that is said of a finding."""
    made = shared_finding(SMALL, finding)
    rates = [made.rate(each) for each in ("attack_rate", "control_rate", "excess_over_control")]
    numbers = [str((float(rate.value), float(rate.low), float(rate.high))) for rate in rates]
    return (*map(rate_text, rates), *map(compact_rate, rates), *numbers)


@pytest.mark.parametrize("all_but", [False, True])
@pytest.mark.parametrize("control", [0, 40, 496, 3])
def test_every_small_number_of_hits_says_the_same(control: int, all_but: bool) -> None:
    said = {told(found(500 - hits if all_but else hits, control)) for hits in FEW}
    assert len(said) == 1
    assert len({told(found(hits, control)) for hits in (0, 11, 12, 40)}) == 4
    assert ("more than" if all_but else "less than") in next(iter(said))[0]


@pytest.mark.parametrize("attack", [0, 40, 496, 500])
def test_every_small_number_among_strangers_says_the_same(attack: int) -> None:
    assert len({told(found(attack, hits)) for hits in FEW}) == 1
    assert len({told(found(attack, 500 - hits)) for hits in FEW}) == 1


@pytest.mark.parametrize("hits", [*FEW, 490, 499.5])
@pytest.mark.parametrize("control", [0, 5, 40])
def test_bounds_hold_the_figure(hits: float, control: int) -> None:
    finding = found(hits, control)
    made = shared_finding(SMALL, finding)
    for figure in ("attack_rate", "control_rate", "excess_over_control"):
        exact, rate = finding.rate(figure), made.rate(figure)
        if isinstance(rate.value, SuppressedNumber):
            assert rate.value.least - 1e-12 <= exact.value <= rate.value.most + 1e-12
        else:
            assert rate == exact
        assert rate.low <= exact.low + 1e-12
        assert rate.high >= exact.high - 1e-12


def test_a_rate_of_few_tries_is_not_shown_at_all() -> None:
    # 100% (at least 43.9%) is 3 of 3, and nothing else.
    for tries in range(1, 11):
        for hits in range(tries + 1):
            assert not SMALL.rate(wilson(hits, tries)).defined
    assert SMALL.rate(wilson(0, 500)) == wilson(0, 500)
    assert SMALL.rate(wilson(500, 500)) == wilson(500, 500)
    assert not SMALL.rate(wilson(7, 15)).defined


def test_a_few_who_were_left_out_cannot_be_counted() -> None:
    assert {SMALL.rate(wilson(round(0.4 * (500 - out)), 500 - out), (500,)).tries for out in range(11)} == {500}
    assert SMALL.rate(wilson(180, 489), (500,)).tries == 489
    assert {SMALL.near(rows) for rows in range(490, 511)} == {500}
    assert SMALL.near(489) == 489


def divided(hits: list[int], sizes: list[int]) -> RatesByGroup:
    chances = np.concatenate([np.r_[np.ones(hit), np.zeros(size - hit)] for hit, size in zip(hits, sizes, strict=True)])
    labels = [name for name, size in zip("abcdef", sizes, strict=False) for _ in range(size)]
    return group_rates(Attempts.from_chances(chances, rows=range(len(labels))), labels)


def test_what_is_left_of_the_total_for_hidden_groups_is_not_small() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        sizes = rng.integers(11, 80, rng.integers(2, 6)).tolist()
        hits = [
            int(rng.integers(0, size + 1) if rng.random() < 0.5 else rng.integers(0, min(size, 14))) for size in sizes
        ]
        groups = divided(hits, sizes)
        small = SmallNumbers(minimum=11, rows=sum(sizes), attacked=(sum(sizes),))
        made = shared_groups(small, groups)
        shown = [group for group in made.groups if group.attack_rate.defined]
        for group in shown:
            number = group.attack_rate.value * group.tries
            assert not small.is_small(number)
            assert not small.is_small(group.tries - number)
        hidden = [group for group in made.groups if not group.attack_rate.defined]
        if not hidden or not shown or isinstance(made.overall.attack_rate.value, SuppressedNumber):
            continue
        rest = made.overall.attack_rate.value * made.overall.tries
        rest -= sum(group.attack_rate.value * group.tries for group in shown)
        room = sum(group.tries for group in hidden)
        assert len(hidden) > 1
        assert rest > 11 - 1e-6
        assert room - rest > 11 - 1e-6
        assert made.worst is None or made.worst in shown


def test_shares_that_contain_one_another_differ_by_nobody_or_by_many() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        counts = np.sort(rng.integers(0, 120, 5))
        made = SMALL.ladder([count / 120 for count in counts], 120)
        exact = [0.0, *(share * 120 for share in made if not isinstance(share, SuppressedNumber)), 120.0]
        assert all(gap < 1e-6 or gap > 11 - 1e-6 for gap in np.diff(exact))
        for share, count in zip(made, counts, strict=True):
            if isinstance(share, SuppressedNumber):
                assert share.least * 120 <= count <= share.most * 120 + 1e-9


def test_quantiles_with_few_people_on_one_side_are_not_shown() -> None:
    figures = {"median": 0.3, "low": 0.1, "control_median": 0.4, "control_low": 0.2}
    nothing = Risk(attack_rate=UNDEFINED, naive_rate=UNDEFINED, control_rate=UNDEFINED, excess_over_control=UNDEFINED)
    for targets, kept in ((219, {"median", "control_median"}), (220, set(figures)), (21, set())):
        finding = AttackFinding(attack="closest_record", targets=targets, risk=nothing, figures=figures)
        made = shared_finding(SMALL, finding)
        assert {name for name, value in made.figures.items() if not math.isnan(value)} == kept


def test_remarks_lose_their_numbers() -> None:
    made = shared_finding(SMALL, replace(found(40, 40), remark="3 of the rows have no value. All others were tried."))
    assert made.remark == "All others were tried."
    assert without_numbers("3 are left out.") == ""
    assert shared_finding(SMALL, replace(found(2, 2, 5), remark="5 were tried.")).remark


def test_plain_hashes_never_pass() -> None:
    audit = Audit(
        rows=500,
        columns=(),
        sha256="ab" * 32,
        control_rows=500,
        control_sha256="cd" * 32,
        releases=(AuditedRelease(name="r", rows=497, kind=None, columns=(), sha256="ef" * 32, findings=()),),
        attacks=(),
    )
    bare, keyed = shared(audit), shared(audit, key=b"k" * 32)
    for made in (bare, keyed):
        assert not {"ab" * 32, "cd" * 32, "ef" * 32} & {made.sha256, made.control_sha256, made.releases[0].sha256}
    assert bare.sha256 == "not shown"
    assert keyed.digest_name == "keyed digest"
    assert keyed.releases[0].rows == 500


def test_a_bounded_number_is_a_bound_for_whoever_computes_with_it() -> None:
    share = SuppressedNumber(0.0, 0.022)
    assert (percent(share), decimal(share), significant(share)) == (
        "less than 2.2%",
        "less than 0.022",
        "less than 0.022",
    )
    assert percent(SuppressedNumber(0.978, 1.0, at=0.978)) == "more than 97.8%"
    assert float(share) == 0.022
    assert not SuppressedNumber.withheld().told
    assert share.told
    assert decimal(SuppressedNumber.withheld()) == "not shown"
    assert rate_text(
        Rate(SuppressedNumber(0.1, 0.2), SuppressedNumber(0.05, 0.1, at=0.05), SuppressedNumber(0.2, 0.3))
    ) == ("between 10% and 20% (5.0% to 30%)")
    assert [SuppressedNumber(1, 10).is_beyond(each, more_is_worse=False) for each in (1, 5, 11)] == [False, None, True]


def disclosed(rows: Sequence[tuple[str, ...]]) -> Disclosure:
    frame = pl.DataFrame(rows, schema=["age", "town", "job", "ill"], orient="row")
    return disclosure(Table.from_frame(frame), sensitive=["ill"], population_size=1000)


def test_shares_of_a_release_do_not_tell_how_few_rows_it_lacks() -> None:
    """A share that no whole number of the shown rows makes, or a sum beside its mean, would tell the true number."""
    alone = [(str(age), "u", "x", "i") for age in range(100)]
    pairs = [(str(age), "v", "x", ill) for age in range(30) for ill in ("i", "j")]
    found = disclosed([*alone, *pairs, *[("40", "w", "y", "i")] * 136])
    made = shared_disclosure(SmallNumbers(minimum=11, rows=300), found)
    assert (found.rows, made.rows) == (296, 300)
    shares = [*made.below.values(), made.sample_uniqueness, made.average_risk]
    shares += [each.classes_of_one_value for each in made.diversity]
    told = [share for share in shares if not isinstance(share, SuppressedNumber)]
    assert len(told) > 3
    assert [share * 300 for share in told] == pytest.approx([round(share * 300) for share in told])
    sums = [each for each in made.population if not math.isnan(each.expected_share)]
    assert sums
    assert all(each.expected_reidentifications == pytest.approx(each.expected_share * 300) for each in sums)


def test_special_uniques_do_not_tell_how_few_rows_are_not_unique() -> None:
    alone = [(str(18 + at % 50), f"t{at // 50}", "x", "i") for at in range(200)]
    alone[1], alone[3] = alone[0], alone[2]
    found = disclosed(alone)
    assert found.special_uniques is not None
    assert sum(found.special_uniques.rows_by_size) == 196
    made = shared_disclosure(SmallNumbers(minimum=11, rows=200), found).special_uniques
    assert made is not None
    assert all(map(math.isnan, made.rows_by_size))


def test_gaps_do_not_tell_how_few_people_lost_a_value() -> None:
    column = ColumnDistance(
        name="income", kind="number", distance=0.3, missing_original=30 / 200, missing_released=33 / 200
    )
    made = _distance(SmallNumbers(minimum=11, rows=200), column, 200, 200)
    assert made.missing_original == 0.15
    assert isinstance(made.missing_released, SuppressedNumber)
    assert (made.missing_released.least, made.missing_released.most) == pytest.approx((0.095, 0.205))


def test_releases_that_differ_by_a_few_rows_are_given_one_number() -> None:
    releases = tuple(
        AuditedRelease(name=f"r{rows}", rows=rows, kind=None, columns=(), sha256=None, findings=())
        for rows in (280, 277, 296, 150)
    )
    audit = Audit(
        rows=300, columns=(), sha256=None, control_rows=None, control_sha256=None, releases=releases, attacks=()
    )
    assert [each.rows for each in shared(audit).releases] == [280, 280, 300, 150]


def test_distances_do_not_tell_the_range_of_a_column() -> None:
    """One year of 81 in one of three columns is 1/243: whoever knows the youngest would know how old the oldest is."""
    figures = {"median": 1 / 243, "low": 1 / 243, "control_median": 0.337449, "control_low": 3 / 243}
    made = shared_finding(SMALL, replace(found(250, 40), attack="closest_record", figures=figures)).figures
    assert [made[name] for name in figures] == [0.01, 0.01, 0.34, 0.02]
