"""What came out of a run: the result, the one table of its columns, and the file that keeps it."""
