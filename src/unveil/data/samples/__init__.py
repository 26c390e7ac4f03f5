"""Small example files inside the package."""

from importlib.resources import files
from pathlib import Path

from unveil.errors import InputError


def path(name: str) -> Path:
    """Return where the example file of this name is, such as ``partition_truth.csv``.

    ``partition_truth.csv``, ``partition_guess_careful.csv`` and ``partition_guess_bold.csv`` are the 24 items of four
    subjects in Section 4 of the paper on adversarial partitions, and its two adversaries: one who would rather miss an
    item than include a wrong one, and one who would rather include.

    >>> path("partition_truth.csv").name
    'partition_truth.csv'
    """
    folder = Path(str(files(__name__)))
    have = sorted(entry.name for entry in folder.glob("*.csv"))
    if name not in have:
        raise InputError(f"there is no example file {name!r}; there are {', '.join(have)}. Name one of these")
    return folder / name
