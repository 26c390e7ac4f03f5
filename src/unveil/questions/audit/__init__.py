"""Audit of a released table: disclosure risks, their size, and the decision."""
