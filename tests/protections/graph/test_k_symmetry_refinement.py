"""Colour refinement against its definition, and where the answer is known."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.k_symmetry import groups, refined, rows
from unveil._kernels._compile import PLAIN_UP_TO
from unveil.data.graph import Graph
from unveil.protections.graph.k_symmetry import equitable_cells


def cells(graph: Graph) -> list[int]:
    found: list[int] = equitable_cells(graph.start, graph.neighbour).tolist()
    return found


@given(graphs(max_nodes=14))
def test_cells_are_those_of_the_definition(graph: Graph) -> None:
    assert groups(cells(graph)) == groups(refined(rows(graph)))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.booleans())
def test_paths_side_by_side(lengths: list[int], circles: bool) -> None:
    # Random graphs have few nodes alike; these have many, and circles of all lengths look alike.
    first = np.cumsum([0, *lengths])
    one = [node for begin, end in pairwise(first.tolist()) for node in range(begin, end - 1)]
    other = [node + 1 for node in one]
    if circles:
        one += [begin for begin, size in zip(first, lengths, strict=False) if size > 2]
        other += [begin + size - 1 for begin, size in zip(first, lengths, strict=False) if size > 2]
    graph = Graph.from_edges(np.array(one, np.int64), np.array(other, np.int64), nodes=int(first[-1]))
    assert groups(cells(graph)) == groups(refined(rows(graph)))


def test_cells_are_numbered_as_they_appear_and_do_not_depend_on_the_order_of_nodes() -> None:
    graph = heavy_tail(300, 1, 1)
    found = cells(graph)
    assert list(dict.fromkeys(found)) == list(range(max(found) + 1))
    number = np.random.default_rng(1).permutation(graph.nodes)
    assert groups(cells(graph)) == groups(np.array(cells(graph.relabelled(number)))[number].tolist())


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_nodes_without_edges_are_one_cell(nodes: int) -> None:
    assert cells(Graph.from_edges([], [], nodes=nodes)) == [0] * nodes


# More than PLAIN_UP_TO entries, so these run compiled.
LARGE = {
    "many alike": heavy_tail(6000, 1, 2),
    "few alike": heavy_tail(2500, 3, 3),
    "none alike": erdos_renyi(300, 0.2, 4),
    "nodes without edges": Graph.from_edges([0, 0], [1, 2], nodes=PLAIN_UP_TO + 5),
}


@pytest.mark.unwatched
@pytest.mark.parametrize("graph", LARGE.values(), ids=LARGE)
def test_compiled_cells_are_those_of_the_definition(graph: Graph) -> None:
    assert groups_fast(cells(graph)) == groups_fast(refined(rows(graph)))


def groups_fast(cell: list[int]) -> list[int]:
    number: dict[int, int] = {}
    return [number.setdefault(one, len(number)) for one in cell]


def test_a_long_path_pairs_nodes_equally_far_from_an_end() -> None:
    nodes = 8000  # round after round of recolouring would look at every edge 4,000 times
    path = Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes))
    assert cells(path) == np.minimum(np.arange(nodes), np.arange(nodes)[::-1]).tolist()


def test_a_balanced_tree_has_a_cell_for_each_depth() -> None:
    node = np.arange(1, 2**13 - 1)
    tree = Graph.from_edges(node, (node - 1) // 2)
    assert cells(tree) == [int(each + 1).bit_length() - 1 for each in range(tree.nodes)]
