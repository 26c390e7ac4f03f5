"""Published thresholds: that each is cited, what it holds, and what answers each of its clauses."""

import json
from math import nan

import pytest

from unveil.errors import InputError
from unveil.questions.audit.decision.evidence import meanings, thresholds_of
from unveil.questions.audit.decision.findings import EFFECTS, MAX_RISK
from unveil.questions.audit.sections.methods import NOT_BY_THIS_TOOL, answers_to, clause_table, profile_sentence
from unveil.report.blocks import Page
from unveil.report.figures import json_of
from unveil.report.limits import Quantity
from unveil.report.machine import dumps
from unveil.report.page import render
from unveil.report.profiles import PROFILES, profile

every_profile = pytest.mark.parametrize("name", PROFILES)


def figure(name: str, value: float) -> Quantity:
    return Quantity(name=name, value=value, meaning="", exceeded_when_undefined=False)


@every_profile
def test_each_profile_says_who_set_it_where_and_what_it_means(name: str) -> None:
    found = profile(name)
    assert found.name == name
    assert all(len(text) > 10 for text in (found.title, found.who, found.source, found.text))
    assert any(year in found.source for year in ("2013", "2019", "2024", "2025"))
    # What nobody compared with the document is marked wherever the source is shown.
    assert ("not verified against the original" in found.cited) == bool(found.unverified) == (name != "cell-11")


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
def test_the_thresholds_are_those_that_were_published(name: str, people: int, share: float) -> None:
    held = thresholds_of(profile_name=name)
    assert (held.threshold, held.of_class()) == (share, 1 / people)
    assert {held.of(attack) for attack in EFFECTS} == {share}
    assert (held.profile, held.source, held.needs_quasi_identifiers) == (name, profile(name).who, True)


def test_a_source_without_a_number_holds_nothing() -> None:
    held = thresholds_of(profile_name="quebec")
    assert (held.is_set, held.of_class(), held.needs_quasi_identifiers) == (False, None, False)


def test_an_unknown_profile_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="Did you mean 'health-canada'"):
        profile("health-canda")
    with pytest.raises(InputError, match=r"Choose from ema, health-canada, quebec, cell-3, cell-5, cell-11, cell-20\."):
        profile("gdpr")


@every_profile
def test_every_clause_is_answered_by_figures_that_exist_or_says_what_does(name: str) -> None:
    clauses = profile(name).clauses
    for clause in clauses:
        assert set(clause.figures) <= set(meanings())
        assert not (clause.figures and clause.part)
    # What the source publishes a number for is asked for somewhere.
    if profile(name).max_risk is not None:
        assert any(MAX_RISK in clause.figures for clause in clauses)


def test_the_section_cites_the_source_and_lists_the_value_of_each_release() -> None:
    values = {"<b>": 0.5, "other": nan}
    found = answers_to(profile("cell-20"), {each: {MAX_RISK: figure(MAX_RISK, of)} for each, of in values.items()})
    assert profile("cell-20").cited in profile_sentence(found)
    table = clause_table(found.answers)
    assert [row[2:] for row in table.rows] == [
        ("disclosure.k_anonymity", "<b>: not measured; other: not measured"),
        (MAX_RISK, "<b>: 0.5; other: not measured"),
        ("what each column was taken for (--quasi-identifiers)", ""),
    ]
    assert table.rows[1][:2] == ("", "")
    html = render(Page(title="T", question="Q", headline="H", tone="bad", sections=(), method_data=(table,)))
    assert "<b>" not in html


def test_what_no_figure_and_no_part_answers_is_said() -> None:
    table = clause_table(answers_to(profile("ema"), {}).answers)
    assert table.rows[-1][1:] == ("Free text and scanned pages hold nobody's name.", NOT_BY_THIS_TOOL, "")


def test_json_has_every_clause_with_what_answers_it() -> None:
    found = answers_to(profile("cell-3"), {"it": {MAX_RISK: figure(MAX_RISK, 0.5)}})
    read = json.loads(dumps({"schema": "example/1", **json_of(found)}))
    assert (read["profile"], read["who"]) == ("cell-3", profile("cell-3").who)
    asked = {each["answered_by"]: each["found"] for each in read["clauses"]}
    assert asked[MAX_RISK] == {"it": 0.5}
    assert asked["disclosure.k_anonymity"] == {"it": None}
