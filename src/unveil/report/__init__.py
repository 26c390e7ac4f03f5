"""Show it: plain sentences, pictures and pages of results that were computed elsewhere."""
