"""Linkability with the links of anonymeter 1.1.0, for comparison with its numbers.

It also follows the package where :class:`unveil.attacks.Linkability` does better: distances are rounded floats, rows
at the same distance stand in the order in which a sort leaves them, and so the answer depends on the order of the
released rows. Two groups of columns that tell nothing link everybody.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Self

from unveil._kernels.types import BoolArray
from unveil.anonymeter.frames import column_groups, frames_of, sample_rows
from unveil.anonymeter.nearest_rows import ColumnGroup, link
from unveil.anonymeter.results import EvaluationResults, Evaluator, PrivacyRisk, not_evaluated
from unveil.errors import InputError, column_names, whole_number


class LinkabilityEvaluator(Evaluator):
    """Link two column sets of a person through the synthetic rows.

    Parameters
    ----------
    ori, syn, control
        Any DataFrames: original, synthetic, and people who are not in the original.
    aux_cols
        Two lists of columns; a column may be in both. Columns of integers and floats are compared by size, all others
        by equality.
    n_attacks
        How many people to attack; None attacks all. If there are fewer, all are attacked (the package stops).
    n_neighbors
        How many nearest synthetic rows of each list are compared; as in the package, no more than there are targets.

    Examples
    --------
    >>> import polars as pl
    >>> ori = pl.DataFrame({"age": [25, 30, 28], "income": [50, 60, 55]})
    >>> syn = pl.DataFrame({"age": [24, 31, 29], "income": [52, 62, 53]})
    >>> evaluator = LinkabilityEvaluator(ori, syn, (["age"], ["income"]), n_attacks=3, n_neighbors=1).evaluate()
    >>> evaluator.results().n_success, round(evaluator.risk().value, 3)
    (2, 0.573)
    """

    def __init__(
        self,
        ori: Any,
        syn: Any,
        aux_cols: tuple[Sequence[str], Sequence[str]],
        n_attacks: int | None = 500,
        n_neighbors: int = 1,
        control: Any = None,
    ) -> None:
        if isinstance(aux_cols, str | Mapping) or len(aux_cols) != 2:
            raise InputError("aux_cols must be two lists of columns. Write (['age', 'sex'], ['income'])")
        self._aux_cols = [[group] if isinstance(group, str) else list(group) for group in aux_cols]
        self._n_attacks = None if n_attacks is None else whole_number(n_attacks, "n_attacks")
        self._n_neighbors = whole_number(n_neighbors, "n_neighbors")
        columns = dict.fromkeys(name for group in self._aux_cols for name in group)
        self._syn, *self._people = frames_of(syn, ori, control, list(columns))

    def evaluate(self, n_jobs: int = -2) -> Self:  # noqa: ARG002
        """Attack people from numpy's global generator; ``n_jobs`` is unused."""
        for group in self._aux_cols:
            column_names(group, "aux_cols")
        rows = self._syn.height
        if self._n_neighbors > rows:
            raise InputError(
                f"n_neighbors must be at most the number of synthetic rows, but is {self._n_neighbors}, and there are "
                f"{rows}. Lower it to {rows} or less"
            )
        asked = self._people[0].height if self._n_attacks is None else self._n_attacks
        self._rows = [sample_rows(frame, min(asked, frame.height)) for frame in self._people]
        targets = [frame[drawn] for frame, drawn in zip(self._people, self._rows, strict=True)]
        groups = (column_groups(self._syn, targets, names) for names in self._aux_cols)
        self._groups: list[tuple[ColumnGroup, ColumnGroup]] = list(zip(*groups, strict=True))
        self._links: dict[int, list[BoolArray]] = {}
        self._count(self._n_neighbors)
        return self

    def results(self, confidence_level: float = 0.95, n_neighbors: int | None = None) -> EvaluationResults:
        """Return the success rates, optionally with fewer neighbors."""
        if self._counts is None:
            not_evaluated()
        k = self._n_neighbors if n_neighbors is None else n_neighbors
        self._count(whole_number(k, "n_neighbors", at_most=self._n_neighbors))
        return super().results(confidence_level)

    def risk(
        self, confidence_level: float = 0.95, baseline: bool = False, n_neighbors: int | None = None
    ) -> PrivacyRisk:
        """Return the risk with CI, or with ``baseline`` that of guessing."""
        return self.results(confidence_level, n_neighbors).risk(baseline)

    def _count(self, k: int) -> None:
        """Count the links through k neighbors, and the random expectation.

        The package draws its random rows anew in each run and cannot be seeded there: this is what it finds on average.
        """
        if k not in self._links:
            self._links[k] = [link(one, other, min(k, len(one.target_codes))) for one, other in self._groups]
        tries = [linked.size for linked in self._links[k]]
        hits = [int(linked.sum()) for linked in self._links[k]]
        rows, drawn = self._syn.height, min(k, tries[0])
        chance = 1 - prod(max(0, rows - drawn - i) / (rows - i) for i in range(drawn))
        control = hits[1] if len(hits) > 1 else None
        self._counts = (tries[0], tries[0], tries[-1]), hits[0], tries[0] * chance, control
