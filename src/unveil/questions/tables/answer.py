"""What can be worked out from the tables of counts that are published?"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.data.counts import CountSettings
from unveil.data.counts.system import LARGEST
from unveil.data.files.settings import FileSettings
from unveil.data.table.native import is_one_table
from unveil.errors import InputError, did_you_mean, whole_number
from unveil.questions.answer import Answer, randomness
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.tables.findings import TablesFindings
from unveil.questions.tables.read import read, settings_of
from unveil.questions.tables.run import run
from unveil.questions.tables.settings import MINIMUM, MOST_RECORDS, PROFILES
from unveil.questions.tables.view import VIEW, brief
from unveil.questions.tables.words import profile_outcome
from unveil.report.progress import Progress, silent


def tables(
    published: Any,
    *,
    minimum: int | None = None,
    truth: Any = None,
    settings: CountSettings | None = None,
    profile: str = "",
    records: int = 0,
    insider: bool = False,
    repair: bool = False,
    keep: int = 2,
    values: int = 3,
    work: int = 1_000_000,
    all_ranges: bool = False,
    largest: int = LARGEST,
    names: Sequence[str] = (),
    files: FileSettings | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Answer[TablesFindings]:
    """Return which hidden counts can be worked out from published tables, and how narrow the others have become.

    Parameters
    ----------
    published
        A file or a frame of counts, or several of them: one row for each cell and a column called count, or the codes
        of one variable in the header.
    minimum
        Counts from 1 to one less are small; 5 unless told, or what the profile says.
    truth
        The records behind the tables, a file or a frame: every range is held against them.
    settings
        What is told about the tables: totals, hierarchies, symbols, rounding, noise, populations.
    profile
        A published rule to hold the tables to: cell-3, cell-5, cell-11 or cell-20.
    records
        How many combinations of all variables to name that somebody must or may have, the surest first:
        ``answer.findings.records``. 0 looks for none.
    insider
        Whether to try out what people gain who are alone in a hidden count, and know it; needs the truth.
    repair
        Whether to look for further counts to hide: ``answer.findings.repair``.
    keep
        How many values a repair leaves to each small count at least.
    values
        The most values of a range that is narrow.
    work
        Steps that the solver may take in all; what is not settled then may be narrower than is said, never wider.
        Records, insiders and a repair have as many each on top.
    all_ranges
        Whether exact ranges are looked for in parts of more than 2,000 hidden counts too.
    largest
        The most cells of linked tables together; where they need more, ranges may be too wide, and it is said.
    names, files
        What the tables are called, and how text files are written.
    rng
        Unless given it starts from seed 0, and the answer says so.
    progress
        Called with the name of a step and the share of all work that is done.

    Examples
    --------
    >>> answer = tables({"ward": ["N", "S", "W", "Total"], "count": ["*", "17", "12", "31"]})
    >>> answer
    <Answer: 1 of 1 hidden count can be worked out from what is shown.>
    >>> answer.quantities["small_worked_out"].value
    1.0
    """
    given = [published] if not isinstance(published, list | tuple) or is_one_table(published) else list(published)
    if profile and profile not in PROFILES:
        hint = did_you_mean(profile, PROFILES) or f" Choose from {', '.join(PROFILES)}."
        raise InputError(f"there is no rule about small cells called {profile[:60]!r}.{hint}")
    least = minimum if minimum is not None else PROFILES.get(profile, MINIMUM)
    whole_number(least, "the minimum", at_least=2, at_most=1000)
    if profile and least != PROFILES[profile]:
        raise InputError(f"profile {profile} sets the minimum to {PROFILES[profile]}, but it is {least}. Leave it out")
    whole_number(records, "the number of records", at_least=0, at_most=MOST_RECORDS)
    rng, seed = randomness(rng)
    progress("reading", 0.0)
    inputs = read(given, settings or CountSettings(), files=files, names=names, largest=largest, records=records > 0)
    findings = run(
        inputs,
        minimum=least,
        values=values,
        work=work,
        all_ranges=all_ranges,
        truth=truth,
        profile=profile,
        records=records,
        insider=insider,
        repair=repair,
        keep=keep,
        rng=rng,
        progress=progress,
    )
    return Answer(findings, VIEW, seed)


def repaired_text(findings: TablesFindings) -> str:
    """Return the repaired tables as CSV."""
    return "" if findings.repair is None else findings.repair.frame.write_csv()


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    from unveil.data import samples
    from unveil.data.files._spreadsheet import formula_warning, neutral_csv
    from unveil.data.files.write import write_text

    settings, files = settings_of(request)
    if request.sample:
        paths = [samples.path("tables_wards.csv"), samples.path("tables_minors.csv")]
        names = ["wards.csv", "minors.csv"]
    else:
        paths = list(request.files["tables"])
        names = [request.names.get(path, path.name) for path in paths]
    values = request.values
    profile = values["profile"] or ""
    answer = tables(
        paths,
        minimum=PROFILES[profile] if profile else values["minimum"],
        truth=request.path("truth"),
        settings=settings,
        profile=profile,
        repair=values["repair"] is not None,
        names=names,
        files=files,
        rng=request.rng,
        progress=request.progress,
        **request.pick("values", "work", "all_ranges", "largest", "records", "insider", "keep"),
    )
    repair = answer.findings.repair
    broken, sentence = profile_outcome(answer.findings) if profile else (False, "")
    return Response(
        answer=answer,
        brief=lambda: list(brief(answer.findings)),
        outputs={
            "cells": OutputFile(
                write=lambda path, **_: write_text(path, neutral_csv(answer.to_frame())),
                name="cells.csv",
                said="The range of every hidden count is in {}, for internal use",
            ),
            "repair": OutputFile(
                write=lambda path, **_: write_text(path, repaired_text(answer.findings), shared=True),
                name="repaired.csv",
                said="The tables with more hidden are in {}",
                warning="" if repair is None else formula_warning(repair.frame),
            ),
            "shareable": OutputFile(
                write=lambda path, *, seed, **_: write_text(
                    path, answer.to_html(seed=seed, edition="shareable"), shared=True
                ),
                name="shareable.html",
                said="The report to pass on is in {}",
            ),
        },
        exceeded=(sentence,) if broken else (),
        undecided=(sentence,) if broken is None else (),
    )
