"""The files of results: what was written comes back, and a forged file with a right seal is refused in one sentence."""

import json
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.studies.small import first, looked_at, small_study
from unveil._kernels.sketches import sketch_of
from unveil.errors import InputError
from unveil.studies import Axis, DataSet, Replications, Results, Store, Study, run_study
from unveil.studies.stored_results import (
    Row,
    StoredRows,
    StoredSketches,
    frame_of,
    frame_of_nodes,
    read_result,
    write_result,
)
from unveil.work.result_format import ResultFormat, UnreadableResultError
from unveil.work.seal import Seal, parts_of, sealed_parts

STUDY = Study(
    name="two",
    seed=1,
    data=(DataSet("small", "graph", "small.csv"),),
    protections=("id-removal",),
    attacks=("NS",),
    axes=(Axis("seed_pairs", (2, 5)),),
    replications=Replications(number=3),
)
NUMBERS = st.floats(allow_infinity=False)
ROWS = st.lists(
    st.builds(Row, st.integers(0, 9), st.integers(0, 2**32 - 1), NUMBERS, st.tuples(NUMBERS, NUMBERS)), max_size=4
)
SKETCHES = st.lists(st.floats(-9, 9), max_size=99).map(sketch_of)


@given(ROWS, ROWS)
def test_replications_are_the_rows_of_the_frame(one: list[Row], other: list[Row]) -> None:
    scenarios = STUDY.scenarios()
    frame = frame_of(scenarios, ("a", "b"), [StoredRows.of(("a", "b"), rows, None) for rows in (one, other)])
    wanted = [
        (
            *(scenario.data.name, scenario.protect, scenario.attack, scenario.axis, scenario.level, number),
            *(row.release, row.attempted),
            *(None if np.isnan(value) else value for value in (row.correct, *row.values)),
            None,
        )
        for scenario, rows in zip(scenarios, (one, other), strict=True)
        for number, row in enumerate(rows)
    ]
    assert frame.rows() == wanted


@given(st.dictionaries(st.text(max_size=3), SKETCHES, max_size=3))
def test_sketches_are_the_rows_of_the_frame(sketches: dict[str, Any]) -> None:
    scenario = STUDY.scenarios()[0]
    frame = frame_of_nodes([scenario], [StoredSketches.of(sketches)])
    some = {name: each for name, each in sketches.items() if each.count}
    assert frame["metric"].to_list() == list(some)
    for row, each in zip(frame.iter_rows(named=True), some.values(), strict=True):
        assert [row[name] for name in ("count", "lowest", "highest", "sum", "squares")] == [
            *(each.count, each.lowest, each.highest, each.sum, each.squares)
        ]
        assert row["blocks"] == each.blocks.tolist()


def test_an_error_that_is_no_text_is_spelt_out() -> None:
    assert StoredRows.of((), [], "half \ud800").error == "half \\ud800"


GOOD = StoredRows.of(("a",), [Row(0, 3, 1.0, (nan,))], None)
FORGED: dict[str, Any] = {
    "another type": StoredSketches.of({"a": sketch_of([1.0])}),
    "a list": [1],
    "names that are numbers": replace(GOOD, metrics=(1,)),  # type: ignore[arg-type]
    "more names than values": replace(GOOD, metrics=("a", "b")),
    "other numbers": replace(GOOD, values=GOOD.values.astype(np.float32)),
    "texts": replace(GOOD, values=np.array([["a"], ["b"]])),
    "more values than counts": replace(GOOD, values=np.zeros((2, 9))),
    "no array": replace(GOOD, counts=None),  # type: ignore[arg-type]
    "no shape": replace(GOOD, counts=np.array(1, np.uint32)),
    "an error that is a number": replace(GOOD, error=1),  # type: ignore[arg-type]
    "an error that is no text": replace(GOOD, error="\ud800"),
}
_ANYTHING = ResultFormat([StoredRows, StoredSketches])


@pytest.mark.parametrize("name", FORGED)
def test_other_types_and_shapes_are_refused(name: str) -> None:
    content = sealed_parts(_ANYTHING.write(FORGED[name]), Seal("name", "", "fine"))
    with pytest.raises(UnreadableResultError):
        read_result(content, StoredRows)


@pytest.mark.parametrize("counts", [[0], [1, 1]])
def test_sketches_of_other_shapes_are_refused(counts: list[int]) -> None:
    forged = replace(StoredSketches.of({"a": sketch_of([1.0])}), counts=np.array(counts, np.uint64))
    with pytest.raises(UnreadableResultError):
        read_result(sealed_parts(_ANYTHING.write(forged), Seal("name", "", "fine")), StoredSketches)


@given(st.binary(max_size=200), st.integers(0, 10**6))
def test_any_bytes_are_read_or_refused(noise: bytes, place: int) -> None:
    content = sealed_parts(_ANYTHING.write(GOOD), Seal("name", "", "fine"))
    for forged in (noise, content[: place % len(content)] + noise + content[place % len(content) + len(noise) :]):
        try:
            assert isinstance(read_result(forged, StoredRows), StoredRows)
        except UnreadableResultError:
            continue


@pytest.mark.parametrize("part", ["results", "nodes"])
@pytest.mark.parametrize(
    "parts", [[b"PAR1", b"PAR1"], [b"[" * 10**5], [b'["object","StoredRows",{}]'], [b"1", b"\x93NUMPY\x01\x00"]]
)
def test_a_forged_file_with_a_right_hash_is_told_in_one_sentence(part: str, parts: list[bytes], tmp_path: Path) -> None:
    study, out = looked_at(small_study(tmp_path)), tmp_path / "out"
    run_study(study, out, workers=0)
    path = out / part / first(study).file_name
    path.write_bytes(sealed_parts(parts, Seal(path.name, study.data[0].digest, "fine")))
    results = Results.read(out)
    with pytest.raises(InputError, match="must hold results of this study, but was written by something else"):
        results.frame if part == "results" else results.nodes  # noqa: B018 (a property that reads)
    # Whoever resumes has the key, and computes it again.
    assert run_study(study, out, workers=0, resume=True).done == 1
    assert Results.read(out).frame.height == 12


def test_a_file_with_other_metrics_is_refused(tmp_path: Path) -> None:
    study, out = looked_at(small_study(tmp_path)), tmp_path / "out"
    run_study(study, out, workers=0)
    write_result(GOOD, first(study), out / "results", None)
    with pytest.raises(InputError, match="must hold results of this study"):
        Results.read(out).frame  # noqa: B018


def test_a_folder_of_another_format_is_refused_in_one_sentence(tmp_path: Path) -> None:
    study, out = looked_at(small_study(tmp_path)), tmp_path / "out"
    run_study(study, out, workers=0)
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["format"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    for call in (lambda: Results.read(out), lambda: Store(out, study).__enter__()):
        with pytest.raises(InputError, match=r"in the format of another version of unveil .* Summarize them with that"):
            call()


def test_files_hold_text_and_arrays_alone(tmp_path: Path) -> None:
    study, out = looked_at(small_study(tmp_path)), tmp_path / "out"
    run_study(study, out, workers=0)
    for path in [*(out / "results").iterdir(), *(out / "nodes").iterdir(), *(out / "releases").iterdir()]:
        text, *arrays = parts_of(path.read_bytes())
        json.loads(text)
        assert all(each.startswith(b"\x93NUMPY") for each in arrays)
