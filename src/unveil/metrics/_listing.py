"""The list of metrics: functions with the facts of their decorator.

A metric is a plain function.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from unveil._figure import figure
from unveil._registry import Registry

Function = TypeVar("Function", bound=Callable[..., Any])

Per = Literal["target", "subject", "release"]
Meaning = Literal["more private", "less private", "less useful"]

# A sentence ends with a full stop before a space, unless the stop stands inside a formula in backticks.
_SENTENCE = re.compile(r"(?:``.*?``|.)+?(?:[.][)]?(?=\s|$)|$)")
_ROLE = re.compile(r":\w+:`~?([^`]*)`")
#: Where the prose of a docstring ends: its example, or the first section that is underlined.
_AFTER_PROSE = re.compile(r"^(>>>|[A-Z]\w*\n-+$)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Facts of one metric, shown by ``unveil list metrics``."""

    name: str = figure("Name of the metric, as in `unveil list metrics`.")
    function: Callable[..., Any]
    category: str = figure("Category of the metric, as in `unveil list metrics`.")
    on: str = figure("What the metric measures.")
    per: Per = figure("Whether the metric has a value per target, or one for the release.")
    more_means: Meaning = figure("Whether a higher value is more or less private.")
    bounds: tuple[float, float]
    source: str
    needs_truth: bool
    affected_by_chunking: bool
    #: The direction that the source prints, where it contradicts the meaning; else the same as ``more_means``.
    printed_direction: Meaning
    #: Whether values that would be infinite, or above the upper bound, are set to it.
    capped: bool = False
    #: Whether it is computed by default; those that differ from another one in a setting are not.
    usual: bool = True
    #: Whether it tells the attacker's chance of success, and what resources the attacker still needs.
    chance_of_success: bool = False
    resources: bool = False

    @property
    def level_and_potential(self) -> bool:
        """Whether the metric has one value per target."""
        return self.per in ("target", "subject")

    @property
    def aspect(self) -> str:
        """Which aspect of privacy it measures: its category."""
        return self.category

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self._docstring.partition("\n")[0]

    @property
    def explanation(self) -> str:
        """The docstring between the first line and the example, on one line.

        Names are in backticks.
        """
        prose = _AFTER_PROSE.split(self._docstring.partition("\n")[2])[0]
        return _ROLE.sub(r"``\1``", " ".join(prose.split()))

    @property
    def formula(self) -> str:
        """The explanation from "Formula:" to the first sentence on what values mean."""
        _, _, rest = self.explanation.partition("Formula: ")
        sentences = []
        for sentence in _sentences(rest):
            if _says_what_a_value_means(sentence) or sentence.startswith("NaN "):
                break
            sentences.append(sentence)
        return " ".join(sentences)

    @property
    def meaning(self) -> str:
        """The explanation without the formula and the NaN sentences."""
        sentences = _sentences(self.explanation.replace(f"Formula: {self.formula}", ""))
        return " ".join(sentence for sentence in sentences if not sentence.startswith("NaN "))

    @property
    def undefined(self) -> str:
        """The sentences of the explanation that begin with NaN."""
        return " ".join(sentence for sentence in _sentences(self.explanation) if sentence.startswith("NaN "))

    @property
    def _docstring(self) -> str:
        return inspect.getdoc(self.function) or ""


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]


def _says_what_a_value_means(sentence: str) -> bool:
    return re.match(r"(-?[\d.]+|``[^`]*``) means?\b", sentence) is not None


_METRICS: dict[str, Metric] = {}


class _ByFamily(Registry[Metric]):
    """Every metric by name, in the order of the families."""

    def __iter__(self) -> Iterator[str]:
        # Not as they were loaded, which depends on who asked for what before. Metrics from elsewhere come last.
        place = {home: at for at, home in enumerate(_load())}
        return iter(sorted(_METRICS, key=lambda name: place.get(_METRICS[name].function.__module__, len(place))))


def _load() -> tuple[str, ...]:
    import unveil.metrics

    return unveil.metrics.load()


#: Every metric by name, family by family as `unveil.metrics` lists them.
METRICS: Mapping[str, Metric] = _ByFamily(_METRICS, _load)


def metric(
    *,
    category: str,
    per: Per,
    more_means: Meaning,
    bounds: tuple[float, float],
    source: str,
    affected_by_chunking: bool = False,
    printed_direction: Meaning | None = None,
    capped: bool = False,
    usual: bool = True,
    chance_of_success: bool = False,
    resources: bool = False,
) -> Callable[[Function], Function]:
    """List the decorated function as a metric, and return it unchanged.

    What it measures (``on``) and whether it needs the truth are read from its signature. A metric is affected by
    chunking when its value depends on how many candidates an attack looks at in one go, and capped when its upper bound
    is a number that we chose, which then decides the mean. One that is not ``usual`` is computed by its name only. The
    last two are criteria that others ask of privacy metrics (Zhao & Wagner, 2.4); what else they ask, the level of
    single targets and the aspect, are ``per`` and ``category``.
    """

    def list_it(function: Function) -> Function:
        parameters = inspect.signature(function).parameters
        name = function.__name__
        measured = next(iter(parameters.values())).annotation
        _METRICS[name] = Metric(
            name=name,
            function=function,
            category=category,
            on=" | ".join(getattr(kind, "__name__", str(kind)) for kind in get_args(measured) or (measured,)),
            per=per,
            more_means=more_means,
            bounds=bounds,
            source=source,
            needs_truth="truth" in parameters,
            affected_by_chunking=affected_by_chunking,
            printed_direction=printed_direction or more_means,
            capped=capped,
            usual=usual,
            chance_of_success=chance_of_success,
            resources=resources,
        )
        return function

    return list_it
