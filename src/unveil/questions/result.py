"""One kind of result for every question: what was found, and all the ways to look at it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import nan
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

import numpy as np

from unveil.errors import InputError, MissingExtraError
from unveil.report.figures import json_of, meanings_of, quantities_of
from unveil.report.limits import Quantity

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unveil.report.blocks import LevelStrip, Page
    from unveil.report.limits import CheckedLimit

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
class PageContext:
    """What a page states besides the findings; a question adds its own choices in a subclass."""

    seed: int | None = None
    #: The decision by limits; None where none was set.
    strip: "LevelStrip | None" = None


#: A page without a seed and limits.
PLAIN = PageContext()


@dataclass(frozen=True, kw_only=True)
class QuestionView(Generic[Findings]):
    """How the findings of one question are shown: its ``view.py`` makes one. It measures nothing.

    Attributes
    ----------
    schema
        Name and version of the JSON.
    quantities
        Findings to the figures that a limit can be set for, by name; the declared ones unless given.
    frame
        Findings to one table of figures.
    page
        Findings and context to the report as data.
    context
        The class of that context: its fields are the choices that this question has.
    plot
        Findings to matplotlib axes, called with the choices that this question has; the chart of the first screen
        unless given.
    findings, about
        The class whose declared figures are the JSON Schema (that of the findings, or of a report on them), and what
        the answer is about.
    meanings
        What each of the quantities means, by name, before anything is found; by the declared figures unless given.
    level
        Findings to what was found in one word, where a question has such words.
    whole_json
        Findings, ``seed``, ``limits`` if any, and choices to all of JSON, where a question decides by limits itself.
    """

    schema: str
    quantities: Callable[[Findings], Mapping[str, Quantity]] = quantities_of
    frame: "Callable[[Findings], pl.DataFrame]"
    page: "Callable[[Findings, Any], Page]"
    context: type[PageContext] = PageContext
    plot: "Callable[..., NDArray[Any]] | None" = None
    findings: type
    about: str
    meanings: Callable[[], Mapping[str, str]] | None = None
    level: Callable[[Findings], str] | None = None
    whole_json: Callable[..., Mapping[str, Any]] | None = None

    def limit_meanings(self) -> Mapping[str, str]:
        """Return the meaning of each limit that can be set, by name."""
        return meanings_of(self.findings) if self.meanings is None else self.meanings()


#: Whether a result may be acted on: "none" where no limit was set.
Decision = Literal["pass", "fail", "inconclusive", "none"]


@dataclass(frozen=True, eq=False, repr=False)
class Result(Generic[Findings]):
    """Result of a command, with all output formats.

    Every question gives one of these; ``findings`` is what differs. Some questions have ``choices`` of their own for
    what is shown, which their page in the guide names.

    Attributes
    ----------
    findings
        The figures, declared by their class.
    view
        How they are shown.
    seed
        Where randomness started, which JSON and page state; None where the caller brought a source of it.
    limits
        The largest acceptable value of a figure, by the name of its limit (the smallest, where less is worse).
    library
        The data frame library of the tables that were given.
    """

    findings: Findings
    view: QuestionView[Findings]
    seed: int | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    library: Literal["pandas", "polars"] = "polars"

    def with_limits(self, limits: Mapping[str, float]) -> Self:
        """Return the result with limits on its quantities."""
        missing = next((name for name in limits if name not in self.quantities), None)
        if missing is not None:
            raise InputError(f"Unknown quantity {missing}. Leave out the limit")
        return replace(self, limits=dict(limits))

    def in_library(self, library: Literal["pandas", "polars"]) -> Self:
        """Return the result with the data frame library of its summary."""
        return replace(self, library=library)

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Quantities that accept a limit, by name."""
        return self.view.quantities(self.findings)

    @property
    def checked_limits(self) -> "tuple[CheckedLimit, ...]":
        """Each limit with its value and outcome."""
        from unveil.report.limits import check_limits

        return tuple(check_limits(self.quantities, tuple(self.limits.items())))

    @property
    def level(self) -> str | None:
        """What was found, in one word; None where the question has no such word."""
        return None if self.view.level is None else self.view.level(self.findings)

    @property
    def decision(self) -> Decision:
        """Decision by the limits: pass, fail, inconclusive, or none."""
        outcomes = {each.exceeded for each in self.checked_limits}
        if not outcomes:
            return "none"
        return "fail" if True in outcomes else "inconclusive" if None in outcomes else "pass"

    @property
    def passed(self) -> bool | None:
        """Whether all limits pass; None if inconclusive or without limits."""
        return {"pass": True, "fail": False}.get(self.decision)

    @property
    def headline(self) -> str:
        """The finding in one sentence, as the report has it."""
        return str(self.page().headline)

    def page(
        self, *, limits: Sequence[Mapping[str, Any]] | None = None, seed: int | None = None, **choices: Any
    ) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil.report.limits import limit_strip

        stated, checked = self.seed if seed is None else seed, self._checked(limits)
        strip = limit_strip(checked, self.quantities) if checked else None
        return self.view.page(self.findings, self.view.context(seed=stated, strip=strip, **choices))

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        limits: Sequence[Mapping[str, Any]] | None = None,
        seed: int | None = None,
        **choices: Any,
    ) -> str:
        """Return the report as one HTML page that needs no network, and write it where a path is given."""
        from unveil.report.page import render

        return _written(path, render(self.page(limits=limits, seed=seed, **choices)))

    def to_pdf(self, path: str | PathLike[str], **choices: Any) -> None:
        """Write the report as PDF, which needs Chromium, Chrome, or Edge on this machine."""
        from unveil.data.files.write import write_text
        from unveil.report.pdf import pdf_of

        write_text(path, pdf_of(self.to_html(**choices)))

    def to_json(
        self,
        path: str | PathLike[str] | None = None,
        *,
        limits: Sequence[Mapping[str, Any]] | None = None,
        seed: int | None = None,
        **choices: Any,
    ) -> str:
        """Return the result as JSON; write it to a path if given."""
        from unveil.report.machine import dumps

        stated, checked = self.seed if seed is None else seed, self._checked(limits)
        if self.view.whole_json is not None:
            content = self.view.whole_json(self.findings, seed=stated, **_with(checked), **choices)
        else:
            figures = json_of(self.findings, **choices)
            content = {"schema": self.view.schema, **figures, "limits": list(checked), "seed": stated}
        return _written(path, dumps(content))

    def to_dict(self, **choices: Any) -> dict[str, Any]:
        """Return the content of the JSON; undefined values are None."""
        content: dict[str, Any] = json.loads(self.to_json(**choices))
        return content

    def to_polars(self) -> "pl.DataFrame":
        """Return all results as one table; undefined values are null."""
        return self.view.frame(self.findings)

    def to_pandas(self) -> Any:
        """Return all results as one pandas table; undefined values are missing."""
        return _pandas(self.to_polars())

    def summary(self) -> Any:
        """Return the quantities that accept a limit as a data frame.

        ``low`` and ``high`` are the ends of the 95 % interval, where a figure has one.
        """
        from unveil.report.figures import frame_of_rows

        values = {name: float(each.value) for name, each in self.quantities.items()}
        rows = [
            {
                "figure": name,
                "value": values[name],
                "low": values.get(f"{name}.low", nan),
                "high": values.get(f"{name}.high", nan),
                "meaning": each.meaning,
            }
            for name, each in self.quantities.items()
            if not name.endswith((".low", ".high"))
        ]
        return self._in_library(frame_of_rows(rows))

    def _in_library(self, frame: "pl.DataFrame") -> Any:
        return _pandas(frame) if self.library == "pandas" else frame

    def plot(self, **choices: Any) -> "NDArray[Any]":
        """Return matplotlib axes with the charts of the first screen, side by side."""
        if self.view.plot is not None:
            return self.view.plot(self.findings, **choices)
        from unveil.report.draw.lines import draw_page

        return draw_page(self.page(**choices))

    def __str__(self) -> str:
        page = self.page()
        return "\n".join(str(each) for each in (page.headline, *page.explanation, *page.next_steps))

    def __repr__(self) -> str:
        return f"<Result: {self.headline}>"

    def _repr_html_(self) -> str:
        # In a frame of its own, so that neither the style of the notebook nor that of the page reaches the other.
        frame = 'sandbox="allow-scripts allow-downloads" width="100%"'
        return f'<iframe srcdoc="{escape(self.to_html())}" {frame} height="{_NOTEBOOK_HEIGHT}"></iframe>'

    def _checked(self, limits: Sequence[Mapping[str, Any]] | None) -> Sequence[Mapping[str, Any]]:
        return [json_of(each) for each in self.checked_limits] if limits is None else limits


def _with(limits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"limits": limits} if limits else {}


def _written(path: str | PathLike[str] | None, text: str) -> str:
    from unveil.data.files.write import write_text

    if path is not None:
        write_text(path, text)
    return text


def _pandas(frame: "pl.DataFrame") -> Any:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "this needs the library 'pandas', which is not installed. Install it with pip install pandas, or take "
            "to_polars"
        ) from error
    # Column by column, because the way of polars needs pyarrow.
    return pd.DataFrame(frame.to_dict(as_series=False))
