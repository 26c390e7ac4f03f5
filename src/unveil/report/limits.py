"""The limits that were set beforehand, as one part of any report: what was allowed, what was found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, Protocol

from unveil.errors import InputError, did_you_mean
from unveil.report.blocks import Page, Section, Table
from unveil.report.bounded import Bounded
from unveil.report.text import significant

#: A figure that is told less finely than it was found is at most so far from it.
_ROUNDED = 0.01 + 1e-9


class Direction(Protocol):
    """What has to be known of a quantity to say on which side of its limit it should lie."""

    @property
    def more_is_worse(self) -> bool:
        """Whether a greater value exceeds the limit; else a lesser one does."""


class Figure(Direction, Protocol):
    """A quantity with its value."""

    @property
    def value(self) -> float:
        """The figure, or NaN where it is undefined."""


def with_limits(page: Page, limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Direction]) -> Page:
    """Return the page with a section on its limits after the first one, or the page itself where there are none.

    Each limit has ``quantity``, ``limit``, ``value`` and ``exceeded``, as in JSON.

    >>> page = Page(title="T", question="Is it safe?", headline="No.", tone="bad", sections=())
    >>> with_limits(page, (), {}) is page
    True
    """
    if not limits:
        return page
    section = Section(
        heading="Limits",
        lead=_lead([limit["exceeded"] for limit in limits]),
        blocks=(limit_table(limits, quantities),),
    )
    return replace(page, sections=(*page.sections[:1], section, *page.sections[1:]))


def _lead(outcomes: Sequence[bool | None]) -> str:
    beforehand = "Limits are set by whoever asked, not by this report."
    exceeded, every, open_ones = sum(map(bool, outcomes)), len(outcomes), outcomes.count(None)
    if open_ones:
        told = f"{exceeded} {'is' if exceeded == 1 else 'are'} exceeded and {open_ones} cannot be told in this edition"
        return f"Of {every} limits that were set {told}. {beforehand}"
    if every == 1:
        return f"The limit that was set {'is exceeded' if exceeded else 'is not exceeded'}. {beforehand}"
    said = f"{exceeded} of {every} limits that were set {'is' if exceeded == 1 else 'are'} exceeded"
    return f"{said if exceeded else f'None of the {every} limits that were set is exceeded'}. {beforehand}"


def limit_table(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Direction]) -> Table:
    """Return each quantity with its limit, its value and whether that exceeds the limit."""
    rows = []
    for limit in limits:
        quantity, value = str(limit["quantity"]), limit["value"]
        if quantity not in quantities:
            hint = did_you_mean(quantity, quantities) or " Name one that the answer has."
            raise InputError(f"a limit is set for {quantity!r}, which is no quantity of this answer.{hint}")
        bound = "at most" if quantities[quantity].more_is_worse else "at least"
        outcome = _outcome(value, exceeded=limit["exceeded"])
        # As many digits as the message of the command line has.
        shown = significant(value, digits=6)
        rows.append((quantity, f"{bound} {significant(float(limit['limit']), digits=6)}", shown, outcome))
    return Table(
        caption="Each limit beside what was found",
        columns=("Quantity", "Limit", "Value", "Outcome"),
        rows=tuple(rows),
        align=("left", "right", "right", "left"),
    )


def shared_limits(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """Return limits beside figures of which some are told by their bounds; None is an outcome that these leave open.

    What the exact figure was, and so whether it exceeded the limit, is used only where that figure is told.
    """
    made = []
    for limit in limits:
        told = quantities[str(limit["quantity"])]
        value, exact = told.value, float(limit["value"])
        if isinstance(value, Bounded):
            exceeded = value.is_beyond(float(limit["limit"]), more_is_worse=told.more_is_worse)
        elif value == exact or (isnan(value) and isnan(exact)) or _is_rounded(value, limit, told):
            exceeded = bool(limit["exceeded"])
        else:
            exceeded, value = None, Bounded.withheld()
        made.append({**limit, "value": value, "exceeded": exceeded})
    return made


def _is_rounded(value: float, limit: Mapping[str, Any], told: Direction) -> bool:
    """Return whether a figure is told less finely than it was found, with the same outcome."""
    bound = float(limit["limit"])
    beyond = value > bound if told.more_is_worse else value < bound
    return abs(value - float(limit["value"])) <= _ROUNDED and beyond == bool(limit["exceeded"])


def _outcome(value: float, *, exceeded: bool | None) -> str:
    if exceeded is None:
        return "not told in this edition"
    if isnan(value):
        return "exceeded: undefined because it is already breached" if exceeded else "not checked: undefined here"
    return "exceeded" if exceeded else "not exceeded"
