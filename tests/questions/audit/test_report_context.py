"""What an audit leaves for the file: limits that were judged, what changed, both editions, in any order of rows."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.releases.disclosure import disclosure
from unveil.metrics.trials.risk import Risk
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.questions.audit.report_context import ReportContext
from unveil.questions.audit.settings import MEASURES
from unveil.questions.result import Result
from unveil.report.blocks import TableBlock
from unveil.report.figures import json_of
from unveil.report.machine import compact
from unveil.report.page import sheet_document
from unveil.report.profiles import profile

WEIGHED: dict[str, Any] = {"weight": "stands_for", "household": "home"}


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    gap = pl.Series(rng.choice(["x", "y", "z"], rows)).set(pl.Series(rng.random(rows) < 0.2), None)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["north", "south", "east"], rows, p=[0.5, 0.4, 0.1]),
            "income": (age * 100 + rng.integers(0, 3000, rows)) / 7,
            "gap": gap,
            "stands_for": rng.uniform(1, 9, rows).round(3),
            "home": rng.integers(0, rows // 3, rows),
            "card": [f"p{seed}-{row}" for row in range(rows)],
        }
    )


ORIGINAL, CONTROL = people(90, 1), people(70, 2)
MASKED = ORIGINAL.with_columns(age=pl.Series(ORIGINAL["age"].to_numpy() + np.random.default_rng(3).integers(-1, 2, 90)))


def ask(*given: Any, seed: int = 5, **settings: Any) -> Result[Audit]:
    return audit(*given, rng=np.random.default_rng(seed), **settings)


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


@cache
def answer() -> Result[Audit]:
    return ask(
        ORIGINAL, {"masked": MASKED}, CONTROL, attacks=["linkability", "copies", "disclosure", "utility", "before"],
        release_type="masked", quasi_identifiers=["age", "sex", "region"], targets=30, group_by="sex",
        identifiers=["card"],
    )  # fmt: skip


# --- order ------------------------------------------------------------------------------------------------------------


def differences(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """Yield where two answers differ, by names."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            label = f"{where}.{name}"
            yield from differences(one.get(name), other.get(name), label)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            attack = pair[0].get("attack", place) if isinstance(pair[0], dict) else place
            yield from differences(*pair, f"{where}.{attack}")
    elif one != other:
        yield where


@pytest.mark.unwatched
@pytest.mark.parametrize(
    "settings",
    [
        {**WEIGHED, "sensitive": ["gap"], "group_by": "region", "identifiers": ["card"]},
        {"group_by": "age", "quasi_identifiers": ["age", "sex", "region", "income"]},
        {"weight": "stands_for", "sensitive": ["income", "gap"], "scenarios": ["n=age,sex"], "group_by": "gap"},
    ],
)
def test_the_order_of_rows_changes_nothing_but_the_attack_on_it(settings: dict[str, Any]) -> None:
    tables = (ORIGINAL, MASKED, CONTROL)
    every = [each for each in (*ATTACKS, *MEASURES) if each != "row_order"]
    given: dict[str, Any] = {"release_type": "masked", "targets": 40, "predicates": 60, "attacks": every, **settings}
    plain = json.loads(ask(*tables, **given).to_json())
    mixed = ask(*(shuffled(each, place) for place, each in enumerate(tables)), **given)
    assert plain["tests"]["tests"] > 20
    assert list(differences(plain, json.loads(mixed.to_json()))) == []


# --- weights and households -------------------------------------------------------------------------------------------


def test_weights_and_households_reach_what_the_release_discloses() -> None:
    found = ask(ORIGINAL, MASKED, attacks=["disclosure"], min_cell=5, **WEIGHED).findings.releases[0].disclosure
    assert found is not None
    known = ["age", "sex", "region", "income", "gap"]
    by_hand = disclosure(
        Release(Table.from_frame(ORIGINAL), Table.from_frame(MASKED)),
        columns=known, sensitive=(), weights="stands_for", household="home", minimum_cell=5,
    )  # fmt: skip
    assert found.columns == tuple(known)
    assert compact(json_of(found)) == compact(json_of(by_hand))
    assert found.population[0].population == pytest.approx(MASKED["stands_for"].sum())
    assert found.household is not None
    assert found.household.households == MASKED["home"].n_unique()


