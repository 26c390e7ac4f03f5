"""What the tests of reading share: a refusal is one message, and never shows a cell."""

from collections.abc import Callable
from typing import Any

import pytest

from unveil.errors import InputError

#: Stands in cells of the files under test, so it must never stand in a message.
MARKER = "SECRET"


def refusal(act: Callable[[], Any]) -> str:
    """Return the message with which ``act`` is refused, after checking that a traceback would not show a cell."""
    with pytest.raises(InputError) as caught:
        act()
    error: BaseException | None = caught.value
    while error is not None:
        assert MARKER not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return str(caught.value)
