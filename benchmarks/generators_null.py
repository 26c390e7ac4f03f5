"""How often is a harmless generator accused, and how often has its epsilon a bound above 0? The truth is that it is 0.

    UNVEIL_DATA=... python -m benchmarks.generators_null [--plan folds] [--seeds FIRST BEYOND]

What is made are other people of the same population, whoever is given. 600 people of Adult are audited by each plan;
seed s draws the people and starts the audit. Each audit is a line of a results file, so that a run may be stopped and
started again.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars as pl

from unveil.metrics.trials.risk import clopper_pearson
from unveil.questions.audit.answer import audit

PEOPLE = 600
#: How people are held out and what is planted; where coins are what is looked at, one attack is enough.
PLANS: dict[str, dict[str, Any]] = {
    "one part held out": {},
    "folds": {"folds": 4},
    "people planted": {"canaries": 60, "runs": 3, "attacks": ["membership"]},
    "unusual rows planted": {"canaries": "60:unusual", "runs": 3, "attacks": ["membership"]},
}


def line_of(everybody: pl.DataFrame, plan: str, seed: int) -> dict[str, Any]:
    """Return what an audit of a harmless generator comes to."""
    order = np.random.default_rng([seed, 77]).permutation(everybody.height)
    people, others = everybody[order[:PEOPLE]], everybody[order[PEOPLE:]]

    def harmless(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        return others[rng.permutation(others.height)[: frame.height]]

    found = audit(
        people, generator=harmless, release_type="synthetic", rng=np.random.default_rng(seed), **PLANS[plan]
    ).findings
    return {
        "plan": plan,
        "seed": seed,
        "level": found.decision.level,
        "proved": [[each.attack, each.adversary, each.secret] for each in found.verdict.releases[0].proved],
        "bound": None if found.epsilon is None or found.epsilon.bound is None else found.epsilon.bound.bound,
    }


def told(lines: list[dict[str, Any]]) -> str:
    """Return how many audits find a level, and how many have a bound above 0, with intervals."""

    def share(hits: int, tries: int) -> str:
        rate = clopper_pearson(hits, tries)
        return f"{hits} of {tries} ({100 * rate.value:.1f} %, {100 * rate.low:.1f} to {100 * rate.high:.1f})"

    above_none = sum(each["level"] not in ("none_found", "inconclusive") for each in lines)
    bounds = [each["bound"] for each in lines if each["bound"] is not None]
    above = share(sum(each > 0 for each in bounds), len(bounds)) if bounds else "none"
    return f"above none found {share(above_none, len(lines))}; bound above 0 {above}"


def main() -> None:
    """Audit, note each audit, and print what all of them come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", choices=PLANS, action="append")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 100))
    parser.add_argument("--results", type=Path, default=Path("generators_null.jsonl"))
    asked = parser.parse_args()
    folder = Path(os.environ["UNVEIL_DATA"])
    everybody = pl.read_csv(folder / "adult" / "train.csv.gz", infer_schema_length=None)
    for plan in asked.plan or PLANS:
        lines = [json.loads(line) for line in asked.results.read_text().splitlines()] if asked.results.exists() else []
        done = {(each["plan"], each["seed"]) for each in lines}
        for seed in range(*asked.seeds):
            if (plan, seed) not in done:
                lines.append(line_of(everybody, plan, seed))
                with asked.results.open("a") as stream:
                    stream.write(f"{json.dumps(lines[-1])}\n")
        print(f"{plan}: {told([each for each in lines if each['plan'] == plan])}")


if __name__ == "__main__":
    main()
