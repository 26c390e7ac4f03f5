"""What is said and drawn of an attacked graph: sentences, tables, the picture of nodes, and the whole page."""

import json
import math
import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.approved.sentences import Approved
from tests.graph_attackers import Blind, Idle, Told, graph_made_elsewhere
from tests.graph_strategies import erdos_renyi, heavy_tail
from tests.report.test_page import Reader
from tests.report.test_style import DARK, LIGHT, contrast
from unveil.attacks.graph.distance_vector import DistanceVector
from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.data.graph import Graph
from unveil.metrics import METRICS
from unveil.questions.graph.answer import graph
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.sections.confidence import attempt_table, hidden_but_matched, reliability_chart, truth_chart
from unveil.questions.graph.sections.metrics import cut_off_table, definition_table, metric_tables
from unveil.questions.graph.view import (
    explanation,
    headline,
    levels_of,
    next_steps,
    node_picture,
    repetition_table,
    summary_table,
    tone,
)
from unveil.questions.result import Result
from unveil.report.blocks import Rings, TableBlock
from unveil.report.draw.lines import RING_COLOURS, RING_UNKNOWN, draw_rings
from unveil.report.svg.rings import MOST_MARKS, legend, places, svg_rings
from unveil.report.text import about, percent_range
from unveil.report.trust import reliability_note, reliability_of, title_of

NAMES = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]
SMALL = heavy_tail(60, 3, 1)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def planted(right: int, attempted: int, *, sure: float = 1.0, nodes: int = 12, seeds: int = 2) -> Result[GraphFindings]:
    """Return the answer to an adversary who attempts the last ``attempted`` nodes and is right about ``right``."""
    scores = np.zeros((nodes, nodes))
    for at, node in enumerate(range(nodes - attempted, nodes)):
        chosen = node if at < right else (node + 1) % nodes
        scores[node] = (1 - sure) / (nodes - 1)
        scores[node, chosen] = sure
    pairs = np.column_stack([np.arange(seeds), np.arange(seeds)])
    ring = Graph.from_edges(range(nodes), [*range(1, nodes), 0])
    return graph_made_elsewhere(ring, ring, pairs, range(nodes), Told(scores=scores), rng=rng())


REPEATED = graph(SMALL, "switch:share=0.1", NarayananShmatikov(), seed_pairs=10, repeats=3, rng=rng())
CHUNKED = graph(SMALL, None, DistanceVector(chunk=20), seed_pairs=10, rng=rng())


# --- sentences --------------------------------------------------------------------------------------------------------


def summary(findings: GraphFindings) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in summary_table(findings).rows}


def test_the_headline_says_how_many_of_how_many_beside_chance(approved: Approved) -> None:
    found = planted(6, 8).findings
    approved(headline(found))
    assert [step.option for step in next_steps(found)] == ["--method", "--repeats 10"]
    assert tone(found) == "bad"
    assert tone(planted(3, 8).findings) == "warning"


def test_the_headline_of_nothing_found_or_attempted_is_not_good_news(approved: Approved) -> None:
    none = planted(0, 8).findings
    approved(headline(none))
    idle = graph(SMALL, None, Idle(), seed_pairs=10, rng=rng()).findings
    assert headline(idle).endswith("attempts none of the 50 nodes.")
    nobody = graph_made_elsewhere(SMALL, SMALL, [[0, 0]], [-1] * 60, Blind(), rng=rng()).findings
    assert headline(nobody).startswith("No match can be correct")
    assert {tone(found) for found in (none, idle, nobody)} == {"neutral"}
    assert summary(none)["Nodes re-identified (recall)"][:2] == ("0 of 10", "0.0%")
    assert "Attempts correct (precision)" not in summary(idle)
    assert "Nodes re-identified (recall)" not in summary(nobody)


def test_the_summary_has_success_bound_and_baselines() -> None:
    rows = summary(planted(6, 8).findings)
    assert rows["Nodes re-identified (recall)"] == ("6 of 10", "60.0%", "", "8.0%")
    assert rows["Attempts correct (precision)"] == ("6 of 8", "75.0%", "", "10.0%")
    # Nodes of a ring of twelve have different neighbours each.
    assert rows["Upper bound of recall"] == ("10 of 10", "100.0%", "", "")


def test_repetitions_are_averaged_in_words_and_have_intervals() -> None:
    found = REPEATED.findings
    overall, rate = found.metric("adversary_overall_success"), found.metric("adversary_success_rate")
    assert f"({about(overall.mean)}; baseline" in headline(found)
    assert explanation(found)[0].startswith(f"95% CI {percent_range(overall.low, overall.high)}. ")
    row = summary(found)["Attempts correct (precision)"]
    assert row[1:3] == (f"{rate.mean:.1%}", percent_range(rate.low, rate.high))


