"""Rank swapping under attack: one adversary who takes the window that was used, and others who take a smaller one.

The first is valid: the right person is always among those it leaves possible. With a smaller window there is less
doubt, which looks like a better attack; but it excludes whom the masking allows, and for many records leaves nobody.
"""

import argparse
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.protections import RankSwapping
from unveil.questions.reidentify.answer import reidentify
from unveil.questions.reidentify.findings import AttackOutcome, ReidentifyFindings
from unveil.questions.reidentify.read import reidentify_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "window_attack"
P, SMALLER = 10, 5
WINDOWS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20)
BLUE, ORANGE, GREY = "#0b61a4", "#b3470b", "#5b6570"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for the table and the picture")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same numbers")
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    people = reidentify_sample()
    release = RankSwapping(p=P).apply(people, rng=rng)
    attacks = [f"intersection:p={p}" for p in WINDOWS]
    found = reidentify(people, release, attacks=attacks, rng=rng).findings
    rows = [row for p, attacked in zip(WINDOWS, found.attacks, strict=True) for row in rows_of(p, attacked)]
    say(found)
    chosen.out.mkdir(parents=True, exist_ok=True)
    write(rows, chosen.out)
    draw(found, chosen.out)


def rows_of(p: int, attacked: AttackOutcome) -> list[dict[str, Any]]:
    """Return the figures of one window after each piece of information; the verdict is that with all columns known."""
    last = len(attacked.steps) - 1
    return [
        {
            "p": p,
            "known": step.known,
            "column": step.column,
            "attack_rate": step.attack_rate.value,
            "low": step.attack_rate.low,
            "high": step.attack_rate.high,
            "nonspecificity": step.nonspecificity,
            "nobody": step.nobody,
            "valid": attacked.record_level.valid if place == last else None,
            "invalid": attacked.record_level.invalid if place == last else None,
            "valid_in_file": attacked.file_level.valid if place == last else None,
        }
        for place, step in enumerate(attacked.steps)
    ]


def say(found: ReidentifyFindings) -> None:
    """Print both findings side by side."""
    for p in (P, SMALLER):
        attacked = by_window(found, p)
        print(
            f"window of {p} %: {attacked.record_level.valid} of {found.records} guesses are valid, "
            f"{attacked.nobody} leave nobody; hit rate {attacked.attack_rate.value:.1%}, "
            f"doubt {attacked.steps[-1].nonspecificity:.3f}. {attacked.witness}"
        )


def by_window(found: ReidentifyFindings, p: int) -> AttackOutcome:
    return found.attacks[WINDOWS.index(p)]


def write(rows: list[dict[str, Any]], out: Path) -> None:
    """Write the numbers behind the picture."""
    import polars as pl
    import polars.selectors as cs

    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame.with_columns(cs.float().round(4).fill_nan(None)).write_csv(out / f"{NAME}.csv")
    print(f"wrote {out / NAME}.csv")


def draw(found: ReidentifyFindings, out: Path) -> None:
    """Draw the two findings side by side, what each column adds, and every window."""
    from matplotlib import pyplot
    from PIL import Image

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    _findings(left, found)
    _columns(middle, found)
    _windows(right, found)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=100)
    pyplot.close(figure)
    # A palette is a third of the size, and lines and letters need no more colours.
    Image.open(image).convert("RGB").quantize(128).save(out / f"{NAME}.png", optimize=True)
    print(f"wrote {out / NAME}.png")


def _findings(axes: "Axes", found: ReidentifyFindings) -> None:
    """Draw how many guesses of either attack are valid, claim too much, or leave nobody."""
    labels = [f"window {P} %\n(the one used)", f"window {SMALLER} %\n(too small)"]
    chosen = [by_window(found, p) for p in (P, SMALLER)]
    valid = [each.record_level.valid for each in chosen]
    nobody = [each.nobody for each in chosen]
    wrong = [each.record_level.invalid - each.nobody for each in chosen]
    bottom = np.zeros(2)
    for name, counts, colour, hatch in (
        ("valid", valid, BLUE, ""),
        ("excludes whom the masking allows", wrong, ORANGE, "//"),
        ("leaves nobody", nobody, GREY, ".."),
    ):
        axes.bar(labels, counts, 0.6, bottom=bottom, color=colour, hatch=hatch, edgecolor="white", label=name)
        for place, number in enumerate(counts):
            if number:
                middle = bottom[place] + number / 2
                box = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
                axes.text(place, middle, str(number), ha="center", va="center", color="white", weight="bold", bbox=box)
        bottom += counts
    axes.set(
        title="Are the guesses valid?", ylabel=f"released records, of {found.records}", ylim=(0, found.records * 1.4)
    )
    axes.legend(loc="upper center", fontsize=9)


def _columns(axes: "Axes", found: ReidentifyFindings) -> None:
    """Draw hits and doubt of either attack with more and more columns known."""
    other = axes.twinx()
    for p, colour, mark in ((P, BLUE, "o"), (SMALLER, ORANGE, "s")):
        steps = by_window(found, p).steps
        x = [step.known for step in steps]
        axes.plot(x, [100 * step.attack_rate.value for step in steps], mark + "-", color=colour, label=f"hits, {p} %")
        other.plot(x, [step.nonspecificity for step in steps], mark + ":", color=colour, fillstyle="none",
                   label=f"doubt, {p} %")  # fmt: skip
    axes.axhline(100 * found.blind, color="black", linewidth=0.8, linestyle="--")
    axes.set(title="What each column adds", xlabel="columns known", ylabel="hit rate, %", ylim=(0, 100))
    other.set(ylabel="nonspecificity, nats", ylim=(0, 5.5))
    lines = [*axes.get_legend_handles_labels()[0], *other.get_legend_handles_labels()[0]]
    axes.legend(lines, [str(line.get_label()) for line in lines], fontsize=9, ncols=2, loc="upper center")


def _windows(axes: "Axes", found: ReidentifyFindings) -> None:
    """Draw how the finding depends on the window that the adversary supposes."""
    valid = [100 * each.record_level.share for each in found.attacks]
    hits = [100 * each.attack_rate.value for each in found.attacks]
    axes.plot(WINDOWS, valid, "o-", color=BLUE, label="valid guesses")
    axes.plot(WINDOWS, hits, "s--", color=ORANGE, label="hit rate")
    axes.axvline(P, color="black", linewidth=0.8)
    axes.annotate("the window used", (P, 3), xytext=(4, 0), textcoords="offset points", fontsize=9)
    axes.set(title="Every window", xlabel="window that the adversary supposes, %", ylabel="share of records, %")
    axes.set(ylim=(0, 108), xlim=(1, 21), xticks=range(2, 21, 2))
    axes.legend(fontsize=9, loc="lower right", bbox_to_anchor=(1, 0.07))


if __name__ == "__main__":
    main()
