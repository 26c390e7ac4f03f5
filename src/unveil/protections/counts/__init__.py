"""Protections of frequency tables."""
