"""Columns that name people are flagged with the reason, others are not, and no value is ever told."""

import gzip
import hashlib
import math
import os
import uuid
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.data.identifiers import _numbers as numbers
from unveil.data.identifiers.direct import Flag, direct_identifiers
from unveil.data.identifiers.patterns import AMBIGUOUS, TERMS, runs_of, words_of
from unveil.data.samples import audit_sample, path
from unveil.data.table import Table

ROWS = 60
SHARED = Path(os.environ.get("UNVEIL_DATA", ""))


def flagged(values: Any, *, name: str = "x", **settings: Any) -> Flag | None:
    found = direct_identifiers(Table.from_frame(pl.DataFrame({name: values}, strict=False), **settings))
    return found[0] if found else None


def looks_like(values: Any, *, name: str = "x") -> str | None:
    flag = flagged(values, name=name)
    return flag.looks_like if flag else None


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def words(text: str) -> list[str]:
    return text.split()


GIVEN = words(
    "Anna Maria John Peter Lucía Françoise Jürgen Sven Tom Ute Vera Wim Xenia Yann Zoë Marco Ali Emma Paul Eva"
)
LAST = words("Smith Müller Rossi García Jansen Dubois Weber Kahn Lind Moss")
BIRTHS = [date(1935, 3, 1) + timedelta(days=int(day)) for day in rng().integers(0, 25_000, ROWS)]


# --- what is found by its content alone -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("email", [f"user.{at}@mail.example.org" for at in range(ROWS)]),
        ("email", [f"write to <u{at}@example.org>" if at % 10 == 0 else f"call {at}" for at in range(ROWS)]),
        ("url", [f"https://example.org/people/{at}" for at in range(ROWS)]),
        ("ip address", [f"192.168.{at}.7" for at in range(ROWS)]),
        ("ip address", [f"2001:db8::{at:x}:1" for at in range(ROWS)]),
        ("phone", [f"+49 731 {at + 1000000}" for at in range(ROWS)]),
        ("phone", [f"({at + 200}) 555-01{at:02d}" for at in range(ROWS)]),
        ("phone", [f"06 12 34 {at:02d} 78" for at in range(ROWS)]),
        ("national id", [f"{at + 101}-{at % 90 + 10}-{at + 1000}" for at in range(ROWS)]),
        ("date of birth", BIRTHS),
        ("date of birth", [day.strftime("%d.%m.%Y") for day in BIRTHS]),
        ("date of birth", [int(day.strftime("%Y%m%d")) for day in BIRTHS]),
        ("coordinates", [f"{48 + at / 977:.5f}, {9 + at / 991:.5f}" for at in range(ROWS)]),
        ("postcode", [f"SW{at % 9 + 1}A {at % 9}AA" for at in range(ROWS)]),
        ("postcode", [f"{1000 + 7 * at} AB" for at in range(ROWS)]),
        ("address", [f"{at + 1} Old Oak Street" for at in range(ROWS)]),
        ("address", [f"Bahnhofstraße {at + 1}" for at in range(ROWS)]),
        ("address", [f"{at + 1} bis rue de la Paix" if at % 2 else f"{at} rue Monge" for at in range(ROWS)]),
        ("address", [f"Calle Mayor {at + 1}" for at in range(ROWS)]),
        ("address", [f"Via Roma, {at + 1}" for at in range(ROWS)]),
        ("address", [f"Kerkstraat {at + 1}a" for at in range(ROWS)]),
        ("name", [f"{GIVEN[at % 20]} {LAST[at % 10]}" for at in range(ROWS)]),
        ("name", [f"{LAST[at % 7]}, {GIVEN[at % 20].upper()}" for at in range(ROWS)]),
        ("free text", [f"The patient came {at} times and was sent home" for at in range(ROWS)]),
        ("record id", [str(uuid.UUID(int=at)) for at in range(ROWS)]),
        ("record id", [hashlib.sha256(bytes([at])).hexdigest() for at in range(ROWS)]),
        ("record id", [f"00:1b:44:11:3a:{at:02x}" for at in range(ROWS)]),
        ("record id", list(range(7, 7 + ROWS))),
        ("record id", [*range(7, 6 + ROWS), None]),
        ("record id", sorted(rng().choice(300, 150, replace=False).tolist())),
        ("record id", [f"PT-{at:04d}" for at in range(ROWS)]),
        ("record id", [f"p{at}" for at in range(ROWS)]),
        ("record id", rng().choice(np.arange(10**8, 10**9, 1009), ROWS, replace=False).tolist()),
    ],
)
def test_content_alone_tells(kind: str, values: list[Any]) -> None:
    flag = flagged(values)
    assert flag is not None
    assert (flag.looks_like, flag.sure) == (kind, "by content")
    assert 0 < flag.share <= 1
    assert flag.reason[0].isupper() or flag.reason[0].isdigit()
    assert flag.reason.endswith(".")


