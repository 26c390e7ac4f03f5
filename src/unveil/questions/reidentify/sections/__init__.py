"""The sections of the report on re-identification."""
