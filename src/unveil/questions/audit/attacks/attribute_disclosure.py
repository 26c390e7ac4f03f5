"""Attribute disclosure: a column is read off released records that match a person exactly in all that is known."""

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks._guessing import guess_columns, held
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.words import listed, percent_of


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often each sensitive column, or each column, is read off matching records."""
    from unveil.attacks.table.attribute_disclosure import AttributeDisclosure

    tolerance = attacked.settings.tolerance
    return guess_columns(
        attacked,
        lambda secret, known: AttributeDisclosure(secret=secret, known=known, tolerance=tolerance, targets=None),
    )


def _meaning(finding: AttackFinding) -> str:
    share = percent_of(finding.risk.attack_rate, "people")
    if finding.is_mean:
        return f"On average over the columns, records that match a person exactly tell one more column for {share}."
    return (
        f"Whoever knows {held(finding)} and reads {listed([finding.secret])} off released records that match exactly "
        f"is right for {share}."
    )


ATTACK = AuditAttack(
    name="attribute_disclosure",
    also_called=("cap", "tcap", "correct attribution probability", "homogeneity"),
    run=run,
    title="Attribute disclosure",
    question="Attribute disclosure: what do records say that match a person exactly?",
    lead=(
        "Somebody looks for released records that are equal to a person in all columns that are known, and reads the "
        "missing column off them. People without such a record are not guessed."
    ),
    about=(
        "Attribute disclosure: released records equal to the target in all known columns; where they differ in the "
        "sensitive one, the guess is drawn by lot among them. Targets without a match count as failures."
    ),
    meaning=_meaning,
    asks="secret",
    x_label="share of people whose value is read off matching records",
    caption="Blind chance takes the value of any released record.",
    guesses_sensitive=True,
)
