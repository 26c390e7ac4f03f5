"""Word lists for column names and for cells without a value."""

import re
from collections.abc import Sequence
from typing import Literal

Telling = Literal["group", "amount"]
#: What a cell that is no value stands for. An "unreadable" one is no cell of the original's kind; see `agree`.
MarkerKind = Literal["missing", "not applicable", "suppressed", "own code", "unreadable"]

GROUP_WORDS = frozenset([
    "sex", "gender", "race", "rac", "ethnic", "hisp", "hispanic", "origin", "nation", "nationality", "citizen",
    "country", "region", "state", "county", "province", "district", "ward", "area", "puma", "city", "town", "village",
    "birthplace", "religion", "denomination", "marital", "maritl", "married", "marriage", "msp", "relationship",
    "relation", "type", "kind", "cat", "category", "code", "codes", "group", "grp", "cluster", "occupation", "occ",
    "industry", "ind", "indp", "sector", "job", "profession", "language", "status", "stat", "cause", "reason",
    "diagnosis", "diag", "icd", "mode", "treatment", "treat", "trt", "arm", "rx", "site", "center", "centre",
    "hospital", "clinic", "vote", "party", "employment", "employer", "ownership", "own", "rent", "housing", "brand",
    "color", "species", "zip", "zipcode", "postcode", "postal", "plz", "fips", "id", "label", "target", "geschlecht",
    "familienstand", "beruf", "bundesland", "kreis", "land", "sexe", "sexo", "estado", "pays",
])  # fmt: skip
#: Of these, amounts too: whoever has more than a few different ones says how much, and not which.
EITHER_WORDS = frozenset(["rent", "area"])
GROUP_STEMS = ("hispan", "ethnic", "marit", "occup", "industr", "countr", "village")
GROUP_ENDINGS = ("cat", "code", "type", "group")
AMOUNT_WORDS = frozenset([
    "age", "alter", "year", "years", "yr", "yrs", "jahr", "month", "months", "week", "weeks", "day", "days", "hour",
    "hours", "hr", "hrs", "minute", "minutes", "min", "time", "times", "number", "num", "nr", "no", "n", "count", "cnt",
    "anzahl", "visits", "vis", "children", "kids", "kinder", "siblings", "persons", "people", "members", "size",
    "income", "wage", "salary", "price", "cost", "amount", "betrag", "weight", "wt", "height", "ht", "bmi", "dur",
    "duration", "tenure", "exper", "parity", "total", "sum", "length", "rate", "ratio", "percent", "pct", "score",
    "level", "lvl", "grade", "edu", "educ", "education", "degree", "stage", "scale", "rating", "rank", "decile",
    "quantile", "quartile", "quintile", "percentile", "severity", "satisfaction", "happy", "freq", "frequency",
    "importance", "ideology", "knowledge", "class", "school", "pain", "cond", "density",
])  # fmt: skip
#: Group words that say by themselves that a column classifies, whatever stands before them: age group, rate type.
CLASSIFYING_WORDS = frozenset([
    "type", "kind", "cat", "category", "code", "codes", "group", "grp", "cluster", "status", "stat", "mode", "id",
    "label", "target",
])  # fmt: skip
#: Measures whose object follows them: in "rate_marriage" and "age_at_marriage" marriage is what is measured.
MEASURING_WORDS = frozenset([
    "age", "alter", "year", "years", "yr", "yrs", "month", "months", "week", "weeks", "day", "days", "hour", "hours",
    "time", "times", "number", "num", "n", "count", "cnt", "anzahl", "income", "wage", "salary", "price", "cost",
    "amount", "duration", "dur", "length", "total", "sum", "rate", "rating", "ratio", "percent", "pct", "score",
    "scale", "rank", "satisfaction", "happy", "freq", "frequency", "importance", "severity",
])  # fmt: skip
#: Amounts of which each row may have its own because they number the rows.
_NUMBERING_WORDS = frozenset(["number", "num", "nr", "no", "n", "count", "cnt", "rank"])
#: Names of columns that say: every row is somebody else.
IDENTIFIER_WORDS = frozenset([
    "id", "ids", "identifier", "uuid", "guid", "ssn", "email", "mail", "phone", "telephone", "mobile", "name",
    "firstname", "lastname", "fullname", "surname", "username", "passport", "iban", "key",
])  # fmt: skip
#: The same, where it is the last word of the name.
LAST_IDENTIFIER_WORDS = frozenset(["idno", "uid", "caseid", "nr"])

