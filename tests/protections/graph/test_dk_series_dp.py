"""Joint degrees with noise: the account is true, only noisy answers make the graph, and without noise it is exact."""

import itertools
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.joint_degrees import joint_degrees
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError
from unveil.protections import PROTECTIONS
from unveil.protections.graph import _release, dk_series_dp
from unveil.protections.graph._joint_degrees import joint_table, places_of_cells
from unveil.protections.graph.dk_series_dp import DkSeriesDP, _ask, _geometric

NO_NOISE = 1e13
seeds = st.integers(0, 2**32 - 1)


def released(original: Graph, seed: int = 1, **settings: object) -> GraphRelease:
    return DkSeriesDP(**settings).apply(original, rng=np.random.default_rng(seed))  # type: ignore[arg-type]


def joint(graph: Graph) -> dict[tuple[int, int], int]:
    return joint_degrees([(int(u), int(v)) for u, v in zip(*graph.ends, strict=True)], graph.nodes)


def ring(nodes: int) -> Graph:
    return Graph.from_edges(np.arange(nodes), (np.arange(nodes) + 1) % nodes)


GRAPHS = {
    "hubs": heavy_tail(500, 3, 1),
    "even": erdos_renyi(200, 0.05, 2),
    "dense": erdos_renyi(40, 0.7, 3),
    "complete": erdos_renyi(25, 1.0, 4),
    "star": Graph.from_edges(np.zeros(30, np.int64), np.arange(1, 31)),
    "one edge": Graph.from_edges([0], [1]),
    "one edge of many nodes": Graph.from_edges([3], [7], nodes=40),
    "two parts": Graph.from_edges([0, 1, 2, 4, 5], [1, 2, 0, 5, 6], nodes=9),
    "ring": ring(30),
}
each_graph = pytest.mark.parametrize("original", GRAPHS.values(), ids=GRAPHS)


@each_graph
def test_without_noise_degrees_and_joint_degrees_are_those_of_the_original(original: Graph) -> None:
    release = released(original, epsilon=NO_NOISE)
    assert (np.sort(release.released.degrees) == np.sort(original.degrees)).all()
    assert joint(release.released) == joint(original)
    assert release.facts["edges dropped"] == 0
    # Nothing else of the original is kept: pairs of equal rank have equal degrees, but not their edges.
    assert (release.in_original_numbers().degrees == original.degrees).all()
    if original is GRAPHS["hubs"]:
        assert np.isin(release.in_original_numbers().keys, original.keys).mean() < 0.2


@settings(deadline=None, max_examples=22)
@given(graphs(min_nodes=2, max_nodes=12, min_edges=1), seeds)
def test_without_noise_any_graph_keeps_its_joint_degrees(original: Graph, seed: int) -> None:
    release = released(original, seed, epsilon=NO_NOISE)
    assert (np.sort(release.released.degrees) == np.sort(original.degrees)).all()
    assert joint(release.released) == joint(original)


@settings(deadline=None, max_examples=24)
@given(graphs(min_nodes=2, max_nodes=12, min_edges=1), seeds, st.sampled_from([1e-6, 0.1, 1.0, 5.0, 100.0]))
def test_any_graph_gives_a_release_with_a_true_account(original: Graph, seed: int, epsilon: float) -> None:
    release = released(original, seed, epsilon=epsilon)
    assert release.released.nodes == original.nodes
    assert (release.kind, release.pairing, release.pseudo_nodes) == ("synthetic", "rank", 0)
    assert release.ledger is not None
    assert release.ledger.total == pytest.approx(epsilon)
    assert [query.sensitivity for query in release.ledger.queries] == [1, 1, 1]
    assert [query.cost * query.scale for query in release.ledger.queries] == pytest.approx([1, 1, 1])
    assert release.ledger.queries[2].answers == release.facts["cells"]
    assert release.released.edges == release.facts["noisy number of edges"] - release.facts["edges dropped"]
    assert release.facts["nodes with an edge"] == (release.released.degrees > 0).sum()


@each_graph
def test_pairs_have_the_same_rank_by_degree(original: Graph) -> None:
    release = released(original, seed=4, epsilon=2)
    drawn, paired = release.released.degrees, original.degrees[release.truth]
    order = np.lexsort((paired, drawn))
    # Within one drawn degree any original degrees may be, but all of them below those of the next drawn degree.
    assert (np.diff(paired[order]) >= 0).all()
    assert "the pairing is not released" in release.notes[0]


