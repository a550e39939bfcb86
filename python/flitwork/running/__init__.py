"""One simulation: run at once or step by step, with packets to a file, or without a network."""
