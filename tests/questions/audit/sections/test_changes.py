"""What changed since an earlier audit: which figures, whether by chance, what differs in making, what is no audit."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from unveil.errors import InputError
from unveil.metrics.trials.risk import Rate, wilson
from unveil.questions.audit.report_context import AuditContext, ReportContext
from unveil.questions.audit.sections.changes import (
    changes,
    direction,
    read_previous,
    section,
    sentence,
    with_present_names,
)
from unveil.report.blocks import Page, Section, TableBlock
from unveil.report.editions import shareable
from unveil.report.figures import json_of
from unveil.report.page import render

HOSTILE = "<script>alert(1)</script>"


def rate(hits: int, tries: int = 500) -> dict[str, float | None]:
    found = wilson(hits, tries)
    return {"value": found.value, "low": found.low, "high": found.high}


def shown(before: dict[str, Any], now: dict[str, Any]) -> Section:
    """Return the section on two audits as the report has it; of the findings it needs nothing but their JSON."""
    findings: Any = None
    made = section(findings, AuditContext(report=ReportContext(previous=before), present=now))
    assert made is not None
    return made


NOTHING: dict[str, float | None] = {"value": None, "low": None, "high": None}


def attack(name: str, hits: int, *, scenario: str | None = None, **more: Any) -> dict[str, Any]:
    adversary = None if scenario is None else {"first": ["age"], "second": ["sex"], "reason": "", "origin": "told"}
    return {
        "attack": name,
        "scenario": scenario,
        "adversary": adversary,
        "targets": 500,
        "neighbours": 10,
        "attack_rate": rate(hits),
        "naive_rate": rate(5),
        "control_rate": NOTHING,
        "excess_over_control": NOTHING,
        "links": {"expected": 1.0, "low": 1.0, "high": 1.0},
        "figures": {},
        **more,
    }


def audit(*attacks: dict[str, Any], name: str = "masked", **more: Any) -> dict[str, Any]:
    columns = [{"name": "age", "kind": "number", "role": "known", "reason": "", "missing": 0}]
    return {
        "schema": "unveil.audit/1",
        "original": {"rows": 700, "columns": columns, "sha256": "aa" * 32},
        "control": None,
        "releases": [{"name": name, "rows": 700, "kind": "masked", "sha256": "bb" * 32, "attacks": list(attacks)}],
        "notes": [],
        "limits": [],
        "seed": 0,
        "version": "0.1.0",
        **more,
    }


def test_the_same_audit_has_not_changed() -> None:
    same = audit(attack("linkability", 60, scenario="neighbour"), attack("copies", 0, figures={"copied_unique": 2}))
    found = changes(same, deepcopy(same))
    assert {change.direction for change in found.figures} == {"no measurable change", "same"}
    assert (found.new, found.gone, found.differences, found.measurable) == ((), (), (), ())


def test_grades_are_no_figures_and_an_audit_without_them_is_read() -> None:
    figures = {"entropy": 0.5, "sure": 0.25}
    before = audit(attack("record_linkage", 60, figures=figures))
    now = audit(attack("record_linkage", 60, figures=figures, trust={"entropy": {"tables": "use"}}))
    other = audit(attack("record_linkage", 60, figures=figures, trust={"entropy": {"tables": "with care"}}))
    for pair in ((before, now), (now, before), (now, other)):
        found = changes(*pair)
        assert (found.new, found.gone, found.differences, found.measurable) == ((), (), (), ())
        assert {change.name for change in found.figures} >= {"entropy", "sure"}
        assert not any("trust" in change.name for change in found.figures)


def test_only_what_is_more_than_chance_is_called_measurable() -> None:
    before = audit(attack("linkability", 60, scenario="a"), attack("row_order", 60), attack("copies", 60))
    now = audit(attack("linkability", 120, scenario="a"), attack("row_order", 20), attack("copies", 70))
    found = {change.attack: change for change in changes(before, now).figures if change.name == "attack_rate"}
    assert {name: change.direction for name, change in found.items()} == {
        "linkability": "measurably higher",
        "row_order": "measurably lower",
        "copies": "no measurable change",
    }
    assert (found["linkability"].before.value, found["linkability"].now.value) == (0.12, 0.24)
    assert found["linkability"].scenario == "a"


@pytest.mark.parametrize("tries", [(500, 500), (100, 400)])
def test_chance_alone_is_rarely_called_measurable(tries: tuple[int, int]) -> None:
    from scipy.stats import binom

    ends = [np.array([(found.low, found.high) for k in range(n + 1) for found in [wilson(k, n)]]) for n in tries]
    apart = (ends[1][None, :, 0] > ends[0][:, None, 1]) | (ends[1][None, :, 1] < ends[0][:, None, 0])
    for true in (0.002, 0.02, 0.1, 0.5, 0.9):
        first, second = (binom.pmf(np.arange(n + 1), n, true) for n in tries)
        assert first @ apart @ second < 0.015
    assert direction(Rate(0.5, 0.4, 0.6), Rate(0.7, 0.6, 0.8)) == ("no measurable change")


def test_figures_without_an_interval_are_compared_as_they_are() -> None:
    before = audit(attack("closest_record", 0, figures={"median": 0.1, "low": 0.01, "gone": None}))
    before["releases"][0]["disclosure"] = {"k": 3, "classes": {"smallest": 3, "named": "text", "is_so": True}}
    now = audit(attack("closest_record", 0, figures={"median": 0.1, "low": 0.02, "gone": 1.0}))
    now["releases"][0]["disclosure"] = {"k": 1, "classes": {"smallest": 3, "named": "other", "is_so": False}}
    found = {(change.attack, change.name): change.direction for change in changes(before, now).figures}
    assert found[("closest_record", "median")] == "same"
    assert found[("closest_record", "low")] == "higher"
    assert found[("disclosure", "k")] == "lower"
    assert found[("disclosure", "classes.smallest")] == "same"
    assert not {"classes.named", "classes.is_so", "gone"} & {figure for _, figure in found}


def test_what_became_undefined_is_said() -> None:
    before, now = audit(attack("copies", 3)), audit(attack("copies", 3, attack_rate=NOTHING, control_rate=rate(2)))
    found = {change.name: change.direction for change in changes(before, now).figures}
    assert found["attack_rate"] == "undefined"
    assert found["control_rate"] == "defined"
    assert "excess_over_control" not in found


def test_new_and_gone_attacks_and_adversaries() -> None:
    before, now = (
        audit(attack("linkability", 3, scenario=who), attack("inference", 3, secret=column))
        for who, column in (("old", "income"), ("new", "vote"))
    )
    found = changes(before, now)
    assert found.new == ("linkability on masked by new", "inference on masked by vote")
    assert found.gone == ("linkability on masked by old", "inference on masked by income")
    assert found.figures == ()


def test_another_adversary_under_the_same_name_is_pointed_out() -> None:
    who = {"first": ["sex"], "second": ["age"], "reason": "", "origin": "worst"}
    before = audit(attack("linkability", 3, scenario="worst split found"))
    now = audit(attack("linkability", 3, scenario="worst split found", adversary=who))
    assert {change.remark for change in changes(before, now).figures} == {"the attacker has other columns now"}


def test_a_single_release_is_compared_whatever_it_is_called() -> None:
    found = changes(audit(attack("copies", 3), name="first.csv"), audit(attack("copies", 300), name="second.csv"))
    assert [change.release for change in found.measurable] == ["second.csv"]
    assert [(each.what, each.before, each.now) for each in found.differences] == [
        ("releases", "first.csv", "second.csv")
    ]
    assert found.new == found.gone == ()


def test_what_the_audits_were_made_with() -> None:
    before = audit(attack("copies", 3), settings={"missing": ["Smith"], "by": "sex"}, command=["unveil", "/x/a.csv"])
    before["profile"] = {"profile": "ema", "outcome": "kept"}
    now = audit(attack("copies", 3, targets=None), seed=1, version="0.2.0", control={"rows": 7, "sha256": None})
    now["profile"] = {"profile": "ema", "outcome": "exceeded"}
    now["original"] |= {"sha256": "cc" * 32, "rows": 9}
    now["original"]["columns"] = [
        {"name": "age", "kind": "number", "role": "sensitive"},
        {"name": "new", "kind": "text"},
    ]
    found = changes(before, now)
    differ = {each.what: (each.before, each.now) for each in found.differences}
    assert differ["original: rows"] == ("700", "9")
    assert differ["original: file (SHA-256)"] == ("aa" * 32, "cc" * 32)
    assert differ["control: rows"] == ("none", "7")
    assert differ["column age"] == ("known, number", "sensitive, number")
    assert differ["column new"] == ("not there", "none, text")
    assert differ["copies: targets"] == ("500", "none")
    assert differ["seed"] == ("0", "1")
    assert differ["version"] == ("0.1.0", "0.2.0")
    assert differ["by"] == ("sex", "none")
    assert "profile" not in differ
    assert differ["missing"] == ('["Smith"]', "none")
    assert "original data are another file" in sentence(found)
    page = Page(title="T", question="Q", headline="H", tone="bad", sections=(shown(before, now),))
    assert "Smith" in render(page)
    shared = render(shareable(page))
    assert "Smith" not in shared
    assert "/x/a.csv" not in shared
    assert shared.count("fewer than 11") == 2


def test_the_section_shows_what_is_measurable_first(approved: Approved) -> None:
    before = audit(attack("copies", 3), attack("linkability", 10, scenario=HOSTILE), name=HOSTILE)
    now = audit(attack("copies", 3), attack("linkability", 100, scenario=HOSTILE), name=HOSTILE)
    made = shown(before, now)
    table = made.data[0]
    assert isinstance(table, TableBlock)
    assert table.rows == (
        (f"Linkability, attack success by {HOSTILE}", "significantly higher", "2.0% (1.1–3.6%)", "20% (17–24%)"),
        ("Exact copies, attack success", "no significant change", "0.6% (0.2–1.7%)", "0.6% (0.2–1.7%)"),
    )
    approved(made.lead)
    html = render(Page(title="T", question="Q", headline="H", tone="bad", sections=(made,)))
    assert HOSTILE not in html
    assert json_of(changes(before, now))["values"][0]["direction"] == "no measurable change"


def test_an_earlier_audit_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "previous.json"
    path.write_text(json.dumps(audit(attack("copies", 3))), encoding="utf-8")
    assert changes(read_previous(path), audit(attack("copies", 3))).measurable == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be JSON, but is not"),
        ("a,b\n1,2\n", "must be JSON"),
        ("[" * 100_000, "at most 40 deep"),
        ("[1, 2]", "is JSON, but not from unveil"),
        ('{"schema": 7}', "is JSON, but not from unveil"),
        ('{"schema": "secret cell"}', "is JSON, but not from unveil"),
        ('{"schema": "unveil.partition/1"}', "its schema is 'unveil.partition/1'"),
        (
            '{"schema": "unveil.audit/99"}',
            "only unveil.audit/1, unveil.audit/2, unveil.audit/3 and unveil.audit/4 can be",
        ),
        ('{"schema": "unveil.audit/1"}', "lacks its releases or their attacks"),
        ('{"schema": "unveil.audit/1", "releases": [{"name": "a"}]}', "lacks its releases"),
        ('{"schema": "unveil.audit/1", "releases": [{"name": 1, "attacks": []}]}', "lacks its releases"),
        ('{"schema": "unveil.audit/1", "releases": [{"name": "a", "attacks": [3]}]}', "lacks its releases"),
        ('{"schema": "unveil.audit/1", "releases": [], "original": 3}', "lacks its releases"),
    ],
)
def test_what_is_no_audit_is_refused_in_one_sentence_that_names_the_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "previous.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_previous(path)
    assert said in str(caught.value)
    assert "previous.json" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00\xd8")
    for path in (tmp_path / "nowhere.json", tmp_path, tmp_path / "binary.json"):
        with pytest.raises(InputError, match=r"does not exist|is a folder|must be text in UTF-8"):
            read_previous(path)


def test_old_names_of_fields_and_attackers_are_read_as_the_present_ones() -> None:
    inferred = "ill"
    separation = {"area": rate(300), "pointed_out": 3, "others": 60, "population": 40, "unusual": [], "named": []}
    old = audit(
        attack("membership", 60, scenario="by distance", separation=separation),
        attack("linkability", 60, scenario="split 3", proved=True),
        attack("memory", 60, scenario="remembers most: nearest, all columns", figures={"sure": 0.5}, secret=inferred),
    )
    now = with_present_names(old)
    (release,) = now["releases"]
    assert [each["scenario"] for each in release["attacks"]] == [
        "DCR score",
        "column split 3",
        "most memorization: nearest, all columns",
    ]
    assert release["attacks"][0]["separation"].keys() == {
        *("auc", "flagged", "non_members", "reference", "outliers", "tpr_at_fpr")
    }
    assert release["attacks"][1]["significant"] is True
    assert release["attacks"][2]["sensitive"] == inferred
    assert with_present_names(now) == now
    found = changes(old, now)
    assert (found.new, found.gone, found.differences) == ((), (), ())
    assert {change.name for change in found.figures} == {
        *("attack_rate", "baseline", "separation.auc", "separation.flagged", "separation.non_members"),
        *("separation.reference", "sure"),
    }
