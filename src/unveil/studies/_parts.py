"""The protections, attacks and metrics that a study names, checked and made."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unveil._specification import from_text
from unveil.attacks import ATTACKS, attack_from, graph_attack_from
from unveil.errors import InputError, did_you_mean
from unveil.metrics import METRICS, Metric
from unveil.protections import PROTECTIONS, graph_protection_from, protection_from

if TYPE_CHECKING:
    from unveil.studies.plan import Study


def check_parts(study: "Study") -> None:
    """Reject a study whose protections, attacks, or metrics are unavailable."""
    if study.kind == "release":
        for text in study.attacks:
            scenario_of(text)
        return
    for text in study.protections:
        protection_of(study.kind, text)
        name = text.partition(":")[0]
        if study.kind == "table" and name in PROTECTIONS and PROTECTIONS[name].kind == "synthetic":
            raise InputError(
                f"a study of tables needs protections that make each released row from one original row, but {name!r} "
                "makes synthetic rows. Choose one of kind masked ('unveil list protections')"
            )
    for text in study.attacks:
        attack_of(study.kind, text)
        if leaves_trials(text) != leaves_trials(study.attacks[0]):
            raise InputError(
                f"the attacks of a study must all leave trials or all leave candidates, but {study.attacks[0]!r} and "
                f"{text!r} differ. Make two studies of it"
            )
    _check_people(study)
    metrics_of(study)


def _check_people(study: "Study") -> None:
    """Reject an axis that the attacks cannot use."""
    axes, trials = {axis.name for axis in study.axes}, leaves_trials(study.attacks[0])
    if trials and ("known_share" in axes or study.fixed.get("known_share", 1) != 1):
        raise InputError(
            "attacks with trials target all people in the data, so known_share must be 1. "
            "Use leaked_share for the share of people that is released"
        )
    if not trials and "leaked_share" in axes | set(study.fixed):
        raise InputError(
            f"leaked_share is for attacks that leave trials, but {study.attacks[0]!r} leaves candidates. Leave it out"
        )


#: What can be asked of a release that was made already, by name: found where it is, since it lies above studies.
SCENARIOS = {
    "audit": "unveil.questions.audit.study_scenario:WholeAudit",
    "link": "unveil.questions.link.study_scenario:LinkedRecords",
}


def scenario_of(text: str) -> Any:
    """Return the measurement of a release, with ``columns`` and ``measure``."""
    known = {}
    if home := SCENARIOS.get(text.partition(":")[0]):
        module, _, name = home.partition(":")
        known = {text.partition(":")[0]: getattr(import_module(module), name)}
    return from_text(text, known, what="scenario", method="measure")


def asks_listed(study: "Study") -> bool:
    """Return whether a study of given releases uses no classes of the user."""
    return all(text.partition(":")[0] in SCENARIOS for text in study.attacks)


def protection_of(kind: str, text: str) -> Any:
    """Return the protection that is written so."""
    return graph_protection_from(text) if kind == "graph" else protection_from(text)


def leaves_trials(text: str) -> bool:
    """Return whether an attack counts successes on people, without candidates.

    >>> leaves_trials("linkability:neighbours=1"), leaves_trials("record-linkage"), leaves_trials("row-order")
    (True, False, False)
    """
    facts = ATTACKS.get(text.strip().partition(":")[0])
    return facts is not None and facts.leaves == "Trials" and bool(facts.knows)


def attack_of(kind: str, text: str, columns: Sequence[str] = ()) -> Any:
    """Return the attack that is written so.

    It must leave candidates, beliefs that become candidates, or trials; the latter are told the columns that they know.
    """
    if kind == "graph":
        return graph_attack_from(text)
    if not leaves_trials(text):
        return attack_from(text, leaves=("Candidates", "Beliefs"))
    facts = ATTACKS[text.strip().partition(":")[0]]
    # Columns that stand for those to be drawn: whoever writes some is told that the setting is there twice.
    told = [f"{knows}=column {place}" for place, knows in enumerate(facts.knows)]
    told += [f"{facts.uses}=1"] * bool(facts.uses)
    made: Any = attack_from(f"{facts.name}:{','.join(filter(None, [text.strip().partition(':')[2], *told]))}")
    if not columns:
        return made
    if len(columns) < len(facts.knows):
        raise InputError(
            f"Attack {facts.name!r} needs at least {len(facts.knows)} quasi-identifiers, but gets "
            f"{len(columns)}. Raise the levels of known_columns"
        )
    drawn = {knows: tuple(columns[place :: len(facts.knows)]) for place, knows in enumerate(facts.knows)}
    return replace(made, **drawn, **({facts.uses: len(columns)} if facts.uses else {}))


#: What stands before the name of a metric where it was taken of calibrated probabilities.
CALIBRATED = "calibrated."


def columns_of(study: "Study") -> tuple[str, ...]:
    """Return the metric columns of a study's files, raw then calibrated."""
    if study.kind == "release":
        return tuple(dict.fromkeys(name for text in study.attacks for name in scenario_of(text).columns))
    names = tuple(metric.name for metric in metrics_of(study))
    return names + tuple(f"{CALIBRATED}{name}" for name in names) * (study.calibrate is not None)


def metric_of_column(column: str) -> Metric | None:
    """Return the metric of a column, raw or calibrated, or None.

    >>> metric_of_column("calibrated.entropy").name, metric_of_column("else")
    ('entropy', None)
    """
    return METRICS.get(column.removeprefix(CALIBRATED))


#: What a replication on graphs is measured by too, but only if a study names such metrics: claims about edges that
#: follow from the mapping, and what can be found at all with such knowledge.
ALSO_OF_GRAPHS = ("EdgeClaims", "GraphKnowledge")


def metrics_of(study: "Study") -> tuple[Metric, ...]:
    """Return the metrics of a study (default: all usual ones)."""
    on = "Trials" if leaves_trials(study.attacks[0]) else "Candidates"
    have = {metric.name: metric for metric in METRICS.values() if metric.on == on}
    if not study.metrics:
        return tuple(metric for metric in have.values() if metric.usual)
    if study.kind == "graph":
        have |= {
            metric.name: metric
            for metric in METRICS.values()
            if metric.on in ALSO_OF_GRAPHS and metric.per == "release"
        }
    for name in study.metrics:
        if name not in have:
            hint = did_you_mean(name, have) or " 'unveil list metrics' shows them."
            raise InputError(f"there is no metric of {on.lower()} called {name!r}.{hint} Rename it, or leave it out")
    return tuple(have[name] for name in study.metrics)