# --- what is none -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", rng().integers(10_000, 900_000, ROWS)),
        ("income", rng().lognormal(10, 1, ROWS)),
        ("income", [f"{value:.2f}".replace(".", ",") for value in rng().lognormal(8, 1, ROWS)]),
        ("income", [f"{value:,.0f} €" for value in rng().lognormal(12, 1, ROWS)]),
        ("age", rng().integers(18, 90, ROWS)),
        ("page", rng().integers(1, 9999, ROWS)),
        ("count", rng().integers(0, 10**6, ROWS)),
        ("country", ["Germany", "France", "Italy"] * 20),
        ("country_name", ["Germany", "France", "Italy"] * 20),
        ("file_name", ["a", "b", "c"] * 20),
        ("telephone", ["yes", "no"] * 30),
        ("has_email", [True, False] * 30),
        ("mail", ["weekly", "monthly", "never"] * 20),
        ("mobile", ["ios", "android", "other"] * 20),
        ("id_country", [at % 20 for at in range(ROWS)]),
        ("birth_year", rng().integers(1930, 2010, ROWS)),
        ("birth_weight", rng().integers(2000, 4500, ROWS)),
        ("date_of_birth", [f"{1930 + at % 50}" for at in range(ROWS)]),
        ("date_of_birth", [date(1930 + at, 1, 1) for at in range(ROWS)]),
        ("nombre_enfants", rng().integers(0, 7, ROWS)),
        ("zip3", rng().integers(100, 999, ROWS)),
        ("dose", [f"{at} mg" for at in range(ROWS)]),
        ("puma", [f"25-00{at % 40 + 500}" for at in range(ROWS)]),
        ("visit", [date(2015, 1, 1) + timedelta(days=17 * at) for at in range(ROWS)]),
        ("admission_date", BIRTHS),
        ("seen", [datetime(1960, 1, 1, 9, 30) + timedelta(days=300 * at) for at in range(ROWS)]),
        ("hair", ["Brown", "Black", "Red"] * 20),
        ("city", words("Berlin Hamburg München Köln Stuttgart Bremen Leipzig Essen Bonn Ulm Kiel Trier") * 5),
        ("month", words("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec") * 5),
        ("lat", rng().integers(0, 90, ROWS)),
        ("score", rng().normal(0, 50, ROWS)),
        ("via", ["train", "car", "bus"] * 20),
        ("ip", ["yes", "no", "unknown"] * 20),
        ("email", [None] * ROWS),
        ("version", [f"{at % 3}.{at % 7}" for at in range(ROWS)]),
        ("blood pressure", [f"{100 + at}/{60 + at}" for at in range(ROWS)]),
        ("admission", [day.strftime("%d-%m-%Y") for day in BIRTHS]),
        ("time", [f"{at % 24:02d}:{at:02d}:00" for at in range(ROWS)]),
    ],
)
def test_what_names_nobody_is_not_flagged(name: str, values: Any) -> None:
    assert looks_like(values, name=name) is None


def test_the_columns_of_the_embedded_sample_name_nobody() -> None:
    for table in audit_sample():
        assert direct_identifiers(table) == ()
    assert direct_identifiers(Table.read(path("anes96.csv"))) == ()


@pytest.mark.skipif(not (SHARED / "adult").is_dir(), reason="needs UNVEIL_DATA")
@pytest.mark.parametrize("file", ["adult/control.csv.gz", "acs/ma2019.csv.gz"])
def test_public_files_name_nobody(file: str, tmp_path: Path) -> None:
    plain = tmp_path / "people.csv"
    plain.write_bytes(gzip.decompress((SHARED / file).read_bytes()))
    assert direct_identifiers(Table.read(plain)) == ()


