"""Square matrices, and what adversaries know of matchings, from files."""
