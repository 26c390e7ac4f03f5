"""A question with all that it was given, and an answer as the page serves it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.show.limits import check_limits
from unveil.show.progress import Progress
from unveil.web import Given
from unveil.web.fields import Form

if TYPE_CHECKING:
    import numpy as np

    from unveil.show.blocks import Page


@dataclass(frozen=True, kw_only=True)
class Answered:
    """An answer as the page serves it: the report, the figures, and what stands on top of both."""

    html: str
    json: str
    headline: str
    tone: str


class AskedError(InputError):
    """What the library refuses, with the field of the form that it is about; empty if it is about all of it."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with all that it was given: where files lie, what they are called, and every setting."""

    form: Form
    files: Mapping[str, tuple[Given, ...]]
    settings: Mapping[str, Any]
    values: Mapping[str, Any]
    progress: Progress

    def path(self, name: str) -> Path | None:
        """Return where the file of a field is, or None where there is none."""
        given = self.files.get(name, ())
        return given[0].path if given else None

    def must(self, name: str) -> Path:
        """Return where the file of a field is, or say that it is needed."""
        path = self.path(name)
        if path is None:
            raise AskedError("A file is needed here. Drop one, or choose it with the button", name)
        return path

    def named(self, *names: str) -> dict[str, Any]:
        """Return these settings by name."""
        return {name: self.values[name] for name in names}

    @property
    def rng(self) -> "np.random.Generator":
        """A new source of randomness: the same seed gives the same numbers."""
        import numpy as np

        return np.random.default_rng(self.values["seed"])


def shown(
    asked: Asked,
    found: Any,
    *,
    page: "Callable[..., Page] | None" = None,
    as_html: Callable[..., str] | None = None,
    as_json: Callable[..., str] | None = None,
) -> Answered:
    """Return what an answer of the library shows, with the limits that were set."""
    limits = [each.to_dict() for each in check_limits(found.quantities, asked.values["limits"])]
    seed = asked.values["seed"]
    asked.progress("writing the report", 0.0)
    top = (page or found.page)(seed=seed)
    return Answered(
        html=(as_html or found.to_html)(limits=limits, seed=seed),
        json=(as_json or found.to_json)(limits=limits, seed=seed),
        headline=top.headline,
        tone=top.tone,
    )
