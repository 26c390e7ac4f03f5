"""Fixtures of whole commands and pages."""

from tests.end_to_end.shared_calls import calls as calls
