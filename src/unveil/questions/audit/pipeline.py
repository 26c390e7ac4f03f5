"""Run an audit as a test that fails when a release exceeds its limits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unveil.data.files.write import write_text
from unveil.errors import InputError, shortened
from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import ReportContext, judged
from unveil.questions.audit.view import VIEW
from unveil.questions.result import Result
from unveil.report.figures import json_of
from unveil.report.limits import check_limits, is_pass, quantity_hint
from unveil.report.profiles import profile


def assert_release_ok(
    original: Any,
    released: Any,
    limits: Mapping[str, float] | str,
    control: Any = None,
    *,
    accept_undecided: bool = False,
    report: str | Path | None = None,
    **settings: Any,
) -> Result[Audit]:
    """Return the audit of a release, or raise an AssertionError that says which limits it does not keep.

    For tests of whoever makes releases: pytest shows the sentences, and a pipeline stops. It decides as
    ``unveil audit --limit`` does: a figure that is exceeded is no pass, and neither is one that is undefined, or so
    unsure that nothing is shown.

    Parameters
    ----------
    original, released, control
        As in :func:`unveil.audit`.
    limits
        The most that each figure may be, by the names of ``unveil audit --limit help``, as in
        ``{"linkability.excess_over_control": 0.05}``; or the name of published limits, as in ``"ema"``.
    accept_undecided
        Whether limits that are neither exceeded nor shown to be kept are a pass.
    report
        The file that the whole report is written to, before anything is raised.
    **settings
        As in :func:`unveil.audit`.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"height": [150.5 + i for i in range(40)], "weight": [50.5 + i for i in range(40)]})
    >>> try:
    ...     assert_release_ok(people, people, {"linkability.attack_rate": 0.5}, attacks=["linkability"], neighbours=1)
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[-1])
    limit exceeded: linkability.attack_rate is at least 0.911903, the limit is 0.5
    """
    named = () if isinstance(limits, str) else tuple((name, float(limit)) for name, limit in limits.items())
    _check_names([name for name, _ in named])
    context = ReportContext(profile=profile(limits).name) if isinstance(limits, str) else ReportContext()
    answer = audit(original, released, control, **settings)
    checked = check_limits(answer.quantities, named)
    outcomes, sentences = [each.exceeded for each in checked], [each.message for each in checked if each.message]
    if context.profile is not None:
        judgement = judged(answer.findings, context.profile)
        outcomes.append({"exceeded": True, "kept": False}.get(judgement.outcome))
        sentences.append(judgement.headline)
    if report is not None:
        write_text(Path(report), answer.to_html(limits=[json_of(limit) for limit in checked], context=context))
    if not is_pass(outcomes, accept_undecided=accept_undecided):
        raise AssertionError(_said(answer, sentences))
    return answer


def _check_names(names: list[str]) -> None:
    known = VIEW.limit_meanings()
    for name in names:
        if name not in known:
            hint = quantity_hint(name, known) or " 'unveil audit --limit help' lists them."
            raise InputError(f"there is no figure {shortened(name)} that a limit can be set for.{hint}")


def _said(answer: Result[Audit], sentences: list[str]) -> str:
    return "\n".join(["the release does not keep its limits. " + answer.page().headline, *sentences])
