"""What is shown of a protected graph: limits, the table of what was lost, and the picture of degrees."""

import math

import numpy as np

from tests.graph_strategies import heavy_tail
from unveil.ask.anonymize.answer import anonymize
from unveil.ask.anonymize.view import degree_chart, headline, meanings
from unveil.data.graph import Graph

ANSWER = anonymize(heavy_tail(60, 3, 1), "k-degree:k=5", rng=np.random.default_rng(1))


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
    frame = ANSWER.to_frame()
    assert frame["name"].to_list() == [each.metric.name for each in ANSWER.findings.utility]
    assert frame["value"].to_list() == [each.value for each in ANSWER.findings.utility]
    empty = anonymize(Graph.from_edges([], [], nodes=3), "id-removal", rng=np.random.default_rng(1)).to_frame()
    assert empty.filter(name="edge_difference")["value"].to_list() == [None]


def test_the_picture_has_both_distributions_of_degrees() -> None:
    before, after = degree_chart(ANSWER.findings).series
    np.testing.assert_allclose(10**before.x, ANSWER.findings.before.number)
    np.testing.assert_allclose(10**after.y, ANSWER.findings.after.at_least)
    assert len(ANSWER.plot()) == 1
    lonely = anonymize(Graph.from_edges([0], [1], nodes=3), "id-removal", rng=np.random.default_rng(1)).findings
    assert degree_chart(lonely).caption.endswith("not drawn: 1 of 3 before and 1 of 3 after.")


def test_the_short_form_is_the_headline() -> None:
    assert repr(ANSWER) == f"<Answer: {headline(ANSWER.findings)}>"
    assert headline(ANSWER.findings).startswith("The protection k-degree:k=5 kept all")
