"""What comes in: tables and partitions read from files, and the one way to write a file."""
