"""Audits of people with several rows: each leak is found by the view that it is in, and named."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.people import NAMED, Leak, findings, is_named, leaked, made_up
from tests.attacks.people.histories import draw, release_of
from unveil.data.table import Table
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.redaction import shared
from unveil.report.suppressed_number import SuppressedNumber

HISTORIES = tuple(name for name, attack in ATTACKS.items() if attack.needs_children)
PEOPLE = 150


def ask(release: Release, **settings: Any) -> AuditResult:
    return audit(
        release.original, release, release.control, rng=np.random.default_rng(1), **{"attacks": HISTORIES, **settings}
    )


def small(seed: int = 1, *, control: bool = True) -> Release:
    rng = np.random.default_rng(seed)
    original, released, others = (draw(60, rng, 5) for _ in range(3))
    return release_of(original, released, others if control else None)


def significant(found: Audit) -> set[str]:
    return {each.adversary for each in found.verdict.releases[0].findings if each.proved}


@pytest.mark.parametrize("leak", NAMED)
def test_each_leak_is_found_and_named(leak: Leak) -> None:
    assert is_named(findings(made_up(PEOPLE, 0.3, leak, 5), 1), leak)


def test_a_leak_in_one_part_is_not_ascribed_to_another() -> None:
    parent, rows, order = (
        significant(findings(made_up(PEOPLE, 0.3, leak, 6), 1)) for leak in ("parent", "rows", "order")
    )
    assert "parent row" in parent
    assert not any(each.startswith("visits") for each in parent)
    assert "visits, set of rows" in rows
    assert "visits, whole history" in rows
    assert "parent row" not in rows
    assert "visits, order of rows" in order
    assert not {"parent row", "visits, closest row"} & order


def test_shuffled_histories_are_no_link() -> None:
    found = significant(findings(made_up(PEOPLE, 0.0001, "link", 7), 1))
    assert {"parent row", "visits, set of rows", "visits, rare histories"} <= found
    assert not {"people | visits", "people | visits, own history"} & found


def test_a_fresh_sample_is_not_flagged() -> None:
    assert not significant(findings(made_up(PEOPLE, 0.0, "all", 8), 1))


def test_figures_are_auc_tpr_and_rare_histories() -> None:
    found = findings(made_up(PEOPLE, 0.3, "all", 9), 1)
    by_name = figures_of(found)
    views = ("parent row", "visits, set of rows", "visits, order of rows", "visits, closest row", "all views")
    for view in views:
        figures = by_name[view]
        assert 0.5 < figures["auc"] < 1
        assert 0.2 < figures["tpr_at_1_percent_fpr"] < 0.5
    assert by_name["visits, whole history"]["rare_histories"] == 45
    assert {each.attack for each in found.verdict.releases[0].effects} == {
        "singling_out", "linkability", "inference", "membership", "copies"
    }  # fmt: skip


def test_attacks_on_child_tables_need_child_tables() -> None:
    release = replace(small(), children=())
    ran = ask(release, attacks=(), predicates=50).findings.attacks
    assert ran
    assert not set(ran) & set(HISTORIES)
    with pytest.raises(InputError, match="has no child tables"):
        ask(release)


def test_of_two_releases_only_the_one_with_child_tables_is_attacked_by_them() -> None:
    release = small()
    other = replace(small(2), original=release.original, control=release.control, children=(), name="other")
    named = {"with": release, "without": other}
    found = audit(release.original, named, release.control, attacks=HISTORIES, rng=np.random.default_rng(1)).findings
    assert [bool(each.findings) for each in found.releases] == [True, False]


def test_without_a_control_group_there_is_no_membership() -> None:
    found = ask(small(control=False)).findings.releases[0]
    assert all(each.remark.startswith("Not run") for each in found.of("history_membership"))
    assert found.of("history_linkability")
    assert found.of("history_copies")
    assert found.of("history_singling_out")


@pytest.mark.parametrize(("column", "is_run"), [("kind", True), ("cost", False)])
def test_only_sensitive_child_columns_are_inferred_where_there_are_some(column: str, is_run: bool) -> None:
    release = small()
    (child,) = release.children
    columns = tuple(
        replace(each, role="sensitive") if each.name == column else each for each in child.release.original.columns
    )
    told = replace(child.release)
    object.__setattr__(told, "original", replace(child.release.original, columns=columns))
    (found,) = (
        ask(replace(release, children=(replace(child, release=told),))).findings.releases[0].of("history_inference")
    )
    assert found.secret == f"visits: {column}"
    assert (found.targets > 0) == is_run


def test_summaries_are_no_part_of_the_parent_row_and_order_needs_a_time() -> None:
    release = small()
    (child,) = release.children
    timeless = replace(child, time=None, summaries=("age",))
    found = ask(replace(release, children=(timeless,))).findings.releases[0]
    (parent,) = (each for each in found.findings if each.scenario is not None and each.scenario.name == "parent row")
    assert parent.scenario is not None
    assert parent.scenario.first == ("town",)
    assert not any(each.scenario is not None and "early" in each.scenario.name for each in found.findings)


def test_a_table_without_rows_of_the_control_group_is_read() -> None:
    rng = np.random.default_rng(3)
    original, released, control = (draw(60, rng, 5) for _ in range(3))
    bare = control._replace(rows=control.rows.filter(pl.col("person") < 1))
    found = ask(release_of(original, released, bare)).findings.releases[0]
    assert {each.attack for each in found.findings} <= set(HISTORIES)


def test_summaries_are_known_by_the_name_of_their_table() -> None:
    release = small()

    def named(table: Table) -> Table:
        frame = table.frame.rename({"age": "visits: mean age"})
        return Table.from_frame(frame, kinds={"visits: mean age": "number", "town": "category"})

    assert release.control is not None
    tables = [named(each) for each in (release.original, release.released, release.control)]
    summed = Release(tables[0], tables[1], tables[2], kind="synthetic", children=release.children)
    (parent,) = (
        each
        for each in ask(summed).findings.releases[0].findings
        if each.scenario and each.scenario.name == "parent row"
    )
    assert parent.scenario is not None
    assert parent.scenario.first == ("town",)


def test_several_child_tables_have_views_of_their_own() -> None:
    release = small()
    (child,) = release.children
    second: ChildRelease = replace(child, name="stays")
    names = {
        each.scenario.name
        for each in ask(replace(release, children=(child, second))).findings.releases[0].findings
        if each.scenario
    }
    assert {"visits, set of rows", "stays, set of rows", "people | stays", "stays, whole history"} <= names


def test_no_group_below_the_minimum_is_in_the_answer() -> None:
    rng = np.random.default_rng(4)
    original, released, control = (draw(60, rng, 5) for _ in range(3))
    rare = pl.Series("town", ["Zephyrine", *["Xanadu"] * 5, *original.parents["town"][6:]])
    original = original._replace(parents=original.parents.with_columns(rare))
    answer = ask(release_of(original, released, control), group_by="town")
    assert any(each.groups is not None for each in answer.findings.releases[0].findings)
    assert "Zephyrine" not in answer.to_json()
    assert "Xanadu" not in answer.to_json()


def test_reports_show_attackers_and_redacted_ones_round_shares() -> None:
    answer = ask(made_up(PEOPLE, 0.04, "all", 4))
    for redacted in (False, True):
        page = answer.to_html(redacted=redacted)
        assert "set of rows" in page
        assert "own history" in page
    whole, bare = (figures_of(found) for found in (answer.findings, shared(answer.findings)))
    for view in ("parent row", "all views"):
        assert np.isnan(bare[view]["auc"]) or bare[view]["auc"] == pytest.approx(whole[view]["auc"], abs=0.006)
        if 0 < PEOPLE * whole[view]["tpr_at_1_percent_fpr"] < 11:
            assert np.isnan(bare[view]["tpr_at_1_percent_fpr"])
    assert isinstance(bare["visits, whole history"]["rare_histories"], SuppressedNumber)


def figures_of(found: Audit) -> dict[str, Mapping[str, float]]:
    return {each.scenario.name: each.figures for each in found.releases[0].findings if each.scenario is not None}


def test_leaked_people_are_those_of_the_data() -> None:
    rng = np.random.default_rng(1)
    original, fresh = (made_up_people(rng) for _ in range(2))
    whole = leaked(original, fresh, 1.0, "all", rng)
    assert sorted(whole.parents.rows()) == sorted(original.parents.rows())
    kept = leaked(original, fresh, 0.5, "rows", rng)
    assert kept.parents.equals(fresh.parents)
    assert kept.visits["person"].is_sorted()


def made_up_people(rng: np.random.Generator) -> Any:
    from benchmarks.people import draw_people

    return draw_people(40, rng)


def test_all_kinds_of_columns_are_read() -> None:
    rng = np.random.default_rng(2)
    kinds: Any = {"level": ["low", "mid", "high"], "well": "boolean", "day": "date", "note": "text"}

    def child(people: Any) -> ChildTable:
        number = people.rows.height
        frame = people.rows.drop("person", "day").with_columns(
            pl.Series("level", rng.choice(["low", "mid", "high"], number)),
            pl.Series("well", rng.choice(["yes", "no"], number)),
            pl.Series("note", [f"said {each} and {number}" for each in rng.integers(0, 9, number)]),
            pl.Series("day", [date(2020, 1, 1) + timedelta(days=each) for each in people.rows["day"].to_list()]),
        )
        table = Table.from_frame(frame, name="visits", kinds=kinds)
        return ChildTable("visits", table, people.rows["person"].to_numpy().astype(np.int64), 60, "day")

    people = [draw(60, rng, 5) for _ in range(3)]
    release = release_of(*people)
    found = ask(replace(release, children=(ChildRelease.of(*map(child, people)),))).findings.releases[0]
    assert {"visits: level", "visits: well", "visits: kind"} <= {each.secret for each in found.findings}


def test_child_tables_without_a_comparable_column_or_control_rows_are_left_out() -> None:
    release = small()
    (child,) = release.children
    alone = replace(child, control_person=None)
    ids = tuple(replace(each, role="identifier") for each in child.release.original.columns)
    named = replace(child.release)
    object.__setattr__(named, "original", replace(child.release.original, columns=ids))
    found = ask(replace(release, children=(alone, replace(child, release=named)))).findings.releases[0]
    names = {each.scenario.name for each in found.findings if each.scenario is not None}
    assert names == {"parent row"}
