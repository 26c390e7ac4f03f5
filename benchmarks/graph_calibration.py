"""How far an adversary's probabilities are off, raw and calibrated, and whether entropy then follows its success.

Run it with a folder of graphs (NAME.txt.gz): python benchmarks/graph_calibration.py FOLDER irvine dnc manufacturing
"""

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unveil._kernels.calibration import error_by_chance
from unveil.attacks import graph_attack_from
from unveil.attacks.graph.calibration import calibrate
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.read import read_graph
from unveil.metrics import adversary_overall_success, entropy, expected_calibration_error
from unveil.protections import graph_protection_from

ATTACKS = ("NS", "KL", "YG", "DV", "JLSB", "ADA")
LEVELS = (0.60, 0.85, 0.95)
DRAWS = 3
#: ADA as it is takes minutes on larger graphs.
MOST_NODES_FOR_ADA = 500


class Row(NamedTuple):
    """One draw of one attack; errors, then mean entropies in bits over attempted and over all nodes."""

    graph: str
    protect: str
    overlap: float
    attack: str
    attempted: int
    recall: float
    raw: float
    calibrated: float
    by_chance: float
    raw_attempted: float
    raw_all: float
    calibrated_attempted: float
    calibrated_all: float


def rows(folder: Path, name: str, first: int = 0) -> Iterator[Row]:
    """Yield every draw: without protection at three levels of overlap, and with 5 % of the edges switched at one."""
    graph = read_graph(folder / f"{name}.txt.gz")
    pairs = 50 if graph.nodes > MOST_NODES_FOR_ADA else 10
    for protect, levels in (("id-removal", LEVELS), ("switch:share=0.05", LEVELS[1:2])):
        protection = graph_protection_from(protect)
        for overlap in levels:
            for draw in range(first, first + DRAWS):
                for_release, for_knowledge, for_attacks = np.random.default_rng([draw, int(100 * overlap)]).spawn(3)
                release = protection.apply(graph, rng=for_release)
                knowledge = draw_knowledge(release, overlap=overlap, seed_pairs=pairs, rng=for_knowledge)
                targets = knowledge.targets(release.released)
                truth = release.truth[targets]
                for name_of_attack in ATTACKS if graph.nodes <= MOST_NODES_FOR_ADA else ATTACKS[:-1]:
                    attack, rng = graph_attack_from(name_of_attack), for_attacks.spawn(1)[0]
                    whole = attack.run(released=release.released, knowledge=knowledge, rng=rng)
                    learned = calibrate(
                        attack,
                        protection,
                        released=release.released,
                        knowledge=knowledge,
                        guess=whole,
                        check=False,
                        rng=rng,
                    )
                    guess, mended = whole.only(targets), learned(whole).only(targets)
                    tried, doubt = guess.attempted, (entropy(guess), entropy(mended))
                    free = knowledge.auxiliary.nodes - len(knowledge.seeds)
                    yield Row(
                        graph=name,
                        protect=protect,
                        overlap=overlap,
                        attack=name_of_attack,
                        attempted=int(tried.sum()),
                        recall=adversary_overall_success(guess, truth),
                        raw=expected_calibration_error(guess, truth),
                        calibrated=expected_calibration_error(mended, truth),
                        by_chance=error_by_chance(learned.chance(whole)[targets][tried], rng=rng, draws=20),
                        raw_attempted=float(np.mean(doubt[0][tried])) if tried.any() else np.nan,
                        raw_all=float(np.where(tried, doubt[0], np.log2(free)).mean()),
                        calibrated_attempted=float(np.mean(doubt[1][tried])) if tried.any() else np.nan,
                        calibrated_all=float(doubt[1].mean()),
                    )


def report(found: list[Row]) -> Iterator[str]:
    """Yield the tables: each cell as the mean of its draws, all cells, and how often entropy follows recall."""
    cells: dict[tuple[str, str, float, str], list[Row]] = {}
    for row in found:
        cells.setdefault((row.graph, row.protect, row.overlap, row.attack), []).append(row)

    def mean(key: tuple[str, str, float, str], field: str) -> float:
        values = np.array([getattr(row, field) for row in cells[key]], np.float64)
        return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan

    fields = Row._fields[4:]
    yield " ".join(("graph", "protect", "overlap", "attack", *fields))
    for key in cells:
        yield " ".join((*map(str, key), *(f"{mean(key, field):.3f}" for field in fields)))
    for name in (*dict.fromkeys(row.graph for row in found), ""):
        large = [key for key in cells if mean(key, "attempted") >= 100 and name in ("", key[0])]
        errors = {field: np.array([mean(key, field) for key in large]) for field in ("raw", "calibrated", "by_chance")}
        means = ", ".join(f"{field} {values.mean():.3f}" for field, values in errors.items())
        above = int((errors["calibrated"] > 0.1).sum())
        yield f"{name or 'all'}: {len(large)} cells of 100 attempts or more: {means}; {above} above .10"
    for field in fields[5:]:
        wrong = pairs = 0
        for graph, attack in dict.fromkeys((row.graph, row.attack) for row in found):
            levels = [(graph, "id-removal", overlap, attack) for overlap in LEVELS]
            for one, other in combinations(levels, 2):
                pairs += 1
                # No difference is none the right way either.
                wrong += (mean(one, field) - mean(other, field)) * (mean(one, "recall") - mean(other, "recall")) >= 0
        yield f"{field}: {wrong} of {pairs} pairs of levels not ordered as recall orders them"


def main() -> None:
    """Print the tables of the graphs that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--first", type=int, default=0, help="the number of the first draw; others are other draws")
    told = parser.parse_args()
    print(*report([row for name in told.names for row in rows(told.folder, name, told.first)]), sep="\n")


if __name__ == "__main__":
    main()
