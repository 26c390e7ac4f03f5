"""Import optional libraries."""

from importlib import import_module
from types import ModuleType

from unveil.errors import MissingExtraError


def need(module: str, *, extra: str) -> ModuleType:
    """Return the optional ``module``, or say which extra of unveil brings it.

    >>> need("json", extra="web").__name__
    'json'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this needs the library {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'unveil[{extra}]'"
        ) from error
