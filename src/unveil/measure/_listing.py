"""The one list of metrics: a metric is a plain function plus the facts in its decorator."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

Per = Literal["target", "subject", "release"]
Meaning = Literal["more private", "less private"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """The facts of one metric, as shown by ``unveil list metrics`` and used by studies, pages and tests."""

    name: str
    function: Callable[..., Any]
    category: str
    on: str
    per: Per
    more_means: Meaning
    bounds: tuple[float, float]
    source: str
    needs_truth: bool
    affected_by_chunking: bool
    #: The direction that the source prints, where it contradicts the meaning; else the same as ``more_means``.
    printed_direction: Meaning

    @property
    def summary(self) -> str:
        """The first line of the docstring: what is returned."""
        return inspect.getdoc(self.function).splitlines()[0]  # type: ignore[union-attr]


_METRICS: dict[str, Metric] = {}

#: Every metric by name, in the order in which the families are imported.
METRICS: Mapping[str, Metric] = MappingProxyType(_METRICS)


def metric(
    *,
    category: str,
    per: Per,
    more_means: Meaning,
    bounds: tuple[float, float],
    source: str,
    affected_by_chunking: bool = False,
    printed_direction: Meaning | None = None,
) -> Callable[[Function], Function]:
    """List the decorated function as a metric, and return it unchanged.

    What it measures (``on``) and whether it needs the truth are read from its signature. A metric is affected by
    chunking when its value depends on how many candidates an attack looks at in one go.
    """

    def list_it(function: Function) -> Function:
        parameters = inspect.signature(function).parameters
        name = function.__name__
        measured = next(iter(parameters.values())).annotation
        _METRICS[name] = Metric(
            name=name,
            function=function,
            category=category,
            on=getattr(measured, "__name__", str(measured)),
            per=per,
            more_means=more_means,
            bounds=bounds,
            source=source,
            needs_truth="truth" in parameters,
            affected_by_chunking=affected_by_chunking,
            printed_direction=printed_direction or more_means,
        )
        return function

    return list_it
