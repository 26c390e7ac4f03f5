"""The questions of the page by name, and what is wrong with an answered form."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from unveil.web import forms_graph
from unveil.web.fields import Field, Form
from unveil.web.forms_audit import AUDIT
from unveil.web.forms_guesses import CANDIDATES, MATCHING
from unveil.web.forms_partition import PARTITION

__all__ = ["FORMS", "Field", "Form", "check"]

#: Every question, in the order in which the page shows them. A new one is one line here, and one in `questions`.
FORMS: Mapping[str, Form] = MappingProxyType(
    {form.question: form for form in (AUDIT, PARTITION, CANDIDATES, MATCHING, *forms_graph.FORMS)}
)


def check(form: Form, files: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with an answered form, a sentence for each field; empty where it can be asked.

    Parameters
    ----------
    form
        The question.
    files
        For each field what was dropped on it: one thing, several in a list, or nothing. Only their number matters.
    settings
        For each field its value as the page sends it; ``sample`` is true where the example is asked for.

    Examples
    --------
    >>> check(FORMS["candidates"], {}, {})
    {'guess': 'A file is needed here. Drop one, or choose it with the button'}
    >>> check(FORMS["candidates"], {}, {"sample": True})
    {}
    """
    from unveil.web.values import errors_of

    return errors_of(form, files, settings)
