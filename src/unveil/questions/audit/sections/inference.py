"""Attribute inference: can sensitive values be predicted?"""

from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.attack_map import attack_maps
from unveil.questions.audit.sections.results import charted, result_sentence, result_table
from unveil.report.blocks import Section


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the results on attribute inference, attribute disclosure and memorization."""
    table = result_table(
        audit, ("inference", "attribute_disclosure", "memorization"), "Attribute inference: all attributes and attacks"
    )
    if table is None:
        return None
    return Section(
        heading="Attribute inference",
        question="Can sensitive values be predicted?",
        lead=result_sentence(audit, "inference"),
        blocks=attack_maps(audit, only=charted(audit)),
        data=(table,),
    )
