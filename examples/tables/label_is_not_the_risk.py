"""The label is not the risk: people of a census survey released k-anonymous, with noise and synthetic, and attacked.

Each label is released three times, from weakly to strongly protected, and audited with people who are not in it.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from shared import at_least, data_files, options, save_picture, write_table

import unveil
from unveil.data.table import Table
from unveil.metrics import k_anonymity
from unveil.protections import GaussianCopula, Shuffle

NAME = "label_is_not_the_risk"
#: What a neighbour knows, and what an employer does; income is what the neighbour would like to know.
NEIGHBOUR = ("AGEP", "SEX", "RAC1P", "MSP", "PUMA", "OWN_RENT")
EMPLOYER = ("EDU", "INDP_CAT")
INCOME = "PINCP"
KNOWN = (*NEIGHBOUR, *EMPLOYER)
NUMBERS = ("AGEP", "EDU", INCOME)
KINDS: dict[str, Any] = {name: "number" if name in NUMBERS else "category" for name in (*KNOWN, INCOME)}
QUESTIONS = {
    "singling_out": "singling out by any 3 columns,\nincome included",
    "linkability": "linkability of what a neighbour\nand an employer know",
    "inference": "inference of the income\nfrom all other columns",
}
#: The colour of each label in the picture, and where its settings are written.
LABELS = {
    "as it is": ("black", (5, 4)),
    "k-anonymous": ("C0", (6, -10)),
    "noise": ("C1", (6, 5)),
    "synthetic": ("C2", (-6, -10)),
}
EXCESS = ("excess_over_control", "excess_over_control_low", "excess_over_control_high")
Integers = NDArray[np.int64]


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument(
        "--people", type=at_least(100), default=2500, help="people in the data, and as many in the control"
    )
    chosen = parser.parse_args()
    (path,) = data_files("acs", ["ma2019.csv.gz"])
    original, control = read(path, chosen)
    rng = np.random.default_rng(chosen.seed)
    releases = dict(release_all(original, rng))
    rows = audited(original, releases, control, chosen)
    write_table(rows, NAME, chosen.out)
    draw(rows, chosen)


def read(path: Path, chosen: argparse.Namespace) -> tuple[Table, Table]:
    """Return people from 16 years on, for whom every column applies, and as many others."""
    frame = pl.read_csv(path, infer_schema_length=None).filter(pl.col("AGEP") >= 16).select(*KNOWN, INCOME)
    frame = frame.with_columns(pl.col(name).cast(pl.Float64) for name in NUMBERS)
    people = min(chosen.people, frame.height // 2)
    drawn = frame.sample(2 * people, shuffle=True, seed=chosen.seed)
    parts = ((drawn[:people], "original"), (drawn[people:], "control"))
    original, control = (Table.from_frame(part, name=name, kinds=KINDS) for part, name in parts)
    return original, control


def release_all(original: Table, rng: np.random.Generator) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield nine releases and the data as they are, each with its label and how it was made."""
    yield "as it is", Shuffle().apply(original, rng=rng).released.frame
    for k in (2, 5, 25):
        yield f"k-anonymous, k = {k}", k_anonymous(original.frame, k, rng)
    for share in (0.02, 0.1, 0.5):
        yield f"noise, {share:.0%}", noisy(original.frame, share, rng)
    for donors in (2, 10):
        yield f"synthetic, {donors} donors", from_donors(original.frame, donors, rng)
    yield "synthetic, copula", GaussianCopula().apply(original, rng=rng).released.frame


