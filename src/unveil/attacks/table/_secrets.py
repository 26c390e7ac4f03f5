"""Correctness of inferred sensitive values, by countable ranks."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil._kernels.cells.boxes import CellBoxes
from unveil._kernels.cells.neighbours import boxes_around
from unveil._kernels.neighbours.guesses import ReleasedSecrets as RankedSecrets
from unveil._kernels.neighbours.index import prepare
from unveil._kernels.neighbours.nearest import IntegerGrid, content_rank
from unveil._kernels.neighbours.search import Neighbourhood
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.table.cells import SHOWN, SUPPRESSED, Cells, OrderedCells
from unveil.data.table.coded_columns import codes_of
from unveil.data.table.encode import LAST_MARKER, MISSING, encode
from unveil.errors import InputError, column_names, share, whole_number
from unveil.guesses.partition import exact_fraction

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

    from unveil.data.table import Table
    from unveil.data.table.encode import EncodedTable
    from unveil.data.table.release import Knowledge


# Bounds computed as floats are nearer to the exact ones than this share of the true value, plus a hair near 0.
_SLACK = 2.0**-49
_HAIR = 2e-323


class SecretTruth(NamedTuple):
    """People with a known sensitive value, and the correct guesses.

    ``rows`` are their positions in the table and ``code`` is equal where sensitive values are; a guess is correct if
    its rank among the released values is at least ``low`` and below ``high``.
    """

    rows: IntArray
    code: IntArray
    low: IntArray
    high: IntArray

    def at(self, some: IntArray) -> "SecretTruth":
        """Return some of the people, by their places here."""
        return SecretTruth(*(part[some] for part in self))


class Secrets(NamedTuple):
    """Ranks of released sensitive values, and the truth per table."""

    released: RankedSecrets
    people: tuple[SecretTruth, ...]

    @property
    def rank(self) -> IntArray:
        """Rank of each released value, -1 if missing; or cell number."""
        return self.released.rank


def check_settings(secret: str, known: Sequence[str], tolerance: float, targets: int | None) -> tuple[str, ...]:
    """Return the quasi-identifiers; raise InputError on bad settings."""
    if not isinstance(secret, str):
        raise InputError("secret is not the name of one column. Write secret='income'")
    known = column_names(known, "known")
    if secret in known:
        raise InputError(f"column {secret!r} is both sensitive and a quasi-identifier. Leave it out of one of them")
    exact = tolerance if isinstance(tolerance, bool) else exact_fraction(tolerance, what="tolerance")
    share(exact, "tolerance", one=False, advice="It is a share of the true value: write 5% as 0.05")
    if targets is not None:
        whole_number(targets, "targets")
    return known


def gathered(
    released: "Table", knowledge: "Knowledge", known: Sequence[str], secret: str
) -> tuple[tuple["Table", ...], int]:
    """Return records, released, control, and scale with harmonized columns.

    A sensitive value that no person has, or that is the same for everyone in the original or in the release, is
    refused.
    """
    from unveil.data.table import agree

    tables = [knowledge.records, released, *(part for part in (knowledge.control, knowledge.scale) if part is not None)]
    agreed = agree(*(table.select((*known, secret)) for table in tables))
    end = len(agreed) - (knowledge.scale is not None)
    # Those who are attacked may be a few of many: only the extremes of the whole know whether all have the same.
    for parts in ((agreed[0], *agreed[end:]), agreed[1:2]):
        different = _different([part.values(secret) for part in parts])
        if different < 2:
            seen = "it has only one" if different else "every cell of it is missing"
            raise InputError(
                f"the sensitive attribute {secret!r} needs two different values in the {parts[0].name}, but {seen}. "
                "Name another column"
            )
    return agreed, end


def _different(parts: Sequence["pl.Series"]) -> int:
    """Return the number of distinct values; 0 if the first part has none."""
    import polars as pl

    if parts[0].is_empty():
        return 0
    found = [part.unique().to_frame() for part in parts]
    return pl.concat(found, how="vertical_relaxed").to_series().n_unique()


def read_secrets(tables: Sequence["Table"], secret: str, tolerance: float) -> Secrets:
    """Return the correct guesses per person, from harmonized tables.

    A number is right if it is off by at most ``tolerance`` times the true value, whatever the sign: a true 0 needs a 0.
    All else, dates and ordered values too, is correct if it is equal. Numbers count as they are written, so that 5 % of
    100 lets 95 and 105 in. A missing guess is wrong. From a cell that stands for several values one is drawn, as often
    as the release has it among its single values, or each alike where it has none of them.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> people, released = (Table.from_frame(pl.DataFrame({"pay": pay})) for pay in ([100, None], [95, 106, 105]))
    >>> secrets = read_secrets([people, released], "pay", 0.05)
    >>> secrets.rank, secrets.people[0].rows, secrets.people[0].low, secrets.people[0].high
    (array([0, 2, 1]), array([0]), array([0]), array([2]))
    """
    if tables[1].coarse([secret]):
        return _coarse_secrets(tables, secret, tolerance)
    if tables[0].column(secret).kind == "number":
        series = [table.series(secret) for table in tables]
        values, rank = _ranked(series[1])
        numbers = tuple(_truth_of_numbers(part, values, tolerance) for part in (series[0], *series[2:]))
        return Secrets(RankedSecrets(rank, values.len()), numbers)
    codes = []
    for part in encode(tables, [secret]):
        coded = part.codes[:, 0].astype(np.int64) if part.names_codes else part.numbers[:, 0]
        codes.append(np.where(coded <= (0 if part.names_codes else LAST_MARKER), MISSING, coded))
    there = codes[1] != MISSING
    words, place = np.unique(codes[1][there], return_inverse=True)
    rank = np.full(there.size, -1, np.int64)
    rank[there] = place
    people = tuple(_truth_of_codes(part, words) for part in (codes[0], *codes[2:]))
    return Secrets(RankedSecrets(rank, words.size), people)


def _coarse_secrets(tables: Sequence["Table"], secret: str, tolerance: float) -> Secrets:
    """Return the same for released range cells, ranked by cell."""
    import polars as pl

    cells = (tables[1].cells or {})[secret]
    people = [table.held(secret) for table in (tables[0], *tables[2:])]
    values = cells.values
    if isinstance(cells.holds, OrderedCells):
        first, last = cells.holds.first, cells.holds.last
        if tables[0].column(secret).kind == "number":
            # A released number that no person has may still be near enough.
            shown = cells.holds.low.filter(pl.Series(cells.single & (cells.state == SHOWN)))
            values = pl.concat([values.to_frame("v"), shown.to_frame("v")], how="vertical_relaxed")["v"].unique().sort()
            first, last = _places_in(values, cells.holds)
        member = [np.arange(low, high + 1) for low, high in zip(first, last, strict=True)]
    else:
        member = np.split(cells.holds.member.astype(np.int64), cells.holds.start[1:-1])
    of_people = np.isin(values.cast(float), cells.values.cast(float)) if values is not cells.values else None
    draws = _draws(cells, member, values.len(), of_people)
    if tables[0].column(secret).kind == "number":
        truths = tuple(_truth_of_numbers(part.values, values, tolerance) for part in people)
    else:
        truths = tuple(_truth_of_places(cells.places(part)) for part in people)
    return Secrets(RankedSecrets(cells.of_row.astype(np.int64), values.len(), draws), truths)


def _places_in(values: "pl.Series", ranges: OrderedCells) -> tuple[IntArray, IntArray]:
    """Return the first and last value position in each range."""
    number = values.cast(float).to_numpy()
    low, high = (end.cast(float).to_numpy() for end in (ranges.low, ranges.high))
    first = np.where(ranges.low_out, np.searchsorted(number, low, "right"), np.searchsorted(number, low))
    last = np.where(ranges.high_out, np.searchsorted(number, high), np.searchsorted(number, high, "right"))
    first, last = np.where(np.isnan(low), 0, first), np.where(np.isnan(high), number.size, last)
    return first.astype(np.int64), last.astype(np.int64) - 1


def _draws(cells: Cells, member: Sequence[IntArray], size: int, of_people: BoolArray | None) -> "csr_array":
    """Return the probability of each value (column) per cell (row)."""
    from scipy.sparse import csr_array

    alike = np.ones(size) if of_people is None else of_people.astype(np.float64)
    rows = np.bincount(cells.of_row, minlength=cells.state.size)
    seen = np.zeros(size)
    for cell in np.flatnonzero(cells.single & (cells.state == SHOWN)).tolist():
        seen[member[cell]] += rows[cell]
    lines = []
    for state, own in zip(cells.state.tolist(), member, strict=True):
        held = np.arange(size) if state == SUPPRESSED else own if state == SHOWN else own[:0]
        chance = seen[held] if seen[held].any() else alike[held]
        lines.append((held[chance > 0], chance[chance > 0] / chance.sum() if chance.any() else chance[:0]))
    start = np.concatenate([[0], np.cumsum([held.size for held, _ in lines])])
    chances, held = (np.concatenate([each[part] for each in lines]) for part in (1, 0))
    return csr_array((chances, held, start), shape=(len(lines), size))


def _truth_of_places(place: IntArray) -> SecretTruth:
    # Whoever has a value that is not in the list is there too, but no person is right about it.
    rows = np.flatnonzero((place >= 0) | (place == -2))
    code = place[rows]
    return SecretTruth(rows, code, np.maximum(code, 0), np.maximum(code + 1, 0))


def _truth_of_codes(code: IntArray, words: IntArray) -> SecretTruth:
    rows = np.flatnonzero(code != MISSING)
    code = code[rows]
    return SecretTruth(rows, code, np.searchsorted(words, code, "left"), np.searchsorted(words, code, "right"))


def _ranked(series: "pl.Series") -> tuple["pl.Series", IntArray]:
    """Return the distinct values, ascending, and each cell's position (-1: missing)."""
    codes, values = codes_of(series)
    return values, codes.astype(np.int64) - 1


