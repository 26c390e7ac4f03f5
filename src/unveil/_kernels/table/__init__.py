"""Loops over columns and rows of tables."""
