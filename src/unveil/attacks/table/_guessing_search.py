"""Search for the best inference attack: selected on training, measured on test people."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from unveil._kernels.neighbours.best_rows import RightRanks, RowScores, best_row_chances, by_agreement, by_distance
from unveil._kernels.neighbours.guesses import guess_chances as chances_by_weight
from unveil._kernels.neighbours.index import EVERY, IntegerGrid
from unveil._kernels.threads import side_by_side
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.table import _guessers, _secrets
from unveil.attacks.table._guessers import BY_ROWS, Adversary
from unveil.attacks.table._guessing_case import GuessingCase, TrainingRows
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.attacks.table.searched_inference import SearchedInference

ComparedWith = Literal["control", "other people"]
#: With fewer people to learn from on either side nothing is chosen.
LEAST_LEARNING = 100
#: Who memorizes and who guesses where nothing may be chosen; the first that can be run.
_IN_ADVANCE: tuple[tuple[Adversary, ...], tuple[Adversary, ...]] = (
    ("agreement", "nearest"),
    ("boosting", "counts", "nearest"),
)
#: How many columns are gone through one by one; of more a quarter is dropped at a time.
_ONE_BY_ONE = 8
_MOST_GROWN = 5
#: With more columns than this fewer sets of them are tried.
_WIDE = 40
#: Sets of columns are compared on this many pairs of a person and a released row at most, on either side.
_MOST_PAIRS = 2**21
#: With more released rows, people are not compared with each of them.
MOST_SEARCHED = 50_000


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenGuesser:
    """One attacker with its columns, and its results on test people.

    ``others`` is what the same attacker reaches on the same people when taught by other people of the original, where
    that takes the place of a control.
    """

    adversary: Adversary
    known: tuple[str, ...]
    trials: Trials
    others: Attempts | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchedGuesses:
    """Results of a search over attackers and quasi-identifiers.

    Attributes
    ----------
    remembered
        Whoever does most of all better on people in the data than the comparison.
    guessed
        Whoever is right about most people in the data.
    alone
        An attacker who knows one column only, the most telling one, and says what is likeliest; None where nothing was
        chosen.
    compared_with
        What tells memory from what holds for everyone: people of the control, or an attacker taught by other people of
        the original.
    learned_from
        On how many people of either side the choice was made; 0 where it was made in advance.
    taught
        Without a control, whoever of all tried is correct most often when taught by other people of the original: its
        ``others`` are what a release must exceed. The one who memorizes most may be poor when taught by others only
        because the release says less, and then its excess is no memory. None where there is a control.
    folds
        Trials of who memorizes most in which each person is measured once, by a guesser chosen on other people: first
        on the people measured, then on those who were learned from, by who is chosen on the people measured. One fold
        with everyone where the choice was made in advance; none unless asked for.
    notes
        What a reader should know, such as attackers that could not be run.
    """

    remembered: ChosenGuesser
    guessed: ChosenGuesser
    alone: ChosenGuesser | None
    compared_with: ComparedWith
    learned_from: tuple[int, int]
    taught: ChosenGuesser | None = None
    folds: tuple[Trials, ...] = ()
    notes: tuple[str, ...] = ()


class _GuesserTrial(NamedTuple):
    """One guesser's excess and success on the training people.

    ``by_others`` is how often it is correct under the other teacher, or about the other people. All are less their
    standard errors.
    """

    adversary: Adversary
    columns: IntArray
    worth: float
    rate: float
    by_others: float = -inf


class Search:
    """Selection on the training people, and results on the test people."""

    def __init__(self, asked: "SearchedInference", case: GuessingCase) -> None:
        self.case, self.asked = case, asked
        self.notes = list(case.notes)
        self.every = np.arange(len(case.names))
        coarse = any(taught.encoded.cells is not None for taught in case.taught)
        several = any(taught.teacher.secrets.draws is not None for taught in case.taught)
        #: Who can be tried with any columns: whoever goes by single values of rows.
        self.by_rows = [
            who for who in BY_ROWS if who in asked.adversaries and not several and not (coarse and who == "nearest")
        ]
        #: The chances of everyone under each teacher, by each other attacker that was run, with all columns.
        self.whole: dict[Adversary, list[FloatArray]] = {}
        self.failures: dict[Adversary, InputError] = {}
        if max(taught.teacher.known.size for taught in case.taught) > MOST_SEARCHED:
            self.by_rows = []
            why = f"comparing each person with each row, or with fewer columns, stops above {MOST_SEARCHED:,} rows"
            self.failures["agreement"] = InputError(why)

    def found(self, *, cross_fit: bool = False) -> SearchedGuesses:
        sizes, alone = tuple(each.size for each in self.case.learning), None
        if min(sizes):
            tried = self._compared()
            if tried:
                alone = self._alone()
        else:
            sizes, tried = (0, 0), self._in_advance()
        if not tried:
            raise next(iter(self.failures.values()))
        best = max(tried, key=lambda one: one.worth)
        remembered = self._measured(best)
        return SearchedGuesses(
            folds=self._folds(best, remembered) if cross_fit and not self.case.is_paired else (),
            remembered=remembered,
            guessed=self._measured(max(tried, key=lambda one: one.rate)),
            alone=None if alone is None else self._measured(alone),
            compared_with="other people" if self.case.is_paired else "control",
            learned_from=sizes,  # type: ignore[arg-type]
            taught=self._taught(remembered, [max(tried, key=lambda one: one.by_others), alone]),
            notes=(*self.notes, *self._left_out()),
        )

    def _compared(self) -> list[_GuesserTrial]:
        """Return all trials on the training people, reusing earlier runs."""
        others = [who for who in dict.fromkeys(self.asked.adversaries) if who not in (*self.by_rows, *self.whole)]
        # The longest first, as each may be the last that others wait for.
        found = side_by_side(
            *(partial(self._with_columns, who) for who in self.by_rows),
            *(partial(self._run, who) for who in others),
        )
        for who, ran in zip(others, found[len(self.by_rows) :], strict=True):
            self._note(who, ran)
        tried = [self._tried(who, self.every, *self._of(self.case.learning, own)) for who, own in self.whole.items()]
        return [*tried, *chain(*found[: len(self.by_rows)])]

    def _in_advance(self) -> list[_GuesserTrial]:
        """Return the fixed attackers, where nothing may be selected."""
        ranked = [
            [*(who for who in first if who in self.asked.adversaries), *self.asked.adversaries] for first in _IN_ADVANCE
        ]
        firsts = [next((who for who in each if self._can(who)), None) for each in ranked]
        # Their worth and rate stand for their names: who comes first among those that can be run.
        return [
            _GuesserTrial(who, self.every, float(who == firsts[0]), float(who == firsts[1]))
            for who in dict.fromkeys(firsts)
            if who is not None
        ]

    def _folds(self, best: _GuesserTrial, remembered: ChosenGuesser) -> tuple[Trials, ...]:
        """Return trials of everyone: training and test people swap."""
        learning, measured = self.case.learning, self.case.measured
        other = copy(self)
        if not min(each.size for each in learning):
            inside, outside = (np.concatenate(side) for side in zip(measured, learning, strict=True))
            other.case = self.case._replace(measured=(inside, outside))
            return (other._measured(best).trials,)
        if not min(each.size for each in measured):
            return ()
        other.case = self.case._replace(learning=measured, measured=learning)
        return remembered.trials, other._measured(max(other._compared(), key=lambda one: one.worth)).trials

    def _left_out(self) -> Iterator[str]:
        """Yield who could not be tried, and why, each reason once."""
        for why in dict.fromkeys(map(str, self.failures.values())):
            yield f"{' and '.join(who for who, error in self.failures.items() if str(error) == why)} left out: {why}"

    def _can(self, adversary: Adversary) -> bool:
        """Return whether the attacker runs with all columns."""
        if adversary not in (*self.by_rows, *self.whole, *self.failures):
            self._note(adversary, self._run(adversary))
        return adversary not in self.failures

    def _run(self, adversary: Adversary) -> "list[FloatArray] | InputError":
        """Return all chances per training set, or why there are none."""
        if adversary in self.failures:
            return self.failures[adversary]
        try:
            return [self._whole(adversary, taught) for taught in self.case.taught]
        except InputError as error:
            return error

    def _note(self, adversary: Adversary, ran: "list[FloatArray] | InputError") -> None:
        if isinstance(ran, InputError):
            self.failures[adversary] = ran
            return
        self.whole[adversary] = ran
        for taught in self.case.taught:
            self.notes += _guessers.notes_on_rows(adversary, taught.teacher.known.size, self.asked.most_rows)

    def _whole(self, adversary: Adversary, taught: TrainingRows) -> FloatArray:
        """Return each person's chance with all columns."""
        teacher, people = taught.teacher, self.case.people
        if adversary == "nearest" and (taught.encoded.cells is not None or teacher.secrets.draws is not None):
            around, boxes = _secrets.surroundings(taught.encoded, people)
            weight = np.zeros(around.copies.size) if boxes is None else boxes.log_weight
            return chances_by_weight(around, weight, teacher.secrets, *taught.right[1:], 1).chance
        if teacher.secrets.draws is not None:
            raise InputError(f"{adversary} learns from single values of the sensitive attribute, and some are ranges")
        return _guessers.guess_chances(adversary, teacher, people, taught.right, most_rows=self.asked.most_rows)

    def _of(self, part: tuple[IntArray, IntArray], chances: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
        return chances[0][part[0]], chances[-1][part[1]]

    def _tried(self, adversary: Adversary, columns: IntArray, inside: FloatArray, outside: FloatArray) -> _GuesserTrial:
        # What is chosen among many for its value alone is often chosen for its luck.
        rate, by_others = (float(each.mean() - each.std() / np.sqrt(each.size)) for each in (inside, outside))
        return _GuesserTrial(
            adversary, columns, _worth(inside, outside, is_paired=self.case.is_paired), rate, by_others
        )

    def _with_columns(self, adversary: Adversary) -> list[_GuesserTrial]:
        """Return all columns, and the best subsets of each size."""
        score = by_distance if adversary == "nearest" else by_agreement
        most = max(LEAST_LEARNING, _MOST_PAIRS // max(each.teacher.known.size for each in self.case.taught))
        sides = []
        for taught, some in self.case.sides(self.case.learning):
            people = _take(self.case.people, some[:most])
            sides.append((score(taught.teacher.known.block(EVERY), people), taught.of(some[:most])))
        held = self.every
        found = self._each(adversary, sides, held[:-1], held[-1:])
        while held.size > 1:
            tried = self._each(adversary, sides, held, held, taken_away=True)
            order = np.argsort([-one.worth for one in tried], kind="stable")
            found.append(tried[order[0]])
            # In wide tables more at a time: each step compares everyone with each row in each column.
            several = held.size // (2 if held.size > _WIDE else 4)
            held = np.delete(held, order[: 1 if held.size <= _ONE_BY_ONE else several])
        held, others = self.every[:0], self.every
        while held.size < min(_MOST_GROWN, self.every.size - 1):
            tried = self._each(adversary, sides, held, np.setdiff1d(others, held))
            if others.size > _WIDE:  # of many columns, those that tell most alone
                order = np.argsort([-one.worth for one in tried], kind="stable")
                others = np.sort(np.concatenate([tried[at].columns for at in order[:_WIDE]]))
            best = max(tried, key=lambda one: one.worth)
            found.append(best)
            held = best.columns
        return found

    def _each(
        self,
        adversary: Adversary,
        sides: "Sequence[tuple[RowScores, RightRanks]]",
        held: IntArray,
        tried: IntArray,
        *,
        taken_away: bool = False,
    ) -> list[_GuesserTrial]:
        both = [best_row_chances(scores, right, held, tried, taken_away=taken_away) for scores, right in sides]
        change: Callable[[IntArray, IntArray], IntArray] = np.setdiff1d if taken_away else np.union1d
        return [
            self._tried(adversary, change(held, tried[at : at + 1]), both[0][:, at], both[1][:, at])
            for at in range(tried.size)
        ]

    def _alone(self) -> _GuesserTrial | None:
        """Return the best single column, by counts, for members and controls."""
        if "counts" not in self.whole:
            return None
        people, taught = np.unique(np.concatenate(self.case.learning)), self.case.taught[0]
        alone = _guessers.chances_alone(taught.teacher, _take(self.case.people, people), taught.of(people))
        rates = [float(each.mean()) for each in alone]
        return _GuesserTrial("counts", np.array([np.argmax(rates)]), 0.0, max(rates))

    def _taught(self, remembered: ChosenGuesser, more: "Sequence[_GuesserTrial | None]") -> ChosenGuesser | None:
        """Return the best attacker trained on other original people."""
        if not self.case.is_paired or remembered.others is None:
            return None
        every = [remembered, *(self._measured(each) for each in more if each is not None)]
        return max(every, key=lambda who: 0.0 if who.others is None else who.others.expected)

    def _measured(self, chosen: _GuesserTrial) -> ChosenGuesser:
        """Return the selected attacker's results on the test people."""
        case, columns = self.case, chosen.columns
        if columns.size == self.every.size and chosen.adversary in self.whole:
            chances = self._of(case.measured, self.whole[chosen.adversary])
        else:
            chances = tuple(  # type: ignore[assignment]
                _guessers.guess_chances(
                    chosen.adversary,
                    replace(taught.teacher, known=taught.teacher.known.on_columns(columns)),
                    _take(case.people, some).on_columns(columns),
                    taught.of(some),
                )
                for taught, some in case.sides(case.measured)
            )
        inside, outside = case.measured
        rows = case.rows[0][inside], case.rows[1][outside - (0 if case.is_paired else case.rows[0].size)]
        compared = Attempts.from_chances(chances[1], rows=rows[1]) if outside.size else None
        own = case.taught[0]
        blind = _secrets.blind_chances(
            own.teacher.secrets,
            _secrets.SecretTruth(rows[0], rows[0], *own.of(inside)[1:]),
            likeliest=chosen.adversary not in BY_ROWS,
        )
        return ChosenGuesser(
            adversary=chosen.adversary,
            known=tuple(case.names[column] for column in columns),
            trials=Trials(
                attack=Attempts.from_chances(chances[0], rows=rows[0]),
                naive=Attempts.from_chances(blind, rows=rows[0]),
                control=None if case.is_paired else compared,
                what=case.what,
            ),
            others=compared if case.is_paired else None,
        )


def _take(people: IntegerGrid, some: IntArray) -> IntegerGrid:
    return people._replace(numbers=people.numbers[some], codes=people.codes[some])


def _worth(inside: FloatArray, outside: FloatArray, *, is_paired: bool) -> float:
    """Return the excess minus its standard error."""
    left = 1 - float(outside.mean())
    if left <= 0:
        return -inf
    if is_paired:
        error = float((inside - outside).std()) / np.sqrt(inside.size)
    else:
        error = np.sqrt(float(inside.var()) / inside.size + float(outside.var()) / outside.size)
    return float((inside.mean() - outside.mean() - error) / left)
