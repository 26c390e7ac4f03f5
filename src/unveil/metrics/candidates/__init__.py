"""What candidates and their probabilities say about each target."""
