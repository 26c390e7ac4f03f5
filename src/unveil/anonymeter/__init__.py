"""Run code written for anonymeter 1.1.0 by changing its import.

The classes have the names, arguments and numbers of the package, its defects included: docs/research/anonymeter.md
lists them.
Nothing else in unveil loads this folder.
"""

from typing import TYPE_CHECKING

from unveil._lazy import lazily

if TYPE_CHECKING:
    from unveil.anonymeter.inference import InferenceEvaluator as InferenceEvaluator
    from unveil.anonymeter.inference import SklearnInferencePredictor as SklearnInferencePredictor
    from unveil.anonymeter.linkability import LinkabilityEvaluator as LinkabilityEvaluator
    from unveil.anonymeter.results import EvaluationResults as EvaluationResults
    from unveil.anonymeter.results import PrivacyRisk as PrivacyRisk
    from unveil.anonymeter.results import SuccessRate as SuccessRate
    from unveil.anonymeter.singling_out import SinglingOutEvaluator as SinglingOutEvaluator

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "EvaluationResults": "results",
        "InferenceEvaluator": "inference",
        "LinkabilityEvaluator": "linkability",
        "PrivacyRisk": "results",
        "SinglingOutEvaluator": "singling_out",
        "SklearnInferencePredictor": "inference",
        "SuccessRate": "results",
    },
)
