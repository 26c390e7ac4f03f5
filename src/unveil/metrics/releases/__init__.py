"""Disclosure measures and utility of a released table, without an attack."""
