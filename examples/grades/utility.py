"""Which measures of what a graph lost can be trusted? They are graded as privacy metrics are, by protections that grow.

    python examples/grades/utility.py manufacturing=graphs/manufacturing.txt.gz dnc=graphs/dnc.txt.gz

Without a graph the generated one inside unveil is taken. The table is Markdown.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from unveil.data.graph import Graph
from unveil.data.graph.read import read_graph
from unveil.data.samples import graph
from unveil.grades.replicated_metrics import GradedCase
from unveil.grades.scores import Reading, Scores
from unveil.grades.utility import Strength, utility_values

#: From weak to strong.
STRENGTHS = (
    Strength("switch", "share", (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)),
    Strength("k-degree", "k", (2, 3, 5, 10, 20, 40)),
    Strength("umga", "k", (2, 3, 5, 10, 20, 40)),
    Strength("dk-series-dp", "epsilon", (50, 20, 10, 5, 2, 1)),
    Strength("wpinq-dp", "epsilon", (5, 2, 1, 0.5, 0.2, 0.1)),
)


def told(argument: str) -> tuple[str, Path]:
    """Return the name and the path of NAME=FILE."""
    name, equals, path = argument.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("write NAME=FILE")
    return name, Path(path)


def lines(graphs: dict[str, Graph], replications: int, seed: int) -> Iterator[str]:
    """Yield the table: the scores of each loss over all cases, and its monotonicity by protection."""
    values = utility_values(graphs, STRENGTHS, replications=replications, rng=np.random.default_rng(seed))
    found = Reading.of(Scores.of(values))
    names = list(dict.fromkeys(case.protect for case in values.cases))
    yield f"| loss | monotonicity | undecided | wrong way | evenness | range | {' | '.join(names)} |"
    yield f"|---|{'---|' * (5 + len(names))}"
    for each in found.metrics:
        column = values.metrics.index(each.metric)
        by_name = [
            np.nanmean([found.scores.monotonicity.score[row, column] for row in rows_of(values.cases, name)])
            for name in names
        ]
        cells = [
            each.metric.replace("_", " "),
            f"{each.monotonicity.mean:.3f} ({each.monotonicity.low:.2f} to {each.monotonicity.high:.2f})",
            f"{each.undecided:.0%}",
            f"{each.against:.0%}",
            f"{each.evenness.mean:.2f}",
            f"{each.shared_range.mean:.2f}",
            *(f"{score:.2f}" for score in by_name),
        ]
        yield f"| {' | '.join(cells)} |"


def rows_of(cases: tuple[GradedCase, ...], protection: str) -> list[int]:
    """Return the numbers of the cases with a protection."""
    return [row for row, case in enumerate(cases) if case.protect == protection]


def main() -> None:
    """Print the table of the named graphs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=told, metavar="NAME=FILE")
    parser.add_argument("--replications", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    graphs = {name: read_graph(path) for name, path in given.graphs} or {"generated": graph()}
    for line in lines(graphs, given.replications, given.seed):
        print(line)


if __name__ == "__main__":
    main()