#: Traits that a person keeps, and how longer words for them begin.
TRAIT_WORDS = frozenset([
    "sex", "gender", "geschlecht", "sexe", "sexo", "female", "male", "race", "rac", "black", "hispanic", "born", "dob",
    "yob",
])  # fmt: skip
TRAIT_STEMS = ("ethn", "birth", "brth", "geburt", "naiss", "nacim")
#: Points in time at which the same person is seen again.
TIME_WORDS = frozenset([
    "year", "years", "yr", "wave", "month", "months", "week", "weeks", "day", "days", "date", "time", "visit", "period",
    "quarter", "round", "session", "occasion", "followup", "semester", "jahr", "monat", "woche", "tag", "welle", "t",
])  # fmt: skip
#: Survey weights: how many people a row stands for.
WEIGHT_WORDS = frozenset([
    "weight", "weights", "wgt", "wt", "wgtp", "pwgtp", "fnlwgt", "finalwgt", "perwt", "hhwt", "gewicht", "pondera",
    "poids", "hochrechnungsfaktor",
])  # fmt: skip
#: Of these, words for the weight of a body too: that is meant next to a height, or if the name itself says so.
EITHER_WEIGHT_WORDS = frozenset(["weight", "weights", "wt", "gewicht", "poids"])
HEIGHT_WORDS = frozenset(["height", "ht", "bmi", "grösse", "taille"])
BODY_WORDS = frozenset(["body", "birth", "mother", "baby", "child", "kg", "lb", "lbs"])

#: The two words of a truth value: what stands for false, and what for true.
TRUTH_PAIRS = (
    ("0", "1"), ("no", "yes"), ("nein", "ja"), ("false", "true"), ("n", "y"), ("f", "t"), ("non", "oui"), ("no", "si"),
    ("no", "sí"),
)  # fmt: skip

_EVERYWHERE: dict[MarkerKind, tuple[str, ...]] = {
    "suppressed": (
        "*", "**", "***", "****", "*****", "suppressed", "redacted", "masked", "withheld", "confidential", "(d)",
    ),
    "missing": (
        "na", "n.a.", "nan", "null", "nil", "missing", "?", "--", ".", "..", "...", "…", "not stated", "not reported",
        "not available", "#n/a", "refused", "don't know", "don’t know", "dk", "k.a.", "keine angabe", "unbekannt",
        "inconnu", "nsp",
    ),
    "not applicable": (
        "n/a", "not applicable", "inap", "iap", "niu", "entfällt", "trifft nicht zu", "sans objet", "(x)",
    ),
}  # fmt: skip
_BESIDE_NUMBERS: dict[MarkerKind, tuple[str, ...]] = {"missing": ("none", "unknown", "no answer", "-")}
_BESIDE_TWO_NUMBERS: dict[MarkerKind, tuple[str, ...]] = {"not applicable": ("n", "x")}
#: Beside so many different numbers every listed cell is a marker.
BESIDE_NUMBERS = 2
#: Each listed cell in lower case: what it stands for, and beside how many different numbers it must stand.
LISTED: dict[str, tuple[MarkerKind, int]] = {
    word: (kind, least)
    for least, lists in enumerate((_EVERYWHERE, _BESIDE_NUMBERS, _BESIDE_TWO_NUMBERS))
    for kind, words in lists.items()
    for word in words
}
#: How the label of a code begins that is no value, the first that fits.
_LABELS: tuple[tuple[MarkerKind, str], ...] = (
    ("not applicable", r"n/a|not applicable|inap|iap|niu|not in universe|entfällt|trifft nicht zu|sans objet"),
    (
        "missing",
        r"not (reported|stated|available|ascertained)|no answer|refused|refusal|don['’]?t know|dk\b|unknown|missing|"
        r"keine angabe|unbekannt|inconnu|nsp\b|na\b",
    ),
    ("suppressed", r"suppressed|withheld|redacted|masked|confidential"),
)