def test_one_edge_changes_the_other_two_answers_by_at_most_one() -> None:
    graph = erdos_renyi(9, 0.4, 5)
    for u, v in itertools.combinations(range(9), 2):
        keys = np.setxor1d(graph.keys, [u * 9 + v])
        other = Graph.from_keys(keys, 9)
        assert abs(other.edges - graph.edges) == 1
        assert abs(int(other.degrees.max()) - int(graph.degrees.max())) <= 1


def test_the_noise_of_every_cell_has_the_scale_in_the_ledger() -> None:
    from scipy.stats import kstest

    original, rng = GRAPHS["hubs"], np.random.default_rng(6)
    one, other = original.ends
    noise, empty = [], []
    for _ in range(50):
        answers = _ask(original, 0.05, 0.05, 0.4, rng=rng)
        table = joint_table(answers.grid, original.degrees[one], original.degrees[other])
        each = (answers.table - table) / answers.weight[places_of_cells(answers.grid.size)[1]]
        noise.append(each)
        empty.append(each[table == 0])
    scale = answers.queries[2].scale
    assert scale == pytest.approx(1 / 0.4)
    drawn = np.concatenate(noise)
    assert drawn.size > 1000
    assert drawn.var() == pytest.approx(2 * scale**2, rel=0.15)
    assert kstest(drawn, "laplace", (0, scale)).pvalue > 0.001
    # Cells in which nobody is have it as well.
    assert kstest(np.concatenate(empty), "laplace", (0, scale)).pvalue > 0.001
    assert np.concatenate(empty).size > 100


