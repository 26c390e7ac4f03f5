"""The attacks exactly as anonymeter 1.1.0 makes them, for those who compare; nothing else loads them.

Its own class names are here too: ``from unveil.attacks.anonymeter import LinkabilityEvaluator``.
"""

from typing import TYPE_CHECKING

from unveil._lazy import lazily

if TYPE_CHECKING:
    from unveil.attacks.anonymeter.evaluators import InferenceEvaluator as InferenceEvaluator
    from unveil.attacks.anonymeter.evaluators import LinkabilityEvaluator as LinkabilityEvaluator
    from unveil.attacks.anonymeter.evaluators import SinglingOutEvaluator as SinglingOutEvaluator

__all__, __getattr__, __dir__ = lazily(
    __name__,
    dict.fromkeys(("InferenceEvaluator", "LinkabilityEvaluator", "SinglingOutEvaluator"), "evaluators"),
)
