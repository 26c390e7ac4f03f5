"""Unlinkability metrics of a partition, per subject."""
