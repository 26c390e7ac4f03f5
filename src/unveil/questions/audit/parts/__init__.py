"""The parts of an audit's page beside its attacks."""
