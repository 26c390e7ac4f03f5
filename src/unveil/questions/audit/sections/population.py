"""Risk against a population file: prosecutor, journalist, marketer, and presence."""

from collections.abc import Iterator

import numpy as np

from unveil.metrics.releases.population_risk import RegisterRisk
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.reference.findings import PopulationFinding
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import listed, number_of, percent
from unveil.report.blocks import Chart, Section, Series, TableBlock, sides
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count

_NONE = "–"
_BASELINE = (
    "A synthetic release has no equivalence classes of people: these are risks of releasing the original with these "
    "quasi-identifiers, a baseline."
)
_UNKNOWN = "The release type is not known, so these are risks of releasing the original with these quasi-identifiers."


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the risk against a population file, or None without any."""
    finding = audit.population
    if finding is None:
        return None
    return Section(
        heading="Population file",
        question="Can an attacker with a register of the population recognize people?",
        lead=" ".join(_sentences(audit, finding)),
        blocks=() if (chart := _chart(finding.risk)) is None else (chart,),
        data=(_table(finding.risk),),
    )


def _sentences(audit: Audit, finding: PopulationFinding) -> Iterator[str]:
    risk = finding.risk
    if risk.is_register:
        yield (
            f"An attacker who knows {listed(risk.columns)} of everyone in the register re-identifies "
            f"{_share(risk.marketer)} of records on average (marketer risk); the largest risk of a record is "
            f"{_share(risk.journalist_max)} (journalist risk)."
        )
    elif risk.contradictions:
        classes = count(risk.contradictions, "class has", "classes have")
        yield (
            f"{classes} fewer people in the population file than records, so it does not contain all people in the "
            "data. Journalist, marketer and presence risk need a register."
        )
    else:
        yield (
            "The population file is taken as a sample: it does not contain all people in the data. Journalist, "
            "marketer and presence risk need a register."
        )
    if finding.of == "original":
        yield _BASELINE if audit.releases[0].kind == "synthetic" else _UNKNOWN
    if risk.is_register:
        yield "That it contains all people in the data is your statement: only a class with too few contradicts it."
    if finding.reference_people:
        yield f"{count(finding.reference_people)} of its people are the reference set of membership scores."
    yield "A population file alone sets no level and gives no pass."


def _share(value: float) -> str:
    return percent(value) if isinstance(value, SuppressedNumber) or value == value else _NONE


def _number(value: float) -> str:
    return number_of(value, "", "") if isinstance(value, SuppressedNumber) or value == value else _NONE


def _table(risk: RegisterRisk) -> TableBlock:
    above = percent(risk.threshold)
    rows = (
        ("Records", _number(risk.records)),
        ("People in the population file", _number(risk.people)),
        ("Prosecutor risk, largest", _share(risk.prosecutor_max)),
        ("Prosecutor risk, mean", _share(risk.prosecutor_mean)),
        (f"Prosecutor risk above {above}", _share(risk.prosecutor_above)),
        ("Journalist risk, largest", _share(risk.journalist_max)),
        (f"Journalist risk above {above}", _share(risk.journalist_above)),
        ("k-map: smallest population class", _number(risk.k_map)),
        ("Marketer risk (mean journalist risk)", _share(risk.marketer)),
        ("Sample uniques", _number(risk.sample_uniques)),
        ("Sample uniques that are population unique", _share(risk.population_uniqueness)),
        ("Match with a sample unique is correct", _share(risk.unique_match_correct)),
        ("Presence (δ), largest", _share(risk.delta_max)),
        ("Presence (δ), smallest", _share(risk.delta_min)),
        (f"Presence (δ) above {above}", _share(risk.delta_above)),
    )
    return TableBlock(
        caption="Risk against the population file",
        columns=("Risk", "Value"),
        rows=rows,
        align=sides("lr"),
        note=(
            "f: records in an equivalence class; F: people of the population in it. Prosecutor 1/f, journalist 1/F, "
            "presence f/F. – needs a register."
        ),
    )


def _chart(risk: RegisterRisk) -> Chart | None:
    """Return mean risks of records, with and without the register."""
    above = percent(risk.threshold)
    rows = {
        "mean": (risk.prosecutor_mean, risk.marketer),
        f"records above {above}": (risk.prosecutor_above, risk.journalist_above),
    }
    values = np.array(
        [[np.nan if isinstance(each, SuppressedNumber) else each for each in pair] for pair in rows.values()]
    )
    if not risk.is_register or np.isnan(values).any():
        return None
    return Chart(
        title="Risk of records without and with the register",
        x_label="risk",
        y_label="",
        series=(
            Series(name="prosecutor", x=values[:, 0], y=np.arange(2.0), style="second", kind="points"),
            Series(name="journalist", x=values[:, 1], y=np.arange(2.0), style="first", kind="points"),
        ),
        caption="Prosecutor: the attacker knows that the person is in the data. Journalist: not.",
        x_range=(0.0, max(0.05, min(1.0, 1.1 * float(values.max())))),
        x_kind="share",
        rows=tuple(rows),
    )