def _truth_of_numbers(series: "pl.Series", values: "pl.Series", tolerance: float) -> SecretTruth:
    truths, code = _ranked(series)
    low, high = right_ranks(values, truths, tolerance)
    rows = np.flatnonzero(code >= 0)
    code = code[rows]
    return SecretTruth(rows, code, low[code], high[code])


def right_ranks(values: "pl.Series", truths: "pl.Series", tolerance: float) -> tuple[IntArray, IntArray]:
    """Return the range of correct value positions per true number.

    Floats find the place; where a value is so near to the bound that rounding could decide, fractions do.

    >>> import polars as pl
    >>> right_ranks(pl.Series([0.0, 9.49, 9.5, 10.5]), pl.Series([0.0, 10.0]), 0.05)
    (array([0, 2]), array([1, 4]))
    """
    import polars as pl

    exact, near, true = values.to_list(), *(part.cast(pl.Float64).to_numpy() for part in (values, truths))
    share = exact_fraction(tolerance, what="tolerance")
    ends = []
    for sign, bisect in ((-1, bisect_left), (1, bisect_right)):
        with np.errstate(over="ignore"):
            bound, slack = true + sign * float(share) * np.abs(true), np.abs(true) * _SLACK + _HAIR
            place, other = np.searchsorted(near, bound - slack, "left"), np.searchsorted(near, bound + slack, "right")
        for at in np.flatnonzero(place != other).tolist():
            truth = as_written(truths[at])
            limit = truth + sign * share * abs(truth)
            place[at] = bisect(exact, limit, int(place[at]), int(other[at]), key=as_written)
        ends.append(place)
    return ends[0], ends[1]


