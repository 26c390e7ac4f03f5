"""What is shown of a protected graph: limits, the table of what was lost, and the picture of degrees."""

import math
from dataclasses import replace

import numpy as np

from tests.approved.sentences import Approved
from tests.graph_strategies import heavy_tail
from unveil.data.graph import Graph
from unveil.questions.protect_graph.answer import protect_graph
from unveil.questions.protect_graph.view import crowd_chart, degree_chart, meanings
from unveil.questions.protect_graph.words import explanation, headline, next_steps

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
    before, after = degree_chart(ANSWER.findings).series
    np.testing.assert_allclose(10**before.x, ANSWER.findings.before.number)
    np.testing.assert_allclose(10**after.y, ANSWER.findings.after.at_least)
    assert len(ANSWER.plot()) == 2
    lonely = protect_graph(Graph.from_edges([0], [1], nodes=3), "id-removal", rng=np.random.default_rng(1)).findings
    assert degree_chart(lonely).caption.endswith("not drawn: 1 of 3 before and 1 of 3 after.")


def test_the_picture_counts_each_node_in_its_crowd() -> None:
    chart = crowd_chart(ANSWER.findings)
    assert chart.rows == ("unique", "one of 2 to 4", "one of 5 to 9", "one of 10 to 49", "one of 50 or more")
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


def test_the_headline_says_who_was_unique_and_is_not_any_more(approved: Approved) -> None:
    found = ANSWER.findings
    assert repr(ANSWER) == f"<Result: {headline(found)}>"
    assert headline(found) == (
        f"All {found.before.unique} of 60 nodes that were unique by their number of neighbours are so no more after "
        f"k-degree:k=5, which kept all {found.release.original.edges} edges and added {found.changes.added}."
    )
    # A star has one node in its middle, and whoever numbers nodes anew leaves it there.
    star = protect_graph(Graph.from_edges([0, 0, 0], [1, 2, 3]), "id-removal", rng=np.random.default_rng(1)).findings
    approved(headline(star))
    assert explanation(star) == ("In the release 1 node is unique.",)
    assert "another protection" in next_steps(star)[0]
    part = replace(star, hidden=1, before=replace(star.before, crowds=(3, 0, 1, 0, 0)))
    assert headline(part).startswith("1 of the 3 nodes (of 4) that were unique by their number of neighbours is so no")
    drawn = protect_graph(heavy_tail(60, 3, 1), "dk-series-dp:epsilon=2", rng=np.random.default_rng(1)).findings
    assert drawn.hidden is None
    assert headline(drawn).startswith("dk-series-dp:epsilon=2 drew a new graph of")
    assert "It spent 2 of epsilon = 2." in explanation(drawn)
