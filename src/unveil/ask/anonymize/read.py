"""The question about a protected graph asked of a file, and the files that it leaves."""

from pathlib import Path

import numpy as np

from unveil.ask.anonymize.answer import AnonymizeAnswer, anonymize
from unveil.data.graph_files import write_edges, write_truth
from unveil.data.graphs import read_graph
from unveil.protect import graph_protection_from
from unveil.show.progress import Progress, silent


def anonymize_file(
    path: str | Path | None, protect: str, *, rng: np.random.Generator, progress: Progress = silent
) -> AnonymizeAnswer:
    """Return the protected graph of a file, or of the generated graph inside unveil where there is none.

    Parameters
    ----------
    path
        The file with the edges, as :func:`unveil.data.graphs.read_graph` takes it; None takes the example.
    protect, rng, progress
        As in :func:`unveil.anonymize`.
    """
    # A slip in the protection is said before a large file is read.
    graph_protection_from(protect)
    progress("reading", 0.0)
    graph = read_graph(sample_graph() if path is None else path)
    return anonymize(graph, protect, rng=rng, progress=progress)


def write_release(answer: AnonymizeAnswer, *, out: str | Path | None, truth: str | Path | None) -> None:
    """Write which original node each released one stands for, and the released edges, to the files named."""
    # In this order: a release whose truth could not be kept would be of no use to its holder.
    if truth is not None:
        write_truth(truth, answer.release)
    if out is not None:
        write_edges(out, answer.release.released)


def sample_graph() -> Path:
    """Return where the generated graph inside unveil is."""
    from unveil.data import samples

    return samples.path("generated_graph.csv")