def near_ranks(table: "Table", secret: str, tolerance: float) -> tuple[IntArray, IntArray] | None:
    """Return the correct ranks of each sensitive value, or None."""
    if table.column(secret).kind != "number" or table.coarse([secret]):
        return None
    values = _ranked(table.series(secret))[0]
    return right_ranks(values, values, tolerance)


def as_written(number: Any) -> Fraction:
    """Return the number that a person would read: 0.1 is one tenth.

    >>> as_written(0.1), as_written(7)
    (Fraction(1, 10), Fraction(7, 1))
    """
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def blind_chances(secrets: RankedSecrets, truth: SecretTruth, *, likeliest: bool = False) -> FloatArray:
    """Return each person's baseline: a random released row's value is correct.

    With ``likeliest`` it is the chance that the most frequent sensitive value is correct, ties at random.

    >>> blind_chances(RankedSecrets(np.array([0, 0, 1, -1]), 2), SecretTruth(*(np.array([x]) for x in (0, 0, 0, 1))))
    array([0.5])
    """
    rank = secrets.rank
    rows = np.bincount(rank[rank >= 0], minlength=1)
    if secrets.draws is not None:
        rows = rows[: secrets.draws.shape[0]] @ secrets.draws
    if likeliest:
        rows = (rows >= rows.max() * (1 - 1e-12)).astype(np.int64)
    up_to = np.concatenate([[0], np.cumsum(rows)])
    total = int(rows.sum()) if likeliest else rank.size
    return np.asarray((up_to[truth.high] - up_to[truth.low]) / total)


