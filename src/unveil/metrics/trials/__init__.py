"""Attack success, for all people and for subgroups."""
