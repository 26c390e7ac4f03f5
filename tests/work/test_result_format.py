"""Results go to files and come back equal, and a file can name nothing but the listed types."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.testing.parametric as plst
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn
from polars.testing import assert_frame_equal

from unveil.work.result_format import ResultFormat, UnreadableResultError


@dataclass(frozen=True)
class Inner:
    value: Any
    more: Any = None


@dataclass(frozen=True, slots=True)
class Slotted:
    value: Any


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Unlisted:
    value: int


def listed(first: int, second: int) -> int:
    raise AssertionError("reading calls nothing")


FORMAT = ResultFormat([Inner, Slotted, Pair], [listed])
ARRAYS = stn.arrays(
    st.sampled_from([np.dtype(name) for name in ("f8", "f4", "i8", "i4", "u1", "?", "U3")]),
    stn.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | ARRAYS
LEAVES |= st.sampled_from([np.float64(0.1), np.int32(4), np.bool_(True), listed, partial(listed, 1, second=2)])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.tuples(st.integers()), inner, max_size=3)
        | st.builds(Inner, inner, inner)
        | st.builds(Slotted, inner)
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """Return whether two values have the same types and contents to the last bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    if isinstance(one, partial):
        return same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, Inner):
        return same((one.value, one.more), (other.value, other.more))
    if isinstance(one, Slotted):
        return same(one.value, other.value)
    return bool(one == other)


@given(VALUES)
def test_what_is_read_equals_what_was_written(value: Any) -> None:
    parts = FORMAT.write(value)
    assert same(FORMAT.read(parts), value)
    assert FORMAT.write(FORMAT.read(parts)) == parts


def test_a_shared_array_is_stored_once_and_shared_again() -> None:
    array = np.arange(1000.0)
    parts = FORMAT.write((Inner(array), [array]))
    assert len(parts) == 2
    one, (other,) = FORMAT.read(parts)
    assert one.value is other


@pytest.mark.parametrize("value", [Unlisted(1), {1}, b"bytes", print, partial(print), np.array([None]), 1j, object()])
def test_what_is_not_listed_is_not_written(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        FORMAT.write([value])


@pytest.mark.parametrize(
    "tree",
    [
        ["object", "Unlisted", {"value": 1}],
        ["object", "os.system", {}],
        ["object", "Inner.__init__", {}],
        ["object", "Inner", {"value": 1}],
        ["object", "Inner", {"value": 1, "more": 2, "__class__": 3}],
        ["object", "listed", {}],
        ["function", "print"],
        ["function", "Inner"],
        ["partial", "eval", ["tuple", ["1"]], ["dict", []]],
        ["value", 1],
        ["__init__", 1],
        ["array", 1],
        ["array", "0"],
        ["tuple"],
        ["tuple", 1],
        {"value": 1},
        [],
        [["tuple", []]],
        "[" * 5000,
    ],
)
def test_a_planted_file_is_refused(tree: Any) -> None:
    text = tree.encode() if isinstance(tree, str) else json.dumps(tree).encode()
    with pytest.raises(UnreadableResultError):
        FORMAT.read([text, FORMAT.write(np.arange(3))[1]])


def test_arrays_of_objects_are_refused(tmp_path: Any) -> None:
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(UnreadableResultError):
        FORMAT.read([b'["array",0]', (tmp_path / "objects.npy").read_bytes()])


@pytest.mark.parametrize("header", ["(((", "'''", "  x\n y", "{'descr':'<f8','fortran_order':False,'shape':(10**15,)}"])
def test_a_forged_array_is_refused(header: str) -> None:
    header = header.replace("10**15", str(10**15))
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    with pytest.raises(UnreadableResultError):
        FORMAT.read([b'["array",0]', array])


COLUMNS: list[Any] = [pl.Boolean, pl.Int8, pl.Int64, pl.UInt16, pl.UInt64, pl.Float32, pl.Float64, pl.String, pl.Int128]
FRAMES = plst.dataframes(
    allowed_dtypes=[*COLUMNS, pl.Datetime("us")], min_cols=1, max_cols=4, max_size=6, allow_null=True, allow_chunks=True
)


@given(FRAMES, st.lists(st.sampled_from(["low", "", None]), min_size=6))
def test_frames_come_back_with_their_types_and_gaps(frame: pl.DataFrame, levels: list[str | None]) -> None:
    column = pl.Series("levels", levels[: frame.height], pl.Enum(["low", "", "high"]))
    frame = frame.with_columns(column)
    assert_frame_equal(FORMAT.read(FORMAT.write({"frame": frame}))["frame"], frame, check_exact=True)


def test_frames_of_other_columns_are_not_written() -> None:
    with pytest.raises(TypeError, match="may not hold a column of the type List"):
        FORMAT.write(pl.DataFrame({"a": [[1]]}))


def test_forged_frames_are_refused() -> None:
    text, *arrays = FORMAT.write(pl.DataFrame({"a": [1.0, None], "b": ["x", "y"]}))
    tree = json.loads(text)
    numbers, words = tree[2]
    forged = [
        ["frame", ["a"], [numbers, words]],
        ["frame", ["a", "a"], [numbers, words]],
        ["frame", ["a", "b"], [numbers]],
        ["frame", ["a", "b"], [["Object", *numbers[1:]], words]],
        ["frame", ["a", "b"], [["DataFrame", *numbers[1:]], words]],
        ["frame", ["a", "b"], [numbers, [*words[:3], [["x"]]]]],
        ["frame", ["a", "b"], [numbers, [*words[:3], [[1, 2]]]]],
        ["frame", ["a", "b"], [[*numbers[:3], 1], words]],
        ["frame", ["a", "b"], [["Float64", [0], 0, None], words]],
    ]
    for each in forged:
        with pytest.raises(UnreadableResultError):
            FORMAT.read([json.dumps(each).encode(), *arrays])
