"""How is a graph protected, and what does that cost?"""
