"""Whatever library a table comes from, and whether pyarrow is there or not, it is the same table."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unveil
from tests.data.refusals import MARKER, refusal
from unveil.data.graph.read import graph_from
from unveil.data.table import Table
from unveil.data.table.native import is_one_table, series_of

ROOT = Path(__file__).parents[3]
MOMENT = datetime(2020, 6, 1, 12, 30, tzinfo=UTC)
BARE = MOMENT.replace(tzinfo=None)
IN_PARIS = MOMENT.astimezone(timezone(timedelta(hours=2)))
SIZES = ["small", "mid", "large"]
DAYS = [date(2020, 6, 1), None, date(1960, 1, 1)]
BINS = ["(0, 5]", "(5, 10]"]


def objects(*cells: Any) -> pd.Series:
    return pd.Series(cells, dtype=object)


#: Each column type of pandas beside the column of polars that holds the same.
COLUMNS: Mapping[str, tuple[Callable[[], Any], Any]] = {
    "whole": (lambda: [3, -1, 2], [3, -1, 2]),
    "unsigned": (lambda: np.array([2**64 - 1, 0, 5], np.uint64), [2**64 - 1, 0, 5]),
    "number": (lambda: [1.5, float("nan"), 2.0], [1.5, None, 2.0]),
    "half": (lambda: np.array([1.5, 0.25, np.nan], np.float16), [1.5, 0.25, None]),
    "truth": (lambda: [True, False, True], [True, False, True]),
    "moment": (lambda: pd.to_datetime([BARE, None, datetime(1960, 1, 1)]), [BARE, None, datetime(1960, 1, 1)]),
    "day": (lambda: np.array(["2020-06-01", "NaT", "1960-01-01"], "datetime64[s]"), DAYS),
    "nanosecond": (lambda: np.array([-1, 1500, 0], "datetime64[ns]"), pl.Series([-1, 1500, 0]).cast(pl.Datetime("ns"))),
    "zoned": (lambda: pd.to_datetime([MOMENT, None, MOMENT]).tz_convert("Asia/Tokyo"), [MOMENT, None, MOMENT]),
    "span": (lambda: np.array([-1, 1500, 0], "timedelta64[ns]"), pl.Series([-1, 1500, 0]).cast(pl.Duration("ns"))),
    "nullable whole": (lambda: pd.array([2**53 + 1, None, 3], dtype="Int64"), [2**53 + 1, None, 3]),
    "nullable number": (lambda: pd.array([1.5, None, 3], dtype="Float32"), [1.5, None, 3.0]),
    "nullable truth": (lambda: pd.array([True, None, False], dtype="boolean"), [True, None, False]),
    "category": (lambda: pd.Categorical(["b", None, "a"]), ["b", None, "a"]),
    "category of numbers": (lambda: pd.Categorical([2, None, 1]), [2, None, 1]),
    "category of moments": (lambda: pd.Categorical(pd.to_datetime([MOMENT, None, MOMENT])), [MOMENT, None, MOMENT]),
    "ordered": (
        lambda: pd.Categorical(["large", None, "small"], SIZES, ordered=True),
        pl.Series(["large", None, "small"], dtype=pl.Enum(SIZES)),
    ),
    "bins": (lambda: pd.cut([1, 9, 2], [0, 5, 10]), pl.Series([*BINS, BINS[0]], dtype=pl.Enum(BINS))),
    "text": (lambda: pd.array(["a", None, "b c"], dtype="str"), ["a", None, "b c"]),
    "text with NA": (lambda: pd.array(["a", None, "b"], dtype="string"), ["a", None, "b"]),
    "text as objects": (lambda: objects("a", np.nan, pd.NA), ["a", None, None]),
    "whole as objects": (lambda: objects(1, pd.NA, np.int64(3)), [1, None, 3]),
    "number as objects": (lambda: objects(1, 2.5, pd.NaT), [1.0, 2.5, None]),
    "long as objects": (lambda: objects(2**70, None, 1), pl.Series([2**70, None, 1], dtype=pl.Int128)),
    "truth as objects": (lambda: objects(True, None, False), [True, None, False]),
    "day as objects": (lambda: objects(*DAYS), DAYS),
    "moment as objects": (lambda: objects(pd.Timestamp(MOMENT), pd.NaT, IN_PARIS), [MOMENT, None, MOMENT]),
    "day or moment": (lambda: objects(date(2020, 6, 1), None, BARE), [datetime(2020, 6, 1), None, BARE]),
    "time": (lambda: objects(time(1, 2), None, time(3)), [time(1, 2), None, time(3)]),
    "decimal": (lambda: objects(Decimal("1.50"), Decimal("NaN"), Decimal(2)), [1.5, None, 2.0]),
    "bytes": (lambda: objects(b"a", None, b"\xff"), [b"a", None, b"\xff"]),
    "period": (lambda: pd.period_range("2020-01", periods=3, freq="M"), ["2020-01", "2020-02", "2020-03"]),
    "sparse": (lambda: pd.arrays.SparseArray([0.0, 2.5, np.nan]), [0.0, 2.5, None]),
    "nothing": (lambda: objects(None, np.nan, pd.NA), [None, None, None]),
}  # fmt: skip


def facts(table: Table) -> list[Any]:
    return [
        *((column.name, column.kind, column.role, column.missing) for column in table.columns),
        table.frame.schema,
        table.frame.rows(),
    ]


def different_columns() -> list[str]:
    """Return the types of columns whose table is another one from pandas than from polars."""
    return [
        name
        for name, (of_pandas, of_polars) in COLUMNS.items()
        if facts(Table.from_frame(pd.DataFrame({"x": of_pandas()})))
        != facts(Table.from_frame(pl.DataFrame({"x": of_polars})))
    ]


def test_columns_of_pandas_are_those_of_polars() -> None:
    assert different_columns() == []


def test_nothing_needs_pyarrow() -> None:
    code = """
