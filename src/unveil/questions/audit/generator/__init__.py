"""Audit of a generator, with held-out records as control."""
