"""Decision of an audit, from all its results."""
