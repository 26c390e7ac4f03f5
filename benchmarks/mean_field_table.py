"""The table of the studies mean-field.toml and mean-field-seeds.toml, as docs/research/graph-measured.md has it.

Run it with the folders of both: python benchmarks/mean_field_table.py FOLDER FOLDER
"""

import argparse
from pathlib import Path

import polars as pl

from unveil.studies import Results

COLUMNS = (
    "adversary_overall_success",
    "deanonymizability_bound",
    "expected_calibration_error",
    "edge_disclosure_precision",
    "edge_disclosure_recall",
    "edge_guessing_precision",
)


def table(folder: Path) -> pl.DataFrame:
    """Return a row for each scenario that is done: means over its replications, and how much of the bound was found."""
    results = Results.read(folder)
    rows = results.frame.filter(pl.col("error").is_null())
    keys = ("data", "protect", "level")
    means = rows.group_by(keys, maintain_order=True).agg(
        pl.len().alias("draws"), *(pl.col(name).mean() for name in COLUMNS)
    )
    found, bound = pl.col(COLUMNS[0]), pl.col(COLUMNS[1])
    return means.with_columns((found / bound).alias("share"))


def main() -> None:
    """Print both studies as one table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    told = parser.parse_args()
    print("| graph, release, overlap | found, of the bound, error | edges: right, learned, guessed |")
    print("|---|---|---|")
    for folder in told.folders:
        pairs = Results.read(folder).study.fixed_levels()["seed_pairs"]
        for row in table(folder).iter_rows(named=True):
            where = f"{row['data']}, {row['protect'].partition(':')[0]}, {row['level']:.2f}, {pairs:.0f} pairs"
            cells = (COLUMNS[0], "share", *COLUMNS[2:])
            found, share, error, right, learned, guessed = (f"{row[name]:.3f}".removeprefix("0") for name in cells)
            print(f"| {where} | {found}, {share}, {error} | {right}, {learned}, {guessed} |")


if __name__ == "__main__":
    main()
