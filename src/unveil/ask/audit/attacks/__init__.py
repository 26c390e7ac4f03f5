"""Each attack of an audit: how it is run and what is said of it."""
