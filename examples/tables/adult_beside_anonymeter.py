"""Adult and its CTGAN synthesis: linkability, singling out and inference, by unveil and as anonymeter 1.1.0 counts them.

With ``--anonymeter PYTHON``, a Python that has anonymeter installed, the package itself runs beside. Without it its rules
are those of unveil's compatibility classes, which the tests hold against the package.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from shared import data_files, options, save_picture, write_table

from unveil.attack import AnonymeterLinkability, Linkability
from unveil.attack.table.anonymeter_inference import AnonymeterInference
from unveil.attack.table.anonymeter_singling_out import AnonymeterSinglingOut
from unveil.attack.table.inference import Inference
from unveil.attack.table.singling_out import SinglingOut
from unveil.data.release import Knowledge
from unveil.data.table import Table, agree
from unveil.guess import Trials
from unveil.measure.risk import anonymeter_risk, risk

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

NAME = "adult_beside_anonymeter"
FILES = ("train.csv.gz", "syn_ctgan.csv.gz", "control.csv.gz")
FIRST = ("type_employer", "education", "hr_per_week", "capital_loss", "capital_gain")
SECOND = ("race", "sex", "fnlwgt", "age", "country")
SIZES = (1, 3)
NEIGHBOURS = 10
Row = dict[str, Any]


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--anonymeter", type=Path, metavar="PYTHON", help="a Python that has anonymeter 1.1.0")
    parser.add_argument("--targets", type=int, default=500, help="people to attack, and descriptions to try")
    parser.add_argument("--rows", type=int, help="take so many rows of each table, for a first look")
    parser.add_argument("--orders", type=int, default=20, help="orders of the released rows to try linkability in")
    chosen = parser.parse_args()
    frames = read(data_files("adult", FILES), chosen)
    tables = agree(*(Table.from_frame(frame, name=name) for frame, name in zip(frames, WHO, strict=True)))
    said = {} if chosen.anonymeter is None else package(frames, chosen)
    rows = [beside(question, *attacks, tables, chosen, said) for question, attacks in questions(tables[0], chosen)]
    rows += list(shuffled(tables, chosen))
    write_table(rows, NAME, chosen.out)
    draw(rows, chosen, by_package=bool(said))


WHO = ("original", "released", "control")


def read(paths: Sequence[Path], chosen: argparse.Namespace) -> list["pl.DataFrame"]:
    """Return the three tables; "?" stays a value like any other, as anonymeter reads it."""
    import polars as pl

    frames = [pl.read_csv(path) for path in paths]
    if chosen.rows is not None:
        frames = [frame.sample(min(chosen.rows, frame.height), seed=chosen.seed) for frame in frames]
    return frames


def questions(original: Table, chosen: argparse.Namespace) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield each question with unveil's attack and the same attack by anonymeter's rules."""
    many, seed = chosen.targets, chosen.seed
    for size in SIZES:
        mine = SinglingOut(size=size, guesses=many, exact_numbers=True)
        yield f"singling out {size}", (mine, AnonymeterSinglingOut(size=size, guesses=many, seed=seed))
    yield "linkability", linking(chosen)
    for secret in original.column_names:
        known = tuple(name for name in original.column_names if name != secret)
        rule = AnonymeterInference(secret=secret, known=known, regression=None, targets=many, seed=seed)
        yield f"inference {secret}", (Inference(secret=secret, known=known, targets=many), rule)


def linking(chosen: argparse.Namespace) -> tuple[Linkability, AnonymeterLinkability]:
    mine = Linkability(first=FIRST, second=SECOND, neighbours=NEIGHBOURS, targets=chosen.targets)
    rule = AnonymeterLinkability(
        first=FIRST, second=SECOND, neighbours=NEIGHBOURS, targets=chosen.targets, seed=chosen.seed
    )
    return mine, rule


