"""The sections of the report on published tables."""
