"""Masks that write cells: everybody's values are inside their own row, and the true probability stays what it was."""

from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.protections.masks import posterior, release_with
from tests.protections.tables import people, truth_of
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections.table.generalization import Generalization
from unveil.protections.table.mondrian import Mondrian
from unveil.protections.table.suppression import Suppression

NAMES = ["age", "income", "town", "level", "born", "smoker"]


def inside(release: Release) -> bool:
    """Return whether everybody is compatible with the row that was made of theirs."""
    truth = truth_of(release)
    for name in release.released.coarse():
        cells = (release.released.cells or {})[name]
        places = cells.places(release.original.held(name))[truth]
        if not cells.compatible(places)[np.arange(places.size), cells.of_row].all():
            return False
    return True


@pytest.mark.parametrize(
    ("mask", "plain"),
    [
        (Mondrian(k=5, cells=True), Mondrian(k=5)),
        (Generalization(k=20, cells=True), Generalization(k=20)),
        (Suppression(share=0.3, cells=True), Suppression(share=0.3)),
    ],
)
def test_everybody_is_inside_their_own_row(mask: Any, plain: Any) -> None:
    original = people(200, 7)
    release = release_with(mask, original, 7)
    assert {"age", "income", "town", "born"} <= set(release.released.coarse(NAMES))
    assert inside(release)
    # What is shown differs, what was done does not: a star says no less than a gap.
    known, before = posterior(release, NAMES), posterior(release_with(plain, original, 7), NAMES)
    chances = [each[np.arange(200), truth_of(release)] for each in (known, before)]
    assert (chances[0] >= chances[1] - 1e-12).all()
    np.testing.assert_allclose(known.sum(axis=1), 1)


def test_what_cells_look_like() -> None:
    frame = pl.DataFrame(
        {
            "age": [20, 22, 24, 60, 62, 70],
            "town": ["Ulm", "Ulm", "Bonn", "Jena", "Jena", None],
            "born": [datetime(2000, 1, day) for day in (1, 2, 3, 10, 11, 15)],
            "level": ["low", "low", "high", "high", "middle", "low"],
            "smoker": [True, True, True, True, False, True],
        }
    )
    original = Table.from_frame(frame, kinds={"level": ["low", "middle", "high"]})
    shown = release_with(Mondrian(k=3, cells=True), original).released.frame.unique().sort("age")
    assert shown.rows() == [
        ("[20, 24]", "Bonn | Ulm", "[2000-01-01, 2000-01-03]", "low | high", "true"),
        ("[60, 70]", "*", "[2000-01-10, 2000-01-15]", "low | middle | high", "false | true"),
    ]
    few = release_with(Suppression(k=2, columns=("town",), cells=True), original).released.frame
    assert sorted(few["town"].to_list(), key=str) == ["*", "Jena", "Jena", None, "Ulm", "Ulm"]
    bands = release_with(Generalization(k=3, columns=("age", "town"), cells=True), original).released.frame
    assert sorted(set(bands["age"])) == ["[20, 24]", "[60, 70]"]
    assert bands["town"].null_count() == 1