def beside(
    question: str, mine: Any, rule: Any, tables: Sequence[Table], chosen: argparse.Namespace, said: dict[str, Any]
) -> Row:
    """Return one line of the table: unveil's figures, anonymeter's by its rules, and those the package gave."""
    original, released, control = tables
    ours, theirs = (
        attack.run(released=released, knowledge=Knowledge(original, control), rng=np.random.default_rng(chosen.seed))
        for attack in (mine, rule)
    )
    found: Row = {"question": question, "tries": ours.attack.tries}
    for name, rate in vars(risk(ours)).items():
        found |= {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}
    found |= {"rule_hits": theirs.attack.expected, "rule_control_hits": theirs.control.expected}
    value = anonymeter_risk(theirs)
    found |= {"rule_risk": value.value, "rule_risk_low": value.low, "rule_risk_high": value.high}
    if question in said:
        print(f"{question}: the package says {said[question]['risk']:.4f}, its rules give {value.value:.4f}")
        found |= {f"package_{name}": number for name, number in said[question].items()}
    return found


def shuffled(tables: Sequence[Table], chosen: argparse.Namespace) -> Iterator[Row]:
    """Yield the links of the same release with its rows in other orders."""
    original, released, control = tables
    rng = np.random.default_rng([chosen.seed, 1])
    for number in range(1, chosen.orders + 1):
        other = (original, released.take(rng.permutation(released.rows)), control)
        yield beside(f"linkability, order {number}", *linking(chosen), other, chosen, {})


def package(frames: Sequence["pl.DataFrame"], chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what anonymeter itself says about the same tables, with the same seed."""
    with TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{name}.csv") for name in WHO]
        for frame, file in zip(frames, files, strict=True):
            frame.write_csv(file)
        asked = {"files": files, "targets": chosen.targets, "seed": chosen.seed, "sizes": SIZES, "first": FIRST}
        asked |= {"second": SECOND, "neighbours": NEIGHBOURS, "secrets": frames[0].columns}
        script = Path(__file__).with_name("anonymeter_peer.py")
        done = subprocess.run(
            [str(chosen.anonymeter), "-W", "ignore", str(script)],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise SystemExit(f"{chosen.anonymeter} must be a Python that has anonymeter 1.1.0, but it failed: {last}")
    answer: dict[str, Any] = json.loads(done.stdout)
    print(f"anonymeter {answer['version']}")
    found: dict[str, Any] = answer["found"]
    return found


def draw(rows: Sequence[Row], chosen: argparse.Namespace, *, by_package: bool) -> None:
    """Draw both risks with their intervals, and the links in many orders of the released rows."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(11, 6.5), layout="constrained", gridspec_kw={"width_ratios": (2, 1)}
    )
    asked = [row for row in rows if "order" not in row["question"]]
    theirs = "package" if by_package else "rule_risk"
    keys = ("package_risk", "package_low", "package_high") if by_package else (theirs, f"{theirs}_low", f"{theirs}_high")
    intervals(left, asked, keys, -0.17, "C1", "anonymeter: risk" + ("" if by_package else " (its rules)"))
    name = "excess_over_control"
    intervals(left, asked, (name, f"{name}_low", f"{name}_high"), 0.17, "C0", "unveil: excess over control")
    left.set_yticks(range(len(asked)), [row["question"] for row in asked])
    left.set(title="What being in the data adds", xlabel="share of the tries that would fail on others")
    left.invert_yaxis()
    left.axvline(0, color="grey", linewidth=0.8)
    left.grid(axis="x", alpha=0.3)
    left.legend(loc="lower left", fontsize=9)
    orders = [row for row in rows if row["question"].startswith("linkability")]
    right.plot([row["rule_hits"] for row in orders], "o", color="C1", label="anonymeter's rule")
    right.plot([row["attack_rate"] * row["tries"] for row in orders], "_", color="C0", ms=10, label="unveil, expected")
    right.set(title=f"Links of {chosen.targets} people,\nrows of the release in {len(orders)} orders")
    right.set(xlabel="order of the released rows", ylabel="people linked", ylim=(0, None))
    right.grid(axis="y", alpha=0.3)
    right.legend(loc="lower right", fontsize=9)
    save_picture(figure, NAME, chosen.out)


def intervals(axes: "Axes", rows: Sequence[Row], keys: Sequence[str], shift: float, colour: str, label: str) -> None:
    """Draw one value with its interval for each question."""
    value, low, high = (np.array([row[key] for row in rows], np.float64) for key in keys)
    places = np.arange(len(rows)) + shift
    axes.hlines(places, low, high, color=colour, linewidth=2)
    axes.plot(value, places, "o", color=colour, label=label, markersize=5)


if __name__ == "__main__":
    main()
