"""How much of the counts that are hidden can be worked out, and how narrow the others have become."""
