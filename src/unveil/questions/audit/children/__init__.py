"""Child tables of an audit: several rows per person, next to one row per person."""