def k_anonymous(frame: pl.DataFrame, k: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return the people in groups of at least k that look alike in all known columns; income stays as it is.

    The way of Mondrian: halve a group along the column in which it is most spread, as long as both halves have k
    people. Numbers become the median of the group, categories the most frequent one.
    """
    codes = coded(frame, KNOWN)
    groups = list(divided(np.arange(frame.height), codes / np.maximum(1, np.ptp(codes, axis=0)), k))
    group = np.empty(frame.height, np.int64)
    for number, rows in enumerate(groups):
        group[rows] = number
    alike = [
        (pl.col(name).median() if name in NUMBERS else pl.col(name).mode().sort().first()).over("group")
        for name in KNOWN
    ]
    return shuffled(frame.with_columns(group=pl.Series(group)).with_columns(alike).drop("group"), rng)


def divided(rows: Integers, scaled: NDArray[np.float64], k: int) -> Iterator[Integers]:
    """Yield groups of rows that cannot be halved any further."""
    for column in np.argsort(-np.ptp(scaled[rows], axis=0), kind="stable"):
        values = scaled[rows, column]
        for left in (values <= np.median(values), values < np.median(values)):
            if k <= left.sum() <= rows.size - k:
                yield from divided(rows[left], scaled, k)
                yield from divided(rows[~left], scaled, k)
                return
    yield rows


def noisy(frame: pl.DataFrame, share: float, rng: np.random.Generator) -> pl.DataFrame:
    """Return numbers moved by so many of their standard deviations, and as large a share of categories drawn anew."""
    columns = []
    for column in frame:
        values = column.to_numpy()
        if column.name in NUMBERS:
            columns.append(pl.Series(column.name, np.rint(values + rng.normal(0, share * values.std(), values.size))))
        else:
            columns.append(
                pl.Series(column.name, np.where(rng.random(values.size) < share, rng.permutation(values), values))
            )
    return shuffled(pl.DataFrame(columns), rng)


def from_donors(frame: pl.DataFrame, donors: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return new people, each cell of whom comes from one of the people most like somebody drawn by lot.

    It passes for a synthesis, as no row has to be anybody's; how much it copies depends on the number of donors.
    """
    codes = coded(frame, frame.columns)
    is_number = np.array([name in NUMBERS for name in frame.columns])
    scaled = codes / np.where(is_number, np.maximum(1, np.ptp(codes, axis=0)), 1)
    rows = np.empty((frame.height, frame.width), np.int64)
    for place, person in enumerate(rng.integers(frame.height, size=frame.height)):
        apart = np.abs(scaled - scaled[person])
        distance = np.where(is_number, apart, apart > 0).sum(axis=1) + rng.random(frame.height) * 1e-9
        rows[place] = rng.choice(np.argpartition(distance, donors)[:donors], frame.width)
    return pl.DataFrame([column.gather(rows[:, place]) for place, column in enumerate(frame)])


def coded(frame: pl.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the values of each column as places in their order."""
    return np.column_stack([frame[name].rank("dense").to_numpy().astype(np.float64) for name in names])


def shuffled(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return frame[rng.permutation(frame.height)]


def audited(
    original: Table, releases: dict[str, pl.DataFrame], control: Table, chosen: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return one row for each release and question: what being in the data adds, and what the release has lost."""
    scenario = {"neighbour and employer": (list(NEIGHBOUR), list(EMPLOYER))}
    settings: Any = {"scenarios": scenario, "targets": None, "kinds": KINDS, "neighbors": 5}
    kinds: Any = {name: "synthetic" if name.startswith("synthetic") else "masked" for name in releases}

    def ask(attacks: Sequence[str], **more: Any) -> Any:
        rng = np.random.default_rng(chosen.seed)
        return unveil.audit(
            original, releases, control, attacks=attacks, release_type=kinds, rng=rng, **settings, **more
        )

    answer = ask(["linkability", "inference", "utility"], sensitive=[INCOME])
    single = ask(["singling_out"])
    loss = {each.name: each.utility.loss for each in answer.findings.releases}
    rows = []
    for found in (*single.to_polars().iter_rows(named=True), *answer.to_polars().iter_rows(named=True)):
        if found["attack"] in QUESTIONS and (found["attack"] != "singling_out" or found["scenario"] == "3 columns"):
            name = found["release"]
            frame = Table.from_frame(releases[name], kinds=KINDS)
            keep = {key: key for key in ("attack", "targets", "attack_rate", "control_rate")}
            keep |= {key: key.replace("excess_over_control", "normalized_excess") for key in EXCESS}
            own = {key: found[field] for key, field in keep.items()}
            rows.append({"release": name, **own, "loss": loss[name]})
            rows[-1]["smallest_class"] = k_anonymity(frame, columns=KNOWN)
    return rows


def draw(rows: Sequence[dict[str, Any]], chosen: argparse.Namespace) -> None:
    """Draw risk against loss, one panel for each question."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(12, 4.8), layout="constrained")
    for axes, (question, title) in zip(panels, QUESTIONS.items(), strict=True):
        for label, (colour, where) in LABELS.items():
            found = [row for row in rows if row["attack"] == question and row["release"].startswith(label)]
            x, y, low, high = (np.array([row[key] for row in found]) for key in ("loss", *EXCESS))
            axes.plot(x, y, "o-", color=colour, label=label, linewidth=1, markersize=5, clip_on=False)
            axes.vlines(x, low, high, color=colour, linewidth=2)
            for row, *place in zip(found, x, y, strict=True):
                setting = row["release"].partition(", ")[2]
                near: Any = {"xytext": where, "textcoords": "offset points", "ha": "right" if where[0] < 0 else "left"}
                axes.annotate(setting, place, color=colour, fontsize=8, **near)
        axes.axhline(0, color="grey", linewidth=0.8)
        # Small losses are many, and a scale of roots keeps 0.
        axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
        axes.set(title=title, xlabel="loss (0: says all that the original says)", xlim=(0, 0.42))
        axes.set(xticks=(0, 0.01, 0.05, 0.1, 0.2, 0.3))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("excess over control")
    panels[0].legend(fontsize=9)
    save_picture(figure, NAME, chosen.out)


if __name__ == "__main__":
    main()
