"""The charts of an audit: their numbers by the definition, and that no redacted chart shows a few people."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.end_to_end.test_audit_leaks import audited
from tests.oracles.leaks import drawn_leaks
from tests.questions.audit.example import CONTROL, MASKED, ORIGINAL, ask
from unveil.metrics.trials.membership import called_at, curve
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.redaction import shared
from unveil.questions.audit.runner import result_format
from unveil.questions.audit.sections.classes import class_size_charts, class_size_remark, class_size_table
from unveil.questions.audit.sections.copies import distance_charts, histogram_table
from unveil.questions.audit.sections.inference import MOST_ROWS, attack_maps
from unveil.questions.audit.sections.membership import _rate_at, roc_curve, roc_table
from unveil.questions.audit.sections.utility import (
    MOST_VISIBLE,
    association_charts,
    association_table,
    distribution_charts,
    distribution_table,
)
from unveil.report.blocks import NO_CELL, Block, Page, Section
from unveil.report.page import render

ROWS = ORIGINAL.height


@pytest.fixture(scope="module")
def audit() -> Audit:
    return ask(
        ORIGINAL, {"release": MASKED}, CONTROL, sensitive=["income"], release_type="masked", predicates=60
    ).findings


def charts_of(audit: Audit) -> list[Block]:
    """Return all charts of an audit with their tables."""
    found: list[Block | None] = [roc_curve(audit), roc_table(audit), histogram_table(audit), class_size_table(audit)]
    found += [*distance_charts(audit, "closest_record"), *distance_charts(audit, "neighbour_ratio")]
    found += [*class_size_charts(audit), *distribution_charts(audit), *distribution_charts(audit, rest=True)]
    found += [distribution_table(audit), *association_charts(audit), association_table(audit), *attack_maps(audit)]
    return [each for each in found if each is not None]


def page_of(blocks: Sequence[Block]) -> str:
    section = Section(heading="Charts", lead="All of them.", blocks=tuple(blocks))
    return render(Page(title="T", question="Q", headline="H", tone="neutral", sections=(section,)))


def test_every_chart_is_drawn_with_a_title_and_a_description(audit: Audit) -> None:
    text = page_of(charts_of(audit))
    assert len(text) < 400_000
    assert text.count('role="img"') == text.count("<desc") >= 10


def test_no_redacted_chart_draws_a_few_people(audit: Audit) -> None:
    totals = [ROWS, MASKED.height, CONTROL.height, CONTROL.height // 2]
    assert drawn_leaks(page_of(charts_of(audit)), totals)
    assert drawn_leaks(page_of(charts_of(shared(audit))), totals) == []


def test_redacted_numbers_are_multiples_of_the_smallest_that_may_be_shown(audit: Audit) -> None:
    (release,) = shared(audit).releases
    minimum = audit.minimum_cell
    for attack in ("closest_record", "neighbour_ratio"):
        found = release.of(attack)[0].distances
        assert found is not None
        counts = (found.released_zero, *found.released, found.control_zero, *found.control)
        assert all(each % minimum == 0 or each in found.rows for each in counts)
        assert found.high / len(found.released) >= 0.01 - 1e-9
    assert release.utility is not None
    for each in release.utility.distributions:
        assert all(number % minimum == 0 or number in each.rows for number in (*each.original, *each.released))
        assert not any(each.labels)
    (membership,) = (each.separation for each in release.findings if each.separation is not None)
    if membership.curve is not None:
        flagged = np.rint(membership.curve[1][1:-1] * membership.members)
        assert all(number % minimum == 0 or number == membership.members for number in flagged)


def test_the_roc_curve_has_the_rates_of_the_attack_at_each_level() -> None:
    rng = np.random.default_rng(3)
    members, others = rng.normal(1, 1, 150), rng.normal(0, 1, 199)
    for level in (0.005, 0.01, 0.033, 0.05, 0.5, 0.777):
        (rate,) = _rate_at(curve(members, others), others.size, np.log10([level]))
        assert rate == pytest.approx(called_at(members, others, level).value)


def test_the_histograms_hold_all_records(audit: Audit) -> None:
    (finding,) = audit.releases[0].of("closest_record")
    assert finding.distances is not None
    assert sum(finding.distances.released) + finding.distances.released_zero == MASKED.height
    assert sum(finding.distances.control) + finding.distances.control_zero == CONTROL.height
    (chart,) = distance_charts(audit, "closest_record")
    assert [each.y.sum() for each in chart.series] == pytest.approx([1.0, -1.0])


def test_the_class_sizes_are_those_of_both_tables(audit: Audit) -> None:
    (chart,) = class_size_charts(audit)
    known = [each.name for each in audit.columns if each.role == "known"]
    for series, frame in zip(chart.series, (ORIGINAL, MASKED), strict=True):
        sizes = frame.group_by(known).len()["len"].to_numpy()
        shares = [
            sizes[(sizes >= low) & (sizes < high)].sum() / frame.height
            for low, high in ((1, 2), (2, 3), (3, 5), (5, 11), (11, 20), (20, 10**9))
        ]
        assert series.y.tolist() == pytest.approx(shares)


def test_a_synthetic_release_has_no_class_sizes(audit: Audit) -> None:
    synthetic = replace(audit.releases[0], kind="synthetic")
    assert class_size_charts(replace(audit, releases=(synthetic,))) == ()
    assert class_size_remark(synthetic)
    assert not class_size_remark(audit.releases[0])


def test_the_distributions_count_records(audit: Audit) -> None:
    assert audit.releases[0].utility is not None
    found = {each.name: each for each in audit.releases[0].utility.distributions}
    region = found["region"]
    for counts, frame in ((region.original, ORIGINAL), (region.released, MASKED)):
        true = dict(frame["region"].value_counts().iter_rows())
        assert dict(zip(region.labels, counts, strict=False)) == true
        assert counts[-1] == 0
    assert sum(found["age"].original) == sum(found["age"].released) == ROWS
    distances = [each.distance for each in audit.releases[0].utility.distributions]
    assert distances == sorted(distances, reverse=True)
    (chart,) = distribution_charts(audit)
    assert len(chart.panels) <= MOST_VISIBLE


def test_bars_of_a_few_records_are_hatched(audit: Audit) -> None:
    (chart,) = distribution_charts(audit)
    age = next(each for each in chart.panels if each.name == "age")
    assert audit.releases[0].utility is not None
    found = next(each for each in audit.releases[0].utility.distributions if each.name == "age")
    assert age.first_hatched == tuple(0 < number < audit.minimum_cell for number in found.original)
    assert min(share for share in age.first if share) >= audit.minimum_cell / ROWS


def test_the_difference_of_associations_is_released_minus_original(audit: Audit) -> None:
    (chart,) = association_charts(audit)
    original, released, difference = (np.nan_to_num(each.values) for each in chart.triangles)
    assert difference == pytest.approx(released - original)
    assert np.isnan(chart.triangles[0].values[np.triu_indices(len(chart.columns))]).all()


def test_the_map_is_sorted_and_marks_what_is_significant(audit: Audit) -> None:
    (grid,) = attack_maps(audit)
    effects = [each for each in audit.decision.releases[0].effects if each.sensitive == "income"]
    titles = {each.effect: each.title for each in ATTACKS.values()}
    assert grid.rows == ("income",)
    assert len(grid.rows) <= MOST_ROWS
    for column, text in zip(grid.columns, grid.texts[0], strict=True):
        own = [each for each in effects if titles[each.attack] == column]
        if text and own:
            assert text.endswith("●") == max(own, key=lambda each: each.excess.value).is_significant
    tested = grid.level != NO_CELL
    assert [[bool(text) for text in row] for row in grid.texts] == tested.tolist()


def test_chart_data_can_be_stored_and_read(audit: Audit) -> None:
    form = result_format()
    release = replace(audit.releases[0], exposed=())
    again = form.read(form.write(release))
    assert again.of("closest_record")[0].distances == release.of("closest_record")[0].distances
    assert again.utility.distributions == release.utility.distributions  # type: ignore[union-attr]


@pytest.mark.unwatched
@pytest.mark.parametrize("seed", [1, 4, 13])
def test_no_redacted_chart_of_random_audits_draws_a_few_people(tmp_path: Path, seed: int) -> None:
    findings = audited(tmp_path, seed)[3]
    safe = shared(findings)
    totals = [findings.rows, *(each.rows for each in safe.releases), findings.control_rows or 0]
    assert drawn_leaks(page_of(charts_of(safe)), totals, minimum=findings.minimum_cell) == []
