"""Measure what guesses disclose about edges and node values, over all repetitions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks import ATTACKS, GraphAttack
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses import Candidates, EdgeClaims, ValueClaims
from unveil.metrics import METRICS, EdgeDisclosure, ValueDisclosure, attribute_disclosure, edge_disclosure
from unveil.metrics.trials.risk import Rate
from unveil.protections import GraphProtection
from unveil.protections._listing import original_edges
from unveil.questions.graph.findings import (
    AveragedMetric,
    ClaimSource,
    LearnedColumn,
    LearnedEdges,
    LearnedValue,
    whole,
)
from unveil.questions.graph.measurements import averaged
from unveil.questions.graph.read import NodeAttributes


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackRecord:
    """The attacked release, what the attacker knew, and what there was to learn.

    ``original`` has auxiliary numbers and is None where it is not known; ``values`` are those of released nodes and of
    auxiliary ones, a row for each column, None where there are none.
    """

    released: Graph
    knowledge: GraphKnowledge
    original: Graph | None
    values: tuple[IntArray, IntArray] | None


class DisclosureTally:
    """Disclosed edges and values in each repetition, for every source of claims.

    By the mapping always; by probabilities where the attack leaves such, and where they were learned.
    """

    def __init__(
        self, attack: GraphAttack, protection: GraphProtection | None, attributes: NodeAttributes | None
    ) -> None:
        self._posterior = any(each.posterior for each in ATTACKS.values() if each.make is type(attack))
        self._share = None if protection is None else original_edges(protection)
        self._attributes = attributes
        self._edges: dict[ClaimSource, list[EdgeDisclosure]] = {}
        self._values: dict[ClaimSource, list[tuple[ValueDisclosure, ...]]] = {}

    def add(self, record: AttackRecord, guess: Candidates, learned: Candidates | None) -> None:
        """Measure one repetition: the guess about all released nodes, and the same with learned probabilities."""
        for way, each in self._ways(guess, learned):
            if record.original is not None:
                self._edges.setdefault(way, []).append(self._edges_told(way, each, record, record.original))
            if record.values is not None and len(record.knowledge.seeds) < record.knowledge.auxiliary.nodes:
                self._values.setdefault(way, []).append(_values_told(way, each, record, *record.values))

    def _ways(self, guess: Candidates, learned: Candidates | None) -> Iterator[tuple[ClaimSource, Candidates]]:
        yield "mapping", guess
        if self._posterior:
            yield "chances", guess
        if learned is not None:
            yield "calibrated", learned

    def _edges_told(self, way: ClaimSource, guess: Candidates, record: AttackRecord, original: Graph) -> EdgeDisclosure:
        met: dict[str, Any] = {"released": record.released, "knowledge": record.knowledge}
        if way == "mapping":
            return edge_disclosure(EdgeClaims.from_mapping(guess, **met), original)
        share = 1.0 if self._share is None else self._share
        return edge_disclosure(EdgeClaims.from_chances(guess, **met, original_share=share), original)

    def edges(self) -> tuple[LearnedEdges, ...]:
        """Return what is learned about edges in each way; nothing where the original is not known."""
        return tuple(
            LearnedEdges(
                way=way,
                each=tuple(each),
                precision=_over("edge_disclosure_precision", each, lambda e: e.precision),
                recall=_over("edge_disclosure_recall", each, lambda e: e.recall),
                guessing=_over("edge_guessing_precision", each, lambda e: _bare(e.guessing, "nothing is claimed")),
                lift=_over("edge_disclosure_lift", each, lambda e: _bare(e.lift, "no claim is correct")),
                original_share=self._share,
            )
            for way, each in self._edges.items()
        )

    def columns(self) -> tuple[LearnedColumn, ...]:
        """Return what is learned about each column of values, in each way."""
        if self._attributes is None:
            return ()
        named = enumerate(zip(self._attributes.columns, self._attributes.labels, strict=True))
        return tuple(
            _column(name, labels, way, [disclosed[place] for disclosed in each])
            for place, (name, labels) in named
            for way, each in self._values.items()
        )


def _values_told(
    way: ClaimSource, guess: Candidates, record: AttackRecord, values: IntArray, truth: IntArray
) -> tuple[ValueDisclosure, ...]:
    make = ValueClaims.from_mapping if way == "mapping" else ValueClaims.from_chances
    return tuple(
        attribute_disclosure(make(guess, own, released=record.released, knowledge=record.knowledge), right)
        for own, right in zip(values, truth, strict=True)
    )


def _column(column: str, labels: Sequence[str], way: ClaimSource, each: Sequence[ValueDisclosure]) -> LearnedColumn:
    return LearnedColumn(
        column=column,
        way=way,
        each=tuple(each),
        accuracy=_over("attribute_disclosure_accuracy", each, lambda e: e.accuracy),
        guessing=_over("attribute_guessing_accuracy", each, lambda e: e.guessing),
        gain=_over("attribute_disclosure_gain", each, lambda e: e.gain),
        values=tuple(sorted(_values(labels, each), key=lambda one: -one.people)),
    )


def _values(labels: Sequence[str], each: Sequence[ValueDisclosure]) -> Iterator[LearnedValue]:
    for number, label in enumerate(labels):
        there = [one for disclosed in each for one in disclosed.by_value if one.value == number]
        if there:
            gain = _over("attribute_disclosure_gain", there, lambda one: one.gain)
            yield LearnedValue(
                label=label,
                people=whole(float(np.mean([one.people for one in there]))),
                accuracy=float(np.mean([one.accuracy for one in there])),
                guessing=float(np.mean([one.guessing for one in there])),
                gain=gain.mean,
                low=gain.low,
                high=gain.high,
            )


def _bare(value: float, why: str) -> Rate:
    return Rate(value, np.nan, np.nan, why)


def _over(name: str, each: Sequence[Any], rate: Callable[[Any], Rate]) -> AveragedMetric:
    """Return a mean over the repetitions; one repetition keeps its own interval."""
    rates = [rate(one) for one in each]
    found = averaged(METRICS[name], [one.value for one in rates], [one.why for one in rates])
    return replace(found, low=rates[0].low, high=rates[0].high) if len(rates) == 1 else found
