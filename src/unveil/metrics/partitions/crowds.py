"""Number of other subjects among merged items, after each merge."""

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from unveil._kernels.partitions.unlinkability import add_graphs, mean_graph
from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses import Partition, View
from unveil.metrics.partitions._evaluate import rank
from unveil.metrics.partitions._mixing import crowd_work, crowds
from unveil.metrics.partitions._tally import tallies
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings, policy_of


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdGraphs:
    """Other subjects in the merged clusters, after 0, 1, … merges.

    Values are per subject and on average.

    ``effective`` is 2 to the entropy of the items of other subjects by subject: as many as there are when all of them
    have as many items there, near 1 when one has nearly all, and 0 without others. It may fall when a person joins with
    many.
    """

    graph_start: IntArray
    others: FloatArray
    effective: FloatArray
    overall_others: FloatArray
    overall_effective: FloatArray

    def graphs(self, subject: int) -> tuple[FloatArray, FloatArray]:
        """Return one subject's actual and effective number of other subjects."""
        part = slice(self.graph_start[subject], self.graph_start[subject + 1])
        return self.others[part], self.effective[part]


def others_graphs(guess: Partition | View, truth: Partition, **settings: Unpack[UnlinkabilitySettings]) -> CrowdGraphs:
    """Return the number of other subjects after each merge.

    Clusters merge in the order of :func:`unlinkability`.

    The paper's mixed graph counts items of other subjects and not whose they are; it leaves this to future work. Over a
    view the graphs are averaged with the probabilities, and over clusters that tie, with all their orders equally
    likely. With ``mixing="others"`` or ``"even"`` these graphs, as shares of all other subjects, take the place of the
    mixed graph in the risk slope. Items count alike here, whatever they weigh.

    >>> truth = Partition.from_labels("aaa" "bb" "c")
    >>> found = others_graphs(Partition.from_labels("xxy" "xy" "y"), truth)
    >>> found.graphs(0)[0]
    array([1., 2.])
    """
    counted, policy = tallies(guess, truth, settings.get("weights")), policy_of(truth, settings)
    start = np.concatenate([[0], np.cumsum(counted.steps())])
    others, effective = np.zeros(start[-1]), np.zeros(start[-1])
    for tally in counted.guesses:
        order = rank(tally, counted, policy.alpha).order
        many, even = crowds(tally, order)
        add_graphs(effective, others, start, tally.table.row_start, order, even, many, tally.share())
    return CrowdGraphs(
        graph_start=start,
        others=others,
        effective=effective,
        overall_others=mean_graph(start, others, counted.longest),
        overall_effective=mean_graph(start, effective, counted.longest),
    )


def others_work(guess: Partition | View, truth: Partition) -> int:
    """Return the number of cells that :func:`others_graphs` visits.

    It is the square of the subjects in a cluster, summed over clusters.
    """
    return sum(crowd_work(tally.table) for tally in tallies(guess, truth, None).guesses)
