"""The sections of the audit report: each file has the numbers, chart, tables and text of one topic."""
