"""The figures of an audit for machines: JSON and one table."""

from math import isnan, nan
from typing import Any

from unveil.metrics.releases._plain import plain
from unveil.metrics.trials.groups import GroupRates, RatesByGroup
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.cautions import cautions
from unveil.questions.audit.findings import (
    FIGURES,
    AttackFinding,
    Audit,
    AuditedRelease,
    ColumnFact,
    CopyFindings,
    JudgedFigure,
)
from unveil.questions.audit.parts.candidates import candidate_metrics
from unveil.questions.audit.sentences import sentence
from unveil.questions.audit.separation import Separation
from unveil.questions.audit.verdict import said_of
from unveil.report.trust import trust_of

SCHEMA = "unveil.audit/3"


def figures_of(audit: Audit) -> dict[str, Any]:
    """Return everything that was found, as JSON has it.

    Beside the ``figures`` of an attack stands as ``trust`` how its rate or its distances were graded on releases that
    others made, and those figures in tables that are metrics of candidates, such as
    ``{"entropy": {"tables": "with care"}}``; null where nothing was graded.
    """
    return {
        "verdict": _verdict(audit),
        "original": {
            "rows": audit.rows,
            "people": audit.people or audit.rows,
            "columns": [_column(each) for each in audit.columns],
            "sha256": audit.sha256,
        },
        "direct_identifiers": [
            {"table": each.table, "column": flag.column, "looks_like": flag.looks_like, "sure": flag.sure}
            | {"share": flag.share, "reason": flag.reason}
            for each in audit.flags
            for flag in each.flags
        ],
        "control": {"rows": audit.control_rows, "sha256": audit.control_sha256} if audit.has_control else None,
        "releases": [_release(release) for release in audit.releases],
        "before": None if audit.before is None else _release(audit.before),
        "by": audit.by,
        "minimum_cell": audit.minimum_cell,
        "cautions": list(cautions(audit)),
        "notes": list(audit.notes),
    }


def _verdict(audit: Audit) -> dict[str, Any]:
    verdict = audit.verdict
    checked = (
        *("outcome", "p_same", "largest_difference", "column", "clustering"),
        *("p_overlap", "overlap_estimate", "p_near"),
    )
    return {
        "outcome": verdict.outcome,
        "headline": said_of(audit).whole,
        "alpha": verdict.alpha,
        "figures": verdict.figures,
        "draws": verdict.draws,
        "fewest_copies_provable": verdict.fewest_copies_provable,
        "control": {name: getattr(verdict.control, name) for name in checked},
        "releases": [
            {
                "name": each.name,
                "outcome": each.outcome,
                "p": each.p,
                "findings": [_judged(figure) for figure in each.findings],
                "copies": None if each.copies is None else _copies(each.copies),
            }
            for each in verdict.releases
        ],
    }


def _judged(figure: JudgedFigure) -> dict[str, Any]:
    rates = {name: _rate(getattr(figure, name)) for name in FIGURES if name != "naive_rate"}
    about = {name: getattr(figure, name) or None for name in ("adversary", "secret", "group", "why")}
    plain_fields = ("attack", "tries", "control_tries", "p", "p_adjusted", "proved")
    return {**{name: getattr(figure, name) for name in plain_fields}, **about, **rates}


def _copies(copies: CopyFindings) -> dict[str, Any]:
    return {
        "people_unchanged": copies.people_unchanged,
        "expected": copies.expected,
        "control_rate": copies.control_share,
        "unmistakable": copies.unmistakable,
        "groups": [vars(each) for each in copies.groups],
    }


def _column(column: ColumnFact) -> dict[str, Any]:
    markers = [{"text": each.text, "class": each.kind, "cells": each.cells} for each in column.markers]
    return {**vars(column), "markers": markers}


def _release(release: AuditedRelease) -> dict[str, Any]:
    return {
        "name": release.name,
        "rows": release.rows,
        "kind": release.kind,
        "sha256": release.sha256,
        "attacks": [_attack(finding) for finding in release.findings],
        "columns_that_matter": [
            {"column": each.column, "without": _rate(each.without), "loss": each.loss} for each in release.weights
        ],
        "disclosure": None if release.disclosure is None else release.disclosure.to_dict(),
        "utility": None if release.utility is None else plain(release.utility),
        "unseen": [vars(each) for each in release.unseen if each.unseen],
    }


