"""What is sent: collectives, traffic, traces and schedules, and the files and arrays that they come from."""
