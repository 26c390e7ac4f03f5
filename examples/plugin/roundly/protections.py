"""A protection is a frozen dataclass of settings with one method, ``apply``."""

from dataclasses import dataclass

import numpy as np

from unveil import InputError, Release, Table


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """Round every number to a multiple of ``to``, and put the rows in random order."""

    to: float = 10.0

    def __post_init__(self) -> None:
        if not self.to > 0:
            raise InputError(f"to must be a number above 0, but is {self.to}. Write it as in to=10")

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the release, and whose each of its rows is."""
        numbers = [column.name for column in original.columns if column.kind == "number"]
        frame = original.frame.with_columns((original.frame[name] / self.to).round() * self.to for name in numbers)
        # Rows in their old order would tell who is who.
        order = rng.permutation(original.rows)
        released = Table.from_frame(frame[order], name="rounded")
        return Release(original, released, kind="masked", name="rounded", truth=order)
