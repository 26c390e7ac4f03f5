"""What a verdict on a release is computed with."""