def test_nodes_found_although_they_look_hidden_are_counted() -> None:
    found = planted(6, 8, sure=0.095).findings
    assert hidden_but_matched(found) == 6
    assert next(row for row in attempt_table(found).rows if "look hidden" in row[0])[1] == "6"
    assert hidden_but_matched(planted(6, 8, sure=0.2).findings) == 0


def test_what_chance_finds_as_well_is_not_alarming() -> None:
    edge = Graph.from_edges([0], [1])
    found = graph(edge, None, Blind(), seed_pairs=1, edge_overlap=1.0, rng=rng()).findings
    assert (found.repetitions[0].matches.correct, found.repetitions[0].at_random) == (1, 1)
    assert tone(found) == "neutral"
    # One attempt on three left nodes, and it is right: two thirds above chance of what could be.
    assert tone(planted(1, 1, nodes=5).findings) == "bad"


def test_one_is_written_as_one() -> None:
    edge = Graph.from_edges([0], [1])
    idle = graph(edge, None, Idle(), seed_pairs=1, edge_overlap=1.0, rng=rng())
    assert headline(idle.findings).endswith("attempts not even the only node.")
    assert metric_tables(idle.findings)[0].note.startswith("No value: ")
    one = planted(1, 1).findings
    assert "of 1 attempt give" in truth_chart(one).caption
    for found in (idle.findings, one):
        meanings = " ".join(cell for row in attempt_table(found).rows for cell in row)
        assert not re.search(r"\b1 (nodes|times|attempts)\b|the 1 node", f"{headline(found)} {meanings}")


def test_what_happened_is_said_of_an_attack_and_not_what_its_kind_does(approved: Approved) -> None:
    def text(answer: Result[GraphFindings]) -> str:
        return " ".join(explanation(answer.findings))

    approved(text(planted(6, 10)))
    approved(text(planted(6, 8)))
    assert text(planted(0, 0)).startswith("This does not show")


def test_repetitions_that_agree_have_an_interval_without_width() -> None:
    ring = Graph.from_edges(range(12), [*range(1, 12), 0])
    told = Told(scores=np.eye(12) + 0.01)
    found = graph_made_elsewhere(ring, ring, [[0, 0]], range(12), told, repeats=3, rng=rng()).findings
    assert summary(found)["Nodes re-identified (recall)"][2] == "all equal"
    assert {row[2] for table in metric_tables(found) for row in table.rows} <= {"all equal", ""}
    assert "All equal: every repetition" in metric_tables(found)[0].note
    assert "All equal" not in metric_tables(REPEATED.findings)[0].note


def test_a_cut_off_near_an_even_share_is_no_tail(approved: Approved) -> None:
    even = planted(6, 8, sure=1 / 101, nodes=101).findings
    approved(cut_off_table(even).note)
    tail = planted(6, 8, sure=0.9, nodes=101).findings
    assert tail.cut_offs[-1].candidates_left_out > 0.9
    assert "even share" not in cut_off_table(tail).note


def test_small_numbers_have_no_exponents() -> None:
    large = planted(1, 1, nodes=700).findings
    assert headline(large).endswith("baseline <0.1%).")
    tables = (summary_table(large), attempt_table(large), cut_off_table(large), *metric_tables(large))
    cells = [cell for table in tables for row in table.rows for cell in row]
    assert not any(re.search(r"\de[-+]\d", cell) for cell in cells)


# --- tables -----------------------------------------------------------------------------------------------------------


def test_every_metric_is_in_one_table_the_reliable_ones_first() -> None:
    reliable, others = metric_tables(REPEATED.findings)
    assert reliable.columns == ("Metric", "Mean", "95% CI", "Private if")
    assert others.columns == (*reliable.columns, "Reliability")
    grades = {title_of(METRICS[name]): reliability_of(name, "graphs") for name in NAMES}
    assert [row[0] for row in reliable.rows] == [name for name, grade in grades.items() if grade == "reliable"]
    assert {row[0]: row[-1] for row in others.rows} == {
        name: grade for name, grade in grades.items() if grade != "reliable"
    }
    assert reliability_note("graphs") in reliable.note
    assert metric_tables(CHUNKED.findings)[0].columns == ("Metric", "Mean", "Private if")
    definitions = definition_table(REPEATED.findings).rows
    assert [row[0] for row in definitions] == list(grades)
    assert not any("target" in cell for row in definitions for cell in row)


def test_metrics_with_a_ceiling_are_marked() -> None:
    starred = {
        row[0].removesuffix("*") for table in metric_tables(CHUNKED.findings) for row in table.rows if "*" in row[0]
    }
    assert starred == {title_of(METRICS[name]) for name in NAMES if METRICS[name].affected_by_chunking}
    assert "limited by the 20 candidates" in metric_tables(CHUNKED.findings)[0].note
    assert not any("*" in row[0] for table in metric_tables(REPEATED.findings) for row in table.rows)


