"""Adult and its CTGAN synthesis: singling out, linkability and inference by unveil, beside anonymeter 1.1.0.

With ``--anonymeter PYTHON``, a Python that has anonymeter installed, the package itself runs beside. Without it its
rules are those of `unveil.anonymeter`, which the tests hold against the package.
"""

import argparse
import json
import subprocess
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from shared import at_least, data_files, options, save_picture, write_table

from unveil.anonymeter import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from unveil.anonymeter.results import Evaluator
from unveil.attacks import Linkability
from unveil.attacks.table.inference import Inference
from unveil.attacks.table.singling_out import SinglingOut
from unveil.data.table import Table, agree
from unveil.data.table.release import Knowledge
from unveil.guesses import Trials
from unveil.metrics.trials.risk import Rate, excess_over_control, risk

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

NAME = "adult_beside_anonymeter"
FILES = ("train.csv.gz", "syn_ctgan.csv.gz", "control.csv.gz")
WHO = ("original", "released", "control")
FIRST = ("age", "type_employer", "education", "marital", "sex", "country")
SECOND = ("occupation", "relationship", "race", "hr_per_week", "income", "capital_gain", "capital_loss")
SIZES = (1, 3)
NEIGHBOURS = 10
#: Descriptions tried where everybody is attacked; each is about whoever it fits, so there is no "all".
MANY_GUESSES = 10
Row = dict[str, Any]
#: The original, the released and the control table, with their cells as they are.
Frames = Sequence["pl.DataFrame"]
Rule = Callable[["pl.DataFrame", "pl.DataFrame", "pl.DataFrame"], Evaluator]


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--anonymeter", type=Path, metavar="PYTHON", help="a Python that has anonymeter 1.1.0")
    parser.add_argument("--targets", type=at_least(1), default=500, help="people to attack, and descriptions to try")
    parser.add_argument("--rows", type=at_least(100), help="take so many rows of each table, for a first look")
    parser.add_argument(
        "--orders", type=at_least(1), default=20, help="orders of the released rows to try linkability in"
    )
    chosen = parser.parse_args()
    frames = read(data_files("adult", FILES), chosen)
    tables = agree(*(Table.from_frame(frame, name=name) for frame, name in zip(frames, WHO, strict=True)))
    said = {} if chosen.anonymeter is None else package(frames, chosen)
    rows = [
        beside(question, *attacks, frames, tables, chosen, said) for question, attacks in questions(tables[0], chosen)
    ]
    rows += list(shuffled(frames, tables, chosen))
    write_table(rows, NAME, chosen.out)
    draw(rows, chosen, by_package=bool(said))


def read(paths: Sequence[Path], chosen: argparse.Namespace) -> list["pl.DataFrame"]:
    """Return the three tables; "?" stays a value like any other, as anonymeter reads it."""
    import polars as pl

    frames = [pl.read_csv(path) for path in paths]
    if chosen.rows is not None:
        frames = [frame.sample(min(chosen.rows, frame.height), seed=chosen.seed) for frame in frames]
    return frames


def questions(original: Table, chosen: argparse.Namespace) -> Iterator[tuple[str, tuple[Any, Rule]]]:
    """Yield each question with unveil's attack and the same attack by anonymeter's rules."""
    many, seed = chosen.targets, chosen.seed
    for size in SIZES:
        mine = SinglingOut(size=size, guesses=many, exact_numbers=True)
        yield f"singling out {size}", (mine, singling_out(size, many, seed))
    yield "linkability", linking(chosen)
    for secret in original.column_names:
        known = tuple(name for name in original.column_names if name != secret)
        yield (
            f"inference {secret}",
            (Inference(secret=secret, known=known, targets=many), guessing(secret, known, many)),
        )


def singling_out(size: int, guesses: int, seed: int) -> Rule:
    mode = "univariate" if size == 1 else "multivariate"
    return lambda ori, syn, control: SinglingOutEvaluator(ori, syn, guesses, size, control, seed=seed).evaluate(mode)


def guessing(secret: str, known: tuple[str, ...], targets: int) -> Rule:
    return lambda ori, syn, control: InferenceEvaluator(ori, syn, known, secret, None, targets, control).evaluate()


def linking(chosen: argparse.Namespace) -> tuple[Linkability, Rule]:
    groups, targets = (FIRST, SECOND), chosen.targets
    mine = Linkability(first=FIRST, second=SECOND, neighbours=NEIGHBOURS, targets=targets)
    return mine, lambda ori, syn, control: LinkabilityEvaluator(
        ori, syn, groups, targets, NEIGHBOURS, control
    ).evaluate()


