"""Protections and attacks of a user, as studies meet them: written ``tests.studies.own:Name``."""
# ruff: noqa: ARG002 (what a study passes is not always used)

import os
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from unveil._kernels.graph.rows import edge_keys
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates
from unveil.protections.graph._release import graph_release
from unveil.studies.existing_release import ExistingTables


@dataclass(frozen=True, kw_only=True)
class Guess:
    """An attack that knows nothing but seeds: every other released node is one of a few auxiliary ones, by lot."""

    among: int = 3

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        nodes = released.nodes
        seeds = np.zeros(nodes, bool)
        seeds[knowledge.seeds[:, 0]] = True
        among = min(self.among, knowledge.auxiliary.nodes)
        count = np.where(seeds, 0, among)
        start = np.concatenate([[0], np.cumsum(count)])
        drawn = [
            np.sort(rng.choice(knowledge.auxiliary.nodes, among, replace=False)) for _ in range(int((~seeds).sum()))
        ]
        candidate = np.concatenate([np.empty(0, np.int64), *drawn]).astype(np.int32)
        chosen = np.full(nodes, -1, np.int32)
        chosen[~seeds] = candidate[start[:-1][~seeds]] if candidate.size else -1
        return Candidates(start, candidate, np.full(candidate.size, 1 / among), chosen)


@dataclass(frozen=True, kw_only=True)
class Open:
    """The guess above, which leaves open whom it chose."""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        return replace(Guess().run(released=released, knowledge=knowledge, rng=rng), chosen=None)


@dataclass(frozen=True, kw_only=True)
class CountedRuns:
    """The guess above; a file has a letter for each time."""

    file: str

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        with Path(self.file).open("a") as stream:
            stream.write("x")
        return Guess().run(released=released, knowledge=knowledge, rng=rng)


@dataclass(frozen=True, kw_only=True)
class Slow:
    """The guess above, after a while; a file says that it has begun."""

    seconds: float = 0.05
    begun: str = ""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        if self.begun:
            # Renamed, so that whoever sees the file can read it.
            mine = Path(f"{self.begun}.{os.getpid()}")
            mine.write_text(str(os.getpid()))
            mine.replace(self.begun)
        time.sleep(self.seconds)
        return Guess().run(released=released, knowledge=knowledge, rng=rng)


@dataclass(frozen=True, kw_only=True)
class Deadly:
    """An attack that ends its worker: always, or the first time only, which a file remembers."""

    how: str = "kill"
    once: str = ""
    seeds: int = -1

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        mine = self.seeds in (-1, len(knowledge.seeds))
        if mine and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(3)
        return Guess().run(released=released, knowledge=knowledge, rng=rng)


@dataclass(frozen=True, kw_only=True)
class Failing:
    """An attack that raises an error with a secret in its text, for one number of seed pairs or for all."""

    seeds: int = -1

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        if self.seeds in (-1, len(knowledge.seeds)):
            raise ZeroDivisionError("the secret of node 7")
        return Guess().run(released=released, knowledge=knowledge, rng=rng)


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """An attack that calls sys.exit."""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        raise SystemExit(2)


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """An attack that leaves no candidates."""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> str:
        return "nothing"


@dataclass(frozen=True, kw_only=True)
class Idle:
    """An attack that attempts nobody."""

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        return Candidates(np.zeros(released.nodes + 1, np.int64), np.empty(0, np.int32), np.empty(0))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """An attack whose numbers tell what it was given: it attempts a target for each edge of the auxiliary graph."""

    notes: tuple[str, ...] = field(default=())

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        keys = knowledge.auxiliary.keys
        right = int(keys.sum() % released.nodes)
        start = np.concatenate([np.zeros(right + 1, np.int64), np.ones(released.nodes - right, np.int64)])
        return Candidates(start, np.array([0], np.int32), np.array([1.0]))


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A protection that renumbers nodes, and adds a line to a file each time it is applied."""

    file: str

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        with Path(self.file).open("a") as stream:
            stream.write("applied\n")
        return graph_release(original, original.keys, name="counted", rng=rng, notes=("renumbered",), facts={"done": 1})


@dataclass(frozen=True, kw_only=True)
class Swollen:
    """A protection that adds pseudo nodes."""

    nodes: int

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        one, other = original.ends
        return graph_release(original, edge_keys(one, other, self.nodes), name="swollen", rng=rng, nodes=self.nodes)


@dataclass(frozen=True, kw_only=True)
class Refusing:
    """A protection that raises, or ends its worker."""

    how: str = "raise"

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        if self.how == "exit":
            os._exit(4)
        raise ValueError("the secret of node 7")


@dataclass(frozen=True, kw_only=True)
class NoRelease:
    """A protection that returns something else."""

    def apply(self, original: Graph, *, rng: np.random.Generator) -> Graph:
        return original


class NotAnything:
    """A class that is neither."""


@dataclass(frozen=True, kw_only=True)
class CountRows:
    """What is asked of a release that was made already: how many rows there are, and a lot. ``slow`` takes time."""

    slow: float = 0.0
    fails_on: str = ""

    columns = ("original", "released", "control", "lot")
    graded = MappingProxyType({"released": True})

    def measure(self, tables: ExistingTables, *, rng: np.random.Generator) -> dict[str, float]:
        time.sleep(self.slow)
        if tables.name == self.fails_on:
            raise InputError("this one cannot be measured. Leave it out")
        rows = {"original": float(tables.original.rows), "released": float(tables.released.rows), "lot": rng.random()}
        return rows if tables.control is None else {**rows, "control": float(tables.control.rows)}
