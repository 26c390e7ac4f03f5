"""Sections of the audit report, one topic per file."""
