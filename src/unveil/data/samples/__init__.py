"""Small example files inside the package."""

from importlib.resources import files
from pathlib import Path

from unveil.errors import InputError


def path(name: str) -> Path:
    """Return where the example file of this name is, such as ``partition_truth.csv``.

    ``partition_truth.csv``, ``partition_guess_careful.csv`` and ``partition_guess_bold.csv`` are the 24 items of four
    subjects in Section 4 of the paper on adversarial partitions, and its two adversaries: one who would rather miss an
    item than include a wrong one, and one who would rather include.

    ``candidates_guess.csv`` and ``candidates_truth.csv`` are made up by a rule: record k is person 7k mod 31, and the
    adversary considers persons 7k + 5i mod 31 (0 is person 31), the truth (i = 0) and five others. It is sure and right
    about records 1 to 8, sure and wrong about 9 to 11, leans to the truth for 12 to 16 and away from it for 17 to 19,
    has two most likely candidates for 20 and 21 and four for 22 and 23, does not consider the truth of 24, takes the
    decoy 25 for a person, and does not attempt 26 to 30.

    >>> path("partition_truth.csv").name
    'partition_truth.csv'
    """
    folder = Path(str(files(__name__)))
    have = sorted(entry.name for entry in folder.glob("*.csv"))
    if name not in have:
        raise InputError(f"there is no example file {name!r}; there are {', '.join(have)}. Name one of these")
    return folder / name
