"""The section on groups: who is worst off, whether that can be luck, and that no small group is on the page."""

import math
from typing import TYPE_CHECKING

import pytest
from unveil.questions.audit.parts.groups import (
    HEADING,
    GroupTable,
    group_chart,
    group_section,
    group_table,
    worst_sentence,
)

from tests.approved.sentences import Approved
from tests.end_to_end.visits import visit
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.trials.groups import RatesByGroup, group_rates
from unveil.report.blocks import Chart, Number, Page, Section, TableBlock
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


def section(found: RatesByGroup, **more: str) -> Section:
    return group_section([GroupTable(column="region", attack="Linkability", groups=found, **more)])


def test_the_worst_group_is_named_with_what_everybody_has(approved: Approved) -> None:
    said = worst_sentence(WORSE)
    assert said.startswith("Of 3 groups, 'a' has the highest figure: an excess over control of 74% (")
    approved(said)
    assert said.endswith("That group is measurably worse off, also after having looked at all groups.")


def test_luck_is_called_luck() -> None:
    said = worst_sentence(groups({"a": (6, 40), "b": (4, 40), "c": (5, 40)}))
    assert "an attack rate of 15%" in said
    assert said.endswith("That can be luck: one of the groups always comes out highest.")


def test_a_small_group_at_the_top_does_not_hide_one_that_is_measurably_worse(approved: Approved) -> None:
    said = worst_sentence(groups({"few": (4, 11), "many": (300, 1000), "rest": (100, 2000)}))
    assert "'few' has the highest figure" in said
    approved(said)
    both = worst_sentence(groups({"a": (40, 60), "b": (300, 1000), "rest": (100, 2000)}))
    assert both.endswith("after having looked at all groups. Likewise: 'b'.")
    many = {f"g{at}": (50, 60) for at in range(6)} | {"rest": (100, 2000)}
    assert "Likewise: 'g1', 'g2' and 3 more groups." in worst_sentence(groups(many))  # type: ignore[arg-type]


def test_groups_without_a_figure_could_be_worse(approved: Approved) -> None:
    control = {"a": (1, 50), "b": (1, 50), "c": (0, 3), "d": (0, 12)}
    found = groups({"a": (30, 40), "b": (4, 40), "c": (5, 40), "d": (5, 40)}, control)  # type: ignore[arg-type]
    assert worst_sentence(found).endswith("2 groups have no such figure and could be worse.")
    note = group_table(GroupTable(column="x", attack="L", groups=found)).note
    approved(note)


def test_the_picture_shows_the_intervals_and_where_everybody_stands() -> None:
    chart = group_chart(GroupTable(column="region", attack="Linkability", groups=WORSE))
    assert chart.title == "Linkability by region"
    assert chart.rows == ("a (40 people)", "missing (200 people)", f"{HOSTILE} (200 people)")
    inside, outside = chart.series
    assert (inside.name, outside.name) == ("people in the data", "people not in the data")
    assert inside.low is not None
    assert inside.high is not None
    assert [inside.x[0], inside.low[0], inside.high[0]] == [
        WORSE.groups[0].attack_rate.value,
        WORSE.groups[0].attack_rate.low,
        WORSE.groups[0].attack_rate.high,
    ]
    (threshold,) = chart.thresholds
    assert (threshold.value, threshold.name) == (WORSE.overall.attack_rate.value, "everybody: 8.9%")
    many = groups({f"g{at:02d}": (at, 40) for at in range(18)})
    assert "The first 12 of 18 are drawn" in group_chart(GroupTable(column="x", attack="L", groups=many)).caption


def test_the_table_has_every_group_and_everybody(approved: Approved) -> None:
    table = group_table(GroupTable(column="region", attack="Linkability", groups=WORSE, release="masked.csv"))
    assert table.caption == "Linkability by region (masked.csv): all groups"
    assert [row[0] for row in table.rows] == ["a", "missing", HOSTILE, "everybody"]
    assert table.rows[0][1] == "40 (40)"
    assert table.rows[0][3].startswith("75% (")
    assert len({len(row) for row in (*table.rows, table.columns, table.align)}) == 1
    approved(table.note)
    alone = group_table(GroupTable(column="region", attack="L", groups=groups({"a": (3, 40), "b": (1, 40)})))
    assert alone.columns == ("Group", "People (attacked)", "In the data")


def test_nobody_of_a_small_group_is_on_the_page() -> None:
    found = groups({"a": (30, 400), "b": (4, 200), "rare": (3, 3), "rarer": (1, 1), "few": (0, 8)})
    text = render(Page(title="T", question="", headline="", tone="good", sections=(section(found),)))
    assert "3 groups stand together" in text
    assert "rare" not in text


def test_without_two_groups_there_is_a_sentence_only(approved: Approved) -> None:
    blocks = section(groups({"a": (30, 400), "b": (2, 3)})).blocks
    assert [type(block) for block in blocks] == [Number]
    approved(worst_sentence(groups({"a": (30, 400)})))
    assert [type(block) for block in section(groups({"a": (30, 400)})).blocks] == [Number, Chart, TableBlock]


def test_a_page_with_groups_opens_without_complaint(browser: "Browser", tmp_path: "Path") -> None:
    page = Page(title="T", question="Q", headline="H", tone="warning", sections=(section(WORSE),))
    file = tmp_path / "groups.html"
    file.write_text(render(page), encoding="utf-8")
    with visit(browser, file) as opened:
        assert opened.locator("h2").first.inner_text() == HEADING
        assert opened.locator(".picture svg .interval").count() == 6
        assert "measurably worse off" in (opened.locator(".numbers").text_content() or "")


@pytest.mark.parametrize("tone", ["warning", "neutral"])
def test_the_tone_follows_what_is_measurable(tone: str) -> None:
    found = WORSE if tone == "warning" else groups({"a": (6, 40), "b": (4, 40)})
    number = section(found).blocks[0]
    assert isinstance(number, Number)
    assert number.tone == tone
    assert not math.isnan(found.overall.attack_rate.value)