def test_means_that_a_cap_decides_are_marked() -> None:
    guess, truth = CHUNKED.findings.guess, CHUNKED.findings.truth
    # Who has a true node that is not among the candidates is at the cap.
    listed = [guess.candidate[guess.start[each] : guess.start[each + 1]] for each in range(truth.size)]
    missed = float(np.mean([truth[each] not in listed[each] for each in np.flatnonzero(guess.attempted)]))
    assert 0 < missed < 1
    table = metric_tables(CHUNKED.findings)[0]
    assert [row[0] for row in table.rows if "†" in row[1]] == ["Information surprisal", "Relative entropy"]
    assert f"† {missed:.1%} of the nodes with a value are at the cap" in table.note
    shares = {row["name"]: row["at_cap"] for row in json.loads(CHUNKED.to_json())["metrics"]}
    assert shares["relative_entropy"] == shares["information_surprisal"] == pytest.approx(missed)
    everybody = graph(SMALL, None, DistanceVector(chunk=None), seed_pairs=10, rng=rng())
    assert "†" not in metric_tables(everybody.findings)[0].note


def test_other_tables_have_a_row_for_each_cut_off_and_repetition() -> None:
    assert [row[0] for row in cut_off_table(REPEATED.findings).rows] == [
        "all", "probability ≥ 0.0001", "probability ≥ 0.001", "probability ≥ 0.01",
    ]  # fmt: skip
    assert [row[0] for row in repetition_table(REPEATED.findings).rows] == ["1", "2", "3"]


def test_the_frame_has_a_row_for_each_metric_and_null_where_there_is_no_value() -> None:
    frame = REPEATED.to_polars()
    assert frame["name"].to_list() == NAMES
    assert frame["mean"].to_list() == [
        None if math.isnan(each.mean) else each.mean for each in REPEATED.findings.metrics
    ]
    assert CHUNKED.to_polars()["low"].null_count() == len(NAMES)


# --- the picture of nodes ---------------------------------------------------------------------------------------------


@given(st.integers(0, 1200))
def test_marks_keep_their_distance(number: int) -> None:
    x, y, radius = places(number)
    assert x.size == y.size == number
    if number > 1:
        away = np.hypot(x, y)
        assert (np.diff(away) > -1e-9).all()
        assert away.max() == pytest.approx(radius)
        sample = np.random.default_rng(number).integers(0, number, 40)
        gaps = np.hypot(x[sample, None] - x[None, :], y[sample, None] - y[None, :])
        gaps[np.arange(40), sample] = np.inf
        assert gaps.min() > 0.95


def marks(rings: Rings) -> dict[str, int]:
    # An XML parser is stricter than a browser: what it takes, every browser takes.
    root = ElementTree.fromstring(svg_rings(rings, identity="r"))  # noqa: S314
    counted: dict[str, int] = {}
    for path in root.iter("path"):
        name = str(path.get("class")).removeprefix("node ")
        counted[name] = counted.get(name, 0) + str(path.get("d")).count("M")
    return counted


def test_each_node_is_a_mark_of_its_level() -> None:
    picture = node_picture(planted(6, 8, sure=0.4).findings)
    # Right ones were given 0.4 on the true node, wrong ones 0.6 over 11 others.
    assert marks(picture) == {"level-2": 6, "level-3": 2, "unknown": 2, "struck": 6}
    assert [name.rsplit(": ", 1)[1] for name in picture.levels] == ["0", "6", "2", "0", "2"]
    assert picture.struck_name == "re-identified: 6"
    assert "1/10 to 1/2 for 6 (60.0%)" in picture.description
    assert len(legend(picture)) == 6


def test_levels_begin_where_they_say() -> None:
    edges = np.array([0.5, 0.5 - 1e-9, 0.1, 0.1 - 1e-9, 0.01, 0.01 - 1e-9, 0.0, math.nan])
    assert levels_of(edges).tolist() == [0, 1, 1, 2, 2, 3, 3, 4]
    assert levels_of(1 - (1 - edges)).tolist() == [0, 1, 1, 2, 2, 3, 3, 4]


