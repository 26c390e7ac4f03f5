"""Make ``anonymeter_inference.json``: what anonymeter 1.1.0 guesses right in small tables; run by a Python that has it.

    PEER/bin/python -m tests.golden.make_anonymeter_inference_golden > tests/golden/anonymeter_inference.json

The tables are those of ``make_anonymeter_golden``, where each column of the second group is a secret in turn.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.golden import make_anonymeter_golden as tables

#: Guesses and truths of one number, and what a person would say about them at 5 %.
JUDGED = [(-100.0, 500.0), (-5.0, 0.0), (95.0, 100.0), (105.0, 100.0), (106.0, 100.0), (100.0, 105.0), (0.0, 0.0)]
NOTHING = float("nan")


class Case(NamedTuple):
    """Tables as columns of cells, the types that pandas shall give them, and the settings of the attack."""

    name: str
    original: tables.Columns
    released: tables.Columns
    types: dict[str, str]
    known: tuple[str, ...]
    secret: str
    regression: bool


def cases() -> Iterator[Case]:
    """Yield each case once with equal secrets wanted, and once as numbers where the secret is one."""
    for case in tables.cases():
        for secret in case.second:
            name = f"{case.name}, {secret}"
            settings = (case.original, case.released, case.types, case.first, secret)
            yield Case(name, *settings, regression=False)
            if all(type(cell) in (int, float) for cell in case.original[secret] + case.released[secret]):
                yield Case(f"{name} as a number", *settings, regression=True)


def whole_run(people: int, rows: int) -> tuple[tables.Columns, tables.Columns, tables.Columns]:
    """Return an original, a released and a control table for a run with draws of its own."""
    import random

    made: list[tables.Columns] = []
    for number, size in enumerate((people, rows, people)):
        rng = random.Random(number)  # noqa: S311
        made.append(
            {
                "age": [rng.randrange(18, 60) for _ in range(size)],
                "town": [rng.choice(["Ulm", "Bonn", None]) for _ in range(size)],
                "pay": [rng.choice([NOTHING, rng.randrange(-20, 90) / 10]) for _ in range(size)],
                "kids": [rng.randrange(-2, 4) for _ in range(size)],
            }
        )
    return made[0], made[1], made[2]


#: Secret, whether as a number, targets and seed of the whole runs.
RUNS = [
    ("pay", True, 60, 0),
    ("pay", False, 60, 1),
    ("town", False, 80, 2),
    ("kids", True, 50, 3),
    ("kids", None, 90, 4),
]


def main() -> None:
    """Attack every row of every case, in its order, and print which guesses are right; then runs and defects."""
    import pandas
    from anonymeter.evaluators import inference_evaluator as package  # type: ignore[import-not-found, unused-ignore]

    answer: dict[str, Any] = {"right": {}, "runs": [], "defects": _defects(pandas, package)}
    for case in cases():
        original, released = (tables.frame(pandas, columns, case.types) for columns in (case.original, case.released))
        model = package.KNNInferencePredictor(released, list(case.known), case.secret, n_jobs=1)
        found = package.evaluate_inference_guesses(model.predict(original), original[case.secret], case.regression)
        answer["right"][case.name] = [place for place, right in enumerate(found) if right]
    for secret, regression, targets, seed in RUNS:
        answer["runs"].append(_run(pandas, package, secret, regression, targets, seed))
    lines = ",\n".join(
        json.dumps(part)
        + ": {\n"
        + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answer[part].items())
        + "\n}"
        for part in ("right", "defects")
    )
    runs = ",\n".join(json.dumps(run) for run in answer["runs"])
    sys.stdout.write("{\n" + lines + ',\n"runs": [\n' + runs + "\n]\n}\n")


def _run(pandas: Any, package: Any, secret: str, regression: bool | None, targets: int, seed: int) -> dict[str, Any]:
    """Return the counts of a whole run after seeding, and which guesses were right, in the order of the draws."""
    import numpy

    original, released, control = (pandas.DataFrame(columns) for columns in whole_run(100, 130))
    numpy.random.seed(seed)  # noqa: NPY002 (the package draws from the old generator)
    known = [name for name in original.columns if name != secret]
    evaluator = package.InferenceEvaluator(
        original, released, known, secret, regression=regression, n_attacks=targets, control=control
    ).evaluate(n_jobs=1)
    as_number = secret in ("pay", "kids") if regression is None else regression
    right = {}
    for which, guesses, people in (
        ("attack", evaluator._guesses_success, original),
        ("control", evaluator._guesses_control, control),
    ):
        found = package.evaluate_inference_guesses(guesses, people[secret].loc[guesses.index], as_number)
        right[which] = [place for place, hit in enumerate(found) if hit]
    counts = [int(number) for number in (evaluator._n_baseline, evaluator._n_success, evaluator._n_control)]
    return {**right, "counts": counts, "no guess": int(evaluator._guesses_baseline.isna().sum())}


def _defects(pandas: Any, package: Any) -> dict[str, Any]:
    """Return what the package makes of inputs with a plain right answer."""
    guesses, truths = (pandas.Series(cells) for cells in zip(*JUDGED, strict=True))
    cells = {"age": [20, 30, 40, 50] * 5, "pay": [1, 2, 3, 4] * 5, "old": [False, False, True, True] * 5}
    people = pandas.DataFrame(cells)
    nullable = people.astype({"age": "Int64"})

    def outcome(frame: Any, guessed: str, *known: str, **settings: Any) -> int | str:
        try:
            evaluator = package.InferenceEvaluator(frame, frame, list(known), guessed, n_attacks=20, **settings)
            return int(evaluator.evaluate(n_jobs=1)._n_success)
        except Exception as error:  # noqa: BLE001, RUF100 (which one is the answer)
            return type(error).__name__

    return {
        "judged": [bool(right) for right in package.evaluate_inference_guesses(guesses, truths, regression=True)],
        "nullable integers beside a category": outcome(nullable, "pay", "age", "old"),
        "a truth value judged by its type": outcome(people, "old", "age", regression=None),
        "the secret is known": outcome(people, "pay", "age", "pay"),
        "a constant secret": outcome(people.assign(pay=7), "pay", "age"),
        "every secret missing": outcome(people.assign(pay=NOTHING), "pay", "age"),
        "a known column twice": outcome(people, "pay", "age", "age"),
    }


if __name__ == "__main__":
    main()
