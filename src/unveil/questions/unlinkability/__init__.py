"""Unlinkability: how well subjects' items stay unlinked."""
