"""Masses on sets."""
