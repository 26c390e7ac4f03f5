"""The figures of an audit for machines: JSON, one table, and the quantities that a limit can be set for."""

from collections.abc import Mapping
from math import isnan, nan
from types import MappingProxyType
from typing import Any

from unveil.ask.quantities import Quantity
from unveil.measure.risk import Rate
from unveil.report.audit_findings import FIGURES, Audit, Audited, Finding
from unveil.report.audit_words import sentence

SCHEMA = "unveil.audit/1"

_RATES = {
    "attack_rate": "share of tries that succeed on people in the data",
    "naive_rate": "share of tries that succeed by blind chance",
    "control_rate": "share of tries that succeed on people who are not in the data (needs --control)",
    "excess_over_control": "what being in the data adds: (attack - control) / (1 - control) (needs --control)",
}
_ENDS = {"": "", ".low": "; lower end of its 95% interval", ".high": "; upper end of its 95% interval"}
_DISTANCES = {
    "median": "median over released rows",
    "low": "5% quantile over released rows",
}
#: Which figures each attack has.
_HAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "linkability": FIGURES,
        "record_linkage": ("attack_rate", "naive_rate"),
        "copies": ("attack_rate", "control_rate", "excess_over_control"),
        "closest_record": ("median", "low"),
        "neighbour_ratio": ("median", "low"),
        "row_order": ("attack_rate", "naive_rate"),
    }
)


def meanings() -> dict[str, str]:
    """Return what each quantity that a limit can be set for means; each is the worst over releases and adversaries."""
    said: dict[str, str] = {}
    for attack, figures in _HAS.items():
        for figure in figures:
            if figure in _RATES:
                said |= {f"{attack}.{figure}{end}": f"{_RATES[figure]}{which}" for end, which in _ENDS.items()}
            else:
                said[f"{attack}.{figure}"] = f"{_DISTANCES[figure]}; exceeded when less than VALUE"
    return said


def needs_control(quantity: str) -> bool:
    """Return whether a quantity exists only with a control table.

    >>> needs_control("linkability.excess_over_control.high"), needs_control("copies.attack_rate")
    (True, False)
    """
    return quantity.split(".")[1] in ("control_rate", "excess_over_control")


def quantities_of(audit: Audit) -> dict[str, Quantity]:
    """Return each quantity at its worst over releases and adversaries; the mean over random splits does not count."""
    return {
        name: Quantity(
            name=name,
            value=_worst(audit, *name.split(".")),
            meaning=meaning,
            exceeded_when_undefined=False,
            more_is_worse=name.split(".")[1] not in _DISTANCES,
        )
        for name, meaning in meanings().items()
    }


def _worst(audit: Audit, attack: str, figure: str, end: str = "value") -> float:
    found = [finding for release in audit.releases for finding in release.of(attack) if not _is_mean(finding)]
    if figure in _DISTANCES:
        return min((v for each in found if not isnan(v := each.figures.get(figure, nan))), default=nan)
    values = [float(getattr(finding.rate(figure), end)) for finding in found]
    return max((value for value in values if not isnan(value)), default=nan)


def _is_mean(finding: Finding) -> bool:
    return finding.scenario is not None and finding.scenario.origin == "random"


def figures_of(audit: Audit) -> dict[str, Any]:
    """Return everything that was found, as JSON has it."""
    return {
        "original": {
            "rows": audit.rows,
            "columns": [
                {
                    "name": each.name,
                    "kind": each.kind,
                    "role": each.role,
                    "reason": each.reason,
                    "missing": each.missing,
                }
                for each in audit.columns
            ],
            "sha256": audit.sha256,
        },
        "control": {"rows": audit.control_rows, "sha256": audit.control_sha256} if audit.has_control else None,
        "releases": [_release(release) for release in audit.releases],
        "compatibility": audit.compatibility,
        "notes": list(audit.notes),
    }


def _release(release: Audited) -> dict[str, Any]:
    search = release.search
    return {
        "name": release.name,
        "rows": release.rows,
        "kind": release.kind,
        "sha256": release.sha256,
        "attacks": [_attack(finding) for finding in release.findings],
        "columns_that_matter": [
            {"column": each.column, "without": _rate(each.without), "loss": each.loss} for each in release.weights
        ],
        "search": None
        if search is None
        else {
            "splits": search.splits,
            "random_splits": search.random_splits,
            "targets": search.targets,
            "seemed": _rate(search.seemed),
        },
    }


def _attack(finding: Finding) -> dict[str, Any]:
    who = finding.scenario
    return {
        "attack": finding.attack,
        "scenario": None if who is None else who.name,
        "adversary": None
        if who is None
        else {"first": list(who.first), "second": list(who.second), "reason": who.reason, "origin": who.origin},
        "targets": finding.targets,
        "neighbours": finding.neighbours,
        **{figure: _rate(finding.rate(figure)) for figure in FIGURES},
        "links": vars(finding.links),
        "figures": {name: value for name, value in finding.figures.items() if name != "not_run"},
        "sentence": sentence(finding),
    }


def _rate(rate: Rate) -> dict[str, float]:
    return {"value": rate.value, "low": rate.low, "high": rate.high}


def rows_of(audit: Audit) -> list[dict[str, Any]]:
    """Return one flat row for each release, attack and adversary; what is undefined is None."""
    rows = []
    for release in audit.releases:
        for finding in release.findings:
            row: dict[str, Any] = {
                "release": release.name,
                "kind": release.kind,
                "attack": finding.attack,
                "scenario": None if finding.scenario is None else finding.scenario.name,
                "targets": finding.targets,
                "neighbours": finding.neighbours,
            }
            for figure in FIGURES:
                rate = finding.rate(figure)
                row |= {figure: _number(rate.value), f"{figure}_low": _number(rate.low)}
                row[f"{figure}_high"] = _number(rate.high)
            for end in ("expected", "low", "high"):
                row[f"links_{end}"] = _number(getattr(finding.links, end))
            for figure in _DISTANCES:
                row[figure] = _number(finding.figures.get(figure, nan))
            rows.append({**row, "sentence": sentence(finding)})
    return rows


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
