"""Settle all columns of a table: one by one first, then those whose codes may have an order that the others show."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.data.table.dictionaries import Dictionary, settled_by
from unveil.data.table.forms import text_of
from unveil.data.table.kinds import Settled, ToldKind, settle
from unveil.data.table.order_test import ORDERS, OrderTest, features_of, order_test, rows_for_test
from unveil.data.table.rules import Confidence
from unveil.data.table.words import MarkerKind

if TYPE_CHECKING:
    import polars as pl


def settled_columns(
    columns: "list[tuple[pl.Series, str]]",
    kinds: Mapping[str, ToldKind],
    markers: Mapping[str, Mapping[str, MarkerKind]],
    dictionary: Dictionary | None,
    table: str,
) -> tuple[list[Settled], tuple[str, ...]]:
    """Return all columns of a table in the forms of their kinds, and what the dictionary does not agree with.

    Parameters
    ----------
    columns
        The columns as they came in, each with a remark on its cells; the list is empty afterwards, so that each column
        of text can go as soon as it is read.
    kinds, markers
        Kinds that were told, and texts that were told to be markers in each column.
    dictionary
        What is known of the columns from elsewhere.
    table
        How messages call the table.
    """
    names = [series.name for series, _ in columns]
    settled, notes = [], [] if dictionary is None else dictionary.notes_on(names, table)
    columns.reverse()
    while columns:
        series, remark = columns.pop()
        entry = None if dictionary is None else dictionary.columns.get(series.name)
        told = markers[series.name]
        if series.name in kinds:
            one = settle(series, told=kinds[series.name], markers=told, table=table)
        elif dictionary is not None and entry is not None:
            one, said = settled_by(entry, series, told, dictionary, table)
            notes += said
        else:
            one = settle(series, markers=told, remark=remark, table=table)
        del series
        settled.append(one)
    return _with_order(settled), tuple(notes)


def _with_order(settled: Sequence[Settled]) -> list[Settled]:
    """Return the columns, those codes being ordered whose order shows in other columns."""
    if all(each.codes is None for each in settled):
        return list(settled)
    import polars as pl

    columns = {str(place): each.values if each.codes is None else each.codes for place, each in enumerate(settled)}
    frame = pl.DataFrame(columns)
    rows = rows_for_test(frame)
    frame = frame if rows is None else frame[rows]
    parts = features_of(frame.get_columns())
    tested = []
    for place, each in enumerate(settled):
        if each.codes is not None:
            codes = frame[str(place)]
            others = [part for at, part in enumerate(parts) if at != place]
            if codes.n_unique() - bool(codes.null_count()) > 2:
                each = _ordered_by(each, order_test(codes, np.column_stack([np.empty((codes.len(), 0)), *others])))
        tested.append(each)
    return tested


def _ordered_by(column: Settled, test: OrderTest) -> Settled:
    if not test.is_ordered or column.codes is None:
        return column
    low, high = (text_of(column.codes.sort().drop_nulls())[end] for end in (0, -1))
    reason = (
        f"codes {low} to {high}, and other columns rise or fall along them ({test.share:.0%} of what the codes "
        f"tell goes one way, and of {ORDERS} other orders {test.as_good} do as well)"
    ).replace("%", " %")
    confidence: Confidence = "unsure" if test.codes == 3 else "likely"
    return replace(column, values=column.codes, kind="ordered", reason=reason, confidence=confidence)
