"""An attack is a frozen dataclass of settings with one method, ``run``, which leaves a guess."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil import Candidates, Knowledge, Table


@dataclass(frozen=True, kw_only=True)
class SameValues:
    """An adversary who knows some columns, and takes all people for candidates who would be rounded to the same."""

    columns: tuple[str, ...]
    to: float = 10.0

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:  # noqa: ARG002
        """Return the candidates of each released row, all alike; one whom nobody fits has none."""
        known = [self._rounded(knowledge.records, name) for name in self.columns]
        shown = [self._rounded(released, name) for name in self.columns]
        fits = [_rows_that_are(known, [column[row] for column in shown]) for row in range(released.rows)]
        start = np.cumsum([0, *map(len, fits)])
        shares = [np.full(len(each), 1 / len(each)) for each in fits if len(each)]
        return Candidates(start, np.concatenate(fits), np.concatenate([np.empty(0), *shares]))

    def _rounded(self, table: Table, name: str) -> NDArray[Any]:
        values = table.frame[name]
        return np.asarray((values / self.to).round() if table.column(name).kind == "number" else values)


def _rows_that_are(columns: list[NDArray[Any]], values: list[Any]) -> NDArray[np.intp]:
    return np.flatnonzero(np.all([column == value for column, value in zip(columns, values, strict=True)], axis=0))
