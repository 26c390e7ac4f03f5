"""A table as a picture: what stands in it, and the same in matplotlib, in a terminal and as a file."""

import numpy as np
import pytest

from unveil.errors import InputError
from unveil.report.blocks import CellGrid, Page, grid_table
from unveil.report.draw.lines import draw
from unveil.report.export import tables_of
from unveil.report.page import render
from unveil.report.svg.figures import describe_cells, legend, svg_cells

LEVELS = ("shown", "kept", "narrow", "worked out")


def grid(rows: int = 2, columns: int = 4) -> CellGrid:
    level = np.arange(rows * columns).reshape(rows, columns) % 5 - 1
    names = tuple(f"column <{at}>" for at in range(columns))
    texts = tuple(tuple(str(at) for at in range(columns)) for _ in range(rows))
    return CellGrid(
        title="T", rows=tuple(f"r{at}" for at in range(rows)), columns=names, level=level, texts=texts, tips=texts,
        levels=LEVELS,
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 4), (3, 12), (1, 1), (0, 0)])
def test_every_cell_is_drawn_once(shape: tuple[int, int]) -> None:
    made = grid(*shape)
    text = svg_cells(made, identity="g")
    assert text.count("<rect") == (made.level >= 0).sum()
    assert "<0>" not in text
    assert len(legend(made, identity="g")) == len(set(made.level.ravel().tolist()) - {-1})
    assert describe_cells(made).startswith(f"{shape[0]} rows and {shape[1]} columns.")


def test_the_same_elsewhere() -> None:
    made = grid()
    assert [text.get_text() for text in draw(made).texts] == ["1", "2", "3", "0", "2", "3"]
    assert grid_table(made).rows[0] == ("r0", "0", "1", "2", "3 ~")
    page = Page(title="T", question="Q", headline="H", tone="good", sections=(), picture=(made,))
    assert "count-3" in render(page)
    assert list(tables_of(page)) == ["01-t.csv"]


def test_a_grid_without_a_level_for_each_cell_is_refused() -> None:
    with pytest.raises(InputError, match="Pass as many"):
        CellGrid(
            title="T", rows=("r",), columns=("c",), level=np.zeros((2, 2), np.int64), texts=(), tips=(), levels=LEVELS
        )