def drawn(
    truth: SecretTruth, known: IntegerGrid, targets: int | None, rng: np.random.Generator
) -> tuple[SecretTruth, IntegerGrid]:
    """Return a content-ordered sample of the people; None takes all."""
    with_secret = IntegerGrid(
        np.column_stack([known.numbers[truth.rows], truth.code]), known.codes[truth.rows], known.step_cost, 1
    )
    some = np.argsort(content_rank(with_secret), kind="stable")
    if targets is not None and targets < some.size:
        some = some[np.sort(rng.choice(some.size, targets, replace=False, shuffle=False))]
    chosen = truth.at(some)
    return chosen, known._replace(numbers=known.numbers[chosen.rows], codes=known.codes[chosen.rows])


def notes_on_people(table: "Table", truth: SecretTruth, secret: str, targets: int | None) -> list[str]:
    """Return notes on people who could not be attacked."""
    have, notes = truth.rows.size, []
    if have < table.rows:
        missing = f"{(table.rows - have) / table.rows:.1%}"
        notes.append(f"{missing} of the rows of the {table.name} lack {secret!r} and are left out")
    if targets is not None and targets > have:
        notes.append(f"all {have} targets of the {table.name} were attacked, fewer than the {targets} requested")
    return notes


def right_guesses(guess: FloatArray, truth: "pl.Series", tolerance: float) -> BoolArray:
    """Return whether each guess of a number is correct; infinite is wrong.

    >>> import polars as pl
    >>> right_guesses(np.array([95.0, 94.9, np.nan]), pl.Series([100, 100, 100]), 0.05)
    array([ True, False, False])
    """
    import polars as pl

    values, rank = _ranked(pl.Series(np.where(np.isfinite(guess), guess, np.nan), nan_to_null=True))
    truths, code = _ranked(truth)
    low, high = right_ranks(values, truths, tolerance)
    return np.asarray((rank >= low[code]) & (rank < high[code]))


def right_means(kind: str, tolerance: float) -> str:
    """Return the meaning of a correct guess, to follow "is".

    >>> right_means("number", 0.05), right_means("category", 0.05)
    ('at most 5 % off the true value', 'the true one')
    """
    return f"at most {100 * tolerance:g} % off the true value" if kind == "number" and tolerance else "the true one"


def surroundings(released: "EncodedTable", people: IntegerGrid) -> tuple[Neighbourhood, CellBoxes | None]:
    """Return people and released rows, as boxes where needed."""
    if released.cells is None:
        return prepare(released.grid(), people), None
    return boxes_around(released.cells, people)
