"""Re-identification attacks on masked records, and their validity."""
