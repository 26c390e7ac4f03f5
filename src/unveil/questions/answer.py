"""One kind of answer for every question: what was found, and all the ways to look at it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from unveil.report.figures import json_of, meanings_of, quantities_of
from unveil.report.limits import Quantity

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unveil.report.blocks import Page

Findings = TypeVar("Findings")

#: How many pixels of a page a notebook shows at once.
_NOTEBOOK_HEIGHT = 720


def randomness(rng: np.random.Generator | None, seed: int = 0) -> tuple[np.random.Generator, int | None]:
    """Return where the randomness of an answer comes from, and the seed that it states: none if a source was given.

    Not for a question that writes a release: a seed that all know would undo it.

    >>> rng, seed = randomness(None)
    >>> bool(rng.integers(9) == np.random.default_rng(0).integers(9)), seed, randomness(rng) == (rng, None)
    (True, 0, True)
    """
    return (np.random.default_rng(seed), seed) if rng is None else (rng, None)


@dataclass(frozen=True, kw_only=True)
class QuestionView(Generic[Findings]):
    """How the findings of one question are shown: its ``view.py`` makes one. It measures nothing.

    Attributes
    ----------
    schema
        Name and version of the JSON.
    figures
        Findings to what JSON holds of them, in its order; the declared figures unless given.
    quantities
        Findings to the figures that a limit can be set for, by name; the declared ones unless given.
    frame
        Findings to one table of figures.
    page
        Findings to the report as data; called with ``seed`` and with the choices that this question has.
    plot
        Findings to matplotlib axes; called with the choices that this question has.
    findings, about
        The class whose declared figures are the JSON Schema (that of the findings, or of a report on them), and what
        the answer is about.
    meanings
        What each of the quantities means, by name, before anything is found; by the declared figures unless given.
    whole_page, whole_json
        Findings, ``limits``, ``seed`` and choices to the whole page and to all of JSON, where a question does more than
        put the limits beside the rest, such as making editions of it.
    """

    schema: str
    figures: Callable[..., Mapping[str, Any]] = json_of
    quantities: Callable[[Findings], Mapping[str, Quantity]] = quantities_of
    frame: "Callable[[Findings], pl.DataFrame]"
    page: "Callable[..., Page]"
    plot: "Callable[..., NDArray[Any]]"
    findings: type | None = None
    about: str = ""
    meanings: Callable[[], Mapping[str, str]] | None = None
    whole_page: "Callable[..., Page] | None" = None
    whole_json: Callable[..., Mapping[str, Any]] | None = None

    def limit_meanings(self) -> Mapping[str, str]:
        """Return the meaning of each limit that can be set, by name."""
        if self.meanings is not None:
            return self.meanings()
        return {} if self.findings is None else meanings_of(self.findings)


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Generic[Findings]):
    """The answer to a question: its findings, and the same as JSON, as a page, as a table and as a picture.

    Every question gives one of these; ``findings`` is what differs. Some questions have ``choices`` of their own for
    what is shown, which their page in the guide names. ``seed`` is stated in JSON and on the page unless another is
    given there: it is what randomness started from where the caller brought no source of it.
    """

    findings: Findings
    view: QuestionView[Findings]
    seed: int | None = None

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """The figures that a limit can be set for, by name."""
        return self.view.quantities(self.findings)

    def page(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None, **choices: Any) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil.report.limits import with_limits

        stated = self.seed if seed is None else seed
        if self.view.whole_page is not None:
            return self.view.whole_page(self.findings, limits=limits, seed=stated, **choices)
        return with_limits(self.view.page(self.findings, seed=stated, **choices), limits, self.quantities)

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None, **choices: Any) -> str:
        """Return the report as one HTML page that needs no network."""
        from unveil.report.page import render

        return render(self.page(limits=limits, seed=seed, **choices))

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None, **choices: Any) -> str:
        """Return the answer as JSON; undefined figures are null."""
        from unveil.report.machine import dumps

        stated = self.seed if seed is None else seed
        if self.view.whole_json is not None:
            return dumps(self.view.whole_json(self.findings, limits=limits, seed=stated, **choices))
        figures = self.view.figures(self.findings, **choices)
        return dumps({"schema": self.view.schema, **figures, "limits": list(limits), "seed": stated})

    def to_frame(self) -> "pl.DataFrame":
        """Return the figures as one table; undefined ones are null."""
        return self.view.frame(self.findings)

    def plot(self, **choices: Any) -> "NDArray[Any]":
        """Return matplotlib axes with the pictures of the answer, side by side."""
        return self.view.plot(self.findings, **choices)

    def __repr__(self) -> str:
        return f"<Answer: {self.page().headline}>"

    def _repr_html_(self) -> str:
        # In a frame of its own, so that neither the style of the notebook nor that of the page reaches the other.
        frame = 'sandbox="allow-scripts allow-downloads" width="100%"'
        return f'<iframe srcdoc="{escape(self.to_html())}" {frame} height="{_NOTEBOOK_HEIGHT}"></iframe>'
