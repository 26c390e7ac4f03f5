"""Make releases of which we know who was held out, to see what an audit without a control misses.

    python examples/atlas/controlled.py $UNVEIL_DATA/acs/ma2019.csv.gz controlled
    UNVEIL_CONTROLLED=$PWD/controlled unveil study run studies/atlas-controlled.toml --out atlas-controlled

A half of the people, drawn by lot, is the original, and the other half the control. Each method makes a release of the
first half; the index names it twice, once with the control and once without.
"""

import argparse
import runpy
from pathlib import Path

import numpy as np
import polars as pl

from unveil import Table
from unveil.protections import protection_from

#: The generator of another example, which lies beside this one.
CART = Path(__file__).resolve().parent.parent / "generators" / "cart.py"
#: The feature sets of the Collaborative Research Cycle.
FEATURES = {
    "demographic-focused": "AGEP SEX MSP RAC1P HOUSING_TYPE OWN_RENT EDU PINCP_DECILE DVET DEYE",
    "family-focused": "PUMA AGEP SEX MSP HISP RAC1P NOC NPF OWN_RENT PINCP_DECILE POVPIP",
    "industry-focused": "PUMA SEX MSP HISP RAC1P OWN_RENT INDP_CAT EDU PINCP_DECILE",
}
#: Ways to make a release that we can run ourselves; "cart" is the generator of examples/generators.
METHODS = (
    "noisy-chain:epsilon=1",
    "noisy-chain:epsilon=5",
    "noisy-chain:epsilon=10",
    "gaussian-copula",
    "pram:keep=0.5",
    "pram:keep=0.8",
    "rank-swapping:share=0.05",
    "rank-swapping:share=0.3",
    "cart:leaf=50",
    "cart:leaf=5",
    "shuffle",
)


def made(people: pl.DataFrame, method: str, rng: np.random.Generator) -> pl.DataFrame:
    """Return what a method makes of people; every cell is text."""
    name, _, settings = method.partition(":")
    if name == "cart":
        rows: pl.DataFrame = runpy.run_path(str(CART))["made_rows"](people, int(settings.partition("=")[2]), rng)
        return rows
    # Codes have no order that a method could rely on: each is a value of its own.
    table = Table.from_frame(people, name="original", kinds=dict.fromkeys(people.columns, "category"))
    released = protection_from(method).apply(table, rng=rng).released
    # In these records N is what stands for no value.
    return released.frame.select(pl.col(name).cast(pl.String).fill_null("N") for name in people.columns)


def write(people: pl.DataFrame, out: Path, *, seed: int = 1) -> None:
    """Write the two halves of each feature set, what each method makes of the first, and the index."""
    rows: list[dict[str, str]] = []
    for features, names in FEATURES.items():
        columns = [name for name in names.split() if name in people.columns]
        rng = np.random.default_rng([seed, len(rows)])
        order = rng.permutation(people.height)
        inside, outside = (people.select(columns)[half.tolist()] for half in np.array_split(order, 2))
        folder = out / features
        folder.mkdir(parents=True, exist_ok=True)
        inside.write_csv(folder / "original.csv")
        outside.write_csv(folder / "control.csv")
        for method in METHODS:
            file = f"{features}/{method.replace(':', '-').replace('=', '-')}.csv"
            made(inside, method, rng).write_csv(out / file)
            told = {"file": file, "original": features, "technique": method, "features": features}
            for control in (f"{features}/control.csv", ""):
                name = f"{features} {method} {'with' if control else 'without'}"
                rows.append({"name": name, **told, "control": control})
    pl.DataFrame(rows).write_csv(out / "index.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("people", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    write(pl.read_csv(told.people, infer_schema=False), told.out, seed=told.seed)


if __name__ == "__main__":
    main()
