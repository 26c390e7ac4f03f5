"""Bayes attack: re-identification by an attacker who knows the masking method."""

from dataclasses import dataclass, field

import numpy as np

from unveil.attacks._listing import attack
from unveil.attacks.table._scores import MOST_ENTRIES, check_mechanism, check_share, drawn_tables, shared_columns
from unveil.attacks.table.record_linkage import check_settings
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates
from unveil.guesses.posterior import record_level_truth


@attack(
    source='Torra and Stokes, "A formalization of re-identification in terms of compatible probabilities", 2013',
    aka=("posterior", "transparency-attack"),
)
@dataclass(frozen=True, kw_only=True)
class Bayes:
    """Apply Bayes' rule with the masking method and every original row.

    An original row is trusted in proportion to the chance, or density, with which the method makes the released row
    from it; beforehand all are as likely. That is the true probability at the level of one record, so no attack on one
    released row alone can do better on average. It does not use that no two released rows come from one person.

    Parameters
    ----------
    mechanism
        What the masking method says about its own output, ``release.mechanism``. It must be passed before the attack is
        run; a release made elsewhere has none.
    columns
        The columns that the attacker sees; None for all that the mechanism speaks of.
    least
        Candidates whose probability is less than this share of the target's largest are left out.
    targets
        How many released rows are attacked, drawn at random; None for all.

    Examples
    --------
    >>> import polars as pl
    >>> class Doubled:
    ...     def log_likelihood(self, original, released, rows):
    ...         before, after = (table.frame["age"].to_numpy() for table in (original, released))
    ...         with np.errstate(divide="ignore"):
    ...             return np.log(after[rows][:, None] == 2 * before)
    >>> original = Table.from_frame(pl.DataFrame({"age": [30, 31, 30]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [60, 62, 60]}), name="released")
    >>> attack = Bayes(mechanism=Doubled())
    >>> attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1)).probability
    array([0.5, 0.5, 1. , 0.5, 0.5])
    """

    # Not shown: a mechanism may hold values of the original.
    mechanism: Mechanism | None = field(default=None, repr=False)
    columns: tuple[str, ...] | None = None
    least: float = 0.0
    targets: int | None = None

    def __post_init__(self) -> None:
        check_settings(self.columns, 1, self.targets)
        check_mechanism(self.mechanism)
        check_share("least", self.least)

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Candidates:
        """Return the probability of each original row; ``rng`` draws targets."""
        if self.mechanism is None:
            raise InputError(
                "Bayes' rule needs the masking method, but no mechanism was passed. "
                "Pass Bayes(mechanism=release.mechanism), or choose an attack that needs none"
            )
        original, masked = shared_columns(knowledge.records, released, self.columns)
        masked, drawn = drawn_tables(masked, self.targets, rng)
        guess = record_level_truth(self.mechanism, original, masked, most_entries=MOST_ENTRIES, at_least=self.least)
        if drawn is None:
            return guess
        return Candidates(guess.start, guess.candidate, guess.probability, targets=drawn)
