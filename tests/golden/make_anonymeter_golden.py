"""Make ``anonymeter_links.json``: which targets anonymeter 1.1.0 links in small tables; run by a Python that has it.

    PEER/bin/python tests/golden/make_anonymeter_golden.py > tests/golden/anonymeter_links.json

The tables come from Python's own generator, so that every Python makes the same ones, with or without the package.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Columns = dict[str, list[Any]]


class Case(NamedTuple):
    """Tables as columns of cells, the types that pandas shall give them, and the settings of the attack."""

    name: str
    original: Columns
    released: Columns
    types: dict[str, str]
    first: tuple[str, ...]
    second: tuple[str, ...]
    neighbours: int


def _whole(rng: random.Random, top: int, low: int = 0) -> Callable[[], int]:
    return lambda: rng.randrange(low, top)


def _tenths(rng: random.Random, top: int) -> Callable[[], float]:
    return lambda: rng.randrange(top) / 10


def _word(rng: random.Random, *words: Any) -> Callable[[], Any]:
    return lambda: rng.choice(words)


def _missing(rng: random.Random, share: float, cell: Callable[[], Any], gap: Any = float("nan")) -> Callable[[], Any]:
    return lambda: gap if rng.random() < share else cell()


def cases() -> Iterator[Case]:
    """Yield the cases: (name, how each column is made, types, groups), each in several sizes."""
    for number, (rows, people, neighbours) in enumerate([(150, 40, 3), (400, 30, 10), (60, 25, 1), (1, 8, 1)]):
        rng = random.Random(number)  # noqa: S311
        days = [f"2024-0{month}-1{day}" for month in (1, 2) for day in range(4)]
        mixed = {
            "age": _whole(rng, 30),
            "sex": _word(rng, "f", "m"),
            "town": _word(rng, *"abcde"),
            "pay": _tenths(rng, 9),
        }
        gaps = {
            "age": _missing(rng, 0.2, _whole(rng, 8)),
            "pay": _missing(rng, 0.1, _tenths(rng, 30)),
            "town": _missing(rng, 0.3, _word(rng, *"abc"), None),
            "old": _missing(rng, 0.2, _word(rng, True, False), None),
        }
        plain = {"z": _tenths(rng, 12), "y": _tenths(rng, 7), "x": _tenths(rng, 5), "w": _whole(rng, 4)}
        typed = {
            "old": _word(rng, True, False),
            "day": _word(rng, *days),
            "a": _whole(rng, 9),
            "b": _word(rng, "p", "q"),
        }
        flat = {"one": _word(rng, 1), "two": _word(rng, "same"), "a": _whole(rng, 2), "b": _word(rng, "p", "q")}
        huge = {
            "big": _whole(rng, 2**60 + 5000, 2**60),
            "a": _tenths(rng, 9),
            "c": _whole(rng, 3),
            "d": _whole(rng, 9),
        }
        bytes_ = {
            "a": _whole(rng, 128, -128),
            "b": _whole(rng, 100),
            "c": _whole(rng, 5),
            "d": _word(rng, "p", "q"),
        }
        infinite = {"a": _missing(rng, 0.1, _tenths(rng, 9), float("inf")), "b": _whole(rng, 5), "c": _whole(rng, 9)}
        for name, made, types, first in (
            ("mixed", mixed, {}, ("town", "age")),
            ("gaps", gaps, {"age": "float64", "pay": "float64"}, ("town", "age")),
            ("numbers only", plain, {}, ("z", "y", "x")),
            ("truth values and dates", typed, {"day": "datetime64[ns]"}, ("day", "b")),
            ("nothing to tell rows apart", flat, {}, ("one",)),
            ("single precision", plain, {"z": "float32", "y": "float32", "x": "float32"}, ("z", "y", "x")),
            ("single beside double", plain, {"z": "float32", "x": "float32"}, ("z", "y", "x")),
            ("huge integers", huge, {}, ("big", "a")),
            ("short integers", bytes_, dict.fromkeys("abc", "int8"), ("a", "b")),
            ("infinite", infinite, {"a": "float64"}, ("a", "c")),
        ):
            original, released = (
                {column: [cell() for _ in range(size)] for column, cell in made.items()} for size in (people, rows)
            )
            second = tuple(column for column in made if column not in first)
            yield Case(f"{name} {number}", original, released, types, first, second, neighbours)
            if name == "gaps":
                empty = {**released, "pay": [float("nan")] * rows}
                yield Case(
                    f"released without pay {number}", original, empty, types, ("pay", "town"), ("age",), neighbours
                )
                unpaid = {**original, "pay": [float("nan")] * people}
                yield Case(
                    f"targets without pay {number}", unpaid, released, types, ("pay", "town"), ("age",), neighbours
                )
            if name == "mixed":
                few = {column: cells[:4] for column, cells in original.items()}
                yield Case(f"fewer targets than neighbours {number}", few, released, types, first, second, 5)


def frame(pandas: Any, columns: Columns, types: dict[str, str]) -> Any:
    """Return the columns as a pandas frame."""
    return pandas.DataFrame(columns).astype(types)


def main() -> None:
    """Attack every row of every case, in its order, and print the linked ones."""
    import pandas
    from anonymeter.evaluators import linkability_evaluator as package  # type: ignore[import-not-found, unused-ignore]

    answer = {}
    for case in cases():
        original, released = (frame(pandas, columns, case.types) for columns in (case.original, case.released))
        nearest = (
            package._find_nn(released[list(group)], original[list(group)], 1, case.neighbours)
            for group in (case.first, case.second)
        )
        answer[case.name] = sorted(package.LinkabilityIndexes(*nearest).find_links(case.neighbours))
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(linked)}" for name, linked in answer.items())
    sys.stdout.write("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
