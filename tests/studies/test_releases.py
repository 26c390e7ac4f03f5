import numpy as np
import polars as pl

from unveil.data.table import Table
from unveil.protections import protection_from
from unveil.studies.releases import RELEASE_FORMAT, _table_content, _table_from


def test_a_table_is_kept_with_its_kinds_and_markers() -> None:
    frame = pl.DataFrame(
        {"age": ["N", "?", "5", "6", "7"] * 9, "smoker": ["no", "yes", "yes"] * 15, "town": ["a", "b", "c"] * 15}
    )
    original = Table.from_frame(frame, markers={"age": {"7": "own code"}})
    release = protection_from("shuffle").apply(original, rng=np.random.default_rng(1))
    again = _table_from(RELEASE_FORMAT.read(RELEASE_FORMAT.write(_table_content(release))), original).released
    assert again.frame.equals(release.released.frame)
    assert {name: cells.to_list() for name, cells in again.marked.items()} == {
        name: cells.to_list() for name, cells in release.released.marked.items()
    }
    assert [(each.kind, each.markers, each.written) for each in again.columns] == [
        (each.kind, each.markers, each.written) for each in release.released.columns
    ]
    assert [marker.told for marker in again.column("age").markers] == [False, False, True]
