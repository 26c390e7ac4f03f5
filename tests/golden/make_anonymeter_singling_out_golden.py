"""Make ``anonymeter_singling_out.json``: what anonymeter 1.1.0 singles out of small tables; for a Python that has it.

    cd tests/golden
    PEER/bin/python -W ignore make_anonymeter_singling_out_golden.py > anonymeter_singling_out.json

The tables come from Python's own generator, so that every Python makes the same ones, with or without the package.
"""

import json
import random
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

Columns = dict[str, list[Any]]


class Case(NamedTuple):
    """Tables as columns of cells, and the settings of the attack; a size of 1 is the univariate mode."""

    name: str
    original: Columns
    released: Columns
    control: Columns | None
    size: int
    guesses: int
    attempts: int


def people(rng: random.Random, rows: int, *, gaps: float = 0.0) -> Columns:
    """Return columns of several kinds: whole and decimal numbers, words, words with quotes, and truth values."""

    def missing(cell: Any, gap: Any = None) -> Any:
        return gap if rng.random() < gaps else cell

    return {
        "old": [rng.random() < 0.3 for _ in range(rows)],
        "age in years": [rng.randrange(18, 90) for _ in range(rows)],
        "pay": [missing(rng.randrange(400) / 8, float("nan")) for _ in range(rows)],
        "it's": [missing(rng.choice(["plain", "it's", 'a "b"', "c", "d"])) for _ in range(rows)],
        "town-name": [missing(rng.choice("abcdefghijklmnopq")) for _ in range(rows)],
        "2nd": [rng.randrange(-3, 4) for _ in range(rows)],
    }


def cases() -> Iterator[Case]:
    """Yield the cases, each with tables of its own."""
    for number, (original, released, control) in enumerate([(300, 400, 300), (1600, 900, 1200), (500, 200, 120)]):
        rng = random.Random(number)  # noqa: S311
        for name, gaps, size, guesses, attempts in (
            ("three columns", 0.0, 3, 40, 20_000),
            ("two columns with gaps", 0.1, 2, 30, 3000),
            ("all columns", 0.05, 6, 60, 20_000),
            ("more guesses than there are", 0.0, 2, 5000, 1500),
            ("one column", 0.02, 1, 2000, 1),
        ):
            tables = [people(rng, rows, gaps=gaps) for rows in (original, released, control)]
            yield Case(f"{name} {number}", tables[0], tables[1], tables[2], size, guesses, attempts)
    rng = random.Random(9)  # noqa: S311
    twice = {name: cells * 2 for name, cells in people(rng, 120, gaps=0.1).items()}
    yield Case("everybody twice", twice, twice, None, 2, 50, 20_000)
    single: Columns = {"pay": [rng.random() for _ in range(300)], "town": [rng.choice("abcde") for _ in range(300)]}
    yield Case("real numbers", single, single, {name: cells[:80] for name, cells in single.items()}, 2, 30, 4000)


def main() -> None:
    """Run the package on every case and print its guesses' columns and counts, in its order, and the risk."""
    import numpy
    import pandas
    from anonymeter.evaluators import singling_out_evaluator as package  # type: ignore[import-not-found, unused-ignore]

    answer = {}
    for case in cases():
        mode = "univariate" if case.size == 1 else "multivariate"
        tables = [None if each is None else pandas.DataFrame(each) for each in case[1:4]]
        settings = {"n_attacks": case.guesses, "n_cols": case.size, "max_attempts": case.attempts}
        evaluator = package.SinglingOutEvaluator(tables[0], tables[1], control=tables[2], seed=5, **settings)
        queries = package._generate_singling_out_queries(
            df=evaluator._syn, mode=mode, rng=numpy.random.default_rng(5), **settings
        )
        places = {name: str(place) for place, name in enumerate(case.released)}
        guesses = [["".join(sorted(places[name] for name in query.meta.root_names()))] for query in queries]
        for table in (evaluator._ori, evaluator._control):
            if table is not None:
                for guess, count in zip(guesses, package._evaluate_queries(table, queries), strict=True):
                    guess.append(count)
        evaluator.evaluate(mode=mode)
        risk = evaluator.risk()
        if case.size == 1:  # in no fixed order
            guesses.sort()
        hits = [evaluator._n_success, evaluator._n_control]
        answer[case.name] = {"guesses": guesses, "hits": hits, "risk": [risk.value, *risk.ci]}
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(found, separators=(',', ':'))}" for name, found in answer.items()
    )
    sys.stdout.write("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
