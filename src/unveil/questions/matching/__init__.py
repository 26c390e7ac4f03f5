"""Matching attacks: how many pseudonyms are resolved?"""
