"""What a guess about who belongs together says about each subject."""
