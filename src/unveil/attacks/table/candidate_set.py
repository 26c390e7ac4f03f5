"""Candidate sets: original rows compatible with a released row."""

from dataclasses import dataclass, field

import numpy as np

from unveil.attacks._listing import attack
from unveil.attacks.table._candidate_boxes import (
    MOST_MEMBERS,
    CandidateSets,
    beliefs_of_sets,
    empty_rows,
    fits_of,
    sets_of,
)
from unveil.attacks.table._scores import check_mechanism, shared_columns
from unveil.attacks.table.record_linkage import check_settings
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError, NobodyFitsError
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.posterior import record_level_truth


@attack(
    source='Torra and Stokes, "A formalization of re-identification in terms of compatible probabilities", 2013, '
    "Examples 8, 9 and 11",
    aka=("candidates", "k-anonymity-attack"),
)
@dataclass(frozen=True, kw_only=True)
class CandidateSet:
    """Return all compatible original rows, with no preference among them.

    All belief is on the set of the original rows that fit the released one in every column. With a ``mechanism`` these
    are the rows that can have become this released one by it. Without, a released cell fits an original one by these
    rules:

    * a missing released cell, or one that was suppressed such as ``*``, fits anything;
    * a missing original cell fits only those, because masking leaves what is missing as it is (where it does not, as
      in classes with some values missing, pass the mechanism);
    * a number, date or ordered value fits what is at most ``reach`` standard deviations away: by default, equal;
    * a cell that stands for several values fits each of them, as :func:`~unveil.data.table.agree` reads it: ``20-29``,
      ``[20, 30)``, ``65+``, ``021**``, ``{Bonn,Ulm}``, a label of a hierarchy;
    * a category, text or truth value fits its equal.

    The guess is valid if the set holds every row that is possible under the masking used, so with fewer columns it
    stays valid. Where released numbers are means of groups, they fit no person without the mechanism.

    Parameters
    ----------
    columns
        The columns that the attacker sees, any of those that both tables have; None for all with the role known.
    reach
        How far a number may have moved, in standard deviations of the original column.
    mechanism
        What the masking method says about its own output, ``release.mechanism``.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [25, 31, 25], "town": ["Ulm", "Bonn", "Kiel"]})
    >>> original = Table.from_frame(people, name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [25, 31], "town": ["Bonn | Kiel", None]}), name="released")
    >>> for columns in (("age",), ("age", "town")):
    ...     attack = CandidateSet(columns=columns)
    ...     guess = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    ...     print([mass.sets for mass in guess.each])
    [(array([0, 2]),), (array([1]),)]
    [(array([2]),), (array([1]),)]
    """

    columns: tuple[str, ...] | None = None
    reach: float = 0.0
    # Not shown: a mechanism may hold values of the original.
    mechanism: Mechanism | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, None)
        check_mechanism(self.mechanism)
        if not np.isfinite(self.reach) or self.reach < 0:
            raise InputError(f"reach is {self.reach}; it must be a finite number of at least 0. Pass such a number")

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:  # noqa: ARG002
        """Return beliefs in each released row's candidate set.

        ``rng`` is not needed.
        """
        original = knowledge.records
        names = self._names(original, released)
        if self.mechanism is not None:
            one, other = shared_columns(original, released, names)
            possible = record_level_truth(self.mechanism, one, other, most_entries=MOST_MEMBERS)
            sets = CandidateSets(possible.start, possible.candidate, np.arange(other.rows))
        else:
            sets = sets_of([fits_of(original, released, name, self.reach) for name in names])
            self._refuse_empty(sets, released)
        return beliefs_of_sets(original.rows, sets)

    def _names(self, original: Table, released: Table) -> tuple[str, ...]:
        if self.columns is not None:
            for table in (original, released):
                for name in self.columns:
                    table.column(name)
            return self.columns
        have = set(released.column_names)
        names = tuple(column.name for column in original.columns if column.role == "known" and column.name in have)
        if not names:
            raise InputError(
                f"the {original.name} and the {released.name} share no quasi-identifier. Name the columns to compare"
            )
        return names

    def _refuse_empty(self, sets: CandidateSets, released: Table) -> None:
        empty = empty_rows(sets)
        if empty.size:
            raise NobodyFitsError(
                f"{empty.size} of {released.rows} rows of the {released.name} fit no original row. The first "
                f"is row {int(empty[0]) + 1} (counted from 1 below the "
                "header), so values were changed. Leave out such columns, raise reach, or pass the mechanism",
                empty,
            )
