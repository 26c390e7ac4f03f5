"""The decision of an audit: tests, levels, the rule, and its sentences."""
