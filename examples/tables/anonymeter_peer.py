"""Run anonymeter's three attacks and print what it says as JSON; for a Python that has anonymeter 1.1.0.

`adult_beside_anonymeter.py --anonymeter PYTHON` starts it. The package needs an older numpy than unveil, so it lives in
an environment of its own, and this file imports nothing of unveil. The settings come as JSON on standard input.
"""

import json
import sys
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from anonymeter.evaluators import (  # type: ignore[import-not-found, unused-ignore]
    InferenceEvaluator,
    LinkabilityEvaluator,
    SinglingOutEvaluator,
)


def main() -> None:
    asked = json.load(sys.stdin)
    original, released, control = (pd.read_csv(path) for path in asked["files"])
    frames = {"ori": original, "syn": released, "control": control}
    many, seed = asked["targets"], asked["seed"]
    found = {}
    for size in asked["sizes"]:
        evaluator = SinglingOutEvaluator(**frames, n_attacks=many, n_cols=size, seed=seed)
        found[f"singling out {size}"] = said(evaluator, seed, mode="univariate" if size == 1 else "multivariate")
    groups = (asked["first"], asked["second"])
    linker = LinkabilityEvaluator(**frames, aux_cols=groups, n_attacks=many, n_neighbors=asked["neighbours"])
    found["linkability"] = said(linker, seed, n_jobs=1)
    for secret in asked["secrets"]:
        guesser = InferenceEvaluator(
            **frames,
            aux_cols=[name for name in original.columns if name != secret],
            secret=secret,
            regression=bool(pd.api.types.is_numeric_dtype(original[secret])),
            n_attacks=many,
        )
        found[f"inference {secret}"] = said(guesser, seed, n_jobs=1)
    json.dump({"version": version("anonymeter"), "found": found}, sys.stdout)


def said(evaluator: Any, seed: int, **settings: Any) -> dict[str, float]:
    """Return the rates and the risk as the package gives them, with the targets of this seed."""
    np.random.seed(seed)  # noqa: NPY002 (the package draws from the old generator)
    evaluator.evaluate(**settings)
    results, risk = evaluator.results(), evaluator.risk()
    rates = (results.attack_rate.value, results.baseline_rate.value, results.control_rate.value)
    numbers = dict(zip(("attack", "baseline", "control"), map(float, rates), strict=True))
    return {**numbers, "risk": float(risk.value), "risk_low": float(risk.ci[0]), "risk_high": float(risk.ci[1])}


if __name__ == "__main__":
    main()
