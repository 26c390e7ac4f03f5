"""Tables and charts of a page as files: what is in them, compared with what the page holds."""

import csv
import io
import struct

import numpy as np
import polars as pl
import pytest

from unveil.report.blocks import Block, Chart, Page, Playground, Rings, Section, Series, TableBlock
from unveil.report.blocks_spread import BoxRows, HeatMap, box_of
from unveil.report.export import figures_of, tables_of

LINE = Series(name="linked", x=np.array([0.0, 1.0]), y=np.array([0.4, 1.0]), style="first")
CHART = Chart(title="How fast?", x_label="mergings", y_label="share", series=(LINE,))
RINGS = Rings(
    title="Who is found", caption="", description="", level=np.array([0, 1]), levels=("high", "unknown"),
    struck=np.array([True, False]), struck_name="hit",
)  # fmt: skip
BOXES = BoxRows(title="Spread", x_label="score", rows=(box_of("a", [0.1, 0.2, 0.3]),))
COLUMNS = tuple((str(number),) for number in range(30))
HEAT = HeatMap(
    title="Heat", rows=("r",), columns=COLUMNS, levels=("case",), values=np.linspace(0, 1, 30)[None], value_label="v"
)
GRID = Playground(sliders=(), outputs=(), sentence="", chart=CHART, data={}, script="partition")


def page_of(*sections: Section, picture: tuple[Block, ...] = ()) -> Page:
    return Page(title="T", question="Q", headline="H", tone="bad", sections=sections, picture=picture)


def told(*blocks: Block, data: tuple[Block, ...] = ()) -> Section:
    return Section(heading="S", lead="", blocks=blocks, data=data)


def table_of(caption: str, *rows: tuple[str, ...]) -> TableBlock:
    return TableBlock(caption=caption, columns=("=name", "a, b"), rows=rows, align=("left", "right"))


def test_every_cell_of_every_table_is_there_and_none_is_a_formula() -> None:
    cells = [("Ada", "1"), ('say "x", y', "-5"), ("@bob", "+1 or more"), ("two\nlines", "'-x")]
    rows = tuple(cells[at % 4] for at in range(250))  # a page shows 100
    (file,) = tables_of(page_of(told(table_of("T", *rows)))).values()
    safe = {"@bob": "'@bob", "+1 or more": "'+1 or more", "two\nlines": r"two\nlines", "'-x": "''-x"}
    expected = [["'=name", "a, b"], *([safe.get(cell, cell) for cell in row] for row in rows)]
    assert list(csv.reader(io.StringIO(file.decode(), newline=""))) == expected
    assert pl.read_csv(file).height == 250


def test_files_are_named_in_the_order_of_the_page() -> None:
    first = told(table_of("x" * 99), BOXES, data=(HEAT, table_of("How it was made?")))
    named = tables_of(page_of(first, picture=(table_of("À la…"),)))
    assert list(named) == [
        "01-la.csv", f"02-{'x' * 60}.csv", "03-spread-score.csv", "04-heat-v-by-case.csv", "05-how-it-was-made.csv"
    ]  # fmt: skip
    # All values of a heat map, where the page has means.
    assert len(named["04-heat-v-by-case.csv"].splitlines()[1].split(b",")) == 1 + 30


def test_every_chart_is_drawn_in_three_formats_and_always_the_same() -> None:
    page = page_of(told(GRID, BOXES, HEAT), picture=(RINGS, table_of("T")))
    files = figures_of(page)
    names = ("01-who-is-found", "02-how-fast", "03-spread", "04-heat")
    assert list(files) == [f"{name}.{ending}" for name in names for ending in ("svg", "pdf", "png")]
    for name in names:
        assert b"</svg>" in files[f"{name}.svg"][-10:]
        assert files[f"{name}.pdf"].startswith(b"%PDF-")
        width, height = struct.unpack(">II", files[f"{name}.png"][16:24])
        assert min(width, height) > 300
    assert figures_of(page) == files


@pytest.mark.parametrize("made", [tables_of, figures_of])
def test_a_page_without_any_has_no_files(made: object) -> None:
    assert made(page_of()) == {}  # type: ignore[operator]