@pytest.fixture
def one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search for a grid, where it would only cost time."""
    monkeypatch.setattr(dk_series_dp, "finest_grid", lambda *_, **__: (np.array([1]), np.ones(1)))


@pytest.mark.usefixtures("one_cell")
def test_the_noise_of_whole_numbers_has_the_scale_in_the_ledger() -> None:
    from scipy.stats import chisquare

    original, rng = GRAPHS["hubs"], np.random.default_rng(7)
    edges = np.array([_ask(original, 1.0, 0.5, 1.0, rng=rng).edges for _ in range(1500)]) - original.edges
    decay = exp(-0.5)
    assert edges.var() == pytest.approx(2 * decay / (1 - decay) ** 2, rel=0.2)
    assert edges.mean() == pytest.approx(0, abs=0.3)
    drawn = np.array([_geometric(2.0, rng) for _ in range(20000)])
    values = np.arange(-8, 9)
    seen = [(drawn < -8).sum(), *((drawn == value).sum() for value in values), (drawn > 8).sum()]
    tail = decay**9 / (1 + decay)
    expected = [tail, *((1 - decay) / (1 + decay) * decay ** abs(value) for value in values), tail]
    assert chisquare(seen, np.array(expected) * drawn.size).pvalue > 0.001


@pytest.mark.usefixtures("one_cell")
def test_the_bound_on_degrees_is_seldom_below_the_largest() -> None:
    original, rng = GRAPHS["even"], np.random.default_rng(8)
    bounds = np.array([_ask(original, 0.3, 0.3, 0.3, rng=rng).bound for _ in range(800)])
    assert 0.02 < (bounds < original.degrees.max()).mean() < 0.09


def test_the_graph_is_made_from_the_answers_alone() -> None:
    # Six nodes in one ring or two have the same joint degrees, hence the same answers and the same release.
    two = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    for seed in range(5):
        assert (released(ring(6), seed).released.keys == released(two, seed).released.keys).all()


def test_noise_does_not_drown_the_signal() -> None:
    original = heavy_tail(3000, 6, 9)
    release = released(original, epsilon=1)
    drawn = release.released
    assert release.facts["nodes with an edge"] > 0.9 * original.nodes
    assert drawn.edges == pytest.approx(original.edges, rel=0.02)
    below = [np.searchsorted(np.sort(graph.degrees), [7, 8, 10, 15, 30, 60]) for graph in (original, drawn)]
    assert np.abs(below[0] - below[1]).max() < 0.1 * original.nodes
    assert release.facts["largest noise scale of a cell"] < 100


def test_more_epsilon_is_nearer_to_the_truth() -> None:
    original = heavy_tail(1500, 4, 10)
    apart = []
    for epsilon in (0.02, 1.0, 1000.0):
        drawn = [np.sort(released(original, seed, epsilon=epsilon).released.degrees) for seed in range(3)]
        apart.append(np.mean([np.abs(degrees - np.sort(original.degrees)).mean() for degrees in drawn]))
    assert apart[0] > 2 * apart[1] > 4 * apart[2]


def test_edges_left_out_are_said() -> None:
    original = GRAPHS["dense"]
    for seed in range(50):
        release = released(original, seed, epsilon=0.05)
        dropped = int(release.facts["edges dropped"])
        said = [note for note in release.notes if "left out" in note]
        assert bool(said) == (dropped > 0)
        if dropped > 1:
            assert said[0].startswith(f"{dropped:,} edges were left out")
            return
    pytest.fail("noise in a dense graph asks for edges that do not fit")


def test_one_edge_left_out_is_said_in_the_singular() -> None:
    assert dk_series_dp._said_dropped(1)[0].startswith("1 edge was left out")


def test_a_noisy_number_of_edges_may_be_none() -> None:
    edges = {released(GRAPHS["one edge"], seed, epsilon=0.1).released.edges for seed in range(20)}
    assert edges == {0, 1}


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True, "1"])
def test_a_budget_that_is_none_is_refused(epsilon: object) -> None:
    with pytest.raises(InputError, match="epsilon must be a finite number above 0"):
        DkSeriesDP(epsilon=epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.1, 0.1, 0.9), "largest_degree_share, edges_share, joint_degrees_share must each be above"),
        ((0.0, 0.1, 0.9), "above 0"),
        ((0.05, 0.05, 0.8), "largest_degree_share, edges_share, joint_degrees_share must each be above"),
        ((-0.1, 0.2, 0.9), "largest_degree_share must lie between 0 and 1"),
        ((0.1, float("nan"), 0.8), "edges_share must lie between 0 and 1"),
    ],
)
def test_shares_that_do_not_add_up_are_refused(shares: tuple[float, float, float], said: str) -> None:
    largest, edges, joint = shares
    with pytest.raises(InputError, match=said):
        DkSeriesDP(largest_degree_share=largest, edges_share=edges, joint_degrees_share=joint)


def test_other_shares_are_spent_as_told() -> None:
    release = released(ring(20), epsilon=3, largest_degree_share=0.2, edges_share=0.3, joint_degrees_share=0.5)
    assert release.ledger is not None
    assert [query.cost for query in release.ledger.queries] == pytest.approx([0.6, 0.9, 1.5])


def test_a_budget_of_next_to_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="each question needs a budget of at least 1e-12, but epsilon = 1e-12 leaves"):
        DkSeriesDP(epsilon=1e-12)
    assert released(GRAPHS["hubs"], epsilon=1e-10).released.nodes == 500


@pytest.mark.parametrize("original", [Graph.from_edges([], [], nodes=n) for n in (0, 1, 5)], ids=str)
def test_a_graph_without_edges_is_refused(original: Graph) -> None:
    with pytest.raises(InputError, match="needs a graph with edges"):
        released(original)


def test_questions_have_names_that_fit_on_a_line() -> None:
    ledger = released(GRAPHS["hubs"]).ledger
    assert ledger is not None
    assert max(len(query.name) for query in ledger.queries) < 60


def test_noise_that_asks_for_more_edges_than_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_release, "MOST_EDGES", 5)
    with pytest.raises(CannotProtectError, match=r"dk-series-dp can draw up to 5 edges, but .*: take a larger one"):
        released(GRAPHS["hubs"], epsilon=1e6)


def test_it_is_listed() -> None:
    listed = PROTECTIONS["dk-series-dp"]
    assert (listed.make, listed.kind, listed.aka) == (DkSeriesDP, "synthetic", ("dk-DP", "Pygmalion"))


@each_graph
def test_secgraph_is_no_differential_privacy_and_says_so(original: Graph) -> None:
    release = released(original, compat="secgraph", epsilon=5)
    assert release.ledger is None
    assert "not differentially private" in release.name
    assert "NOT differentially private" in release.notes[0]
    assert (release.kind, release.pairing) == ("masked", "node")
    kept = np.isin(release.in_original_numbers().keys, original.keys).sum()
    assert kept == release.changes.kept
    assert 2 * (original.edges - release.released.edges) == release.facts["ends left without an edge"]


def test_secgraph_without_noise_changes_nothing() -> None:
    for original in GRAPHS.values():
        release = released(original, compat="secgraph", epsilon=NO_NOISE)
        assert (release.in_original_numbers().keys == original.keys).all()


def test_secgraph_keeps_edges_of_the_original() -> None:
    original = heavy_tail(2500, 5, 11)
    release = released(original, compat="secgraph", epsilon=1)
    assert np.isin(release.in_original_numbers().keys, original.keys).mean() > 0.1
    assert release.changes.removed > 100


def test_another_code_to_imitate_is_refused() -> None:
    with pytest.raises(InputError, match="Unknown compat 'other'"):
        DkSeriesDP(compat="other")  # type: ignore[arg-type]
