"""Attacks of an audit, one per file."""

from collections.abc import Mapping
from types import MappingProxyType

from unveil.questions.audit.attacks import (
    attribute_disclosure,
    closest_record,
    copies,
    history_copies,
    history_inference,
    history_linkability,
    history_membership,
    history_singling_out,
    inference,
    linkability,
    membership,
    memorization,
    neighbour_ratio,
    record_linkage,
    row_order,
    singling_out,
)
from unveil.questions.audit.attacks.attack import GOALS, AttackedRelease, AuditAttack

__all__ = ["ATTACKS", "GOALS", "AttackedRelease", "AuditAttack"]

#: Every attack of an audit by name, in the order of the report: the only list of them.
ATTACKS: Mapping[str, AuditAttack] = MappingProxyType(
    {
        each.ATTACK.name: each.ATTACK
        for each in (
            singling_out,
            linkability,
            inference,
            attribute_disclosure,
            memorization,
            membership,
            record_linkage,
            copies,
            closest_record,
            neighbour_ratio,
            row_order,
            history_singling_out,
            history_linkability,
            history_inference,
            history_membership,
            history_copies,
        )
    }
)
