"""Training and test people for attribute inference."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from unveil._kernels.neighbours.best_rows import RightRanks
from unveil._kernels.neighbours.guesses import ReleasedSecrets
from unveil._kernels.neighbours.index import BlockedRows, IntegerGrid
from unveil._kernels.types import IntArray
from unveil.attacks.table import _guessers, _secrets
from unveil.attacks.table._guessers import Teacher
from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.data.table.encode import EncodedTable
    from unveil.data.table.release import Knowledge


class GuessTask(Protocol):
    """The sensitive attribute, the quasi-identifiers, and the tolerance for numbers."""

    @property
    def secret(self) -> str:
        """The column to guess."""

    @property
    def known(self) -> tuple[str, ...]:
        """The columns that may be known."""

    @property
    def tolerance(self) -> float:
        """How far off a guess of a number may be."""


class LearnMeasureRows(NamedTuple):
    """Training and test rows of original and control, in random order."""

    learning: tuple[IntArray, IntArray]
    measured: tuple[IntArray, IntArray]


def by_lot(table: "Table", rng: np.random.Generator) -> IntArray:
    """Return the rows in a content-determined random order."""
    content = table.content_order()
    return content[rng.permutation(content.size)]


def as_many(
    released: "Table", records: "Table", parts: LearnMeasureRows, rng: np.random.Generator
) -> tuple["Table", IntArray]:
    """Return equally many released and other original training rows."""
    order = by_lot(records, rng)
    teachers = order[~np.isin(order, np.concatenate([parts.learning[0], parts.measured[0]]))]
    if teachers.size < 2:
        raise InputError(
            f"the comparison needs two people who are not attacked, but the {records.name} has "
            f"{teachers.size}. Attack fewer people, or pass a control"
        )
    rows = min(released.rows, teachers.size)
    return released if rows == released.rows else released.take(by_lot(released, rng)[:rows]), teachers[:rows]


class TrainingRows(NamedTuple):
    """Training rows, as values and cells, and the correct ranks."""

    teacher: Teacher
    encoded: "EncodedTable"
    right: RightRanks

    def of(self, people: IntArray) -> RightRanks:
        """Return the correct ranks of some people."""
        return RightRanks(self.right.rank, self.right.low[people], self.right.high[people])


class GuessingCase(NamedTuple):
    """People to learn from, people to test, and training rows.

    ``learning`` and ``measured`` are places of people: those in the data under the first teacher, and whom they are
    compared with under the last.
    """

    names: tuple[str, ...]
    people: IntegerGrid
    rows: tuple[IntArray, IntArray]
    taught: tuple[TrainingRows, ...]
    learning: tuple[IntArray, IntArray]
    measured: tuple[IntArray, IntArray]
    what: str
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        asked: GuessTask,
        released: "Table",
        knowledge: "Knowledge",
        parts: LearnMeasureRows,
        teachers: IntArray | None,
    ) -> "GuessingCase":
        """Return the case; ``teachers`` are a second training set without control."""
        from unveil.data.table.encode import encode

        tables, end = _secrets.gathered(released, knowledge, asked.known, asked.secret)
        secrets = _secrets.read_secrets(tables[:end], asked.secret, asked.tolerance)
        # Everyone makes the span: if the records alone did, distances would tell who is in the data.
        encoded = encode(tables, asked.known, span_of=range(len(tables)))
        sides = [0] if teachers is not None else [0, 2]
        people = [encoded[side].grid() for side in sides]
        truth = secrets.people[: len(sides)]
        known = people[0]._replace(
            numbers=np.concatenate([each.numbers[own.rows] for each, own in zip(people, truth, strict=True)]),
            codes=np.concatenate([each.codes[own.rows] for each, own in zip(people, truth, strict=True)]),
        )
        taught = [taught_by(asked, tables[1], encoded[1], secrets.released, truth)]
        if teachers is not None:
            pupils = tables[0].take(teachers)
            others = _secrets.read_secrets([tables[0], pupils], asked.secret, asked.tolerance)
            taught.append(taught_by(asked, pupils, encoded[0].take(teachers), others.released, others.people))
        places = [
            tuple(
                places_of(own.rows, part[side]) + (truth[0].rows.size if side and teachers is None else 0)
                for side, own in enumerate((truth[0], truth[-1]))
            )
            for part in parts
        ]
        if not places[1][0].size:
            raise InputError(f"no person to test has a value of {asked.secret!r}. Name another sensitive attribute")
        kind = tables[0].column(asked.secret).kind
        return cls(
            names=encoded[0].names_numbers + encoded[0].names_codes,
            people=known,
            rows=(truth[0].rows, truth[-1].rows),
            taught=tuple(taught),
            learning=places[0],  # type: ignore[arg-type]
            measured=places[1],  # type: ignore[arg-type]
            what=f"{asked.secret} is inferred {_secrets.right_means(kind, asked.tolerance)}",
            notes=tuple(
                note
                for table, own in zip((tables[0], *tables[2:end]), truth, strict=False)
                for note in _secrets.notes_on_people(table, own, asked.secret, None)
            ),
        )

    @property
    def is_paired(self) -> bool:
        """Whether the same people are attacked with two training sets."""
        return len(self.taught) > 1

    def sides(self, part: tuple[IntArray, IntArray]) -> Iterator[tuple[TrainingRows, IntArray]]:
        """Yield who is attacked under which teacher, people in the data first."""
        yield from zip((self.taught[0], self.taught[-1]), part, strict=True)


def taught_by(
    asked: GuessTask,
    table: "Table",
    encoded: "EncodedTable",
    secrets: ReleasedSecrets,
    truth: Sequence[_secrets.SecretTruth],
) -> TrainingRows:
    low, high = (np.concatenate([getattr(each, name) for each in truth]) for name in ("low", "high"))
    near = _secrets.near_ranks(table, asked.secret, asked.tolerance)
    try:
        known: BlockedRows = _guessers.single_cells(encoded)
    except InputError:
        known = encoded
    return TrainingRows(Teacher(known, secrets, near), encoded, RightRanks(secrets.rank, low, high))


def places_of(rows: IntArray, wanted: IntArray) -> IntArray:
    """Return the positions of rows with a sensitive value."""
    place = np.searchsorted(rows, wanted)
    there = (place < rows.size) & (rows[np.minimum(place, rows.size - 1)] == wanted) if rows.size else place < 0
    return place[there]