import sys
class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Forbidden())
from tests.data.table import test_native as here
print(here.different_columns(), here.COLUMNS["text"][0]().dtype.storage, "pyarrow" in sys.modules)
labels = here.pd.Series(["b", "a", "b"])
print(here.unveil.Partition.from_labels(labels).n, here.unveil.Partition.from_labels(labels.astype("category")).n)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[] python False\n3 3\n", "")


class Stream:
    """What some library has that nobody knows, but that streams Arrow, once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame: pl.DataFrame | None = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        assert self._frame is not None
        frame, self._frame = self._frame, None
        return frame.__arrow_c_stream__(requested_schema)


PEOPLE: dict[str, list[Any]] = {
    "age": [39, None, 50] * 7,
    "income": [1.5, 2.25, None] * 7,
    "town": ["Ulm", None, "Bonn"] * 7,
    "smoker": [True, False, None] * 7,
}


def every_form() -> dict[str, Any]:
    """Return the same people in each form that people have tables in."""
    import dask.dataframe as dd
    import pyarrow as pa

    frame = pl.DataFrame(PEOPLE)
    of_pandas = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in PEOPLE.items()})
    return {
        "polars": frame,
        "polars, lazy": frame.lazy(),
        "pandas": of_pandas,
        "pandas in arrow": of_pandas.convert_dtypes(dtype_backend="pyarrow"),
        "dask": dd.from_pandas(of_pandas, npartitions=2),  # type: ignore[no-untyped-call]
        "pyarrow": frame.to_arrow(),
        "stream": Stream(frame),
        "rows": frame.to_dicts(),
        "rows of pandas": of_pandas.to_dict("records"),
        "rows with missing keys": [
            {name: cells[row] for name, cells in PEOPLE.items() if cells[row] is not None}
            for row in range(frame.height)
        ],
        "columns": PEOPLE,
        "columns of any library": {
            "age": pd.Series(PEOPLE["age"], dtype="Int64"),
            "income": np.array(PEOPLE["income"], float),
            "town": pa.array(PEOPLE["town"]),
            "smoker": np.ma.MaskedArray([True, False, True] * 7, [False, False, True] * 7),
        },
    }


def test_every_form_is_the_same_table_and_every_question_takes_it() -> None:
    wanted = facts(Table.from_frame(pl.DataFrame(PEOPLE)))
    assert {name for name, form in every_form().items() if facts(Table.from_frame(form)) != wanted} == set()
    rows, arrow = every_form()["rows"], every_form()["pyarrow"]
    answer = unveil.audit(
        arrow, every_form(), attacks=["linkability"], kinds={"age": "category"}, rng=np.random.default_rng(0)
    )
    assert answer.findings.columns[0].kind == "category"
    audited = answer.to_polars()
    assert audited["release"].unique().sort().to_list() == sorted(every_form())
    assert audited.drop("release").unique().height == audited.height / len(every_form())
    answers = {
        unveil.reidentify(
            original, released, attacks=["record-linkage"], truth=range(len(rows)), rng=np.random.default_rng(0)
        ).to_json()
        for original, released in zip(every_form().values(), every_form().values(), strict=True)
    }
    assert len(answers) == 1


def test_edges_are_taken_as_any_table() -> None:
    rows = [{"source": "a", "target": "b"}, {"target": "c", "source": "b"}]
    columns = {"source": ["a", "b"], "target": ["b", "c"]}
    for edges in (rows, columns, pl.LazyFrame(columns)):
        graph = graph_from(edges)
        assert (list(graph.names if graph.names is not None else []), graph.edges) == (["a", "b", "c"], 2)


@pytest.mark.parametrize(
    ("given", "is_one"),
    [
        ({"a": [1], "b": (2,)}, True),
        ({"a": np.array([1])}, True),
        ({"a": pl.Series([1])}, True),
        ({"a": pd.Series([1])}, True),
        ([{"a": 1}, {}], True),
        ({"masked": pl.DataFrame({"a": [1]})}, False),
        ({"masked": [{"a": 1}]}, False),
        ({"masked": {"a": [1]}}, False),
        ([{"a": [1]}, {"a": [2]}], False),
        ([[{"a": 1}], [{"a": 2}]], False),
        ([pl.DataFrame({"a": [1]})], False),
        ([], False),
        ({}, False),
    ],
)
def test_one_table_is_told_from_several(given: Any, is_one: bool) -> None:
    assert is_one_table(given) is is_one


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"a": [1, 2], "b": [1]}, "have between 1 and 2 values"),
        ({"a": 5}, "column 'a' of the table must be a list, an array or a series, but is a int"),
        ({"a": "word"}, "but is a str"),
        ({"a": pl.DataFrame({"b": [1]})}, "but is a DataFrame"),
        ({"a": np.ones((2, 2))}, "lists or records"),
        ({1: [1], "1": [2]}, "more than one is called '1'"),
        ([{"a": 1}, 5], "but is a list. Convert it first"),
        ([{"a": {"b": 1}}], "lists or records"),
        (pl.LazyFrame({"a": [MARKER]}).cast(pl.Int64), "this LazyFrame stopped with a InvalidOperationError"),
        (np.ones((2, 2)), "but is a ndarray. Convert it first"),
        (Path("people.csv"), "Read it with unveil.Table.read first"),
    ],
)
def test_what_is_no_table_is_refused(frame: Any, words: str) -> None:
    message = refusal(lambda: Table.from_frame(frame))
    assert words in message
    assert MARKER not in message


def test_several_types_are_said_and_whole_numbers_beside_truth_are() -> None:
    ((series, remark),) = series_of({"x": [1, True, None, "a"]}, table="table")
    assert series.to_list() == ["1", "True", None, "a"]
    assert remark == "its cells are of several types (bool, int, str), compared as text"
