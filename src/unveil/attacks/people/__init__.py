"""Attacks on people with several rows each: a parent row and histories in child tables."""