def _attack(finding: AttackFinding) -> dict[str, Any]:
    who = finding.scenario
    return {
        "attack": finding.attack,
        "scenario": None if who is None else who.name,
        "adversary": None
        if who is None
        else {"first": list(who.first), "second": list(who.second), "reason": who.reason, "origin": who.origin},
        "secret": finding.secret or None,
        "targets": finding.targets,
        "neighbours": finding.neighbours,
        **{figure: _rate(finding.rate(figure)) for figure in FIGURES},
        "p": finding.p,
        "p_adjusted": finding.p_adjusted,
        "proved": finding.proved,
        "links": vars(finding.links),
        "figures": {name: value for name, value in finding.figures.items() if name != "not_run"},
        "trust": _trust(finding) or None,
        "groups": None if finding.groups is None else _groups(finding.groups),
        "separation": None if finding.separation is None else _separation(finding.separation),
        "sentence": sentence(finding),
    }


def _trust(finding: AttackFinding) -> dict[str, dict[str, str | None]]:
    """Return how the figures of a finding were graded: metrics of candidates in tables, others on given releases."""
    rates = ATTACKS[finding.attack].distances or ("attack_rate",)
    ordering = {name: trust_of(f"{finding.attack}.{name}", ["releases"]) for name in rates}
    return {
        **{name: grade for name, grade in ordering.items() if grade["releases"] is not None},
        **{metric.name: trust_of(metric.name, ["tables"]) for metric, _ in candidate_metrics(finding)},
    }


def _separation(separation: Separation) -> dict[str, Any]:
    return {
        "area": _rate(separation.area),
        "named": [{"wrongly": each.wrongly, **_rate(each.rate)} for each in separation.named],
        "pointed_out": separation.pointed_out,
        "members": separation.members,
        "others": separation.others,
        "learned_from": list(separation.learned_from),
        "population": separation.population,
        "epsilon": None if separation.epsilon is None else vars(separation.epsilon),
        "scores": [
            {"score": each.name, "sees": each.sees, "area": _rate(each.area), "weights": list(each.weights)}
            for each in separation.scores
        ],
        "unusual": [
            {"share": each.share, "members": each.members, "others": each.others, "area": _rate(each.area)}
            | {"named": {"wrongly": each.named.wrongly, **_rate(each.named.rate)}}
            for each in separation.unusual
        ],
    }


def _groups(groups: RatesByGroup) -> dict[str, Any]:
    return {
        "figure": groups.figure,
        "worst": None if groups.worst is None else groups.worst.name,
        "worse": [group.name for group in groups.worse],
        "pooled": groups.pooled,
        "minimum": groups.minimum,
        "groups": [_group(group) for group in groups.groups],
    }


def _group(group: GroupRates) -> dict[str, Any]:
    figures = ("attack_rate", "control_rate", "excess_over_control")
    return {
        "name": group.name,
        "people": group.people,
        "tries": group.tries,
        **{figure: _rate(group.rate(figure)) for figure in figures},
    }


def _rate(rate: Rate) -> dict[str, float]:
    return {"value": rate.value, "low": rate.low, "high": rate.high}


def rows_of(audit: Audit) -> list[dict[str, Any]]:
    """Return one flat row for each release, attack and adversary; what is undefined is None."""
    distances = dict.fromkeys(figure for attack in ATTACKS.values() for figure in attack.distances)
    rows = []
    for release in audit.releases:
        for finding in release.findings:
            row: dict[str, Any] = {
                "release": release.name,
                "kind": release.kind,
                "attack": finding.attack,
                "scenario": None if finding.scenario is None else finding.scenario.name,
                "secret": finding.secret or None,
                "targets": finding.targets,
                "neighbours": finding.neighbours,
            }
            for figure in FIGURES:
                rate = finding.rate(figure)
                row |= {figure: _number(rate.value), f"{figure}_low": _number(rate.low)}
                row[f"{figure}_high"] = _number(rate.high)
            row |= {"p": _number(finding.p), "p_adjusted": _number(finding.p_adjusted), "proved": finding.proved}
            for end in ("expected", "low", "high"):
                row[f"links_{end}"] = _number(getattr(finding.links, end))
            for figure in distances:
                row[figure] = _number(finding.figures.get(figure, nan))
            rows.append({**row, "sentence": sentence(finding)})
    return rows


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