# --- names of columns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("Vorname", "name", ["Sven", "Ute", "Xenia"] * 20),
        ("PatientName", "name", [f"Q{letter} Zed" for letter in "abcdefghij"] * 6),
        ("nombre", "name", ["Íñigo", "Leire", "Ane"] * 20),
        ("cognome", "name", ["Verdi", "Neri", "Gallo"] * 20),
        ("achternaam", "name", ["Prins", "Dekker", "Kok"] * 20),
        ("E-Mail", "email", [f"u{at}@example.org" for at in range(5)]),
        ("tél", "phone", [f"0{at + 100000000}" for at in range(ROWS)]),
        ("handyNummer", "phone", [15_000_000_000 + 7919 * at for at in range(ROWS)]),
        ("telefoonnummer", "phone", ["020 123", "030 4567"] * 30),
        ("geb_datum", "date of birth", ["1.2.80", "3.4.81", "5.6.82"] * 20),
        ("Date de naissance", "date of birth", [date(2015, 1, 1) + timedelta(days=at) for at in range(ROWS)]),
        ("fecha_nacimiento", "date of birth", ["01/02/1980", "03/04/1981"] * 30),
        ("SSN", "national id", [123_456_789 + 7919 * at for at in range(ROWS)]),
        ("codice_fiscale", "national id", ["RSSMRA85T10A562S", "RCCMNL83S18D969H"]),
        ("IBAN", "account number", ["DE89370400440532013000", "NL91ABNA0417164300"]),
        ("Kontonummer", "account number", [1_234_567 + 7919 * at for at in range(ROWS)]),
        ("PLZ", "postcode", ["01069", "89073", "10115"] * 20),
        ("zip", "postcode", [10_115, 89_073, 20_095] * 20),
        ("Straße", "address", [f"Am Markt {at}" for at in range(ROWS)]),
        ("home_address", "address", [f"The Old Mill {at}" for at in range(ROWS)]),
        ("Opmerkingen", "free text", [f"zie brief nummer {at}" for at in range(ROWS)]),
        ("latitude", "coordinates", [48.40112 + at / 977 for at in range(ROWS)]),
        ("patient_id", "record id", [at // 5 + 100 for at in range(5 * ROWS)]),
        ("id", "record id", ["ann", "bea", "cleo"]),
        ("username", "record id", [f"{GIVEN[at % 20]}{at}".lower() for at in range(ROWS)]),
        ("adresse IP", "ip address", ["10.0.0.1", "10.0.0.2"]),
    ],
)
def test_names_of_columns_tell_in_six_languages(name: str, kind: str, values: list[Any]) -> None:
    flag = flagged(values, name=name)
    assert flag is not None
    assert flag.looks_like == kind
    assert flag.sure in ("by name and content", "by name")
    assert flag.reason.startswith("The column name suggests it")


def test_how_sure_is_told_apart() -> None:
    mails = [f"u{at}@example.org" for at in range(ROWS)]
    assert flagged(mails, name="email").sure == "by name and content"  # type: ignore[union-attr]
    assert flagged(mails, name="q7").sure == "by content"  # type: ignore[union-attr]
    coded = flagged([f"contact {GIVEN[at % 20]} {at}" for at in range(ROWS)], name="email")
    assert coded is not None
    assert (coded.sure, coded.share) == ("by name", 0.0)


def test_words_are_read_and_never_parts_of_words() -> None:
    assert words_of("patientID_Nr.2") == ("patient", "id", "nr", "2")
    assert words_of("Straße") == ("strasse",)
    assert words_of("") == ()
    assert words_of("日本") == ()
    assert "email" in runs_of(words_of("E-Mail"))
    assert "dateofbirth" in runs_of(words_of("DateOfBirth"))
    for name in ("country", "page", "username2"):
        assert not runs_of(words_of(name)) & {"count", "age", "name"}
    assert all(term.isascii() and term == term.lower() and term.isalpha() for terms in TERMS.values() for term in terms)
    assert set().union(*TERMS.values()) >= AMBIGUOUS


# --- check digits -----------------------------------------------------------------------------------------------------

#: Published examples: of the authorities that give the numbers out, or of encyclopaedias.
EXAMPLES = {
    numbers.luhn: ["4111111111111111", "5555555555554444", "378282246310005", "8112289874", "046454286"],
    numbers.iban: ["DE89370400440532013000", "GB82WEST12345698765432", "NL91ABNA0417164300"],
    numbers.bsn: ["111222333", "123456782"],
    numbers.dni: ["12345678Z", "X2482300W", "54362315K"],
    numbers.codice_fiscale: ["RSSMRA85T10A562S", "RCCMNL83S18D969H", "MRTMTT25D09F205Z"],
    numbers.steuer_id: ["86095742719", "47036892816", "65929970489"],
    numbers.nir: ["255081416802538", "295109912611193"],
    numbers.nhs: ["9434765919", "4010232137"],
    numbers.rijksregister: ["85073003328", "93051822361", "17073003384"],
    numbers.pesel: ["44051401359", "02070803628"],
    numbers.cpf: ["11144477735", "52998224725"],
    numbers.hetu: ["131052A308T", "131052308T"],
}