def words_of(name: str) -> list[str]:
    """Return the lower-case words of a column name.

    >>> words_of("HOUSING_TYPE"), words_of("PatientID2"), words_of("RAC1P")
    (['housing', 'type'], ['patient', 'id'], ['rac', 'p'])
    """
    letters = re.findall(r"[^\W\d_]+", name)
    # Before a capital after a small letter, and before the last of several capitals that a small one follows.
    parts = [
        part for run in letters for part in re.split(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-z])", run)
    ]
    return [part.casefold() for part in parts]


def telling_word(text: str) -> tuple[Telling, str] | None:
    """Return the meaning and the telling word of a name, or None.

    It is the last one, as in "party size", unless that is the object of a measure before it, as in "rate marriage".

    >>> telling_word("party_size"), telling_word("marriage_type"), telling_word("Q7")
    (('amount', 'size'), ('group', 'type'), None)
    >>> telling_word("rate_marriage"), telling_word("age_at_marriage"), telling_word("age_group")
    (('amount', 'rate'), ('amount', 'age'), ('group', 'group'))
    """
    words = words_of(text)
    for place, word in reversed(list(enumerate(words))):
        if word in AMOUNT_WORDS:
            return "amount", word
        classifies = word in CLASSIFYING_WORDS or word.endswith(GROUP_ENDINGS)
        if classifies or word in GROUP_WORDS or word.startswith(GROUP_STEMS):
            measure = next((each for each in words[:place] if each in MEASURING_WORDS), None)
            return ("group", word) if classifies or measure is None else ("amount", measure)
    return None


def names_people(name: str) -> bool:
    """Return whether a column name suggests an identifier.

    >>> names_people("PatientID"), names_people("case_nr"), names_people("idea")
    (True, True, False)
    """
    words = words_of(name)
    return bool(IDENTIFIER_WORDS.intersection(words) or LAST_IDENTIFIER_WORDS.intersection(words[-1:]))


def names_trait(name: str) -> bool:
    """Return whether the name of a column says that people keep its value.

    >>> names_trait("sex"), names_trait("BirthYear"), names_trait("region")
    (True, True, False)
    """
    return any(word in TRAIT_WORDS or word.startswith(TRAIT_STEMS) for word in words_of(name))


def names_time(name: str) -> bool:
    """Return whether a column name suggests points in time.

    >>> names_time("survey_year"), names_time("wave"), names_time("age")
    (True, True, False)
    """
    return not TIME_WORDS.isdisjoint(words_of(name))


def names_weight(name: str) -> bool:
    """Return whether a column name suggests survey weights.

    >>> names_weight("PWGTP"), names_weight("sample_weight"), names_weight("wage")
    (True, True, False)
    """
    return not WEIGHT_WORDS.isdisjoint(words_of(name))


def weight_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that may hold survey weights, by name.

    >>> weight_columns(["age", "PWGTP"]), weight_columns(["height", "weight"]), weight_columns(["birth_weight"])
    (['PWGTP'], [], [])
    """
    words = {name: frozenset(words_of(name)) for name in names}
    bodies = any(own & HEIGHT_WORDS for own in words.values())

    def weighs_bodies(own: frozenset[str]) -> bool:
        return not (own & WEIGHT_WORDS) - EITHER_WEIGHT_WORDS and (bodies or bool(own & BODY_WORDS))

    return [name for name, own in words.items() if own & WEIGHT_WORDS and not weighs_bodies(own)]


def measures(name: str) -> bool:
    """Return whether a column name suggests amounts.

    >>> measures("age"), measures("case_number"), measures("Q7")
    (True, False, False)
    """
    word = telling_word(name)
    return word is not None and word[0] == "amount" and word[1] not in _NUMBERING_WORDS


def marker_of_label(label: str) -> MarkerKind | None:
    """Return the marker meaning of a code's label, or None.

    >>> marker_of_label("N/A (less than 15 years old)"), marker_of_label("Not reported"), marker_of_label("Nurse")
    ('not applicable', 'missing', None)
    """
    plain = label.strip().casefold()
    return next((kind for kind, pattern in _LABELS if re.match(pattern, plain)), None)
