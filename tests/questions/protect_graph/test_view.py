"""What is shown of a protected graph: limits, the table of what was lost, and the picture of degrees."""

import math
from dataclasses import replace

import numpy as np

from tests.graph_strategies import heavy_tail
from unveil.data.graph import Graph
from unveil.questions.protect_graph.answer import protect_graph
from unveil.questions.protect_graph.view import (
    crowd_chart,
    degree_chart,
    explanation,
    headline,
    meanings,
    next_steps,
    summary_table,
)
from unveil.report.text import decimal

ANSWER = protect_graph(heavy_tail(60, 3, 1), "k-degree:k=5", rng=np.random.default_rng(1))


def test_every_quantity_has_a_meaning_and_the_value_that_was_found() -> None:
    quantities, found = ANSWER.quantities, ANSWER.findings
    assert set(quantities) == set(meanings())
    assert {each.metric.name: each.value for each in found.utility}.items() <= {
        name: each.value for name, each in quantities.items()
    }.items()
    assert quantities["smallest_degree_class"].value == found.after.smallest_class >= 5
    assert not quantities["smallest_degree_class"].more_is_worse
    assert quantities["unique_degree_share"].value == found.after.unique_share == 0
    assert (quantities["pseudo_node_share"].value, quantities["epsilon"].value) == (0, math.inf)


def test_the_frame_has_a_row_for_each_loss() -> None:
    frame = ANSWER.to_polars()
    assert frame["name"].to_list() == [each.metric.name for each in ANSWER.findings.utility]
    assert frame["value"].to_list() == [each.value for each in ANSWER.findings.utility]
    empty = protect_graph(Graph.from_edges([], [], nodes=3), "id-removal", rng=np.random.default_rng(1)).to_polars()
    assert empty.filter(name="edge_difference")["value"].to_list() == [None]


def test_the_picture_has_both_distributions_of_degrees() -> None:
    chart = degree_chart(ANSWER.findings)
    for series, graph in zip(chart.series, (ANSWER.findings.release.original, RELEASED), strict=True):
        bins = [int(math.log10(degree) / 0.2 + 1e-9) for degree in graph.degrees.tolist() if degree]
        wanted = [bins.count(place) / graph.nodes for place in range(series.y.size)]
        np.testing.assert_allclose(series.y, wanted)
        assert series.x[-1] + series.width <= chart.x_range[1] + 1e-9
    assert len(ANSWER.plot()) == 1
    lonely = protect_graph(Graph.from_edges([0], [1], nodes=3), "id-removal", rng=np.random.default_rng(1)).findings
    assert degree_chart(lonely).caption.endswith("without neighbors: 1 of 3 (original), 1 of 3 (released).")


def test_the_picture_counts_each_node_in_its_crowd() -> None:
    chart = crowd_chart(ANSWER.findings)
    assert chart.rows == ("1 (unique)", "2 to 4", "5 to 9", "10 to 49", "50 or more")
    for series, graph in zip(chart.series, (ANSWER.findings.release.original, RELEASED), strict=True):
        crowds = np.bincount(graph.degrees)[graph.degrees]
        wanted = [
            (crowds == 1),
            (crowds > 1) & (crowds < 5),
            (crowds > 4) & (crowds < 10),
            (crowds > 9) & (crowds < 50),
        ]
        assert series.x.tolist() == [*(float(each.mean()) for each in wanted), float((crowds >= 50).mean())]


RELEASED = ANSWER.findings.release.released


def test_the_headline_says_who_was_unique_and_is_not_any_more() -> None:
    found = ANSWER.findings
    assert repr(ANSWER) == f"<Result: {headline(found)}>"
    assert headline(found) == (
        f"k-degree:k=5 reduces nodes with a unique degree from {found.before.unique} to 0; "
        f"{found.changes.added} edges changed."
    )
    # A star has one node in its middle, and whoever numbers nodes anew leaves it there.
    star = protect_graph(Graph.from_edges([0, 0, 0], [1, 2, 3]), "id-removal", rng=np.random.default_rng(1)).findings
    assert headline(star) == "id-removal leaves 1 node with a unique degree; 0 edges changed."
    assert explanation(star) == ()
    assert next_steps(star)[0].option == "--method"
    # One of three is not unique any more, and another one has become so.
    part = replace(star, hidden=1, before=replace(star.before, crowds=(3, 0, 1, 0, 0)))
    assert headline(part).startswith("id-removal reduces nodes with a unique degree from 3 to 1;")
    became = replace(part, after=replace(star.after, crowds=(3, 0, 1, 0, 0)))
    assert explanation(became)[0] == "1 node has a unique degree in the release only."
    drawn = protect_graph(heavy_tail(60, 3, 1), "dk-series-dp:epsilon=2", rng=np.random.default_rng(1)).findings
    assert drawn.hidden is None
    assert headline(drawn).startswith("dk-series-dp:epsilon=2 draws a new graph of")
    assert "Differential privacy: 2 of ε = 2 spent." in explanation(drawn)


def test_the_summary_has_unique_degrees_edges_and_the_largest_losses() -> None:
    found = ANSWER.findings
    rows = {row[0]: row[1:] for row in summary_table(found).rows}
    assert rows["Nodes with a unique degree"] == (str(found.before.unique), "0", "")
    assert rows["Edges (added, removed)"][1] == f"+{found.changes.added} −{found.changes.removed}"
    losses = sorted((each.value for each in found.utility if each.value > 0), reverse=True)[:3]
    assert [row[-1] for row in summary_table(found).rows if row[-1]] == [decimal(each) for each in losses]


def test_differential_privacy_has_a_section_of_its_own() -> None:
    drawn = protect_graph(heavy_tail(60, 3, 1), "dk-series-dp:epsilon=2", rng=np.random.default_rng(1))
    assert [each.heading for each in ANSWER.page().sections] == ["Structure preserved", "Degrees"]
    assert [each.heading for each in drawn.page().sections][-1] == "Privacy budget"