@pytest.mark.parametrize("holds", EXAMPLES)
def test_check_digits_hold_for_published_numbers_and_for_few_others(holds: Any) -> None:
    passed = tried = 0
    for example in EXAMPLES[holds]:
        assert holds(example)
        for place, sign in enumerate(example):
            if sign.isdigit():
                for other in set("0123456789") - {sign}:
                    changed = example[:place] + other + example[place + 1 :]
                    tried += 1
                    passed += holds(changed)
    # A single wrong digit is always seen, except where two tables or two centuries leave room.
    assert passed / tried <= 0.04


def valid(shape: str, holds: Any, length: int, count: int) -> list[str]:
    """Return numbers of that length that pass, by trying one after the other."""
    found: list[str] = []
    number = int(shape)
    while len(found) < count:
        number += 7919
        text = str(number).zfill(length)
        if holds(text):
            found.append(text)
    return found


@pytest.mark.parametrize(
    ("start", "holds", "length", "kind"),
    [
        ("123456789", numbers.bsn, 9, "Dutch"),
        ("4000000000", numbers.nhs, 10, "British health"),
        ("86000000000", numbers.steuer_id, 11, "German"),
        ("4111110000000000", numbers.luhn, 16, "payment cards"),
    ],
)
@pytest.mark.parametrize("as_number", [True, False])
def test_check_digits_tell_without_a_name(start: str, holds: Any, length: int, kind: str, as_number: bool) -> None:
    good = valid(start, holds, length, 40)
    flag = flagged([int(text) for text in good] if as_number else [f"{text[:3]} {text[3:]}" for text in good])
    assert flag is not None
    assert flag.looks_like in ("national id", "account number")
    assert kind in flag.reason
    # The same shapes without check digits are not taken for them.
    wrong = flagged([int(text) + 1 for text in good])
    assert wrong is None or wrong.looks_like == "record id"


# --- any table --------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=22)
@given(
    st.text(max_size=12).filter(lambda name: name != "*" and not (name.startswith("^") and name.endswith("$"))),
    st.one_of(
        st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=30),
        st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**70)), min_size=1, max_size=30),
        st.lists(st.one_of(st.none(), st.floats(allow_infinity=False)), min_size=1, max_size=30),
        st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=5),
        st.lists(st.one_of(st.none(), st.datetimes()), min_size=1, max_size=30),
    ),
    st.randoms(use_true_random=False),
)
def test_any_column_is_judged_the_same_in_any_order(name: str, values: list[Any], shuffler: Any) -> None:
    one = flagged(values, name=name)
    other = list(values)
    shuffler.shuffle(other)
    assert flagged(other, name=name) == one
    if one is not None:
        assert one.column == name
        assert 0 <= one.share <= 1
        assert all(text not in one.reason for text in values if isinstance(text, str) and len(text) > 12)


def test_ordered_levels_and_pandas_frames_are_read() -> None:
    names = [f"{GIVEN[at % 20]} {LAST[at // 20]}" for at in range(ROWS)]
    ordered = pl.Series("who", names, dtype=pl.Enum(sorted(set(names))))
    assert direct_identifiers(Table.from_frame(ordered.to_frame()))[0].looks_like == "name"
    frame = pd.DataFrame({"a id": pd.array([1, None, 3], dtype="Int64"), "$": [None, None, None]})
    assert [flag.column for flag in direct_identifiers(Table.from_frame(frame))] == ["a id"]


def test_most_of_many_values_are_enough_and_no_value_is_told() -> None:
    mails = [f"secret{at}@example.org" for at in range(9000)] + ["unknown"] * 1000
    flag = flagged(mails)
    assert flag is not None
    assert 0.99 < flag.share < 1
    assert "99% of the different values" in flag.reason
    assert "secret" not in repr(flag)


def test_only_some_values_are_looked_at_but_all_over_the_column() -> None:
    half = [f"a{at:06d}" for at in range(6000)] + [f"z{at:06d}@example.org" for at in range(6000)]
    flag = flagged(half)
    assert flag is not None
    assert (flag.looks_like, math.isclose(flag.share, 0.5, abs_tol=0.01)) == ("email", True)
