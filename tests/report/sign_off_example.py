"""Sheets to sign: a plain one, and one in which everything is as long and as much as it can be."""

from unveil.report.blocks import Edition, Page, Section, TableBlock
from unveil.report.editions import people
from unveil.report.sign_off import (
    QUESTIONS,
    Adversary,
    BoxFact,
    FileFact,
    SignOff,
    SignOffFigure,
    Variable,
    record_tables,
    sheet,
)

FOLDER = "/srv/register/2024"
COMMAND = (
    "/usr/local/bin/unveil",
    "audit",
    f"{FOLDER}/people.csv",
    "out/masked.csv",
    "out/synthetic.csv",
    "--control",
    f"{FOLDER}/others.csv",
    "--missing",
    "Smith",
    "--profile=ema",
    "--quiet",
)


def plain() -> SignOff:
    return SignOff(
        files=(
            FileFact(part="Original", file=f"{FOLDER}/people.csv", rows=12_000, sha256="3f" * 32),
            FileFact(part="Control", file=f"{FOLDER}/others.csv", rows=7, sha256="ab" * 32),
            FileFact(part="Release", file="out/masked.csv", rows=12_000, sha256="0c" * 32),
            FileFact(part="Release", file="out/synthetic.csv", rows=12_000),
        ),
        releases=("masked", "synthetic"),
        columns=(
            Variable(name="person", role="identifier", kind="text", technique="removed"),
            Variable(name="age", role="known", kind="number", technique="bands of 5 years"),
            Variable(name="postcode", role="known", kind="category"),
        ),
        adversaries=(Adversary(name="neighbour", knows="age and postcode", reason="They live next door."),),
        figures=(
            SignOffFigure(label="Smallest class (k)", before="1", after=("2", "1")),
            SignOffFigure(
                label="Linkability, worst adversary",
                before="88.1% (85.0–90.7%)",
                after=("31.2% (27.3–35.4%)", "3.1% (1.9–5.0%)"),
            ),
        ),
        boxes={
            "singling_out": BoxFact(rate="4.2% (2.8% to 6.3%)", beside="0.3% for others.", tone="warning"),
            "linkability": BoxFact(rate="31.2% (27.3% to 35.4%)", beside="4.0% for others.", tone="bad"),
            "inference": BoxFact(tested=False, why_not="No column was named as sensitive."),
        },
        utility="masked keeps 92% of the associations, synthetic 81%.",
        seed=3,
        version="1.2.3",
        command=COMMAND,
        date="2 May 2025",
        review_date="May 2026",
        decides="the board",
    )


def overfull(letter: str) -> SignOff:
    words = (letter * 9 + " ") * 60
    names = tuple(f"{letter * 60}{number}" for number in range(13))
    rate = "100.0% (100.0–100.0%)"
    return SignOff(
        files=tuple(
            FileFact(part="Release", file=f"/srv/{letter * 90}{k}.csv", rows=12_000_000, sha256="3f" * 32)
            for k in range(15)
        ),
        releases=names,
        columns=tuple(
            Variable(name=f"{letter * 80}{k}", role="known", kind="text", technique=words) for k in range(300)
        ),
        adversaries=tuple(Adversary(name=letter * 80, knows=words, reason=words) for _ in range(20)),
        figures=tuple(SignOffFigure(label=words, before=rate, after=(rate,) * 13) for _ in range(20)),
        boxes={key: BoxFact(rate="-100.0% (-100.0% to -100.0%)", beside=words, tone="bad") for key in QUESTIONS},
        utility=words,
        seed=123_456_789,
        version="10.10.10",
        command=("unveil", "audit", *(letter * 60,) * 30),
        date="30 September 2025",
        review_date="30 September 2026",
        decides=words,
    )


def page_of(sign_off: SignOff, *, headline: str = "Linkability: 31.2% of people.", edition: Edition = "") -> Page:
    table = TableBlock(
        caption="Missing",
        columns=("Column", "Missing"),
        rows=(("age", people(3)), ("postcode", people(0)), ("person", people(11))),
        align=("left", "right"),
        note=people(4, "person", "people", pattern="{} have no age."),
    )
    return Page(
        title="Audit of 2 releases",
        question="If one of these 2 tables is released, what could somebody do with it?",
        headline=headline,
        tone="warning",
        sections=(Section(heading="The next part", lead="Next.", blocks=(table,)),),
        method_data=record_tables(sign_off),
        limitations=("Membership: whether somebody is in the data at all.", "Repeated releases."),
        notes=(f"{FOLDER}/people.csv: 2 rows are equal.",),
        seed=3,
        version="1.2.3",
        edition=edition,
        sheet=sheet(sign_off),
    )
