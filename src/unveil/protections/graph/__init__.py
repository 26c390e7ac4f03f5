"""Protections of graphs: one file each."""
