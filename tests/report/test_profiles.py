"""Published limits: that each is cited, which figures are held to it, and that no outcome is silent."""

import json
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from tests.approved.sentences import Approved
from tests.report.sign_off_example import figure
from unveil.errors import InputError
from unveil.questions.audit.quantities import meanings
from unveil.report.blocks import Page, TableBlock
from unveil.report.figures import json_of
from unveil.report.judgement import JudgedRelease, Judgement, judge, judgement_section
from unveil.report.limits import Quantity
from unveil.report.machine import dumps
from unveil.report.page import render
from unveil.report.profiles import COPIED, PROFILES, profile
from unveil.report.suppressed_number import SuppressedNumber

CLASSES, LINKED = "disclosure.highest_risk", "record_linkage.attack_rate"
EXCESSES = tuple(
    f"{attack}.excess_over_control" for attack in ("linkability", "membership", "attribute_disclosure", "copies")
)
every_profile = pytest.mark.parametrize("name", PROFILES)
Figures = Mapping[str, Quantity]


def masked(value: float, more: Figures = MappingProxyType({})) -> JudgedRelease:
    return JudgedRelease(kind="masked", figures={CLASSES: figure(value), COPIED: figure(0), **more})


def synthetic(
    value: float, more: Figures = MappingProxyType({}), *, against: str = "", doubt: str = ""
) -> JudgedRelease:
    """Return a synthetic release whose excesses are all the same rate of 500 tries."""
    excesses = dict.fromkeys(EXCESSES, figure(value, 500, doubt=doubt))
    return JudgedRelease(kind="synthetic", figures={**excesses, COPIED: figure(0), **more}, against=against)


def judged(release: JudgedRelease, name: str = "ema") -> Judgement:
    return judge(profile(name), {"it": release})


@every_profile
def test_each_profile_says_who_set_it_where_and_what_it_means(name: str) -> None:
    found = profile(name)
    assert found.name == name
    assert all(len(text) > 10 for text in (found.title, found.who, found.source, found.text))
    assert any(year in found.source for year in ("2013", "2019", "2024", "2025"))
    # What nobody compared with the document is marked wherever the source is shown.
    assert ("not verified against the original" in found.cited) == bool(found.unverified) == (name != "cell-11")
    kinds = {limit.quantity: limit.applies_to for limit in found.limits}
    figures = {CLASSES: "masked", LINKED: "masked", **dict.fromkeys(EXCESSES, "synthetic"), COPIED: "any"}
    assert kinds == (figures if found.names_figure else {COPIED: "any"})
    for limit in found.limits:
        assert limit.ours == limit.why.startswith("Our reading, not the source's:") == (limit.quantity != CLASSES)


@pytest.mark.parametrize(
    ("name", "people", "share"),
    [
        ("ema", 11, 0.09),
        ("health-canada", 11, 0.09),
        ("cell-3", 3, 1 / 3),
        ("cell-5", 5, 0.2),
        ("cell-11", 11, 1 / 11),
        ("cell-20", 20, 0.05),
    ],
)
def test_the_limits_are_those_that_were_published(name: str, people: int, share: float) -> None:
    limits = {limit.quantity: limit.limit for limit in profile(name).limits}
    assert limits == {CLASSES: 1 / people, LINKED: share, **dict.fromkeys(EXCESSES, share), COPIED: 0}
    # A class of exactly so many people is what the source allows; one fewer is too few.
    assert judged(masked(1 / people), name).outcome == "kept"
    assert judged(masked(1 / (people - 1)), name).outcome == "exceeded"


def test_an_unknown_profile_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="Did you mean 'health-canada'"):
        profile("health-canda")
    with pytest.raises(InputError, match=r"Choose from ema, health-canada, quebec, cell-3, cell-5, cell-11, cell-20\."):
        profile("gdpr")


# --- three outcomes ---------------------------------------------------------------------------------------------------


def test_the_headline_names_the_limit_who_set_it_the_figure_and_the_side(approved: Approved) -> None:
    exceeded = judged(masked(0.5, {LINKED: figure(0.01, 500)}))
    approved(exceeded.headline)
    assert (exceeded.outcome, exceeded.tone) == ("exceeded", "bad")
    kept = judged(synthetic(0.04))
    approved(kept.headline)
    # Keeping a limit is never called good.
    assert (kept.outcome, kept.tone) == ("kept", "neutral")
    assert "is 0.2, which equals 1/5." in judged(masked(0.2), "cell-5").headline


