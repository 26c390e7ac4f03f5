"""Declared figures: one declaration gives JSON, schema, limits and frames."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import nan
from typing import Any, Literal, get_args, get_origin, get_type_hints

import fastjsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._figure import bases, column, declared_figures, derived, figure, figure_at, row_of, version_figure
from unveil._kernels.types import BoolArray, FloatArray
from unveil._version import __version__
from unveil.questions.audit.findings import Audit
from unveil.report.figures import frame_of, json_of, meanings_of, quantities_of, redacted, schema_of
from unveil.report.machine import dumps
from unveil.report.suppressed_number import SuppressedNumber
from unveil.work.result_format import types_within


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str = figure("The name of the part.")
    size: float = figure("The size of the part.", name="bytes")
    kind: Literal["a", "b"] | None = figure("The kind of the part.", default=None)


@dataclass(frozen=True, kw_only=True)
class Columns:
    depth: FloatArray = column("The depth of each.")
    deep: BoolArray = column("Whether each is deep.")
    many: int = figure("How many there are.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Whole:
    rows: int = figure("How many rows there are.")
    private: str = "never in JSON"
    part: Part = figure(inline=True)

    @derived("The share of rows.", limit="share", limit_meaning="the share of rows", worse="less", breached=True)
    def share(self) -> float:
        """The share of rows."""
        return self.rows / 4 if self.rows else nan

    parts: tuple[Part, ...] = figure("All parts of it.", default=())
    by_name: Mapping[str, int | None] = figure("Sizes by name.", default=None)
    why: str = figure("Why so.", default="", optional=True)
    counts: FloatArray | None = figure("Counts of it.", default=None, optional=True)
    label: str | int = figure("The label of it.", default=0)
    columns: Columns = figure("All of them.", default=Columns(depth=np.ones(2), deep=np.array([True, False]), many=2))
    first: Mapping[str, Any] | None = figure(inline=True, default=None, row=Columns)

    @derived("The last of them.", row=Columns)
    def final(self) -> Mapping[str, Any]:
        """The last row of the columns."""
        return row_of(self.columns, 1)


@dataclass(frozen=True, kw_only=True)
class LargerWhole(Whole):
    last: bool = figure("Whether it is the last one.", default=True)
    size = figure_at("part.size", "The size of its part.")
    deep = figure_at("doubled.many", "How many there are.")
    version = version_figure()

    @property
    def doubled(self) -> Columns:
        return replace(self.columns, many=4)


PARTS = st.builds(
    Part, name=st.text(max_size=3), size=st.floats(allow_infinity=False), kind=st.sampled_from(["a", "b", None])
)
WHOLES = st.builds(
    Whole,
    rows=st.integers(0, 9),
    part=PARTS,
    parts=st.lists(PARTS, max_size=3).map(tuple),
    by_name=st.dictionaries(st.text(max_size=3), st.none() | st.integers(0, 9)),
    why=st.sampled_from(["", "because"]),
    counts=st.none() | st.lists(st.floats(0, 1), max_size=3).map(np.array),
    label=st.integers(0, 9) | st.text(max_size=3),
    first=st.none() | st.floats(allow_infinity=False).map(lambda depth: {"depth": depth, "deep": True}),
)


def written_out(whole: Whole) -> dict[str, Any]:
    """Return the JSON of an example by hand, as the oracle."""
    parts = [{"name": each.name, "bytes": each.size, "kind": each.kind} for each in whole.parts]
    first = {"rows": whole.rows, "name": whole.part.name, "bytes": whole.part.size, "kind": whole.part.kind}
    last: dict[str, Any] = {"share": whole.share, "parts": parts, "by_name": dict(whole.by_name)}
    if whole.why:
        last["why"] = whole.why
    if whole.counts is not None:
        last["counts"] = whole.counts.tolist()
    last |= {"label": whole.label, "columns": {"many": 2}} | dict(whole.first or {})
    return {**first, **last, "final": {"depth": 1.0, "deep": False}}


@given(WHOLES)
def test_json_is_the_declared_figures_in_order_and_fits_its_schema(whole: Whole) -> None:
    answer = {"schema": "unveil.example/1", **json_of(whole), "limits": [], "seed": None}
    oracle = {"schema": "unveil.example/1", **written_out(whole), "limits": [], "seed": None}
    assert dumps(answer) == dumps(oracle)
    schema = schema_of(Whole, "unveil.example/1", "An example.")
    fastjsonschema.compile({key: each for key, each in schema.items() if key != "$id"})(json.loads(dumps(answer)))
    names = [each for each in schema["properties"] if each in answer]
    assert names == list(answer)


def test_the_schema_has_meanings_types_and_what_is_required() -> None:
    schema = schema_of(Whole, "unveil.example/1", "An example.")
    assert schema["properties"]["bytes"] == {"description": "The size of the part.", "type": ["number", "null"]}
    assert schema["properties"]["kind"]["type"] == ["string", "null"]
    assert schema["properties"]["by_name"]["additionalProperties"]["type"] == ["integer", "null"]
    assert schema["properties"]["parts"]["items"]["required"] == ["name", "bytes", "kind"]
    assert schema["properties"]["counts"] == {
        "description": "Counts of it.",
        "type": "array",
        "items": {"type": ["number", "null"]},
    }
    assert schema["properties"]["label"]["type"] == ["string", "integer"]
    assert {"why", "counts", "depth"} <= set(schema["properties"])
    assert not {"why", "counts", "depth"} & set(schema["required"])
    assert set(schema["properties"]["columns"]["properties"]) == {"many"}
    assert schema["properties"]["final"]["properties"]["deep"] == {
        "description": "Whether each is deep.",
        "type": "boolean",
    }
    assert "private" not in schema["properties"]


@given(WHOLES)
def test_limits_and_frames_come_from_the_same_declarations(whole: Whole) -> None:
    assert meanings_of(Whole) == {"share": "the share of rows; fails below VALUE"}
    (quantity,) = quantities_of(whole).values()
    assert (quantity.name, quantity.more_is_worse, quantity.exceeded_when_undefined) == ("share", False, True)
    assert quantity.value == pytest.approx(whole.share, nan_ok=True)
    frame = frame_of(whole.parts)
    assert frame.height == len(whole.parts)
    if whole.parts:
        assert frame.columns == ["name", "bytes", "kind"]


def test_declarations_keep_their_order_with_properties_between_fields() -> None:
    assert [name for name, _ in declared_figures(Whole)] == [
        *("rows", "part", "share", "parts", "by_name", "why", "counts", "label"),
        *("columns", "first", "final"),
    ]


@dataclass(frozen=True, kw_only=True)
class Counted:
    COUNTS = "statistic"

    people: int = figure("How many people.", counts="people")
    rate: float = figure("A rate.")
    by_group: tuple[int, ...] = figure("People by group.", counts="people")


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    total: int = figure("A number without a basis.")
    shares: Mapping[str, float] = figure("Numbers without a basis.")
    text: str = figure("A text.")
    is_so: bool = figure("No number.")
    counted: Counted = figure("Numbers with a basis.")


@given(st.integers(0, 30), st.floats(0, 30), st.lists(st.integers(0, 30), max_size=3).map(tuple))
def test_small_numbers_are_bounded_and_forgotten_ones_withheld(
    people: int, share: float, by_group: tuple[int, ...]
) -> None:
    counted = Counted(people=people, rate=share, by_group=by_group)
    whole = Forgotten(total=people, shares={"a": share}, text="t", is_so=True, counted=counted)
    safe = redacted(whole, 11)
    assert all(isinstance(each, SuppressedNumber) and not each.told for each in (safe.total, safe.shares["a"]))
    assert (safe.text, safe.is_so, safe.counted.rate) == ("t", True, share)
    for number, shown in zip((people, *by_group), (safe.counted.people, *safe.counted.by_group), strict=True):
        if 0 < number < 11:
            assert (shown.least, shown.most) == (0, 11)
        else:
            assert shown == number


def test_numbers_of_an_audit_have_a_basis_except_those_about_single_people() -> None:
    forgotten = {
        f"{kind.__name__}.{field.name}"
        for kind in types_within(Audit)
        for field in fields(kind)
        if _is_number(get_type_hints(kind)[field.name]) and not bases(kind)[field.name]
    }
    assert {each.partition(".")[0] for each in forgotten} == {"ExposedPerson"}


def _is_number(hint: Any) -> bool:
    return hint in (int, float) or get_origin(hint) is np.ndarray or any(map(_is_number, get_args(hint)))


def test_a_figure_without_some_of_its_figures_leaves_them_out_of_json_and_schema() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Holder:
        part: Part | None = figure("A part that is named elsewhere.", without=("name",))

    assert json_of(Holder(part=Part(name="a", size=1.0))) == {"part": {"bytes": 1.0, "kind": None}}
    assert json_of(Holder(part=None)) == {"part": None}
    inner = schema_of(Holder, "unveil.example/1", "An example.")["properties"]["part"]
    assert (inner["type"], list(inner["properties"]), inner["required"]) == (
        ["object", "null"],
        ["bytes", "kind"],
        ["bytes", "kind"],
    )


def test_the_schema_of_a_class_has_the_properties_of_its_base() -> None:
    schema = schema_of(LargerWhole, "unveil.example/1", "An example.")
    assert schema["properties"]["share"] == {"description": "The share of rows.", "type": ["number", "null"]}
    assert "last" in schema["required"]


def test_a_figure_of_an_inner_object_has_its_value_and_its_type() -> None:
    whole = LargerWhole(rows=1, part=Part(name="a", size=0.5))
    told = json_of(whole)
    assert (told["size"], told["deep"], told["version"]) == (0.5, 4, __version__)
    schema = schema_of(LargerWhole, "unveil.example/1", "An example.")["properties"]
    assert schema["size"] == {"description": "The size of its part.", "type": ["number", "null"]}
    assert schema["deep"] == {"description": "How many there are.", "type": "integer"}
    assert schema["version"]["type"] == "string"