def test_people_outside_need_no_weight_and_no_household() -> None:
    outside = CONTROL.drop("stands_for", "home")
    found = ask(ORIGINAL, MASKED, outside, attacks=["disclosure"], **WEIGHED).findings.releases[0].disclosure
    assert found is not None
    assert found.household is not None
    assert found.population[0].population == pytest.approx(MASKED["stands_for"].sum())


# --- limits that were published ---------------------------------------------------------------------------------------


def test_the_source_of_a_threshold_stands_on_the_page_and_in_the_json() -> None:
    settings: dict[str, Any] = {"release_type": "masked", "attacks": ["linkability", "disclosure"], "targets": 30}
    held = ask(ORIGINAL, {"masked": MASKED}, CONTROL, profile="cell-5", **settings)
    assert any(profile("cell-5").cited in each for each in held.page().method)
    payload = held.to_dict()
    assert payload["decision"]["threshold"] == {"value": 1 / 5, "source": profile("cell-5").who, "limits": {}}
    assert (payload["profile"]["profile"], payload["profile"]["who"]) == ("cell-5", profile("cell-5").who)
    answered = {each["answered_by"]: each["found"] for each in payload["profile"]["clauses"]}
    smallest = held.quantities["disclosure.k_anonymity"].value
    assert answered["disclosure.k_anonymity"] == {"masked": smallest}
    assert ask(ORIGINAL, {"masked": MASKED}, CONTROL, **settings).to_dict()["profile"] is None
    with pytest.raises(InputError, match="Did you mean 'ema'"):
        ask(ORIGINAL, MASKED, profile="emma", **settings)


# --- what changed -----------------------------------------------------------------------------------------------------


def test_nothing_changed_since_the_same_audit() -> None:
    context = ReportContext(techniques={"age": "in bands"})
    previous = json.loads(answer().to_json(seed=5, context=context))
    since = replace(context, previous=previous)
    changes = json.loads(answer().to_json(seed=5, context=since))["changes"]
    assert (changes["new"], changes["gone"], changes["differences"]) == ([], [], [])
    assert {each["direction"] for each in changes["values"]} == {"same", "no measurable change"}
    assert "Changes since the previous audit" not in answer().to_html(seed=5, report=context)
    assert "Changes since the previous audit" in answer().to_html(seed=5, report=since)


def test_another_audit_is_told_by_figures_files_and_settings() -> None:
    previous = json.loads(answer().to_json(seed=5))
    settings: dict[str, Any] = {
        "release_type": "masked",
        "quasi_identifiers": ["age", "sex"],
        "identifiers": ["card"],
        "targets": 30,
    }
    now = ask(ORIGINAL, {"masked": people(90, 9)}, CONTROL, attacks=["copies", "disclosure"], **settings)
    changes = json.loads(now.to_json(seed=6, context=ReportContext(previous=previous)))["changes"]
    assert any(each.startswith("linkability on masked") for each in changes["gone"])
    told = {each["what"] for each in changes["differences"]}
    assert {"seed", "column region"} <= told
    copies = [each for each in changes["values"] if each["attack"] == "copies"]
    assert any(each["direction"].startswith("measurably") or each["direction"] == "lower" for each in copies)


# --- the sheet and the editions ---------------------------------------------------------------------------------------


