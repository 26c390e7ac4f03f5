"""A folder with a graph whose nodes have private names, and a release of it that was made before."""

from pathlib import Path

import numpy as np

from tests.end_to_end.commands import MARKER
from tests.graph_strategies import heavy_tail
from unveil.data.graph import Graph
from unveil.data.graph.files import write_edges, write_truth
from unveil.data.graph.knowledge import draw_knowledge
from unveil.protections.graph.switch import Switch


def fill(folder: Path, *, share: float, overlap: float) -> None:
    """Write the graph, a release with a share of its edges switched, and what an adversary of that overlap knows."""
    plain = heavy_tail(60, 3, 1)
    named = Graph.from_edges(*plain.ends, names=[f"{MARKER}{node}" for node in range(60)])
    release = Switch(share=share).apply(named, rng=np.random.default_rng(1))
    knowledge = draw_knowledge(release, seed_pairs=12, overlap=overlap, rng=np.random.default_rng(2))
    write_edges(folder / "edges.csv", named)
    write_edges(folder / "released.csv", release.released)
    write_edges(folder / "known.csv", knowledge.auxiliary)
    write_truth(folder / "truth.csv", release)
    pairs = "".join(f"{one},{MARKER}{other}\n" for one, other in knowledge.seeds.tolist())
    (folder / "pairs.csv").write_text(f"released,original\n{pairs}")
