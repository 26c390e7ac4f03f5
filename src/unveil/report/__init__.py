"""Rendering of any answer: pages as data, HTML, text, JSON, and charts."""
