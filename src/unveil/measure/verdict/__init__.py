"""What an audit may conclude from all its figures, and how sure that is."""
