"""A new metric is one function and one line, and is then everywhere."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import ArrayLike, NDArray

from unveil.cli import main
from unveil.guesses import Candidates
from unveil.metrics import METRICS, _listing, all_metrics, metric

GUESS = Candidates.from_matrix([[0.5, 0.5, 0.0], [0.8, 0.1, 0.1]], chosen=[0, -1])


@pytest.fixture(autouse=True)
def only_for_this_test() -> Iterator[None]:
    """Leave the list as it was."""
    before = dict(METRICS)
    yield
    _listing._METRICS.clear()
    _listing._METRICS.update(before)


def add_top_two() -> Callable[..., Any]:
    """Add a metric that needs no truth and has a value per target."""

    @metric(category="uncertainty", per="target", more_means="less private", bounds=(0, 1), source="a paper")
    def top_two(guess: Candidates) -> NDArray[np.float64]:
        """Return the probability of the two most likely candidates together."""
        rows = np.split(guess.probability, guess.start[1:-1])
        return np.where(guess.attempted, [np.sort(row)[-2:].sum() for row in rows], np.nan)

    return top_two


def add_bets_won() -> Callable[..., Any]:
    """Add a metric that needs the truth and has one value per release, and a setting."""

    @metric(category="success", per="release", more_means="less private", bounds=(0, 9), source="a blog")
    def bets_won(guess: Candidates, truth: ArrayLike, *, stake: float = 3.0) -> float:
        """Return what an adversary wins by betting."""
        return stake * float((np.asarray(truth) == guess.chosen).sum())

    return bets_won


def listed(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["list", "metrics", *arguments])
    assert result.exit_code == 0, result.output
    return result


def test_it_is_listed_with_its_facts() -> None:
    function = add_top_two()
    facts = METRICS["top_two"]
    assert facts.function is function
    assert (facts.on, facts.per, facts.needs_truth, facts.bounds) == ("Candidates", "target", False, (0, 1))
    assert not METRICS["top_two"].affected_by_chunking
    assert METRICS["top_two"].printed_direction == "less private"


def test_it_is_in_the_table_of_all_metrics() -> None:
    without = len(all_metrics(GUESS, [0, 0]))
    add_top_two()
    add_bets_won()
    table = {one.metric.name: one for one in all_metrics(GUESS, [0, 0])}
    assert len(table) == without + 2
    np.testing.assert_array_equal(table["top_two"].values, [1.0, np.nan])
    assert (table["top_two"].mean, table["top_two"].undefined, table["top_two"].why) == (1.0, 1, "1 not attempted")
    assert (table["bets_won"].mean, table["bets_won"].undefined) == (3.0, 0)
    assert {one.metric.name for one in all_metrics(GUESS)} & {"top_two", "bets_won"} == {"top_two"}


def test_it_is_shown_by_the_command_line() -> None:
    assert "top_two" not in listed().output
    add_top_two()
    line = next(line for line in listed().output.splitlines() if line.startswith("top_two"))
    for fact in (
        "uncertainty",
        "Candidates",
        "less private",
        "0 to 1",
        "two most likely candidates together",
        "a paper",
    ):
        assert fact in line


def test_programs_see_it_too() -> None:
    add_bets_won()
    facts = {entry["name"]: entry for entry in json.loads(listed("--json").output)}["bets_won"]
    assert facts["summary"] == "Return what an adversary wins by betting."
    assert (facts["category"], facts["on"], facts["per"]) == ("success", "Candidates", "release")
    assert (facts["needs_truth"], facts["bounds"], facts["source"]) == (True, [0.0, 9.0], "a blog")


def test_the_function_itself_is_left_as_it_was() -> None:
    assert add_bets_won()(GUESS, [0, 0], stake=2.0) == 2.0


def test_nothing_of_this_stays() -> None:
    assert not {"top_two", "bets_won"} & set(METRICS)
