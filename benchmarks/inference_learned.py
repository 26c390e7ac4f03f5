"""Adversaries who guess a secret, on five releases of census records that others made, taught by them or by people.

    UNVEIL_DATA=FOLDER .venv/bin/python benchmarks/inference_learned.py --targets 1000

For each release and each adversary it prints the share of people whose secret is guessed right, the mean over five
secrets, with the 95 % interval over people: taught by the release, and by as many other people of the original. Nothing
is chosen here, so nobody has to be kept apart for a choice. CPU seconds are those of both together.
"""

import argparse
import os
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from unveil.attacks.table._guessers import ADVERSARIES, Adversary
from unveil.attacks.table._guessing_case import LearnMeasureRows
from unveil.attacks.table.searched_inference import SearchedInference
from unveil.data.table import Table
from unveil.data.table.release import Knowledge

RELEASES = {
    "CART (synthpop)": "rsynthpop_cart/cart_cf21_ma2019.csv.gz",
    "MostlyAI": "mostlyai_sd_MOSTLY_AI/mostlyai_sd_platform_1.csv.gz",
    "TVAE (sdv)": "sdv_tvae/tvae_all.csv.gz",
    "Bayesian network (synthcity)": "synthcity_bayesian_network/bayesian_network_all.csv.gz",
    "MST, epsilon 5": "smartnoise_mst/mst_e_5_all.csv.gz",
}
LINE = "{:<30} {:<10} {:>18} {:>18} {:>18} {:>6}"
SECRETS = ("MSP", "OWN_RENT", "INDP_CAT", "RAC1P", "EDU")
#: Numbers; all other columns are codes. A code that another column repeats in other words is no knowledge.
NUMBERS = ("AGEP", "DENSITY", "PINCP", "POVPIP", "PWGTP", "WGTP", "NOC", "NPF")
REPEATS = {"INDP_CAT": ("INDP",), "PINCP": ("PINCP_DECILE",)}


def main() -> None:
    settings = _settings()
    folder = Path(os.environ.get("UNVEIL_DATA") or sys.exit("Set UNVEIL_DATA to the folder that holds acs and crc"))
    everybody = pl.read_csv(folder / "acs" / "ma2019.csv.gz", infer_schema_length=0)
    heads = ("adversary", "taught by release", "taught by people", "difference", "CPU s")
    print(LINE.format("release", *heads))
    for name, file in RELEASES.items():
        released = pl.read_csv(folder / "crc" / "ma" / file, infer_schema_length=0)
        columns = [column for column in everybody.columns if column in released.columns]
        original, release = (
            _table(each.select(columns), label) for each, label in ((everybody, "original"), (released, "released"))
        )
        for adversary in settings.adversaries:
            begin = process_time()
            taught = [_rates(original, release, secret, adversary, settings) for secret in settings.secrets]
            release_taught, people_taught = (np.mean([each[side] for each in taught], axis=0) for side in (0, 1))
            cells = [_interval(each) for each in (release_taught, people_taught, release_taught - people_taught)]
            print(LINE.format(name, adversary, *cells, f"{process_time() - begin:.1f}"), flush=True)


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Guess secrets by several adversaries from releases of others.")
    parser.add_argument("--targets", type=int, default=1000, help="how many people are attacked")
    parser.add_argument("--secrets", nargs="+", default=SECRETS, metavar="COLUMN")
    parser.add_argument("--adversaries", nargs="+", default=ADVERSARIES, choices=ADVERSARIES)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _table(frame: pl.DataFrame, name: str) -> Table:
    """Return the table; that something does not apply to a person ("N") is a value like any other, but no number."""
    numbers = [column for column in frame.columns if column in NUMBERS]
    kinds: Any = {column: "number" if column in numbers else "category" for column in frame.columns}
    return Table.from_frame(frame.with_columns(pl.col(numbers).cast(pl.Float64, strict=False)), name=name, kinds=kinds)


def _rates(original: Table, released: Table, secret: str, adversary: Adversary, settings: argparse.Namespace) -> Any:
    """Return the chance of each person, taught by the release and by other people; the same people for all secrets."""
    rng = np.random.default_rng(settings.seed)
    people = rng.permutation(original.rows)[: settings.targets]
    none = np.empty(0, np.int64)
    known = tuple(each for each in original.column_names if each != secret and each not in REPEATS.get(secret, ()))
    attack = SearchedInference(secret=secret, known=known, adversaries=(adversary,))
    found = attack.search(
        released=released,
        knowledge=Knowledge(original),
        rng=rng,
        parts=LearnMeasureRows((none, none), (people, people)),
    ).remembered
    sides = (found.trials.attack, found.others)
    return [np.asarray(each.chances)[np.argsort(np.asarray(each.rows))] for each in sides if each is not None]


def _interval(chances: Any) -> str:
    half = 1.96 * chances.std(ddof=1) / np.sqrt(chances.size)
    return f"{chances.mean():.3f} ± {half:.3f}"


if __name__ == "__main__":
    main()
