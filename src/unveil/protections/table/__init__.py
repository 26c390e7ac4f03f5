"""Protections of tables: one file each."""
