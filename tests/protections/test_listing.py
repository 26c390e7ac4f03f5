"""A new protection is one class and one line, and is then everywhere."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from click.testing import CliRunner

from unveil.cli import main
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections import PROTECTIONS, _listing, protection, protection_from


@pytest.fixture(autouse=True)
def only_for_this_test() -> Iterator[None]:
    """Leave the list as it was."""
    before = dict(PROTECTIONS)
    yield
    _listing._PROTECTIONS.clear()
    _listing._PROTECTIONS.update(before)


def add_top_coding() -> type:
    @protection(
        source="a handbook",
        aka=("censoring",),
        suits=("number", "category"),
        new_values=True,
        least_rows=2,
        keeps=("means",),
    )
    @dataclass(frozen=True, kw_only=True)
    class TopCoding:
        """Cut off what is above a bound.

        And some more.
        """

        bound: float
        columns: tuple[str, ...] = field(default_factory=tuple)

        def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
            """Return the original in another order."""
            return Release(original, original.take(rng.permutation(original.rows)))

    return TopCoding


def test_the_facts_are_listed() -> None:
    made = add_top_coding()
    facts = PROTECTIONS["top-coding"]
    assert facts.make is made
    assert facts.facts == {
        "name": "top-coding",
        "on": "table",
        "kind": "masked",
        "suits": "number, category",
        "new_values": True,
        "least_rows": 2,
        "gaps": "stay",
        "needs_edges": False,
        "keeps": "means",
        "exchanges": "",
        "settings": "bound, columns=()",
        "aka": "censoring",
        "summary": "Cut off what is above a bound.",
        "source": "a handbook",
    }


def test_it_can_be_written() -> None:
    made = add_top_coding()
    assert protection_from("top-coding:bound=3") == made(bound=3.0)
    with pytest.raises(InputError, match="needs the setting 'bound'"):
        protection_from("top-coding")
    with pytest.raises(InputError, match="here it is called 'top-coding'"):
        protection_from("censoring")


def test_the_command_line_lists_every_protection() -> None:
    add_top_coding()
    shown = CliRunner().invoke(main, ["list", "protections"])
    assert (shown.exit_code, shown.stderr) == (0, "")
    head, *lines = shown.stdout.splitlines()
    assert head.split() == " ".join(PROTECTIONS["top-coding"].facts).replace("_", " ").split()
    for line, one in zip(lines, PROTECTIONS.values(), strict=True):
        assert line.split()[0] == one.name
        assert all(fact in line for fact in (*one.settings, *one.aka, one.summary, one.source))


def test_programs_see_the_same() -> None:
    shown = CliRunner().invoke(main, ["list", "protections", "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.stdout) == [one.facts for one in PROTECTIONS.values()]


def test_the_list_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        PROTECTIONS["mine"] = PROTECTIONS["shuffle"]  # type: ignore[index]
