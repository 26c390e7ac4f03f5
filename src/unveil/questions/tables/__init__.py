"""Audit of published tables: which suppressed cells can be recovered?"""