def test_between_both_neither_is_shown_and_how_many_people_would_decide_it_is_said(approved: Approved) -> None:
    between = judged(synthetic(0.01, {EXCESSES[0]: figure(0.08, 500)}))
    assert (between.outcome, between.tone) == ("not_shown", "warning")
    approved(between.headline)


def test_exceeding_allows_for_all_figures_and_keeping_for_none() -> None:
    """At 0.12 of 500 the low end is above 0.09 at 95 %, and below it at 98.75 %, for four figures."""
    alone = masked(0.01, {LINKED: figure(0.12, 500)})
    assert judged(alone).outcome == "exceeded"
    four = synthetic(0.0, {EXCESSES[0]: figure(0.12, 500)})
    assert judged(four).outcome == "not_shown"
    assert judged(synthetic(0.0, {EXCESSES[0]: figure(0.2, 500)})).outcome == "exceeded"
    # So do the figures of another release.
    two = judge(profile("ema"), {"one": alone, "other": synthetic(0.0)})
    assert two.outcome == "not_shown"


@pytest.mark.parametrize("attack", ["linkability", "membership", "attribute_disclosure", "copies"])
def test_one_attack_that_exceeds_or_lacks_its_figure_is_enough(attack: str) -> None:
    name = f"{attack}.excess_over_control"
    assert judged(synthetic(0.0, {name: figure(0.3, 500)})).outcome == "exceeded"
    lacking = judged(synthetic(0.0, {name: figure(float("nan"))}))
    assert lacking.outcome == "not_shown"
    assert f"the excess of {attack.replace('_', ' ')} over control (it was not run, or has no" in lacking.headline


def test_somebody_who_is_copied_beyond_doubt_exceeds_every_limit(approved: Approved) -> None:
    for release in (masked(0.01, {COPIED: figure(1)}), synthetic(0.0, {COPIED: figure(1)})):
        found = judged(release, "cell-3")
        assert found.outcome == "exceeded"
        approved(found.headline)


def test_what_else_is_proved_or_a_poor_control_keeps_a_limit_from_being_kept(approved: Approved) -> None:
    proved = judged(synthetic(0.0, against="in one group and by membership"))
    assert proved.outcome == "not_shown"
    assert proved.headline.endswith("Neither was shown: the release gives people away in one group and by membership.")
    doubted = judged(synthetic(0.0, doubt="the control overlaps"))
    assert doubted.outcome == "not_shown"
    approved(doubted.headline)
    # Neither takes back that a limit is exceeded.
    assert judged(synthetic(0.5, against="by membership", doubt="the control overlaps")).outcome == "exceeded"
    # Class sizes need no control.
    assert judged(masked(0.01, {EXCESSES[0]: figure(0.5, 500, doubt="overlap")})).outcome == "kept"


def test_our_reading_alone_does_not_keep_a_limit_of_others() -> None:
    lacking = judged(masked(float("nan"), {LINKED: figure(0.01, 500)}))
    assert lacking.outcome == "not_shown"
    assert lacking.headline.endswith("Neither was shown: the highest chance by class size (it was not measured).")
    # But it can show that a limit is exceeded, and that it is not shown to be kept.
    assert judged(masked(float("nan"), {LINKED: figure(0.5, 500)})).outcome == "exceeded"
    assert judged(masked(0.01, {LINKED: figure(0.08, 50)})).outcome == "not_shown"


def test_what_was_not_judged_beside_what_was_is_said(approved: Approved) -> None:
    found = judged(masked(0.1), "cell-3")
    assert found.outcome == "kept"
    approved(found.headline)


def test_a_kind_that_is_not_known_is_not_judged() -> None:
    found = judged(JudgedRelease(kind=None, figures={CLASSES: figure(0.01), COPIED: figure(0)}))
    assert found.outcome == "not_shown"
    assert found.headline.endswith(": nobody said whether the release is masked or synthetic (--kind).")
    # Copies are copies, whatever the kind.
    assert judged(JudgedRelease(kind=None, figures={COPIED: figure(2)})).outcome == "exceeded"


def test_a_synthesis_is_not_held_to_the_size_of_its_classes() -> None:
    found = judged(synthetic(0.0, {CLASSES: figure(1.0)}))
    assert [check.limit.quantity for check in found.checks] == [*EXCESSES, COPIED]
    assert found.outcome == "kept"


