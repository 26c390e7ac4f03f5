"""Shape of a column's values: share of names, numbers, addresses, and so on."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from types import MappingProxyType
from typing import Literal, NamedTuple

from unveil.data.identifiers import patterns
from unveil.data.identifiers._numbers import ACCOUNTS, NATIONAL_IDS, SSN, Numbering
from unveil.data.identifiers._values import ENOUGH_ROWS, ColumnSample

LooksLike = Literal[
    "name", "address", "email", "phone", "national id", "date of birth", "record id", "free text", "postcode",
    "ip address", "account number", "url", "coordinates",
]  # fmt: skip

_FIRST_YEAR = 1900
_SPREAD_YEARS = 25
_WORDS_OF_A_TEXT = 5


class ValueShape(NamedTuple):
    """Share of values with a shape, its description, and its sufficiency."""

    share: float
    says: str
    alone: bool
    if_named: bool


_NOTHING = ValueShape(0.0, "", alone=False, if_named=False)


def _of_values(share: float) -> str:
    """Return a share of values as text, never rounded up to all.

    >>> _of_values(1.0), _of_values(0.999), _of_values(0.5)
    ('all of the different values', '99% of the different values', '50% of the different values')
    """
    return f"{'all' if share == 1 else f'{min(max(round(share * 100), 1), 99)}%'} of the different values"


def _by_shape(share: float, says: str, *, alone: float, if_named: float, ready: bool = True) -> ValueShape:
    return ValueShape(share, f"{_of_values(share)} {says}", alone=ready and share >= alone, if_named=share >= if_named)


def _email(sample: ColumnSample) -> ValueShape:
    if not sample.textual:
        return _NOTHING
    # Even a few addresses in a column of something else are addresses of people.
    return _by_shape(
        sample.share(patterns.EMAIL), "hold an @ between two parts, as email addresses do", alone=0.05, if_named=0.05
    )


def _url(sample: ColumnSample) -> ValueShape:
    if not sample.textual:
        return _NOTHING
    return _by_shape(sample.share(patterns.URL), "begin as addresses of web pages do", alone=0.5, if_named=0.5)


def _ip(sample: ColumnSample) -> ValueShape:
    if not sample.textual or sample.share(patterns.IP) < 0.5:
        return _NOTHING
    share = sum(map(_is_ip, sample.text)) / len(sample.text)
    return _by_shape(share, "are numbers by which computers find one another", alone=0.8, if_named=0.5)


def _is_ip(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _numbering(sample: ColumnSample, numberings: Sequence[Numbering]) -> ValueShape:
    """Return the type of number whose check digits most values pass."""
    best = _NOTHING
    # All such numbers have digits; to look for every shape in words is slow, as so many are too many to keep compiled.
    if not (sample.textual or sample.whole) or sample.share(r"[0-9]") < 0.5:
        return best
    for each in numberings:
        bare = sample.bare.str.zfill(each.digits) if sample.whole and sample.length > each.digits - 3 else sample.bare
        if (bare.str.contains(each.shape).mean() or 0) < 0.5:  # type: ignore[operator]
            continue
        shaped = bare.filter(bare.str.contains(each.shape))
        share = sum(map(each.holds, shaped)) / len(bare)
        if share > max(best.share, 0.5):
            says = f"have the shape and the check digits of {each.label}"
            best = _by_shape(share, says, alone=0.9, if_named=0.5, ready=len(bare) >= each.fewest)
    return best


def _account(sample: ColumnSample) -> ValueShape:
    found = _numbering(sample, ACCOUNTS)
    return found if found.if_named else _long_numbers(sample)


def _national_id(sample: ColumnSample) -> ValueShape:
    hyphens = sample.share(SSN) if sample.textual else 0.0
    if hyphens >= 0.5:
        says = "have three, two and four digits, as US social security numbers do"
        return _by_shape(hyphens, says, alone=0.9, if_named=0.5)
    found = _numbering(sample, NATIONAL_IDS)
    return found if found.if_named else _long_numbers(sample)


def _long_numbers(sample: ColumnSample) -> ValueShape:
    """Return support for a number name: many digits, many distinct values."""
    if not (sample.textual or sample.whole):
        return _NOTHING
    share = float(sample.bare.str.contains(r"^[A-Z]{0,3}[0-9]{6,20}[A-Z]{0,2}$").mean() or 0.0)  # type: ignore[arg-type]
    return _by_shape(share, "are numbers of six digits or more", alone=math.inf, if_named=0.5)


def _birth(sample: ColumnSample) -> ValueShape:
    if sample.kind == "date":
        return _birth_dates(sample)
    if not (sample.textual or sample.whole) or sample.dates < 0.5:
        return _NOTHING
    found = sample.text.str.extract_groups(patterns.YEAR).struct
    first, second = (found.field(name) for name in found.fields)
    years = first.fill_null(second).cast(int)
    return _birth_years(sample, years.drop_nulls().to_list(), sample.dates, whole_days=True)


def _birth_dates(sample: ColumnSample) -> ValueShape:
    import polars as pl

    moments = sample.counted["value"]
    if moments.dt.day().n_unique() == 1 and len(moments) > 2:
        return _NOTHING  # months or years, written as dates
    whole_days = bool((moments.dt.time() == pl.Series([datetime.min.time()])).all())
    return _birth_years(sample, moments.dt.year().to_list(), 1.0, whole_days=whole_days)


def _birth_years(sample: ColumnSample, years: list[int], dates: float, *, whole_days: bool) -> ValueShape:
    """Return whether dates are distributed like dates of birth."""
    if not years:
        return _by_shape(dates, "are dates", alone=math.inf, if_named=0.5)
    years = sorted(years)
    low, high = years[len(years) // 20], years[-1 - len(years) // 20]
    share = dates * sum(_FIRST_YEAR <= year <= datetime.now(UTC).year for year in years) / len(years)
    days = (years[-1] - years[0] + 1) * 365
    expected = days * -math.expm1(-sample.filled / days)
    spread = high - low >= _SPREAD_YEARS and sample.distinct >= expected / 2 and sample.filled >= ENOUGH_ROWS
    other = set(sample.words) & patterns.NOT_BIRTHS
    says = f"are dates between {_FIRST_YEAR} and today{', spread over decades as dates of birth are' if spread else ''}"
    return _by_shape(share, says, alone=0.95, if_named=0.5, ready=spread and whole_days and not other)


def _coordinates(sample: ColumnSample) -> ValueShape:
    if sample.textual:
        says = "are two numbers with many decimals, as positions on the earth are"
        return _by_shape(sample.share(patterns.POSITIONS), says, alone=0.8, if_named=0.5)
    if sample.whole or sample.kind != "number" or not sample.runs & patterns.TERMS["coordinates"]:
        return _NOTHING
    values = sample.counted["value"]
    fine = (values.abs() <= 180) & ((values * 100).round(0) != values * 100)
    says = "are numbers between -180 and 180 with three decimals or more, as positions on the earth are"
    return _by_shape(float(fine.mean() or 0.0), says, alone=math.inf, if_named=0.5)  # type: ignore[arg-type]


def _phone(sample: ColumnSample) -> ValueShape:
    if not (sample.textual or sample.whole):
        return _NOTHING
    loose = sample.share(patterns.PHONE_IF_NAMED)
    share = sample.share(patterns.PHONE) if sample.textual else 0.0
    if share >= 0.8 and sample.dates < 0.5:
        return _by_shape(share, "are digits grouped as telephone numbers are", alone=0.8, if_named=0.5)
    return _by_shape(loose, "have as many digits as telephone numbers have", alone=math.inf, if_named=0.5)


def _postcode(sample: ColumnSample) -> ValueShape:
    if not (sample.textual or sample.whole):
        return _NOTHING
    share = sample.share(patterns.POSTCODE) if sample.textual else 0.0
    if share >= 0.9:
        return _by_shape(share, "are written as postcodes are", alone=0.9, if_named=0.5, ready=sample.distinct >= 5)
    loose = sample.share(patterns.POSTCODE_IF_NAMED)
    return _by_shape(loose, "are as long as postcodes are", alone=math.inf, if_named=0.5)


def _address(sample: ColumnSample) -> ValueShape:
    if not sample.textual:
        return _NOTHING
    return _by_shape(sample.share(patterns.ADDRESS), "hold a street with a house number", alone=0.5, if_named=0.3)


def _name(sample: ColumnSample) -> ValueShape:
    import polars as pl

    letters = sample.letters if sample.textual else 0.0
    if letters < 0.6 or sample.distinct <= 2:
        return _NOTHING
    # Frequent names are few among the different ones but many among the cells.
    words = (
        sample.text.str.normalize("NFKD").str.replace_all(r"\p{M}", "").str.to_lowercase().str.extract_all(r"\p{L}+")
    )
    known = words.list.eval(pl.element().is_in(list(patterns.COMMON_NAMES))).list.any()
    cells = sample.sample["cells"]
    common = float(cells.filter(known).sum()) / float(cells.sum())
    if common >= 0.3 and sample.distinct >= 10:
        says = f"{min(round(common * 100), 99)}% of the cells hold a name that many people have"
        return ValueShape(common, says, alone=True, if_named=True)
    return _by_shape(letters, "are a few words of letters, as names are", alone=math.inf, if_named=0.6)


def _free_text(sample: ColumnSample) -> ValueShape:
    if not sample.textual:
        return _NOTHING
    long = sample.text.str.count_matches(r"\S+") >= _WORDS_OF_A_TEXT
    differ = sample.distinct > sample.filled / 2 and sample.filled >= 3
    says = f"have {_WORDS_OF_A_TEXT} words or more, and hardly two rows share one, as texts that people wrote"
    return _by_shape(float(long.mean() or 0.0), says, alone=0.5, if_named=0.3, ready=differ)  # type: ignore[arg-type]


_LONG_NUMBERS = (
    (patterns.UUID, "are universal record numbers (UUID)"),
    (patterns.MAC, "are numbers of network devices"),
    (patterns.HEX, "are long numbers in hexadecimal digits, as records are numbered with"),
)


def _record_id(sample: ColumnSample) -> ValueShape:
    if not (sample.textual or sample.whole):
        return _NOTHING
    for pattern, what in _LONG_NUMBERS:
        share = sample.share(pattern) if sample.textual else 0.0
        if share >= 0.9:
            return _by_shape(share, what, alone=0.9, if_named=0.9, ready=sample.many)
    if sample.distinct < sample.filled or sample.filled < 2:
        return _NOTHING
    enough = sample.filled >= ENOUGH_ROWS
    says = _own_numbers(sample) if sample.whole else _own_codes(sample)
    if says:
        return ValueShape(1.0, f"every row has a different value: {says}", alone=enough, if_named=True)
    single = sample.share(r"\s\S+\s") < 0.1
    return ValueShape(1.0, "every row has a different value", alone=False, if_named=single)


def _own_numbers(sample: ColumnSample) -> str:
    """Return what tells whole numbers that all differ from amounts that happen to."""
    low, high = int(sample.values.min()), int(sample.values.max())  # type: ignore[arg-type]
    if high - low + 1 == sample.filled:
        return "whole numbers that count the rows"
    # Drawn at random from their range, so many numbers would all differ with a probability below exp(-10).
    if sample.filled * (sample.filled - 1) / 2 > 10 * (high - low + 1):
        return "whole numbers close together, of which none comes twice"
    if low >= 10**7 and len(str(low)) == len(str(high)):
        return f"whole numbers of {len(str(low))} digits each"
    return ""


def _own_codes(sample: ColumnSample) -> str:
    other = sample.share(patterns.AMOUNT) > 0.5 or sample.dates > 0.5
    if other or sample.share(patterns.CODE) < 0.9 or sample.share(r"[0-9]") < 0.9:
        digits = sample.share(r"^0*[0-9]{6,}$")
        return "numbers of six digits or more" if digits >= 0.9 and sample.bare.str.len_chars().n_unique() == 1 else ""
    shape = sample.text.str.replace_all(r"[0-9]+", "9").str.replace_all(r"\p{L}", "A")
    most = int(shape.value_counts()["count"].max())  # type: ignore[arg-type]
    return "codes of one shape, with letters and digits" if most >= 0.9 * len(shape) else ""


#: From the most special shape to the least; of two that fit equally well the first is told.
LOOKS: Mapping[LooksLike, Callable[[ColumnSample], ValueShape]] = MappingProxyType(
    {
        "email": _email,
        "url": _url,
        "ip address": _ip,
        "account number": _account,
        "national id": _national_id,
        "date of birth": _birth,
        "coordinates": _coordinates,
        "phone": _phone,
        "postcode": _postcode,
        "address": _address,
        "name": _name,
        "free text": _free_text,
        "record id": _record_id,
    }
)


def _words_that_differ(sample: ColumnSample) -> bool:
    return sample.textual and sample.many


def _numbers_that_differ(sample: ColumnSample) -> bool:
    return (sample.textual or sample.whole) and sample.many and sample.length >= 5


def _own_or_a_persons(sample: ColumnSample) -> bool:
    """Return whether a value is specific to one person."""
    if not (sample.textual or sample.whole) or not sample.many:
        return False
    return sample.distinct > sample.filled / 2 or bool(set(sample.words) & patterns.PERSONS)


def _never(_: ColumnSample) -> bool:
    return False


#: Where only the name of a column says so: whether its values could be that, and are not some categories.
PLAUSIBLE: Mapping[LooksLike, Callable[[ColumnSample], bool]] = MappingProxyType(
    {
        "email": _words_that_differ,
        "url": _words_that_differ,
        "ip address": _words_that_differ,
        "account number": _numbers_that_differ,
        "national id": _numbers_that_differ,
        "date of birth": _numbers_that_differ,
        "coordinates": _never,
        "phone": _numbers_that_differ,
        "postcode": _never,
        "address": _words_that_differ,
        "name": _words_that_differ,
        "free text": _words_that_differ,
        "record id": _own_or_a_persons,
    }
)
