"""Columns that say nothing: anonymeter's rule links 300 of 300 people, unveil finds what blind chance would.

The second half is about guessing numbers: anonymeter divides by the guess with its sign, so that every negative guess
counts as right.
"""

import argparse
import warnings
from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
import polars as pl
from shared import options, save_picture, write_table

import unveil
from unveil.anonymeter import InferenceEvaluator, LinkabilityEvaluator
from unveil.attacks import Linkability
from unveil.attacks.table.inference import Inference
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.metrics.trials.risk import risk

NAME = "uninformative_columns"
PEOPLE = 300
NEIGHBOURS = (1, 2, 5, 10, 20, 50)
SECRET, TRUTH = "pay", 500
GUESSES = range(-1000, 1001, 5)


def main() -> None:
    chosen = options(__doc__.splitlines()[0]).parse_args()
    rows = [*links(chosen), *guesses()]
    say(rows, chosen)
    write_table(rows, NAME, chosen.out)
    draw(rows, chosen)


def links(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield how many of 300 people are linked through two columns in which all of them are alike."""
    frame = pl.DataFrame({"planet": ["Earth"] * PEOPLE, "eyes": [2] * PEOPLE})
    people = Table.from_frame(frame, name="original")
    knowledge = Knowledge(people, control=people)  # others look no different
    for neighbours in NEIGHBOURS:
        attack = Linkability(first=("planet",), second=("eyes",), neighbours=neighbours, targets=None)
        ours = attack.run(released=people, knowledge=knowledge, rng=np.random.default_rng(chosen.seed))
        alone, controlled = (
            LinkabilityEvaluator(frame, frame, (["planet"], ["eyes"]), None, neighbours, control).evaluate()
            for control in (None, frame)
        )
        yield {
            "what": "linked",
            "x": neighbours,
            "unveil": ours.attack.expected,
            "unveil_excess_over_control": risk(ours).excess_over_control.value,
            "anonymeter": float(alone.results().n_success),
            "anonymeter_risk": alone.risk().value,
            "anonymeter_risk_with_control": controlled.risk().value,
            "anonymeter_risk_with_control_high": controlled.risk().ci[1],
            "chance": PEOPLE * (1 - comb(PEOPLE - neighbours, neighbours) / comb(PEOPLE, neighbours)),
        }


def guesses() -> Iterator[dict[str, Any]]:
    """Yield which guesses of a person's pay count as right, each from a released row that is surely this person's."""
    for guess in GUESSES:
        people, released = (pl.DataFrame({"who": ["a", "b"], SECRET: pay}) for pay in ([TRUTH, 1], [guess, 2000]))
        attack = Inference(secret=SECRET, known=("who",), targets=None)
        trials = attack.run(
            released=Table.from_frame(released, kinds={SECRET: "number"}),
            knowledge=Knowledge(Table.from_frame(people, kinds={SECRET: "number"})),
            rng=np.random.default_rng(1),
        )
        evaluator = InferenceEvaluator(people, released, ["who"], SECRET, regression=True).evaluate()
        with warnings.catch_warnings(action="ignore"):  # a wrong guess is no better than a blind one
            theirs = float(evaluator.risk_for_groups()[TRUTH].n_success)
        yield {"what": "right", "x": guess, "unveil": trials.attack.expected, "anonymeter": theirs}


def say(rows: list[dict[str, Any]], chosen: argparse.Namespace) -> None:
    """Print the two findings, the first also as an audit gives it."""
    first = rows[0]
    print(f"anonymeter's rule links {first['anonymeter']:.0f} of {PEOPLE}, risk {first['anonymeter_risk']:.3f}")
    print(
        f"with a control: {first['anonymeter_risk_with_control']:.3f}, which reaches to "
        f"{first['anonymeter_risk_with_control_high']:.3f}"
    )
    print(f"unveil links {first['unveil']:.2f} of {PEOPLE}, as blind chance does ({first['chance']:.2f})")
    people = pl.DataFrame({"planet": ["Earth"] * PEOPLE, "eyes": [2] * PEOPLE})
    answer = unveil.audit(
        people,
        people,
        scenarios=["planet:eyes"],
        attacks=["linkability"],
        neighbors=1,
        rng=np.random.default_rng(chosen.seed),
    )
    print(f"audit: attack rate {answer.to_polars().row(0, named=True)['attack_rate']:.4f}")
    wrong = [row["x"] for row in rows if row["what"] == "right" and row["anonymeter"] > row["unveil"]]
    print(f"for a true {TRUTH}, anonymeter takes {min(wrong)} to {max(wrong)} for right, and unveil does not")


def draw(rows: list[dict[str, Any]], chosen: argparse.Namespace) -> None:
    """Draw links against neighbours, and what counts as right against the guess."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    linked = [row for row in rows if row["what"] == "linked"]
    x = [row["x"] for row in linked]
    left.plot(x, [row["anonymeter"] for row in linked], "o-", color="C1", label="anonymeter's rule")
    left.plot(x, [row["unveil"] for row in linked], "o-", color="C0", label="unveil")
    left.plot(x, [row["chance"] for row in linked], "--", color="black", linewidth=1, label="blind chance")
    left.set(xscale="log", xticks=x, xticklabels=x, ylim=(-10, PEOPLE * 1.07))
    left.set(
        xlabel="nearest rows looked at", ylabel=f"people linked, of {PEOPLE}", title="Two columns that say nothing"
    )
    left.minorticks_off()
    left.legend(fontsize=9, loc="center left")
    judged = [row for row in rows if row["what"] == "right"]
    for place, (tool, colour) in enumerate((("unveil", "C0"), ("anonymeter", "C1"))):
        counted = [row["x"] for row in judged if row[tool]]
        right.plot(counted, np.full(len(counted), place), "|", color=colour, markersize=22)
    right.axvline(TRUTH, color="black", linewidth=1)
    right.annotate("the truth", (TRUTH, 1.42), xytext=(4, 0), textcoords="offset points", fontsize=9)
    right.set_yticks((0, 1), ("unveil", "anonymeter's\nrule"))
    right.set(
        ylim=(-0.6, 1.6),
        xlim=(-1000, 1000),
        xlabel="guess of a number",
        title=f"Guesses of {TRUTH} that count as right",
    )
    save_picture(figure, NAME, chosen.out)


if __name__ == "__main__":
    main()
