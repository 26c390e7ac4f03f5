"""Attribute disclosure: all exactly matching released records share the sensitive value."""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.inference import guess_columns


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often matching records disclose each sensitive column."""
    from unveil.attacks.table.attribute_disclosure import AttributeDisclosure

    tolerance = attacked.settings.tolerance
    return guess_columns(
        attacked,
        lambda secret, known: AttributeDisclosure(secret=secret, known=known, tolerance=tolerance, targets=None),
    )


ATTACK = AuditAttack(
    name="attribute_disclosure",
    also_called=("cap", "tcap", "correct attribution probability", "homogeneity"),
    run=run,
    title="Attribute disclosure",
    about=(
        "Attribute disclosure: the attacker reads the sensitive value off the released records that match all"
        " quasi-identifiers exactly."
    ),
    asks="secret",
    guesses_sensitive=True,
)
