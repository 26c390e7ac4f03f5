"""Run an audit as a test that fails when a release does not pass its threshold."""

from pathlib import Path
from typing import Any

from unveil.data.files.write import write_text
from unveil.errors import InputError
from unveil.questions.audit.answer import AuditResult, audit


def assert_release(
    original: Any,
    released: Any,
    control: Any = None,
    *,
    accept_inconclusive: bool = False,
    report: str | Path | None = None,
    **settings: Any,
) -> AuditResult:
    """Return the audit of a release that passes, or raise an AssertionError with the reason.

    For tests of whoever makes releases: pytest shows the sentences, and a pipeline stops. It decides as
    ``unveil audit`` does: fail and inconclusive are no pass.

    Parameters
    ----------
    original, released, control
        As in :func:`unveil.audit`.
    accept_inconclusive
        Whether an inconclusive decision is a pass.
    report
        The file that the report is written to, before anything is raised.
    **settings
        As in :func:`unveil.audit`; ``threshold``, ``profile`` or ``limits`` is needed.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"height": [150.5 + i for i in range(40)], "weight": [50.5 + i for i in range(40)]})
    >>> try:
    ...     assert_release(people, people, threshold=0.09, attacks=["row_order"])
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    Fail (high risk): 100% of records can be re-identified by their position in the file.
    """
    if not any(settings.get(name) for name in ("threshold", "profile", "limits")):
        raise InputError("There is nothing to hold the release to. Pass threshold=0.09, a profile, or limits")
    result = audit(original, released, control, **settings)
    if report is not None:
        write_text(Path(report), result.to_html())
    if result.decision == "fail" or (result.decision == "inconclusive" and not accept_inconclusive):
        decided = result.decided
        raise AssertionError("\n".join(filter(None, (decided.headline, decided.subline, *decided.next))))
    return result
