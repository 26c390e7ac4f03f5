"""The protections, attacks and metrics that a study names, checked and made."""

from typing import TYPE_CHECKING, Any

from unveil.attack import attack_from, graph_attack_from
from unveil.errors import InputError, did_you_mean
from unveil.measure import METRICS, Metric
from unveil.protect import PROTECTIONS, graph_protection_from, protection_from

if TYPE_CHECKING:
    from unveil.study.plan import Study


def check_parts(study: "Study") -> None:
    """Refuse a study whose protections, attacks or metrics cannot be had, or do not suit its data."""
    for text in study.protections:
        protection_of(study.kind, text)
        name = text.partition(":")[0]
        if study.kind == "table" and name in PROTECTIONS and PROTECTIONS[name].kind == "synthetic":
            raise InputError(
                f"a study of tables needs protections that make each released row from one original row, but {name!r} "
                "makes rows that are nobody's. Choose one of kind masked ('unveil list protections')"
            )
    for text in study.attacks:
        attack_of(study.kind, text)
    metrics_of(study.metrics)


def protection_of(kind: str, text: str) -> Any:
    """Return the protection that is written so."""
    return graph_protection_from(text) if kind == "graph" else protection_from(text)


def attack_of(kind: str, text: str) -> Any:
    """Return the attack that is written so; it must leave candidates, or beliefs that become candidates."""
    return graph_attack_from(text) if kind == "graph" else attack_from(text, leaves=("Candidates", "Beliefs"))


def metrics_of(names: tuple[str, ...]) -> tuple[Metric, ...]:
    """Return the metrics of these names, or all metrics of candidates if there are none."""
    have = {metric.name: metric for metric in METRICS.values() if metric.on == "Candidates"}
    for name in names:
        if name not in have:
            hint = did_you_mean(name, have) or " 'unveil list metrics' shows them."
            raise InputError(f"there is no metric of candidates called {name!r}.{hint} Correct it or leave it out")
    return tuple(have[name] for name in names) if names else tuple(have.values())
