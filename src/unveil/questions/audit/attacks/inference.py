"""Inference: the value of a column is guessed from the released record that is nearest in the others, or by a model."""

from functools import partial

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks._guessing import guess_columns, held
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.words import listed, percent_of


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often each sensitive column, or each column, is guessed right."""
    from unveil.attacks.table.inference import Inference

    made = partial(Inference, tolerance=attacked.settings.tolerance, targets=None, model=attacked.settings.model)
    return guess_columns(
        attacked,
        lambda secret, known: made(secret=secret, known=known),
        # Where rows that fit weigh differently, whoever says what is likeliest is better than one who draws lots.
        likeliest=None
        if attacked.settings.model is not None
        else lambda secret, known: made(secret=secret, known=known, guess="class"),
        by_groups=True,
    )


def _meaning(finding: AttackFinding) -> str:
    share = percent_of(finding.risk.attack_rate, "people")
    if finding.is_mean:
        return f"On average over the columns, whoever knows all others guesses the value of one right for {share}."
    return f"Whoever knows {held(finding)} guesses {listed([finding.secret])} right for {share}."


ATTACK = AuditAttack(
    name="inference",
    also_called=("attribute inference", "aia", "InferenceEvaluator"),
    run=run,
    title="Inference",
    question="Inference: can an unknown value be guessed?",
    lead=(
        "Somebody knows some columns of a person, looks up the released record nearest to them, and takes the value "
        "there for the person's own. What holds for everybody can be guessed about people outside the data too; only "
        "what is guessed better about those inside was given away by their records."
    ),
    about=(
        "Inference: the value of the nearest released record, ties broken by lot with exact chances. A number is right "
        "within the tolerance around the true value, anything else where it is equal."
    ),
    meaning=_meaning,
    x_label="share of people whose value is guessed right",
    caption="Blind chance takes the value of any released record.",
    asks="secret",
    answers="inference",
    guesses_sensitive=True,
    takes_memory=True,
)
