"""Published limits: that each is cited, that the right figure is held to it, and that nothing is judged in silence."""

import json
import math

import pytest

from tests.show.sign_off_example import Quantity
from unveil.errors import InputError
from unveil.show.blocks import Page, Table
from unveil.show.judgement import judge, judge_releases, judgement_section
from unveil.show.machine import dumps
from unveil.show.page import render
from unveil.show.profiles import PROFILES, profile

CLASSES, LINKED, EXCESS = (
    "disclosure.highest_risk",
    "record_linkage.attack_rate.high",
    "linkability.excess_over_control.high",
)
every_profile = pytest.mark.parametrize("name", PROFILES)


@every_profile
def test_each_profile_says_who_set_it_where_and_what_it_means(name: str) -> None:
    found = profile(name)
    assert found.name == name
    assert all(len(text) > 10 for text in (found.title, found.who, found.source, found.text))
    assert any(year in found.source for year in ("2013", "2016", "2019", "2024"))
    assert {limit.quantity for limit in found.limits} == {CLASSES, LINKED, EXCESS}
    for limit in found.limits:
        assert limit.ours == limit.why.startswith("Our reading, not the source's:")
        assert limit.applies_to == ("synthetic" if limit.quantity == EXCESS else "masked")


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
    assert limits == {CLASSES: 1 / people, LINKED: share, EXCESS: share}
    # A class of exactly so many people is what the source allows; one fewer is too few.
    kept = judge(profile(name), {CLASSES: Quantity(1 / people)}, ["masked"])
    over = judge(profile(name), {CLASSES: Quantity(1 / (people - 1))}, ["masked"])
    assert (kept.outcome, over.outcome) == ("kept", "exceeded")


def test_an_unknown_profile_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="Did you mean 'health-canada'"):
        profile("health-canda")
    with pytest.raises(InputError, match=r"Choose from ema, health-canada, cell-3, cell-5, cell-11, cell-20\."):
        profile("gdpr")


def test_the_headline_names_the_limit_who_set_it_the_figure_and_the_side() -> None:
    exceeded = judge(profile("ema"), {CLASSES: Quantity(0.5), LINKED: Quantity(0.01)}, ["masked"])
    assert exceeded.headline == (
        "The limit of 0.09 set by the European Medicines Agency is exceeded: the highest chance by class size is 0.5, "
        "above 1/11."
    )
    assert (exceeded.outcome, exceeded.tone) == ("exceeded", "bad")
    kept = judge(profile("ema"), {EXCESS: Quantity(0.04)}, ["synthetic", "synthetic"])
    assert kept.headline == (
        "The limit of 0.09 set by the European Medicines Agency is kept: the upper end of the excess of linkability "
        "over control is 0.04, below 0.09 (held to it by our reading, not the source's)."
    )
    # Keeping a limit is never called good.
    assert (kept.outcome, kept.tone) == ("kept", "neutral")
    equal = judge(profile("cell-5"), {CLASSES: Quantity(0.2)}, ["masked"])
    assert "is 0.2, which equals 1/5." in equal.headline


def test_our_reading_alone_does_not_keep_a_limit_of_others() -> None:
    judged = judge(profile("ema"), {CLASSES: Quantity(math.nan), LINKED: Quantity(0.01)}, ["masked"])
    assert judged.outcome == "not judged"
    assert judged.headline.endswith("could not be judged: the highest chance by class size (it was not measured).")
    # But it can show that a limit is exceeded.
    assert judge(profile("ema"), {LINKED: Quantity(0.5)}, ["masked"]).outcome == "exceeded"


def test_what_was_not_judged_beside_what_was_is_said() -> None:
    judged = judge(profile("cell-3"), {CLASSES: Quantity(0.1)}, ["masked"])
    assert judged.outcome == "kept"
    assert "Not judged: the upper end of the rate of record linkage (whose record each released row" in judged.headline


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ([None], "nobody said whether the release is masked or synthetic (--kind)."),
        ([], "nobody said whether the release is masked or synthetic (--kind)."),
        (["masked", "synthetic"], "the figures are the worst over masked and synthetic releases together."),
    ],
)
def test_a_kind_that_is_not_known_is_not_judged(kinds: list[str | None], why: str) -> None:
    judged = judge(profile("ema"), {CLASSES: Quantity(0.01), EXCESS: Quantity(0.01)}, kinds)
    assert (judged.outcome, judged.tone) == ("not judged", "warning")
    assert judged.headline.endswith(f"could not be judged: {why}")


def test_a_synthesis_is_not_held_to_the_size_of_its_classes() -> None:
    judged = judge(profile("ema"), {CLASSES: Quantity(1.0), EXCESS: Quantity(0.0)}, ["synthetic"])
    assert [check.limit.quantity for check in judged.checks] == [EXCESS]
    assert judged.outcome == "kept"


def test_each_release_is_judged_by_its_own_figures() -> None:
    good, bad = {CLASSES: Quantity(0.01)}, {CLASSES: Quantity(0.25)}
    releases = {"good": ("masked", good), "bad": ("masked", bad), "made up": ("synthetic", {EXCESS: Quantity(0.02)})}
    judged = judge_releases(profile("ema"), releases)
    outcomes = {check.release: check.outcome for check in judged.checks if not math.isnan(check.value)}
    assert outcomes == {"good": "kept", "bad": "exceeded", "made up": "kept"}
    assert "of release 'bad' is 0.25, above 1/11." in judged.headline
    # One release without its figure is enough to leave the question open.
    silent = judge_releases(profile("ema"), {"good": ("masked", good), "made up": ("synthetic", {})})
    assert silent.outcome == "not judged"
    assert "of 'made up' (it needs people who are not in the data (--control))." in silent.headline
    assert "good" not in silent.headline
    assert judge_releases(profile("ema"), {}).headline.endswith("could not be judged: there is no release.")


def test_where_less_is_worse_less_exceeds() -> None:
    judged = judge(profile("cell-5"), {CLASSES: Quantity(0.5, more_is_worse=False)}, ["masked"])
    assert judged.outcome == "kept"


def test_the_section_cites_the_source_and_lists_every_figure() -> None:
    judged = judge(profile("cell-11"), {CLASSES: Quantity(0.5)}, ["masked"], release="<b>")
    section = judgement_section(judged)
    assert profile("cell-11").source in section.lead
    table, reasons = section.blocks
    assert isinstance(table, Table)
    assert isinstance(reasons, Table)
    assert table.rows == (
        ("<b>", CLASSES, "1/11", "0.5", "exceeded"),
        ("<b>", LINKED, "1/11", "undefined", f"not judged: {judged.checks[1].why}"),
    )
    assert [row[0] for row in reasons.rows] == [CLASSES, LINKED]
    html = render(Page(title="T", question="Q", headline="H", tone="bad", sections=(section,)))
    assert "<b>" not in html
    assert "Our reading, not the source&#39;s" in html


def test_json_has_what_was_judged() -> None:
    judged = judge(profile("ema"), {CLASSES: Quantity(0.5)}, ["masked"], release="masked")
    read = json.loads(dumps({"schema": "example/1", **judged.to_dict()}))
    assert (read["profile"], read["outcome"]) == ("ema", "exceeded")
    assert read["checks"][0]["limit"] == pytest.approx(1 / 11)
    assert read["checks"][1]["value"] is None
