"""The version of unveil, as its installation states it."""

from importlib.metadata import version

__version__ = version("unveil")
