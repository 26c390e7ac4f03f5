"""Answers to make reports of: the paper's section 4, names that attack the page, and the extremes."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from unveil.guesses import Partition
from unveil.metrics.partitions.crowds import others_graphs
from unveil.metrics.partitions.distances import partition_distances
from unveil.metrics.partitions.fairness import fairness
from unveil.metrics.partitions.forecast import forecast
from unveil.metrics.partitions.guessing import random_guessing
from unveil.metrics.partitions.policy_grid import policy_grid
from unveil.metrics.partitions.unlinkability import unlinkability
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.sections.subjects import UnlinkabilityContext
from unveil.questions.unlinkability.view import page
from unveil.report.blocks import Page
from unveil.report.page import render

SHAPES = ("triangles", "squares", "circles", "stars")
#: Section 4 of the paper, conservative adversary: rows are the adversary's clusters, columns the shapes.
CONSERVATIVE = ((0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (0, 0, 3, 0), (1, 0, 0, 0), (1, 0, 1, 0), (3, 2, 0, 0))
SCRIPT, IMAGE = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'


class Example(PartitionFindings):
    """Findings with their page."""

    def page(self, *, notes: tuple[str, ...] = (), weighted: bool = False, **choices: Any) -> Page:
        """Return the page as data."""
        return page(replace(self, notes=notes, weighted=weighted), UnlinkabilityContext(seed=7, **choices))

    def html(self, **settings: Any) -> str:
        """Return the page as text."""
        return render(self.page(**settings))


def example(guess: Any, truth: Any, **settings: Any) -> Example:
    """Return what a report of this guess and truth (one label per item) is made of."""
    guessed, true = Partition.from_labels(guess), Partition.from_labels(truth)
    result = unlinkability(guessed, true, **settings)
    rng = np.random.default_rng(1)
    return Example(
        result=result,
        distances=partition_distances(guessed, true),
        fairness=fairness(result),
        grid=policy_grid(guessed, true),
        reference=random_guessing(true, rng=rng, draws=3, **settings),
        others=others_graphs(guessed, true, **settings),
        forecast=forecast(guessed, true, rng=rng, draws=5, **settings),
        own_forecast=forecast(guessed, true, rng=rng, draws=5, subjects=[0], **settings),
    )


@cache
def conservative(**settings: Any) -> Example:
    """Return the paper's conservative adversary against 24 items in four shapes."""
    rows = enumerate(CONSERVATIVE)
    pairs = [(row, shape) for row, counts in rows for shape, k in zip(SHAPES, counts, strict=True) for _ in range(k)]
    return example([row for row, _ in pairs], [shape for _, shape in pairs], **settings)


@cache
def attacking_names() -> Example:
    """Return an answer whose subjects have names that try to run, to hide, to break out, or never to end."""
    names = [SCRIPT, IMAGE, "x" * 5000, "two\nlines \u202e\x00", "[bold red]:smile:", "$\\frac{1}{$"]
    return example([position // 4 for position in range(24)], [names[position % 6] for position in range(24)])


@cache
def large() -> Example:
    """Return an answer with 3,000 subjects, long names and a graph of more than 200 points."""
    rng = np.random.default_rng(5)
    owner = np.sort(rng.integers(0, 3000, 30_000))
    owner[:600] = owner[0]
    guess = owner * 100 + rng.integers(0, 100, 30_000) * (rng.random(30_000) < 0.4)
    guess[:600] = -np.arange(600)
    names = np.array([f"{'<&>' * 100}{number}" for number in range(3000)], dtype=object)
    return example(guess, names[owner].tolist())
