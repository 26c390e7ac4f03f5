"""A masking method of your own, and an attack that is valid and never right: Example 21 of Torra and Stokes (2013).

The method takes 1 from one of three numbers, drawn at random. With alpha unknown it does so for every second record on
average, and with alpha = 1 for every record. An attacker who does not know alpha bets on the record that looks the
same. That is a valid guess also where alpha is 1, although this record is then impossible.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.guesses.beliefs import Beliefs
from unveil.guesses.mass_function import MassFunction
from unveil.questions.reidentify.answer import reidentify

COLUMNS = ("a", "b", "c")
PEOPLE = "a,b,c\n0,0,0\n1,0,0\n0,1,0\n0,0,1\n"
MASKED = "a,b,c\n0,0,0\n0,0,0\n0,0,0\n"
TRUTH = "released,original\n1,2\n2,3\n3,4\n"


@dataclass(frozen=True, kw_only=True)
class OneStep:
    """Move one of the numbers of a record by one step, or with alpha unknown perhaps none.

    Parameters
    ----------
    alpha
        "one" where every record moves, "unknown" where each moves with probability 1/2.
    step
        What a move adds: -1, as Example 21 needs it, or 1, as the paper prints it.
    columns
        The columns that may move, each with the same probability. The tables have no others.
    """

    alpha: Literal["unknown", "one"] = "unknown"
    step: int = -1
    columns: tuple[str, ...] = COLUMNS

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with moved numbers, in random order."""
        order = rng.permutation(original.rows)
        moves = np.ones(original.rows, bool) if self.alpha == "one" else rng.random(original.rows) < 1 / 2
        place = rng.integers(len(self.columns), size=original.rows)
        frame = original.frame[order].with_columns(
            original.frame[name][order] + self.step * (moves & (place == number))
            for number, name in enumerate(self.columns)
        )
        return Release(original, Table.from_frame(frame, name="moved"), kind="masked", truth=order, mechanism=self)

    def log_likelihood(self, original: Table, released: Table, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithm of the chance of each of these released rows given each original row.

        The tables have the columns that the attacker knows: the chance is that of what is seen of a record.
        """
        known = [name for name in self.columns if name in released.column_names]
        before, after = _numbers(original, known), _numbers(released, known)[rows]
        moved = self.step * (after[:, None, :] - before[None, :, :])
        one_step = (np.isin(moved, (0, 1)).all(axis=2)) & (moved.sum(axis=2) == 1)
        moves = 1.0 if self.alpha == "one" else 0.5
        unseen = 1 - len(known) / len(self.columns)  # it moved in a column that the attacker does not know
        chance = np.where(one_step, moves / len(self.columns), 0.0)
        chance[(moved == 0).all(axis=2)] = 1 - moves + moves * unseen
        with np.errstate(divide="ignore"):
            return np.log(chance)


@dataclass(frozen=True, kw_only=True)
class LooksTheSame:
    """Believe in pairs: the record that looks the same, and one that has 1 more in one column (Proposition 19)."""

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Beliefs:  # noqa: ARG002
        """Return what is believed of each released row."""
        names = released.column_names
        after, before = _numbers(released, names), _numbers(knowledge.records, names)
        return Beliefs(len(before), tuple(_pairs(row, before) for row in after))


def _pairs(row: NDArray[np.float64], before: NDArray[np.float64]) -> MassFunction:
    moved = before - row
    same = np.flatnonzero((moved == 0).all(axis=1)).tolist()
    others = np.flatnonzero((np.isin(moved, (0, 1)).all(axis=1)) & (moved.sum(axis=1) == 1)).tolist()
    if not others:
        return MassFunction.from_set(len(before), same or range(len(before)))
    return MassFunction.from_sets(len(before), {(*same, other): 1 / len(others) for other in others})


def _numbers(table: Table, names: "list[str] | tuple[str, ...]") -> NDArray[np.float64]:
    return np.column_stack([table.frame[name].to_numpy().astype(np.float64) for name in names])


def main() -> None:
    """Declare three maskings for the same file, and print what is found."""
    with TemporaryDirectory() as folder:
        files = {name: Path(folder, f"{name}.csv") for name in ("people", "masked", "truth")}
        for name, text in (("people", PEOPLE), ("masked", MASKED), ("truth", TRUTH)):
            files[name].write_text(text)
        for method in (OneStep(alpha="one"), OneStep(), OneStep(step=1)):
            answer = reidentify(
                files["people"],
                files["masked"],
                truth=files["truth"],
                method=method,
                attacks=["bayes", LooksTheSame()],
                quasi_identifiers=COLUMNS,
            )
            print(f"alpha {method.alpha}, step {method.step}: {answer.page().headline}")
            for attacked in answer.findings.attacks:
                print(f"  {attacked.attack}: valid {attacked.is_valid}, hit rate {attacked.attack_rate.value:.3g}")


if __name__ == "__main__":
    main()
