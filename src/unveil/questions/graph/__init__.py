"""Attack on a released graph: how many nodes are re-identified?"""
