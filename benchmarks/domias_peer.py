"""Score people by the attacks in the package of DOMIAS; run by a Python that has domias 0.0.5.

    PEER/bin/python benchmarks/domias_peer.py FOLDER

The folder holds released, population, members and outsiders as CSV. The package wants arrays of numbers: categories are
one-hot and all columns standardized; its kernels, which cannot invert one-hot columns, get the codes of categories
instead. It needs torch, so it lives in an environment of its own, and this file imports nothing of unveil.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from domias import baselines as package  # type: ignore[import-not-found, import-untyped, unused-ignore]


def main() -> None:
    frames = [
        pd.read_csv(Path(sys.argv[1]) / f"{name}.csv") for name in ("released", "population", "members", "outsiders")
    ]
    released, population, people = _standardized(pd.get_dummies(pd.concat(frames), dtype=float), frames)
    coded = pd.concat(frames).apply(
        lambda cells: cells if cells.dtype.kind in "if" else cells.astype("category").cat.codes
    )
    as_codes = _standardized(coded, frames)
    np.random.seed(0)  # noqa: NPY002 (the package draws from the old generator)
    package.torch.manual_seed(0)
    attacks: dict[str, Any] = {
        "GAN-Leaks": lambda: package.GAN_leaks(people, released),
        "GAN-Leaks calibrated": lambda: package.GAN_leaks_cal(people, released, population),
        "MC": lambda: package.MC(people, released),
        "LOGAN": lambda: package.LOGAN_D1(people, released, population),
        "DOMIAS, kernels": lambda: package.kde_baseline(as_codes[2], as_codes[0], as_codes[1])[1],
    }
    begin, scores, failed = process_time(), {}, {}
    for name, attack in attacks.items():
        try:
            found = np.asarray(attack(), float)
        except (ArithmeticError, ValueError) as error:
            failed[name] = type(error).__name__
        else:
            scores[name] = np.nan_to_num(found).tolist()
    answer = {"domias": version("domias"), "seconds": process_time() - begin, "scores": scores, "failed": failed}
    json.dump(answer, sys.stdout)


def _standardized(every: Any, frames: list[Any]) -> tuple[Any, Any, Any]:
    """Return released rows, population and people, each column with mean 0 and deviation 1 over all of them."""
    cells = every.to_numpy(float)
    spread = cells.std(axis=0)
    cells = (cells - cells.mean(axis=0)) / np.where(spread > 0, spread, 1)
    rows = np.cumsum([len(frame) for frame in frames])
    return cells[: rows[0]], cells[rows[0] : rows[1]], cells[rows[1] :]


if __name__ == "__main__":
    main()
