"""Names and order mean nothing: new names of clusters and subjects, or another order of items, change no figure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.guesses import Partition, View
from unveil.metrics import (
    CrowdGraphs,
    Forecast,
    Unlinkability,
    ViewRanges,
    fairness,
    forecast,
    others_graphs,
    over_views,
    partition_distances,
    policy_grid,
    random_guessing,
    unlinkability,
)

#: Few labels for many items, so that clusters often tie in cost, foreign and missed items.
LABELS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("vwxyz"), st.sampled_from("wx")), min_size=3, max_size=16
)
SHARES = ["1/4", "3/4"]
Measures = dict[str, Callable[..., Any]]

EXACT: Measures = {
    "unlinkability": unlinkability,
    "fairness": lambda guess, truth: fairness(unlinkability(guess, truth)),
    "distances": partition_distances,
    "views": over_views,
    "others": others_graphs,
    "policies": policy_grid,
}
MIXED: Measures = {"unlinkability": unlinkability, "views": over_views, "policies": policy_grid}
EXACT |= {
    f"{name}, {mixing}": partial(measure, mixing=mixing)
    for name, measure in MIXED.items()
    for mixing in ("others", "even")
}


def drawn() -> np.random.Generator:
    return np.random.default_rng(5)


def drawn_futures(guess: View, truth: Partition, **settings: Any) -> Forecast:
    return forecast(guess, truth, rng=drawn(), draws=6, **settings)


DRAWN: Measures = {
    "guessing": lambda _, truth: random_guessing(truth, rng=drawn(), draws=5, mixing="others"),
    "guessing, growing": lambda _, truth: random_guessing(truth, guesser="growing", rng=drawn(), draws=5),
    "guessing, sizes": lambda guess, truth: random_guessing(truth, rng=drawn(), like=guess, draws=5, mixing="even"),
}
DRAWN |= {
    f"forecast, {linkage}, {mixing}": partial(drawn_futures, linkage=linkage, mixing=mixing)
    for linkage in ("pairs", "any", "cheapest")
    for mixing in ("items", "others", "even")
}


def divided(columns: Sequence[Sequence[Any]]) -> tuple[View, Partition]:
    """Return a view of two guesses and the truth."""
    truth, *guesses = (Partition.from_labels(list(column)) for column in columns)
    return View(guesses, SHARES), truth


#: Fields with one value per subject; the graphs of subjects follow one another and are compared apart.
SINGLE = {
    Unlinkability: {field.name for field in fields(Unlinkability)} - {"n", "overall", "mixing"},
    ViewRanges: {field.name for field in fields(ViewRanges)} - {"partitions", "ranges"},
    Forecast: {field.name for field in fields(Forecast)}
    - {"draws", "linkage", "split", "overall", "overall_evidence", "linked", "mixed"}
    - {"breached_after", "breached_after_low", "breached_after_high"},
}
GRAPHS = {
    Unlinkability: {"graph_start", "linked", "mixed"},
    CrowdGraphs: {"graph_start", "others", "effective"},
}
NAMES = {"subjects"}


def figures(found: Any, place: Sequence[int], name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every figure of a result with its name; ``place`` says where each subject of the original now is."""
    if not is_dataclass(found):
        yield from figures_of_several(found, place, name) if isinstance(found, tuple) else ((name, found),)
        return
    kind: Any = type(found)
    for field in fields(found):
        value = getattr(found, field.name)
        if field.name in NAMES or field.name in GRAPHS.get(kind, ()):
            continue
        single = field.name in SINGLE.get(kind, ())
        yield from figures(value[list(place)] if single else value, place, f"{name} {field.name}")
    if kind in GRAPHS:
        graphs: Callable[[int], Any] = getattr(found, "graphs", None)  # type: ignore[assignment]
        for subject, at in enumerate(place):
            yield from figures(graphs(at), place, f"{name} graphs of subject {subject}")


def figures_of_several(found: tuple[Any, ...], place: Sequence[int], name: str) -> Iterator[tuple[str, Any]]:
    for k, each in enumerate(found):
        yield from figures(each, place, f"{name} {k}")


def assert_same(one: Any, other: Any, place: Sequence[int]) -> None:
    """Compare all figures of two results, of which the second has the subjects at other places."""
    first, second = list(figures(one, range(len(place)))), list(figures(other, place))
    assert [name for name, _ in first] == [name for name, _ in second]
    assert len(first) > 3
    for (name, a), (_, b) in zip(first, second, strict=True):
        if isinstance(a, str):
            assert a == b, name
        else:
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9, err_msg=name)


def renamed(labels: Sequence[Sequence[str]], draw: Callable[..., Any]) -> tuple[list[list[str]], list[int]]:
    """Return the same labels under new names, and where each subject is once the new names are sorted."""
    columns = []
    for column in zip(*labels, strict=True):
        old = sorted(set(column))
        new = dict(zip(old, draw(st.permutations([f"new {k}" for k in range(len(old))])), strict=True))
        columns.append([new[name] for name in column])
    subjects = [columns[0][[row[0] for row in labels].index(name)] for name in sorted({row[0] for row in labels})]
    return columns, [sorted(subjects).index(name) for name in subjects]


@pytest.mark.parametrize("measure", [*EXACT, *DRAWN])
@settings(deadline=None, max_examples=25)
@given(LABELS, st.data())
def test_new_names_of_clusters_and_subjects_change_no_figure(
    measure: str, labels: list[tuple[str, ...]], data: st.DataObject
) -> None:
    columns, place = renamed(labels, data.draw)
    measured = (EXACT | DRAWN)[measure]
    assert_same(measured(*divided(list(zip(*labels, strict=True)))), measured(*divided(columns)), place)


@pytest.mark.parametrize("measure", EXACT)
@settings(deadline=None, max_examples=20)
@given(LABELS, st.data())
def test_another_order_of_items_changes_no_figure(
    measure: str, labels: list[tuple[str, ...]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(labels))
    subjects = range(len({row[0] for row in labels}))
    one, other = (EXACT[measure](*divided(list(zip(*rows, strict=True)))) for rows in (labels, shuffled))
    assert_same(one, other, subjects)


def test_two_tied_clusters_are_averaged_whatever_they_are_called() -> None:
    truth = Partition.from_labels("AABBBC")
    for guess in ("pqppqq", "qpqqpp"):
        found = unlinkability(Partition.from_labels(guess), truth, mixing="others")
        # The cluster {A, B, B} brings one of two others along, {A, B, C} both.
        assert found.graphs(0)[1].tolist() == [0.75, 1.0]
        assert found.risk_slope[0] == pytest.approx(0.6080001934898678, abs=1e-12)