def test_the_sheet_states_files_columns_adversaries_and_how_it_was_made() -> None:
    context = ReportContext(
        written=("audit", "/srv/secret/people.csv", "masked.csv"), date="2 May 2025", review="May 2026",
        techniques={"age": "in bands of five years"}, original=Path("/srv/secret/people.csv"),
        released=(Path("/srv/secret/masked.csv"),),
    )  # fmt: skip
    page = answer().page(seed=5, report=context)
    sheet = page.sheet
    assert sheet is not None
    assert [box.title for box in sheet.boxes.boxes] == ["Singling out", "Linkability", "Inference"]
    assert [box.tested for box in sheet.boxes.boxes] == [True, True, False]
    assert "exact copies" in sheet.boxes.boxes[0].beside
    tables = {block.caption: block for block in page.method_data if isinstance(block, TableBlock)}
    figures, files = tables["Results before and after"], tables["Files"]
    assert figures.columns == ("", "Original data", "masked")
    assert [row[0] for row in figures.rows][:1] == ["Linkability"]
    assert [row[0] for row in files.rows] == ["Original", "Release", "Control"]
    assert [row[2] for row in files.rows] == ["90", "90", "70"]
    lines = sheet_document(page)
    for said in ("in bands of five years", "seed 5", "2 May 2025", "May 2026", "split ", "not stated"):
        assert said in lines
    assert "Run in Python" in sheet_document(answer().page())


def test_both_editions_hold_the_sheet_and_say_which_they_are() -> None:
    context = ReportContext(
        written=("audit", "/srv/secret/people.csv"),
        original=Path("/srv/secret/people.csv"),
        date="today",
    )
    internal, shared = (answer().to_html(seed=5, report=context, redacted=each) for each in (False, True))
    for html in (internal, shared):
        assert html.count("<html") == html.count("</html>") == 1
        assert len(re.findall("<main", html)) == 1
    assert "/srv/secret" in internal
    assert "Redacted" in shared
    assert "/srv/secret" not in shared
    with pytest.raises(InputError, match="holds no records"):
        answer().to_html(redacted=True, show_records=True)


def test_the_next_step_generalizes_the_columns_that_help_the_strongest_attacker() -> None:
    settings: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex", "income"],
        "targets": 40,
        "neighbors": 1,
        "predicates": 40,
    }
    for attacks in (["linkability"], ["singling_out", "linkability"]):
        found = ask(ORIGINAL, ORIGINAL.reverse(), CONTROL, attacks=attacks, **settings).findings
        assert found.releases[0].weights[0].loss > 0
        best = max(found.releases[0].weights, key=lambda each: each.loss)
        (step,) = (each for each in found.decision.next if "Generalize" in each)
        assert best.column in step


def test_before_is_the_original_itself() -> None:
    found = answer().findings.before
    assert found is not None
    assert {finding.attack for finding in found.findings} == {"linkability"}
    assert found.disclosure is not None
    assert found.disclosure.rows == 90
    again = ask(
        ORIGINAL, {"same": ORIGINAL}, CONTROL, attacks=["linkability"], release_type="masked",
        quasi_identifiers=["age", "sex", "region"], targets=30, group_by="sex", identifiers=["card"],
    )  # fmt: skip

    def risks(release: AuditedRelease) -> dict[str, Risk]:
        return {each.scenario.name: each.risk for each in release.findings if each.scenario is not None}

    assert risks(found) == risks(again.findings.releases[0])


@pytest.mark.parametrize("parts", [["disclosure"], ["utility"], ["before"], ["before", "singling_out"]])
def test_single_parts_have_an_answer_that_does_not_pretend(parts: list[str]) -> None:
    alone = ask(ORIGINAL, MASKED, CONTROL, attacks=parts, predicates=30)
    payload = json.loads(alone.to_json())
    assert (payload["before"] is None) == ("before" not in parts)
    assert (payload["releases"][0]["disclosure"] is None) == ("disclosure" not in parts)
    assert (payload["releases"][0]["utility"] is None) == ("utility" not in parts)
    for redacted in (False, True):
        html = alone.to_html(redacted=redacted)
        assert "Nothing could be measured" not in html
        assert "nan" not in re.sub(r"<[^>]*>", " ", html).split()
    assert alone.to_polars().height == len(payload["releases"][0]["attacks"])
