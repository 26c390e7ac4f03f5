"""Attacks on released graphs, one file each."""
