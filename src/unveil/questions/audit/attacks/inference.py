"""Inference: the value of a column is guessed from the released record that is nearest in the others, or by a model."""

from functools import partial

from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks._guessing import guess_columns
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack


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


ATTACK = AuditAttack(
    name="inference",
    also_called=("attribute inference", "aia", "InferenceEvaluator"),
    run=run,
    title="Attribute inference",
    about=(
        "Attribute inference: the attacker predicts the sensitive value from the nearest released records. "
        "Numbers count as correct within 5% of the range."
    ),
    asks="secret",
    answers="inference",
    guesses_sensitive=True,
    takes_memory=True,
)
