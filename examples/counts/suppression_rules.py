"""Compare rules that protect small cells, on the same people.

    python examples/counts/suppression_rules.py [--out FOLDER]

Writes ``suppression_rules.csv`` and a chart of it to the folder (default: this one). It holds the number of cells that
each rule suppresses or changes, that can be recovered, and that are approximate. The people do not exist.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import unveil
from unveil.data.counts import Rounding
from unveil.data.counts.tabulate import TOTAL, tabulate, with_small_hidden

MINIMUM = 5
VARIABLES = ("district", "age", "origin")


def main(folder: Path) -> pl.DataFrame:
    """Write and return the disclosure under each rule."""
    counts = tabulate(people(np.random.default_rng(7)), VARIABLES)
    hidden = with_small_hidden(counts, MINIMUM)
    inner = pl.all_horizontal(pl.col(VARIABLES) != TOTAL)
    repaired = unveil.tables(counts, min_cell=MINIMUM, suppress=True).findings.repair
    if repaired is None:
        raise SystemExit("no secondary suppression was computed")
    releases = {
        "small cells suppressed": (hidden, None),
        "the same, without any total": (hidden.filter(inner), None),
        "secondary suppression": (repaired.frame, None),
        "rounded to the nearest 5": (rounded(counts, 5, None), Rounding(base=5)),
        "rounded at random to 3": (
            rounded(counts, 3, np.random.default_rng(8)),
            Rounding(base=3, way="random"),
        ),
    }
    found = pl.DataFrame([measured(rule, *release) for rule, release in releases.items()])
    found.write_csv(folder / "suppression_rules.csv")
    picture(found, folder / "suppression_rules.png")
    return found


def picture(found: pl.DataFrame, path: Path) -> None:
    """Draw the suppressed or changed cells of each rule, and the recovered ones."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 3.2), layout="constrained")
    rules = found["rule"].to_list()
    axes.barh(rules, found["suppressed"].to_list(), color="#dde2e8", label="suppressed or changed")
    axes.barh(rules, found["recovered"].to_list(), color="#9b1c1c", height=0.4, label="recovered")
    axes.invert_yaxis()
    axes.set_xlabel("cells")
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def people(rng: np.random.Generator) -> pl.DataFrame:
    """Return 1,500 generated people, few in some districts and origins."""
    number = 1500
    shares = {
        "district": ("north", "south", "east", "west", "isle"),
        "age": ("0-17", "18-39", "40-64", "65+"),
        "origin": ("here", "near", "far"),
    }
    weights = {"district": (40, 30, 18, 9, 3), "age": (20, 30, 30, 20), "origin": (80, 15, 5)}
    return pl.DataFrame(
        {name: rng.choice(codes, number, p=np.array(weights[name]) / 100) for name, codes in shares.items()}
    )


def rounded(counts: pl.DataFrame, base: int, rng: np.random.Generator | None) -> pl.DataFrame:
    """Return every count rounded to the base, to the nearest or at random."""
    values = counts["count"].to_numpy()
    rest = values % base
    up = 2 * rest > base if rng is None else rng.random(values.size) < rest / base
    return counts.with_columns(pl.Series("count", values - rest + base * up))


def measured(rule: str, table: pl.DataFrame, rounding: Rounding | None) -> dict[str, object]:
    """Return the disclosure under one rule."""
    findings = unveil.tables(table, min_cell=MINIMUM, rounding=rounding).findings
    figures = findings.figures
    return {
        "rule": rule,
        "suppressed": figures.suppressed,
        "recovered": figures.recovered,
        "small_cells_recovered": figures.small,
        "approximate": figures.approximate,
        "totals_alone": findings.margins,
        "not_settled": figures.undecided,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare rules of suppression.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="the folder to write to")
    with pl.Config(tbl_rows=-1, tbl_width_chars=120, fmt_str_lengths=60):
        print(main(parser.parse_args().out))
