"""What every room may use and that knows nothing of networks: errors, libraries, files, signals, statistics."""
