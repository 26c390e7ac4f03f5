"""Templates of all texts on the decision: read them in one sitting before a release.

In braces: {level} of risk, {decision}, {reached} by an attacker, {name} of a release, {k} people, {n} a number,
{p} a phrase on an effect, {g} a subgroup, {c} a sensitive column, {e} the excess in people per 100, {r} the attack
success, {high} an upper limit in points.
"""

from collections.abc import Mapping
from types import MappingProxyType

from unveil.questions.audit.decision.findings import DecisionWord, Lack

DECISION_WORDS: Mapping[DecisionWord, str] = MappingProxyType(
    {"pass": "Pass", "fail": "Fail", "inconclusive": "Inconclusive", "none": "No threshold set"}
)
#: The headline of one release.
HEADLINES: Mapping[str, str] = MappingProxyType(
    {
        "level": "{level}: {reached}.",
        "partial": "Partial audit – {level}: {reached}.",
        "none found": "Nothing significant: {ruled}.",
        "partial, none found": "Partial audit – nothing significant: {ruled}.",
        "open": "Inconclusive: {why}.",
        "pass": "Pass ({level}): {bound}.",
        "fail": "Fail ({level}): {reached}.",
        "inconclusive": "Inconclusive ({level}): {why}.",
    }
)
#: What a headline says of the upper limits: {bound} of a pass, {ruled} out where nothing is significant.
BOUNDS: Mapping[str, str] = MappingProxyType(
    {
        "pass": "every excess is below {high} points",
        "pass, withheld": "every excess is below the threshold",
        "pass, limits": "every limit is met",
        "none found": "an excess above {high} points is ruled out (at most {most})",
        "none found, withheld": "the excess is {most} at most",
        "none found, siblings": "people are no nearer to the release than to its {k} siblings",
    }
)
#: The headline of several releases.
HEADLINES_OF_SEVERAL: Mapping[str, str] = MappingProxyType(
    {
        "worst": "{level} in {name}.",
        "worst and best": "{level} in {name}; lowest: {best}.",
        "none found": "Nothing significant in {n} releases; lowest: {best}.",
        "passing": "{k} of {n} releases {verb}: {names}.",
        "closest": "No release passes; closest: {best}.",
        "none passes": "No release passes.",
        "best": "{name} (excess at most {high} points)",
        "best, lacking": "{name} (excess at most {high} points; {lack})",
    }
)
#: The meaning of an effect: {e} is the excess in people per 100, {r} the attack success, {c} the sensitive column.
PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "singling_out": "{e} of 100 predicates single out a person than without the release",
        "reidentification": "{r} of records can be re-identified",
        "row_order": "{r} of records can be re-identified by their position in the file",
        "copies": "the records of {e} per 100 are released unchanged than by chance",
        "linkability": "{e} per 100 can be linked than without the release",
        "inference": "{c} can be inferred for {e} per 100 than without the release",
        "attribute_disclosure": "{c} can be inferred for {e} per 100 than without the release",
        "memorization": "{c} can be inferred for {e} per 100 than without the release",
        "membership": "membership is disclosed for {e} per 100",
        "siblings": "the release is nearest to {e} per 100 than a sibling release is",
    }
)
#: The same where siblings come with their people: the test is about the generator.
PHRASE_OF_GENERATOR = "releases are nearest to {e} of their own per 100 than sibling releases are"
#: The reason of a level although the mean is small.
INDIVIDUALS: Mapping[str, str] = MappingProxyType(
    {
        "copies": "{k} people's records are released unchanged, {x} expected by chance",
        "rare copies": "{k} people's rare records are released unchanged, {x} expected by chance",
        "members": "{k} people can be recognized as members, at most 5% of them wrongly",
        "class": "{k} people are in equivalence classes smaller than {n}",
        "group": "{p} in the group {g} ({k})",
    }
)
#: Other reasons of a level or of a failure.
CAUSES: Mapping[str, str] = MappingProxyType(
    {
        "claim": "the claimed epsilon is refuted",
        "limit": "the limit on {name} is not met",
        "class": "one person's risk is {r}",
        "withheld": "{attack} succeeds",
        "untested": "no attack could be tested",
    }
)
EFFECT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "singling_out": "singling out",
        "reidentification": "re-identification",
        "row_order": "re-identification by row order",
        "copies": "exact copies",
        "linkability": "linkability",
        "inference": "inference",
        "attribute_disclosure": "attribute disclosure",
        "memorization": "memorization",
        "membership": "membership inference",
        "siblings": "DCR compared with siblings",
    }
)
#: The reason why a pass is not possible yet.
REASONS: Mapping[Lack, str] = MappingProxyType(
    {
        "siblings differ": "the release is from another population than its siblings",
        "siblings overlap": "most people were used for a sibling too",
        "control": "without a control group the excess risk cannot be estimated",
        "usable control": "the control group cannot be used",
        "type": "state the release type: masked or synthetic",
        "sensitive": "state the sensitive columns",
        "quasi-identifiers": "state the quasi-identifiers",
        "not run": "not all attacks were run",
        "not tested": "not all risks could be tested",
    }
)
#: Other reasons of an inconclusive decision.
OPEN: Mapping[str, str] = MappingProxyType(
    {
        "control": "no control group",
        "limit": "the limit on {name} cannot be tested",
        "class": "one person's risk could be up to {r}",
        "class, bounded": "one person's risk could be {r}",
        "excess": "the excess in {attack} could be up to {high} points",
        "excess, withheld": "the excess in {attack} is not ruled out",
    }
)
#: The numbers behind a headline, in their order.
SUBLINES: Mapping[str, str] = MappingProxyType(
    {
        "release": "in {name}, ",
        "worst": "worst: {name}, {level}",
        "effect": "{where}{attack}: {rates}; excess {points}",
        "limits": " (at least {low}, at most {high})",
        "corrected": "corrected for the choice of the worst attacker ({points} before)",
        "test": "adjusted p {p} ({tests})",
        "beyond chance": "{k} of them too rare to be a coincidence",
        "group": "in the group {g} ({k}): excess {points} points",
        "group limits": "in the group: at least {low}, at most {high}",
        "siblings": "p {p} among {k} siblings (smallest possible {least})",
        "assignment": (
            "p {p} over assignments of people to {k} releases (smallest possible {least}; about the generator)"
        ),
        "threshold": "threshold {points}",
        "individuals": "a release that exposes people fails at any threshold",
        "needed": "about {k} people per table needed",
        "chance": "a leak-free release of this size passes in about {n} of 100 audits",
        "smallest": "smallest detectable effect {points}",
        "not run": "not run: {names}",
    }
)
NEXT: Mapping[Lack, str] = MappingProxyType(
    {
        "siblings differ": "Pass siblings made with the same settings from people of the same population.",
        "siblings overlap": "Pass siblings made from other people.",
        "control": (
            "Hold a random fifth of the people out (at least 200), make the release again from the rest, and use them "
            "as the control group."
        ),
        "usable control": "Use a control group from the same population: hold people out before the release is made.",
        "type": "State the release type: masked (each row was made from one person's row) or synthetic.",
        "sensitive": "State the sensitive columns, or that there are none.",
        "quasi-identifiers": "State the quasi-identifiers: the columns that an attacker may know.",
        "not run": "Run all attacks.",
        "not tested": "See the table for the reason why a risk was not tested.",
    }
)
#: Further next steps.
STEPS: Mapping[str, str] = MappingProxyType(
    {
        "threshold": "Choose a threshold to get pass or fail.",
        # What a control group needs whose rows are too similar to be separate people.
        "identifier": "State the column that identifies a person, or that each row is one person.",
        "flagged": "Check columns that look like direct identifiers: {columns}.",
        "pass": "Record the threshold and this report, then release.",
        "release": "Release {name}, and record the threshold and this report.",
        "closest": "Audit {name} again with more people: it is closest to a pass.",
        "copies": "Remove the {copies}, then audit again.",
        "many copies": "Mask or synthesize the data: most records are copies.",
        "order": "Shuffle the rows of the release, then audit again.",
        "generalize": "Generalize {columns}, then audit again.",
        "generalize one": "Generalize {columns} in {name}, then audit again.",
        "protect": "Protect the data further, then audit again.",
        "half": (
            "Set half of the people aside at random as the control group, and make the release again without them."
        ),
        "people": "Audit about {k} people, with as many in the control group.",
        "more people": "Audit more people, with a control group as large.",
    }
)
#: The options that a terminal adds to a next step.
OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        NEXT["type"]: "--release-type masked|synthetic",
        NEXT["sensitive"]: "--sensitive COLUMNS|none",
        NEXT["quasi-identifiers"]: "--quasi-identifiers COLUMNS",
        NEXT["control"]: "--control FILE",
        NEXT["not run"]: "leave out --attacks",
        STEPS["threshold"]: "--threshold 0.09 or --profile",
        STEPS["identifier"]: "--id COLUMN|none",
    }
)
#: What tests with siblings rest on.
DECLARED = (
    "This rests on your statement that the siblings have the same generator, settings and population: no test can see "
    "small differences."
)
#: In place of the rates of an effect that the redacted report withholds.
WITHHELD = "rates withheld"
