"""Columns that name people by themselves, and how they are told."""
