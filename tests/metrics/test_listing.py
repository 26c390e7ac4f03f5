"""A metric is a plain function: listing it changes nothing about it."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from unveil.guesses import Partition, View
from unveil.metrics import _listing
from unveil.metrics._listing import METRICS, Metric, metric


@pytest.fixture(autouse=True)
def only_for_this_test() -> Iterator[None]:
    """Leave the list as it was."""
    before = dict(METRICS)
    yield
    _listing._METRICS.clear()
    _listing._METRICS.update(before)


def listed(function: Callable[..., Any]) -> Metric:
    facts = metric(
        category="error", per="release", more_means="more private", bounds=(0.0, math.inf), source="a paper, Table 1"
    )
    assert facts(function) is function
    return METRICS[function.__name__]


def lost_items(guess: Partition, truth: Partition, *, strict: bool = False) -> float:
    """Return how many items are lost.

    And some more.
    """
    return float(guess.n - truth.n) * strict


def clusters_of(release: "Partition") -> int:
    """Return the number of clusters."""
    return release.cluster_count


def unsure(guess: Partition | View, truth: Partition) -> float:
    """Return 0."""
    return 0.0 * guess.n * truth.n


def test_the_facts_are_listed() -> None:
    assert listed(lost_items) == Metric(
        name="lost_items",
        function=lost_items,
        category="error",
        on="Partition",
        per="release",
        more_means="more private",
        bounds=(0.0, math.inf),
        source="a paper, Table 1",
        needs_truth=True,
        affected_by_chunking=False,
        printed_direction="more private",
    )


def test_a_direction_that_the_source_prints_otherwise_is_kept_beside_the_meaning() -> None:
    metric(
        category="error",
        per="release",
        more_means="more private",
        bounds=(0.0, 1.0),
        source="a paper, Table 2",
        affected_by_chunking=True,
        printed_direction="less private",
    )(clusters_of)
    assert METRICS["clusters_of"].more_means == "more private"
    assert METRICS["clusters_of"].printed_direction == "less private"
    assert METRICS["clusters_of"].affected_by_chunking


def test_the_summary_is_the_first_line_of_the_docstring() -> None:
    assert listed(lost_items).summary == "Return how many items are lost."


def test_truth_is_needed_only_where_the_signature_has_it() -> None:
    assert listed(lost_items).needs_truth
    assert not listed(clusters_of).needs_truth


@pytest.mark.parametrize(("function", "on"), [(lost_items, "Partition"), (clusters_of, "Partition")])
def test_what_is_measured_is_read_from_the_first_parameter(function: Callable[..., Any], on: str) -> None:
    assert listed(function).on == on


def test_a_metric_on_either_of_two_names_both() -> None:
    assert "Partition" in listed(unsure).on
    assert "View" in listed(unsure).on


def test_the_list_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        METRICS["mine"] = listed(lost_items)  # type: ignore[index]