def beside(
    question: str,
    mine: Any,
    rule: Rule,
    frames: Frames,
    tables: Sequence[Table],
    chosen: argparse.Namespace,
    said: dict[str, Any],
) -> Row:
    """Return one line of the table: unveil's figures, anonymeter's by its rules, and those the package gave."""
    everybody = replace(
        mine, **({"guesses": MANY_GUESSES * mine.guesses} if "guesses" in vars(mine) else {"targets": None})
    )
    ours, whole = (run(attack, tables, chosen) for attack in (mine, everybody))
    found: Row = {"question": question, "tries": ours.attack.tries}
    for name, rate in vars(risk(ours)).items():
        found |= numbers(name, rate)
    found |= {"everybody_tries": whole.attack.tries, **numbers("everybody_excess", excess_over_control(whole))}
    np.random.seed(chosen.seed)  # noqa: NPY002 (the package draws from the old generator)
    with warnings.catch_warnings(action="ignore"):  # an attack may be no better than a blind guess
        theirs = rule(*frames).results()
    found |= {"rule_hits": theirs.n_success, "rule_control_hits": theirs.n_control}
    value = theirs.risk()
    found |= numbers("rule_risk", Rate(value.value, *value.ci))
    if question in said:
        print(f"{question}: the package says {said[question]['risk']:.4f}, its rules give {value.value:.4f}")
        found |= {f"package_{name}": number for name, number in said[question].items()}
    return found


def run(attack: Any, tables: Sequence[Table], chosen: argparse.Namespace) -> Trials:
    original, released, control = tables
    rng = np.random.default_rng(chosen.seed)
    trials: Trials = attack.run(released=released, knowledge=Knowledge(original, control), rng=rng)
    return trials


def numbers(name: str, rate: Rate) -> Row:
    return {name: rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}


def shuffled(frames: Frames, tables: Sequence[Table], chosen: argparse.Namespace) -> Iterator[Row]:
    """Yield the links of the same release with its rows in other orders."""
    original, released, control = tables
    rng = np.random.default_rng([chosen.seed, 1])
    for number in range(1, chosen.orders + 1):
        order = rng.permutation(released.rows)
        other = (original, released.take(order), control)
        mixed = (frames[0], frames[1][order], frames[2])
        yield beside(f"linkability, order {number}", *linking(chosen), mixed, other, chosen, {})


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
        1, 2, figsize=(11, 7.5), layout="constrained", gridspec_kw={"width_ratios": (2, 1)}
    )
    asked = [row for row in rows if "order" not in row["question"]]
    theirs = "anonymeter: risk" if by_package else "anonymeter's rules: risk"
    intervals(left, asked, "package_risk" if by_package else "rule_risk", -0.25, "C1", theirs)
    intervals(left, asked, "excess_over_control", 0, "C0", "unveil: excess over control, as many tries")
    intervals(
        left,
        asked,
        "everybody_excess",
        0.25,
        "black",
        f"unveil: the same, everybody attacked ({MANY_GUESSES} times the descriptions)",
    )
    left.set_yticks(range(len(asked)), [in_words(row["question"]) for row in asked])
    left.set(title="What being in the data adds", xlabel="share of the tries that would fail on others")
    left.invert_yaxis()
    left.axvline(0, color="grey", linewidth=0.8)
    left.grid(axis="x", alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=3, fontsize=9)
    orders = [row for row in rows if row["question"].startswith("linkability")]
    right.plot([row["rule_hits"] for row in orders], "o", color="C1", label="anonymeter's rule")
    right.plot([row["attack_rate"] * row["tries"] for row in orders], "_", color="C0", ms=10, label="unveil, expected")
    right.set(title=f"Links of {chosen.targets} people,\nrows of the release in {len(orders)} orders")
    right.set(xlabel="order of the released rows", ylabel="people linked", ylim=(0, None))
    right.grid(axis="y", alpha=0.3)
    right.legend(loc="lower right", fontsize=9)
    save_picture(figure, NAME, chosen.out)


def in_words(question: str) -> str:
    attack, _, size = question.partition("singling out ")
    return question if attack else f"singling out, {size} column{'s' if size != '1' else ''}"


def intervals(axes: "Axes", rows: Sequence[Row], name: str, shift: float, colour: str, label: str) -> None:
    """Draw one value with its interval for each question."""
    value, low, high = (np.array([row[f"{name}{end}"] for row in rows]) for end in ("", "_low", "_high"))
    places = np.arange(len(rows)) + shift
    axes.hlines(places, low, high, color=colour, linewidth=2)
    axes.plot(value, places, "o", color=colour, label=label, markersize=5)


if __name__ == "__main__":
    main()
