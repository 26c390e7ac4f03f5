"""Audits of existing releases: risk and utility of techniques."""
