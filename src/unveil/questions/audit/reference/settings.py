"""Settings of an audit for tables besides the control group: sibling releases and a population file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from unveil.questions.settings import MORE, Settings, setting


@dataclass(frozen=True, kw_only=True)
class ReferenceSettings(Settings):
    """Sibling releases, the people behind them, and a population file."""

    sibling: tuple[Any, ...] = setting(
        (),
        "Sibling releases: same generator, other people",
        "Releases of the same generator with the same settings and number of rows, made from other people of the same "
        "population. 22 of them test the release without a control group. A folder stands for its files.",
        kind="tables",
        metavar="FILE",
        fold=MORE,
        group="Input",
    )
    sibling_people: tuple[Any, ...] = setting(
        (),
        "The people of each sibling, in the same order",
        "A folder stands for its files. Four releases with their people are tested, and these people are the "
        "control group unless one is given.",
        kind="tables",
        metavar="FILE",
        fold=MORE,
        group="Input",
    )
    population: Any = setting(
        None,
        "Population: people known from elsewhere",
        "It gives journalist, marketer and presence risk on the quasi-identifiers. With an identifier, those of its "
        "people without a row in the data are the control group, unless one is given. Next to a control group, it is "
        "the reference set of membership scores.",
        kind="table",
        fold=MORE,
        group="Input",
    )
    population_is: Literal["auto", "register", "sample"] = setting(
        "auto",
        "Whether it contains all people in the data",
        "A register contains them all, a sample does not. auto decides by the data.",
        help="register, sample, or auto",
        kind="choice",
        choices=lambda: (
            ("auto", "Detect it"),
            ("register", "Register: all people in the data are in it"),
            ("sample", "Sample: some people in the data are not in it"),
        ),
        metavar="TYPE",
        fold=MORE,
        group="Input",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sibling", "sibling_people"):
            object.__setattr__(self, name, tables_of(getattr(self, name)))


def tables_of(given: Any) -> tuple[Any, ...]:
    """Return several tables; one alone stands for a list of one.

    >>> tables_of("a.csv"), tables_of(["a.csv", "b.csv"]), tables_of(None)
    (('a.csv',), ('a.csv', 'b.csv'), ())
    """
    if given is None:
        return ()
    is_one = isinstance(given, str | os.PathLike | Mapping) or not isinstance(given, list | tuple)
    return (given,) if is_one else tuple(given)