def test_many_nodes_are_put_together_and_none_is_lost() -> None:
    nodes = 2 * MOST_MARKS + 7
    large = planted(nodes // 2, nodes - 2, nodes=nodes)
    picture = node_picture(large.findings)
    assert picture.level.size == math.ceil((nodes - 2) / 3) <= MOST_MARKS
    assert sum(int(name.rsplit(": ", 1)[1].replace(",", "")) for name in picture.levels) == nodes - 2
    assert "Each mark is the mean of 3 nodes" in picture.caption
    # All degrees are alike, so the order is that of probabilities: right ones first.
    assert picture.struck[: nodes // 2 // 3].all()
    assert not picture.struck[nodes // 2 // 3 + 1 :].any()
    assert set(picture.level[: nodes // 2 // 3].tolist()) == {0}


def test_groups_of_which_few_were_attempted_are_not_attempted() -> None:
    nodes = MOST_MARKS + 12
    picture = node_picture(planted(5, 5, nodes=nodes).findings)
    # Five nodes in marks of two: two pairs, and one that is half attempted and counts.
    assert (picture.level == 0).sum() == 3
    assert picture.struck.sum() == 2


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_can_be_seen_and_levels_told_apart(theme: dict[str, str]) -> None:
    shades = [contrast(theme[f"exposed-{level}"], theme["paper"]) for level in (1, 2, 3, 4)]
    assert min(*shades, contrast(theme["unknown"], theme["paper"])) >= 3
    assert all(darker > 1.3 * lighter for darker, lighter in pairwise(shades))


def test_matplotlib_draws_the_same_marks_in_the_same_colours() -> None:
    from matplotlib import pyplot

    assert [LIGHT[f"exposed-{level}"] for level in (1, 2, 3, 4)] == list(RING_COLOURS)
    assert LIGHT["unknown"] == RING_UNKNOWN
    axes = draw_rings(node_picture(planted(6, 8, sure=0.4).findings), pyplot.subplots()[1])
    assert len(axes.patches) == 8 + 6
    assert [each.get_title(loc="left") for each in REPEATED.plot()] == ["Re-identified nodes"]
    pyplot.close("all")


# --- charts -----------------------------------------------------------------------------------------------------------


def test_bars_add_up_to_everything() -> None:
    for found in (REPEATED.findings, CHUNKED.findings):
        chart = truth_chart(found)
        bars = chart.series[0]
        assert bars.y.sum() == pytest.approx(1)
        assert bars.y.max() <= chart.y_range[1]


def test_the_probability_of_the_truth_is_in_its_bar() -> None:
    bars = truth_chart(planted(6, 8).findings).series[0]
    assert dict(zip(bars.x.tolist(), bars.y.tolist(), strict=True)) == {0.0: 0.25, 0.95: 0.75}


def test_the_reliability_chart_has_raw_and_calibrated_groups() -> None:
    found = graph(heavy_tail(120, 4, 3), None, "kl", seed_pairs=20, calibrate="seeds", rng=rng()).findings
    assert found.calibrated is not None
    calibrated, raw, diagonal = reliability_chart(found.calibrated).series
    assert (calibrated.x.tolist(), calibrated.y.tolist()) == (
        found.calibrated.learned.stated.tolist(),
        found.calibrated.learned.right.tolist(),
    )
    assert raw.y.tolist() == found.calibrated.raw.right.tolist()
    assert diagonal.x.tolist() == diagonal.y.tolist()


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_every_part_and_ends_well() -> None:
    page = REPEATED.page(seed=4)
    assert [type(block) for block in page.picture] == [Rings, TableBlock]
    assert [each.heading for each in page.sections] == ["Confidence", "Edge disclosure", "Metrics"]
    assert [len(each.blocks) for each in page.sections] == [1, 1, 1]
    html = REPEATED.to_html(seed=4)
    reader = Reader(html)
    assert reader.open == []
    names = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(names) == len(set(names))
    assert not re.search(r"\sstyle=|\son\w+=", html.partition("<script")[0])


def test_the_page_says_what_kind_of_attack_and_release_it_was() -> None:
    assert "(a local attack)" in REPEATED.to_html()
    assert "compares 20 nodes of similar degree at a time" in CHUNKED.to_html()
    assert "is paired with the original node" not in CHUNKED.to_html()
    drawn = graph(SMALL, "dk-series-dp:epsilon=100", Blind(), seed_pairs=5, rng=rng())
    assert "is paired with the original node" in drawn.to_html()


def test_the_page_names_nobody_and_stays_small() -> None:
    large = heavy_tail(20_000, 3, 2)
    named = Graph.from_edges(*large.ends, names=[f"Zephyrine{k}" for k in range(20_000)])
    html = graph(named, None, Blind(), rng=rng()).to_html()
    assert "Zephyrine" not in html
    assert len(html.encode()) < 200_000


def test_limits_stand_on_the_page() -> None:
    limit: dict[str, Any] = {"quantity": "entropy", "limit": 3.0, "value": 1.0, "exceeded": True}
    strip = REPEATED.page(limits=[limit]).strip
    assert strip is not None
    assert strip.limits is not None
    assert (strip.decision, strip.limits.rows[0][0]) == ("fail", "entropy")


def test_any_page_can_be_made_of_any_small_graph() -> None:
    for seed in range(3):
        answer = graph(erdos_renyi(7, 0.4, seed), "id-removal", Blind(), seed_pairs=6, edge_overlap=0.5, rng=rng())
        assert answer.to_html().count('class="node') >= 1