def test_each_release_is_judged_by_its_own_figures(approved: Approved) -> None:
    releases = {"good": masked(0.01), "bad": masked(0.25), "made up": synthetic(0.0)}
    found = judge(profile("ema"), releases)
    outcomes = {
        check.release: check.outcome for check in found.checks if check.limit.quantity in (CLASSES, EXCESSES[0])
    }
    assert outcomes == {"good": "kept", "bad": "exceeded", "made up": "kept"}
    approved(found.headline)
    # One release without its figures is enough to leave the question open.
    silent = judge(profile("ema"), {"good": masked(0.01), "made up": JudgedRelease(kind="synthetic", figures={})})
    assert silent.outcome == "not_shown"
    approved(silent.headline)
    assert "good" not in silent.headline
    assert judge(profile("ema"), {}).headline.endswith("Neither was shown: there is no release.")


def test_where_bounds_alone_are_told_they_decide_or_nobody_does(approved: Approved) -> None:
    outcomes = [judged(masked(SuppressedNumber(1 / 20, most))).outcome for most in (1 / 12, 1 / 5)]
    assert outcomes == ["kept", "not_shown"]
    assert judged(masked(SuppressedNumber(1 / 10, 1 / 5))).outcome == "exceeded"
    for value in (SuppressedNumber(1 / 20, 1 / 5), SuppressedNumber.withheld()):
        approved(judged(masked(value)).headline)


# --- page and JSON ----------------------------------------------------------------------------------------------------


def test_the_section_cites_the_source_and_lists_every_figure() -> None:
    found = judge(profile("cell-20"), {"<b>": masked(0.5, {LINKED: figure(0.05, 500)})})
    section = judgement_section(found)
    assert profile("cell-20").cited in section.lead
    table, reasons, clauses = section.blocks
    assert isinstance(table, TableBlock)
    assert isinstance(reasons, TableBlock)
    assert isinstance(clauses, TableBlock)
    assert table.rows == (
        ("<b>", CLASSES, "1/20", "0.5", "exceeded"),
        ("<b>", LINKED, "1/20", "0.05 (0.033 to 0.073)", f"not shown: {found.checks[1].why}"),
        ("<b>", COPIED, "0", "0", "kept"),
    )
    assert [row[0] for row in reasons.rows] == [CLASSES, LINKED, COPIED]
    assert [row[2:] for row in clauses.rows] == [
        ("disclosure.k_anonymity", "not measured"),
        (CLASSES, "0.5"),
        ("what each column was taken for (--known)", ""),
    ]
    assert section.on_file
    html = render(Page(title="T", question="Q", headline="H", tone="bad", sections=(section,)))
    assert "<b>" not in html
    assert "Our reading, not the source&#39;s" in html


@every_profile
def test_every_clause_is_answered_by_figures_that_exist_or_says_what_does(name: str) -> None:
    clauses = profile(name).clauses
    known = meanings()
    for clause in clauses:
        assert set(clause.figures) <= set(known)
        assert not (clause.figures and clause.part)
    # What the profile binds is asked for somewhere, readings of ours for synthetic releases aside.
    bound = {each.quantity for each in profile(name).limits if not (each.ours and each.applies_to != "any")} - {COPIED}
    assert bound <= {figure for clause in clauses for figure in clause.figures}


def test_a_source_without_a_figure_is_never_shown_to_be_kept(approved: Approved) -> None:
    kept = judged(masked(0.0, {EXCESSES[0]: figure(0.25, 400)}), "quebec")
    assert (kept.outcome, [check.outcome for check in kept.checks]) == ("not_shown", ["kept"])
    approved(kept.headline)
    proved = judged(synthetic(0.0, against="by membership"), "quebec")
    assert proved.headline.endswith("clauses found. Besides: the release gives people away by membership.")
    # Whoever stands in the release unchanged is told apart, however low the rest is.
    assert judged(synthetic(0.0, {COPIED: figure(1)}), "quebec").outcome == "exceeded"
    found = {each.name: each.found["it"] for each in kept.answers if each.name}
    ends = found[EXCESSES[0]]
    assert (ends.value, round(ends.low, 2), round(ends.high, 2)) == (0.25, 0.21, 0.3)
    assert {each.clause.where for each in kept.answers} >= {"section 3", "sections 2, 5, 7", "section 9"}


def test_json_has_what_was_judged() -> None:
    read = json.loads(dumps({"schema": "example/1", **json_of(judged(masked(0.5)))}))
    assert (read["profile"], read["outcome"]) == ("ema", "exceeded")
    assert read["checks"][0]["limit"] == pytest.approx(1 / 11)
    assert (read["checks"][1]["value"], read["checks"][1]["low"]) == (None, None)
    asked = {each["answered_by"]: each["found"] for each in read["clauses"]}
    assert asked[CLASSES] == {"it": {"value": 0.5, "low": 0.5, "high": 0.5}}
