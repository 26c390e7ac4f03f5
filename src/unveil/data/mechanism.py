"""Masking methods that state the probability of their outputs."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray, IntArray
    from unveil.data.table import Table


class Mechanism(Protocol):
    """Masking method that states the probability of each output."""

    def log_likelihood(self, original: "Table", released: "Table", rows: "IntArray") -> "FloatArray":
        """Return the log-likelihood of released rows given each original row.

        Parameters
        ----------
        original, released
            The tables before and after.
        rows
            The released rows that are asked for, by position.

        Returns
        -------
        array
            One line for each of ``rows``, one column for each original row; minus infinity where that original row
            cannot have become this released one. A constant may be added to each line.
        """
        ...
