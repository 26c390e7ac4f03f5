"""Attribute inference by the best attacker, selected and tested on different people."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.attacks._listing import attack
from unveil.attacks.table import _guessers, _secrets
from unveil.attacks.table._guessers import ADVERSARIES, Adversary
from unveil.attacks.table._guessing_case import GuessingCase, LearnMeasureRows, as_many, by_lot
from unveil.attacks.table._guessing_search import LEAST_LEARNING, Search, SearchedGuesses
from unveil.errors import InputError, whole_number
from unveil.guesses.trials import Trials

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.release import Knowledge


@attack(
    source="unveil: a search over the attackers of Inference",
    example="secret=vote,known=age,education",
    knows=("known",),
)
@dataclass(frozen=True, kw_only=True)
class SearchedInference:
    """Select the best inference attack on some people; test it on the rest.

    Two questions have two best attackers. *Is the sensitive value remembered?* asks for the one that is correct most
    often about people in the data beyond what it reaches on others; *how well can it be guessed?* for the one that is
    correct most often. `search` answers both; `run` leaves the first. Tried are all attackers of `Inference` with all
    quasi-identifiers, and "nearest" and "agreement" also with fewer: columns are taken away one after the other, and
    one to five are put together, each time so that the excess over the comparison, less its standard error, is highest.
    Learners are tried with all columns only. No person who is measured has any part in the choice. The two are swapped
    only to measure a rate on everyone (``folds``), never for a test.

    With fewer than 100 people to learn from on either side nothing is chosen: "agreement" with all columns memorizes.

    Without a control an attacker is chosen by what it does better than the same one taught by other people of the
    original, in as many rows as the release has. What the release tells beyond whoever is best when taught by them
    (``taught``) is memory. That is a lower bound, as no release keeps all that others tell.

    Attributes
    ----------
    secret, known, tolerance
        As in `Inference`.
    adversaries
        Who is tried; those who cannot be run are left out with a note, unless no person is left.
    targets
        How many people of either table are measured at most, and on how many more the choice is made; None = all.

    most_rows
        How many rows a learner sees at most, drawn by what they hold.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table.release import Knowledge
    >>> from unveil.data.table import Table
    >>> def people(seed):
    ...     draw = np.random.default_rng(seed)
    ...     return Table.from_frame(pl.DataFrame({"a": draw.integers(0, 40, 400), "b": draw.integers(0, 40, 400),
    ...         "noise": draw.normal(size=400), "ill": draw.choice(["flu", "gout", "none"], 400)}))
    >>> inside = people(1)
    >>> noisy = inside.frame.with_columns(noise=people(2).frame["noise"])
    >>> attack = SearchedInference(secret="ill", known=("a", "b", "noise"), adversaries=("nearest",))
    >>> found = attack.search(released=Table.from_frame(noisy), knowledge=Knowledge(inside, people(3)),
    ...     rng=np.random.default_rng(1))
    >>> found.remembered.known, round(found.remembered.trials.attack.expected / found.remembered.trials.attack.tries, 2)
    (('a', 'b'), 0.94)
    """

    secret: str
    known: tuple[str, ...]
    tolerance: float = 0.05
    adversaries: tuple[Adversary, ...] = ADVERSARIES
    targets: int | None = 500
    most_rows: int = _guessers.MOST_ROWS

    def __post_init__(self) -> None:
        known = _secrets.check_settings(self.secret, self.known, self.tolerance, self.targets)
        object.__setattr__(self, "known", known)
        whole_number(self.most_rows, "most_rows")
        told = (self.adversaries,) if isinstance(self.adversaries, str) else tuple(self.adversaries)
        if not told or not set(told) <= set(ADVERSARIES):
            raise InputError(
                f"Unknown attackers among the {len(told)} given. Use at least one of: "
                f"{', '.join(map(repr, ADVERSARIES))}"
            )
        object.__setattr__(self, "adversaries", told)

    def run(self, *, released: "Table", knowledge: "Knowledge", rng: np.random.Generator) -> Trials:
        """Return the success of the attacker with the most memorization.

        The same ``rng`` and the same rows, in whatever order, give the same numbers. The notes name who was chosen.

        Raises
        ------
        InputError
            As `Inference` does, and where none of the attackers can be run.
        """
        found = self.search(released=released, knowledge=knowledge, rng=rng)
        chosen = found.remembered
        how = f"chosen on {sum(found.learned_from)} other people" if any(found.learned_from) else "fixed in advance"
        note = f"{how}: {chosen.adversary} by {', '.join(chosen.known)}, compared with {found.compared_with}"
        return replace(chosen.trials, notes=(note, *found.notes))

    def search(
        self,
        *,
        released: "Table",
        knowledge: "Knowledge",
        rng: np.random.Generator,
        parts: LearnMeasureRows | None = None,
        cross_fit: bool = False,
    ) -> SearchedGuesses:
        """Return the most memorizing and the best attacker, with test results.

        ``parts`` says who is learned from and who is measured; without it that is drawn at random. Where there is no
        control, everyone who is in neither part teaches. ``cross_fit`` also measures those who are learned from.
        """
        if parts is None:
            parts = self._parts(knowledge, rng)
        if knowledge.control is None:
            released, teachers = as_many(released, knowledge.records, parts, rng)
            case = GuessingCase.of(self, released, knowledge, parts, teachers)
        else:
            case = GuessingCase.of(self, released, knowledge, parts, None)
        return Search(self, case).found(cross_fit=cross_fit)

    def _parts(self, knowledge: "Knowledge", rng: np.random.Generator) -> LearnMeasureRows:
        """Return random training and test parts of both tables."""
        inside = by_lot(knowledge.records, rng)
        most = inside.size if self.targets is None else self.targets
        if knowledge.control is None:
            fifth = min(inside.size // 5, most)
            learning, measured = inside[:fifth], inside[fifth : 2 * fifth]
            if fifth < LEAST_LEARNING:
                learning, measured = inside[:0], inside[: max(fifth, 1)]
            return LearnMeasureRows((learning, learning), (measured, measured))
        outside = by_lot(knowledge.control, rng)
        learn = min(outside.size // 2, inside.size // 2, most)
        learn = learn if learn >= LEAST_LEARNING else 0
        return LearnMeasureRows(
            (inside[:learn], outside[:learn]), (inside[learn : learn + most], outside[learn : learn + most])
        )
