import pytest

from unveil._optional import need
from unveil.errors import MissingExtraError, UnveilError


def test_an_installed_library_is_returned() -> None:
    assert need("fractions", extra="web").Fraction(1, 2) * 2 == 1


def test_a_missing_library_names_the_extra_that_brings_it() -> None:
    with pytest.raises(MissingExtraError, match=r"'no_such_library'.*pip install 'unveil\[cluster\]'") as caught:
        need("no_such_library", extra="cluster")
    assert isinstance(caught.value, UnveilError)
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
