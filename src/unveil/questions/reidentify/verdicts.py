"""Validity of attacks: against the true probability, and each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction
from unveil.guesses.posterior import likelihood_of, record_level_truth
from unveil.metrics.beliefs.compatibility import MOST_PAIRS, compatibility
from unveil.metrics.beliefs.file_level import MATCHINGS, file_level_truth
from unveil.metrics.beliefs.sampled_truth import SampledTruth
from unveil.questions.reidentify.findings import Clash, Level, ValidityCounts
from unveil.questions.reidentify.read import ReleaseCase

Guess = Beliefs | Candidates

#: Pairs of a released and an original row for which the true probability is computed: beyond, some released rows are
#: drawn at the record level, and there is no verdict at the file level.
MOST_AT_RECORD_LEVEL = 25_000_000
MOST_AT_FILE_LEVEL = 2_000_000
#: Pairs in all programs of Definition 14 together, and in one of them at least: larger ones stay undecided.
_PAIRS_IN_ALL = 3_000_000
_PAIRS_AT_LEAST = 400

NO_MECHANISM = "how the release was made is not known, and with it the true probability is not"
NOT_SO_MADE = "the declared method cannot have made the file, so the true probability is unknown"


@dataclass(frozen=True, kw_only=True, eq=False)
class ValidGuess:
    """A guess about ``rows`` of the release, and rows without candidates."""

    rows: IntArray
    guess: Guess
    nobody: IntArray

    @property
    def bets(self) -> Candidates:
        """The guess as the probabilities to bet by."""
        return self.guess.to_candidates() if isinstance(self.guess, Beliefs) else self.guess

    @property
    def aimed_at(self) -> IntArray:
        """The released rows that the attack was about, ascending."""
        return np.union1d(self.rows, self.nobody)


class TrueProbability(NamedTuple):
    """True probability of each released row, or the reason for none."""

    probability: Candidates | None
    why: str = ""
    sampled: SampledTruth | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueProbabilities:
    """The true probability at both levels."""

    record: TrueProbability
    file: TrueProbability


def truths_of(
    case: ReleaseCase, *, known: str = NO_MECHANISM, matchings: int = MATCHINGS, rng: np.random.Generator
) -> TrueProbabilities:
    """Return the true probabilities implied by the masking.

    Without a mechanism there are none, because of what is ``known`` of it; ``matchings`` are drawn at the file level.
    """
    if case.mechanism is None:
        return TrueProbabilities(record=TrueProbability(None, known), file=TrueProbability(None, known))
    mechanism, (record, file) = case.mechanism, rng.spawn(2)
    return TrueProbabilities(
        record=_tried(lambda: _record_truth(mechanism, case, record)),
        file=_tried(lambda: _file_truth(mechanism, case, matchings, file)),
    )


def _tried(compute: Callable[[], TrueProbability]) -> TrueProbability:
    try:
        return compute()
    except InputError as error:
        return TrueProbability(None, str(error))


@dataclass(frozen=True, eq=False)
class _RowSubset:
    """A mechanism restricted to some released rows, addressed by their place among them."""

    whole: Mechanism
    released: Table
    drawn: IntArray

    def log_likelihood(self, original: Table, released: Table, rows: IntArray) -> FloatArray:  # noqa: ARG002
        return self.whole.log_likelihood(original, self.released, self.drawn[rows])


def _record_truth(mechanism: Mechanism, case: ReleaseCase, rng: np.random.Generator) -> TrueProbability:
    """Return the true probability of every released row, or a sample."""
    rows, most = case.released.rows, max(1, MOST_AT_RECORD_LEVEL // case.original.rows)
    if rows <= most:
        return TrueProbability(record_level_truth(mechanism, case.original, case.released))
    drawn = _drawn(case.released, most, rng)
    some = _RowSubset(mechanism, case.released, drawn)
    found = record_level_truth(some, case.original, case.released.take(drawn))
    size = np.zeros(rows, np.int64)
    size[drawn] = found.considered
    truth = Candidates(np.concatenate([[0], np.cumsum(size)]), found.candidate, found.probability)
    return TrueProbability(truth, f"of {rows:,} released records, a random sample of {most:,} was judged")


def _drawn(table: Table, size: int, rng: np.random.Generator) -> IntArray:
    """Return sorted indices of a row sample, drawn by content."""
    content = table.content_order()
    return np.sort(rng.choice(content, size, replace=False))


def _file_truth(mechanism: Mechanism, case: ReleaseCase, matchings: int, rng: np.random.Generator) -> TrueProbability:
    pairs = case.original.rows * case.released.rows
    if pairs > MOST_AT_FILE_LEVEL:
        most = f"the file level is computed for at most {MOST_AT_FILE_LEVEL:,} pairs of rows, and there are {pairs:,}"
        return TrueProbability(None, most)
    likelihood = likelihood_of(mechanism, case.original, case.released, np.arange(case.released.rows))
    found = file_level_truth(likelihood, rng=rng, matchings=matchings)
    truth = found.truth
    if truth is None and found.sampled is not None:
        truth = Candidates(np.zeros(found.rows + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    return TrueProbability(truth, found.why, found.sampled)


class Validity(NamedTuple):
    """A verdict, and a sentence on the worst impossible claim (empty if there is none)."""

    verdict: ValidityCounts
    witness: str = ""


def judged(valid_guess: ValidGuess, truth: TrueProbability, level: Level, pairs: int | None = None) -> Validity:
    """Return the number of guesses compatible with the truth.

    ``pairs`` limits the programs of Definition 14; unless told, also all of them together.
    """
    nobody = valid_guess.nobody.size
    if truth.probability is None:
        return Validity(ValidityCounts(level=level, undecided=valid_guess.rows.size, why=truth.why))
    judged_rows = max(int((truth.probability.considered > 0).sum()), 1)
    most = int(np.clip(_PAIRS_IN_ALL // judged_rows, _PAIRS_AT_LEAST, MOST_PAIRS)) if pairs is None else pairs
    sampled = None if truth.sampled is None else truth.sampled.take(valid_guess.rows)
    checked = compatibility(
        valid_guess.guess, taken(truth.probability, valid_guess.rows), level=level, at_most=most, sampled=sampled
    )
    undecided = [each.method for each in checked.findings if each.valid is None and each.method != "not attempted"]
    why = truth.why or max(undecided, key=undecided.count, default="")
    verdict = ValidityCounts(
        level=level,
        valid=checked.valid,
        invalid=checked.invalid + nobody,
        undecided=checked.undecided,
        not_shown=checked.not_shown,
        why=why if checked.undecided else "",
    )
    worst = checked.worst
    if worst is None:
        return Validity(verdict)
    return Validity(
        verdict,
        f"Released record {valid_guess.rows[worst] + 1} (counted from 1): {_small(checked.findings[worst].why)}",
    )


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def nobody_witness(valid_guess: ValidGuess) -> str:
    """Return the sentence on records without a candidate, if any."""
    if not valid_guess.nobody.size:
        return ""
    many = f"For {valid_guess.nobody.size:,} of {valid_guess.aimed_at.size:,} released records"
    return (
        f"{many} no candidate is left, the first of them record {valid_guess.nobody[0] + 1} (counted from 1): "
        "the attack is wrong whatever the truth is."
    )


def taken(guess: Candidates, rows: IntArray) -> Candidates:
    """Return the guess about some of the targets.

    >>> taken(Candidates.from_matrix([[1.0, 0.0], [0.5, 0.5]]), np.array([1])).probability
    array([0.5, 0.5])
    """
    size = guess.considered[rows]
    start = np.concatenate([[0], np.cumsum(size)])
    entry = np.arange(start[-1]) + np.repeat(guess.start[:-1][rows] - start[:-1], size)
    return Candidates(start, guess.candidate[entry], guess.probability[entry])


def told_apart(name: str, valid_guess: ValidGuess, case: ReleaseCase) -> list[str]:
    """Return a note on an attack that believes different things of equal released records (Definition 10)."""
    if not isinstance(valid_guess.guess, Beliefs):
        return []
    codes = np.unique(case.released.content.hash_rows(0).to_numpy(), return_inverse=True)[1]
    try:
        valid_guess.guess.check_equal_records(codes[valid_guess.rows])
    except InputError:
        return [
            f"attack {name} differs for released records with the same values (against Definition 10): it "
            "uses more than the quasi-identifiers, such as the row order"
        ]
    return []


def clashes_of(guesses: Mapping[str, ValidGuess], size: int) -> tuple[Clash, ...]:
    """Return the pairs of attacks that cannot both be valid.

    Of a guess that is a probability, only counts whom it rules out: everybody who can be the right one must be among
    its candidates (Proposition 16). So a pair that is not listed may still contradict each other.
    """
    found = []
    views = {name: _by_row(each, size) for name, each in guesses.items()}
    for one, other in combinations(guesses, 2):
        both = [row for row in views[one] if row in views[other]]
        if not both:
            continue
        left, right = (Beliefs(size, tuple(views[name][row] for row in both)) for name in (one, other))
        records = int((~left.coherent_with(right)).sum())
        if records:
            found.append(Clash(first=one, second=other, records=records, of=len(both)))
    return tuple(found)


def _by_row(valid_guess: ValidGuess, size: int) -> dict[int, MassFunction]:
    """Return the belief on each released row, for contradictions."""
    return dict(zip(valid_guess.rows.tolist(), _beliefs(valid_guess.guess, size), strict=True))


def _beliefs(guess: Guess, size: int) -> list[MassFunction]:
    if isinstance(guess, Beliefs):
        return list(guess.each)
    known: dict[bytes, MassFunction] = {}
    everybody = MassFunction.vacuous(size)
    each = []
    for low, high in pairwise(guess.start.tolist()):
        kept = guess.candidate[low:high][guess.probability[low:high] > 0]
        if not kept.size:
            each.append(everybody)
            continue
        key = kept.tobytes()
        if key not in known:
            known[key] = MassFunction.from_set(size, kept.astype(np.int64))
        each.append(known[key])
    return each


def simulated_note(mechanism: Mechanism | None) -> tuple[str, ...]:
    """Return a note where the true probabilities are simulated, or nothing."""
    error = getattr(mechanism, "error", None)
    size = float(error()) if callable(error) else 0.0
    if not size:
        return ()
    return (f"The true probabilities rest on simulated swaps, with a relative standard error of up to {size:.2g}.",)


def sampled_note(truth: TrueProbability, matchings: int) -> tuple[str, ...]:
    """Return a note on the error of a sampled file level."""
    if truth.sampled is None:
        return ()
    error = truth.sampled.error()
    rows, chains = int((~np.isnan(error)).sum()), len(truth.sampled.share)
    drawn = -(-matchings // chains) * chains  # every chain draws as many, and at least one
    return (
        f"For {rows:,} released records the file level rests on about {drawn:,} random assignments of all rows, "
        f"with a standard error of at most {np.nanmax(error):.2g} for a probability. A verdict on them holds at 99.9%, "
        "and where error bars overlap it is not shown.",
    )
