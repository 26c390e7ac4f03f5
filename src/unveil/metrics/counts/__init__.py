"""Recovery and feasibility intervals of suppressed cells."""
