"""Files: what they are, how they are opened, read and written."""
