"""The section on subgroups: who is worst off, whether that can be luck, and that no small group is on the page."""

from typing import TYPE_CHECKING

from tests.approved.sentences import Approved
from tests.end_to_end.visits import visit
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.trials.groups import RatesByGroup, group_rates
from unveil.metrics.trials.risk import Rate, Risk
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, Audit, AuditedRelease
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections import subgroups
from unveil.questions.audit.sections.subgroups import MOST_ROWS, GroupTable, group_chart, group_table, overview_table
from unveil.report.blocks import Chart, Page, Section, TableBlock
from unveil.report.page import render

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

HOSTILE = "<script>alert(1)</script>"


def groups(
    hits: dict[str | None, tuple[int, int]], control: dict[str | None, tuple[int, int]] | None = None
) -> RatesByGroup:
    """Return rates of groups with so many hits among so many people."""

    def spread(tally: dict[str | None, tuple[int, int]]) -> tuple[list[str | None], Attempts]:
        labels = [label for label, (_, people) in tally.items() for _ in range(people)]
        chances = [float(at < hit) for hit, people in tally.values() for at in range(people)]
        return labels, Attempts.from_chances(chances, rows=range(len(chances)))

    labels, attack = spread(hits)
    if control is None:
        return group_rates(attack, labels)
    outside, strangers = spread(control)
    return group_rates(Trials(attack=attack, naive=attack, control=strangers, what=""), labels, outside)


WORSE = groups({"a": (30, 40), HOSTILE: (4, 200), None: (5, 200)}, {"a": (1, 50), HOSTILE: (4, 200), None: (2, 100)})


def section(found: RatesByGroup) -> Section:
    """Return the section of an audit in which linkability has these rates."""
    risk = Risk(
        attack_rate=Rate(0.1, 0, 0.2), naive_rate=UNDEFINED, control_rate=UNDEFINED, excess_over_control=UNDEFINED
    )
    release = AuditedRelease(
        name="masked.csv", rows=440, kind=None, columns=("region",), sha256=None,
        findings=(AttackFinding(attack="linkability", targets=440, risk=risk, groups=found),),
    )  # fmt: skip
    made = subgroups.section(
        Audit(
            rows=440, columns=(), sha256=None, control_rows=None, control_sha256=None, releases=(release,), by="region",
            attacks=("linkability",),
        ),
        AuditContext(),
    )  # fmt: skip
    assert made is not None
    return made


def worst_sentence(found: RatesByGroup) -> str:
    return section(found).lead


def test_the_worst_group_is_named_with_what_everybody_has(approved: Approved) -> None:
    said = worst_sentence(WORSE)
    assert "Linkability by region: normalized excess is highest for 'a', 74% (" in said
    assert said.endswith("; significant.")
    approved(said)


def test_luck_is_called_not_significant() -> None:
    said = worst_sentence(groups({"a": (6, 40), "b": (4, 40), "c": (5, 40)}))
    assert "attack success is highest for 'a', 15% (" in said
    assert said.endswith("; not significant.")


def test_a_small_group_at_the_top_does_not_hide_one_that_is_significantly_worse() -> None:
    said = worst_sentence(groups({"few": (4, 11), "many": (300, 1000), "rest": (100, 2000)}))
    assert "highest for 'few'" in said
    assert "not significant. Also significantly above the rest: 'many'." in said
    both = worst_sentence(groups({"a": (40, 60), "b": (300, 1000), "rest": (100, 2000)}))
    assert "; significant. Also significantly above the rest: 'b'." in both


def test_groups_without_a_figure_say_why(approved: Approved) -> None:
    control = {"a": (1, 50), "b": (1, 50), "c": (0, 3), "d": (0, 12)}
    found = groups({"a": (30, 40), "b": (4, 40), "c": (5, 40), "d": (5, 40)}, control)  # type: ignore[arg-type]
    table = group_table(GroupTable(column="x", attack="L", groups=found))
    assert sum(row[2] == "–" for row in table.rows) == 2
    approved(table.note)


def test_the_picture_shows_the_intervals_and_where_everybody_stands() -> None:
    chart = group_chart(GroupTable(column="region", attack="Linkability", groups=WORSE))
    assert chart.title == "Linkability by region"
    assert chart.rows == ("a (40 people)", "missing (200 people)", f"{HOSTILE} (200 people)")
    inside, outside = chart.series
    assert (inside.name, outside.name) == ("attack success", "control")
    assert inside.low is not None
    assert inside.high is not None
    assert [inside.x[0], inside.low[0], inside.high[0]] == [
        WORSE.groups[0].attack_rate.value,
        WORSE.groups[0].attack_rate.low,
        WORSE.groups[0].attack_rate.high,
    ]
    (threshold,) = chart.thresholds
    assert (threshold.value, threshold.name) == (WORSE.overall.attack_rate.value, "overall: 8.9%")
    many = groups({f"g{at:02d}": (at, 40) for at in range(18)})
    assert len(group_chart(GroupTable(column="x", attack="L", groups=many)).rows) == MOST_ROWS


def test_the_table_has_every_group_and_everybody(approved: Approved) -> None:
    table = group_table(GroupTable(column="region", attack="Linkability", groups=WORSE, release="masked.csv"))
    assert table.caption == "Linkability by region (masked.csv): all subgroups"
    assert [row[0] for row in table.rows] == ["a", "missing", HOSTILE, "everybody"]
    assert table.rows[0][1] == "40 (40)"
    assert table.rows[0][3].startswith("75% (")
    assert len({len(row) for row in (*table.rows, table.columns, table.align)}) == 1
    approved(table.note)
    alone = group_table(GroupTable(column="region", attack="L", groups=groups({"a": (3, 40), "b": (1, 40)})))
    assert alone.columns == ("Subgroup", "People (attacked)", "Attack success")


def test_nobody_of_a_small_group_is_on_the_page() -> None:
    found = groups({"a": (30, 400), "b": (4, 200), "rare": (3, 3), "rarer": (1, 1), "few": (0, 8)})
    text = render(Page(title="T", question="", headline="", tone="good", sections=(section(found),)))
    assert "3 subgroups are pooled" in text
    assert "rare" not in text


def test_with_one_group_nothing_is_compared() -> None:
    alone = section(groups({"a": (30, 400)}))
    assert alone.lead == "No two subgroups of at least 11 people can be compared."
    (overview,) = (each for each in alone.data if isinstance(each, TableBlock) and "Highest" in each.caption)
    assert overview.rows[0][-1] == "not compared"


def test_the_overview_has_the_worst_of_each_attack() -> None:
    calm = groups({"a": (6, 40), "b": (4, 40)})
    tables = [GroupTable(column="x", attack=name, groups=each) for name, each in (("L", WORSE), ("M", calm))]
    assert [(row[0], row[1], row[-1]) for row in overview_table(tables).rows] == [
        ("L by x", "'a'", "significant"),
        ("M by x", "'a'", "not significant"),
    ]


def test_a_page_with_subgroups_opens_without_complaint(browser: "Browser", tmp_path: "Path") -> None:
    page = Page(title="T", question="Q", headline="H", tone="warning", sections=(section(WORSE),))
    assert [type(block) for block in page.sections[0].blocks] == [Chart]
    file = tmp_path / "groups.html"
    file.write_text(render(page), encoding="utf-8")
    with visit(browser, file) as opened:
        assert opened.locator(".part h2").first.inner_text() == "Subgroups"
        assert opened.locator(".picture svg .interval").count() == 6
