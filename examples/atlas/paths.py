"""Audit three releases in every way of the decision tree: what each adds to an audit without a control group.

    python -m examples.atlas.paths $UNVEIL_DATA/acs/national2019.csv.gz studies/results/atlas-paths.csv

400 people are the original. The control group, the people of siblings, and the other people of the register are
disjoint from them and from one another, all drawn at random from one file.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import unveil
from examples.atlas.controlled import FEATURES, made

PEOPLE, SIBLINGS, REGISTER = 400, 22, 2_000
THRESHOLD = 0.09
#: The releases: how each is made, and its type.
METHODS = {"gaussian-copula": "synthetic", "cart:leaf=5": "synthetic", "pram:keep=0.8": "masked"}
#: The attacks of all audits.
ATTACKS = ["linkability", "membership", "copies"]


def ways(whole: pl.DataFrame, method: str, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each way of the decision tree with what it adds to an audit; {} has nothing."""
    rng = np.random.default_rng([seed, 3])
    rows = whole.with_row_index("id").with_columns(pl.col("id").cast(pl.String))
    parts = [rows[PEOPLE * place : PEOPLE * (place + 1)] for place in range(2 + SIBLINGS)]
    original, control, *behind = parts

    def release(people: pl.DataFrame) -> pl.DataFrame:
        return made(people.drop("id"), method, rng)

    plain = {"original": original, "released": release(original)}
    siblings = [release(each) for each in behind]
    others = rows[PEOPLE * len(parts) :].head(REGISTER)
    register = pl.concat([original, control, others]).sample(fraction=1.0, shuffle=True, seed=seed)
    yield "no other files", plain
    yield "people held out at random", {**plain, "control": control}
    yield "register with identifier", {**plain, "population": register}
    yield "program, 8 runs", {"original": original, "generator": lambda frame, _: release(frame), "runs": 8}
    yield (
        "3 siblings with their people",
        {**plain, "sibling": siblings[:3], "sibling_people": behind[:3]},
    )
    yield "22 siblings", {**plain, "sibling": siblings}
    yield "10 siblings", {**plain, "sibling": siblings[:10]}
    named = [each.drop("id") for each in (original, register)]
    yield (
        "register without identifier",
        {**plain, "original": named[0], "population": named[1]},
    )


def audited(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the result of one audit."""
    settings: dict[str, Any] = {
        "attacks": ATTACKS,
        "sensitive": "none",
        "threshold": THRESHOLD,
        "release_type": METHODS[method],
        "identifiers": ["id"] if "id" in given["original"].columns else ["none"],
        "rng": np.random.default_rng(1),
    }
    tables = {name: each for name, each in given.items() if name not in ("original", "released")}
    answer = unveil.audit(given["original"], given.get("released"), **tables, **settings)
    excess = answer.worst_excess
    shown = excess is not None and excess.is_tested
    return {
        "level": answer.level,
        "decision": answer.decision,
        "excess": excess.value if excess is not None and shown else None,
        "low": excess.low if excess is not None and shown else None,
        "high": excess.high if excess is not None and shown else None,
        "basis": answer.decided.basis or "",
        "described": _described(answer.findings),
        "headline": answer.headline,
    }


def _described(findings: Any) -> str:
    """Return what is described where nothing is tested: people nearest to the release, or the risk in the register."""
    siblings, population = findings.siblings, findings.population
    if siblings is not None and siblings.test == "none":
        expected = 1 / (siblings.number + 1)
        return f"{siblings.attack_rate.value:.0%} of people are nearest to it, {expected:.0%} expected"
    if population is not None and not population.control_people:
        risk = population.risk
        what = "records" if population.of == "release" else "original records"
        return (
            f"marketer risk of {what} {risk.marketer:.0%}" if risk.is_register else "no register: its cells are changed"
        )
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("people", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    whole = pl.read_csv(told.people, infer_schema=False).select(FEATURES["demographic-focused"].split())
    whole = whole.sample(fraction=1.0, shuffle=True, seed=told.seed)
    rows = []
    for method in METHODS:
        for path, given in ways(whole, method, told.seed):
            rows.append({"release": method, "path": path, **audited(method, given)})
            print(rows[-1], flush=True)
    pl.DataFrame(rows).write_csv(told.out)


if __name__ == "__main__":
    main()
